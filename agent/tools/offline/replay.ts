import type { Patient } from "../../../shared/api/patient.ts";
import { flagReasonText } from "../../../shared/clinical/flag-reasons.ts";
import { createLink } from "../../connection/create-link.ts";
import type { Profile } from "../../devices/profile.ts";
import type { LinkAction, LinkContext } from "../../protocols/link.ts";
import { fileHeader } from "../../protocols/file/file-message.ts";
import { read, readable } from "../../study/read.ts";
import type { ReadContext, Reading } from "../../report/report.ts";
import type { StudyBody } from "../../report/revision.ts";
import { study } from "../../study/study.ts";
import { wireText } from "../../protocols/transcript.ts";
import { zonedTime } from "../../report/device-time.ts";

// Runs a fixture through link, read and study without a spool or a server, for `agent replay` and the fixture tests.

export interface Replay {
  /** Replies of the link in order, control characters by name. */
  readonly replies: string;
  readonly warnings: readonly string[];
  readonly messages: readonly ReplayedMessage[];
}

export interface ReplayedMessage {
  readonly incomplete: string | null;
  readonly reading: Reading;
  readonly studies: readonly StudyBody["body"][];
  /** Reasons of missing ranges and flags. */
  readonly withoutFlag: readonly string[];
}

/** Replays the device's bytes in any segmentation. `patient` is assumed for every Report; null for none. */
export function replay(
  chunks: Iterable<Uint8Array>,
  profile: Profile,
  context: ReadContext,
  patient: Patient | null,
): Replay {
  const link = createLink(profile, linkContext(context));
  const actions: LinkAction[] = [];
  for (const chunk of chunks) actions.push(...link.receive(chunk));
  actions.push(...link.close());
  const replies: string[] = [];
  const warnings: string[] = [];
  const messages: ReplayedMessage[] = [];
  for (const action of actions) {
    if (action.do === "reply") replies.push(replyText(action.bytes, profile));
    if (action.do === "warn") warnings.push(action.reason);
    if (action.do === "deliver")
      messages.push(replayMessage(action.message, action.incomplete, profile, context, patient));
  }
  return { replies: replies.join(""), warnings, messages };
}

/** Returns the bytes of a device for a fixture. Those of a file begin with its name, as the watcher of a folder sends them. */
export async function wireOf(name: string, bytes: Uint8Array, profile: Profile): Promise<Uint8Array> {
  if (profile.protocol !== "file") return bytes;
  return readable(Buffer.concat([fileHeader({ name, bytes: bytes.length }), bytes]), profile);
}

/** Formats a reply: XML as it is, a document a line; other protocols with control characters by name. */
function replyText(bytes: Uint8Array, { protocol }: Profile): string {
  return protocol === "poct1a" ? `${Buffer.from(bytes).toString("utf8")}\n` : wireText(bytes);
}

/** Creates the context of a link whose replies are the same in every replay: their time is fixed, their ids are numbered. */
function linkContext({ receivedAt, timeZone }: ReadContext): LinkContext {
  let replies = 0;
  return { now: () => zonedTime(receivedAt, timeZone), newId: () => `REPLAY-${++replies}` };
}

function replayMessage(
  bytes: Uint8Array,
  incomplete: string | null,
  profile: Profile,
  context: ReadContext,
  patient: Patient | null,
): ReplayedMessage {
  const reading: Reading =
    incomplete === null ? read(bytes, profile, context) : { is: "quarantined", reason: `incomplete: ${incomplete}` };
  const drafts =
    reading.is === "reports"
      ? reading.reports.map((report) => study(report, patient, { device_id: context.device, message_id: "replay" }))
      : [];
  return {
    incomplete,
    reading,
    studies: drafts.map(({ body }) => body),
    withoutFlag: drafts.flatMap(({ snapshot }) =>
      snapshot.rows.flatMap(({ analyte, reason }) =>
        reason === null ? [] : [`${analyte}: ${flagReasonText(reason, "en")}`],
      ),
    ),
  };
}
