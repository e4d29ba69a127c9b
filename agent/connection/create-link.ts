import { REGISTRY_FILE_BYTES_MAX } from "../../shared/api/agent/registry.ts";
import { newUlid } from "../../shared/api/fp.ts";
import { zonedTime } from "../report/device-time.ts";
import { EnqEtxLink } from "../protocols/text/enq-etx-link.ts";
import { AstmLink } from "../protocols/astm/link.ts";
import { BccLink } from "../protocols/text/bcc-link.ts";
import { CrcLinesLink } from "../protocols/text/crc-lines-link.ts";
import { OneWayLink } from "../protocols/text/one-way-link.ts";
import { RawRecordsLink } from "../protocols/astm/raw-records.ts";
import { EOT, ETX, SOH, SUB } from "../protocols/bytes.ts";
import type { Profile } from "../devices/profile.ts";
import { FileLink } from "../protocols/file/file-link.ts";
import { stampOf } from "../protocols/hl7/message/acknowledgement-message.ts";
import { Hl7Link } from "../protocols/hl7/link.ts";
import { registryJudge } from "../protocols/hl7/registry/answer.ts";
import type { Link, LinkAction, LinkContext } from "../protocols/link.ts";
import { Poct1Link } from "../protocols/poct1/link.ts";
import type { Refusals } from "../protocols/poct1/replies.ts";
import type { OperatorBook } from "../protocols/poct1/topics.ts";
import type { EventKind } from "../spool/queries/events/event-log.ts";

/** Knowledge of a device that POCT1-A shares between its wires. A replay needs none: its replies are discarded. */
interface SharedKnowledge {
  readonly operators?: OperatorBook;
  readonly refusals?: Refusals;
}

/** @returns a fresh link for one wire of a device, or for a replay of one of its sessions */
export function createLink(
  profile: Profile,
  context: LinkContext,
  { operators, refusals }: SharedKnowledge = {},
): Link {
  const { link } = profile;
  switch (link.kind) {
    case "lis01":
      return new AstmLink(link);
    case "raw-records":
      return new RawRecordsLink(link.digitPrefixed);
    case "one-way":
      return new OneWayLink({ end: link.end === "SUB" ? SUB : ETX });
    case "until-words":
      return new OneWayLink({ start: null, end: Buffer.from(link.words, "latin1") });
    case "soh-eot":
      return new OneWayLink({ start: SOH, end: EOT, isAcknowledged: true });
    case "enq-etx":
      return new EnqEtxLink(link.bodyProblem);
    case "bcc":
      return new BccLink(link);
    case "crc-lines":
      return new CrcLinesLink();
    case "mllp": {
      const { orders, registry } = profile.protocol === "hl7" ? profile : {};
      const asked = { worklist: orders !== undefined, displayFirst: orders?.displayFirst === true };
      const judged = registry === undefined ? {} : { judge: registryJudge(registry) };
      return new Hl7Link(() => stampOf(context), { ...link, ...asked, ...judged });
    }
    case "file":
      return new FileLink(REGISTRY_FILE_BYTES_MAX);
    case "poct1a":
      return new Poct1Link(context, operators, refusals);
  }
}

/** @returns the clock and the ids for the replies to a device in that IANA time zone */
export function linkContext(timeZone: string): LinkContext {
  return { now: () => zonedTime(Date.now(), timeZone), newId: newUlid };
}

/** Feeds one stored event to a link. */
export function apply(link: Link, kind: EventKind, bytes: Uint8Array | null): LinkAction[] {
  switch (kind) {
    case "chunk":
      return bytes === null ? [] : link.receive(bytes);
    case "send":
      return bytes === null ? [] : (link.send?.(bytes) ?? [{ do: "unsent", reason: "this device takes no messages" }]);
    case "timeout":
      return link.timeout();
    case "close":
      return link.close();
    case "gap":
      return link.gap();
    case "resume":
      if (bytes !== null) link.restore?.(bytes);
      return [];
  }
}
