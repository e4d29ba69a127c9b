import { readFileMessage } from "../protocols/file/file-message.ts";
import type { RegistryFiles } from "../protocols/file/profile.ts";
import { JUDGED_BYTES_MAX } from "../protocols/hl7/message/acknowledgement.ts";
import { parseMessage } from "../protocols/hl7/message/message.ts";
import type { Hl7Profile } from "../protocols/hl7/profile.ts";
import type { FaultStatus } from "../protocols/hl7/registry/fault.ts";
import { readRegistry } from "../protocols/hl7/registry/read.ts";
import type { PracticeSettings } from "../protocols/hl7/registry/settings.ts";
import type { Profile } from "../devices/profile.ts";
import type { MessageCode, RegistryCode } from "../page/types/message-codes.ts";
import { FILE_CHANGE, type FileChange, type RegistryDraft } from "../spool/queries/patients/registry-changes.ts";
import type { StoredMessage } from "../spool/queries/messages/message-row.ts";

// The outcome of a message of practice software: changes for the server, or why there are none.

export interface RegistryOutcome {
  readonly state: "pending" | "not-for-patients" | "quarantined";
  readonly reason: string | null;
  readonly code: MessageCode | null;
  readonly changes: readonly RegistryDraft[];
}

/** Table 0357. */
const CODES: Readonly<Record<FaultStatus, RegistryCode>> = {
  101: "REGISTRY.MISSING",
  102: "REGISTRY.WRONG_FORM",
  103: "REGISTRY.UNKNOWN_VALUE",
  200: "REGISTRY.NOT_TAKEN",
  201: "REGISTRY.NOT_TAKEN",
  204: "REGISTRY.UNKNOWN_KEY",
  205: "REGISTRY.SAME_KEY",
};

type Hl7Practice = Hl7Profile & { readonly registry: PracticeSettings };

/** Returns the profile of a device that brings animals, owners and orders; null for one with results. */
export function registryProfile(profile: Profile): Hl7Practice | RegistryFiles | null {
  if (profile.protocol !== "file") return practiceOf(profile);
  return profile.content === "registry" ? profile : null;
}

/** Returns the profile of practice software with HL7 and its settings; null for another device. */
export function practiceOf(profile: Profile): Hl7Practice | null {
  if (profile.protocol !== "hl7" || profile.registry === undefined) return null;
  return { ...profile, registry: profile.registry };
}

export function assessRegistry(
  { device, receivedAt }: Pick<StoredMessage, "device" | "receivedAt">,
  bytes: Uint8Array,
  practice: Hl7Practice | RegistryFiles,
  timeZone: string,
): RegistryOutcome {
  if (practice.protocol === "file") return assessFile(bytes);
  const { registry, link } = practice;
  const message =
    bytes.length > JUDGED_BYTES_MAX
      ? { problem: `the message has more than ${JUDGED_BYTES_MAX} bytes` }
      : parseMessage(bytes, link);
  if ("problem" in message) return quarantined(message.problem, "REGISTRY.UNREADABLE");
  const reading = readRegistry(message, registry, { timeZone, receivedAt });
  switch (reading.is) {
    case "refused":
      return quarantined(reading.fault.text, CODES[reading.fault.status]);
    case "without effect":
      return { state: "not-for-patients", reason: null, code: "REGISTRY.NO_EFFECT", changes: [] };
    case "changes": {
      // A message without a sender is one of its device.
      const source = reading.source ?? device;
      const changes = reading.changes.map(({ kind, ...body }) => ({ source, kind, body: JSON.stringify(body) }));
      return { state: "pending", reason: null, code: null, changes };
    }
  }
}

/** The server reads the file. Its bytes stay in the message. */
function assessFile(bytes: Uint8Array): RegistryOutcome {
  const file = readFileMessage(bytes);
  if (file === null) return quarantined("the bytes are not a complete file", "REGISTRY.UNREADABLE");
  const body = JSON.stringify({ name: file.name, bytes: file.bytes.length } satisfies FileChange);
  return { state: "pending", reason: null, code: null, changes: [{ source: "file", kind: FILE_CHANGE, body }] };
}

function quarantined(reason: string, code: RegistryCode): RegistryOutcome {
  return { state: "quarantined", reason, code, changes: [] };
}
