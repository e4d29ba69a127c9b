import { contains, joinRest } from "../protocols/astm/resumption.ts";
import type { Profile } from "../devices/profile.ts";
import { ProfileTooSlow, withinTime } from "../devices/table/pattern.ts";
import { withoutStamp } from "../protocols/hl7/message/message.ts";
import { readAstm } from "../protocols/astm/read.ts";
import { readHl7 } from "../protocols/hl7/read.ts";
import { continues, readPoct1 } from "../protocols/poct1/read.ts";
import { readText } from "../protocols/text/read.ts";
import type { ReadContext, Reading } from "../report/report.ts";

/** Reads a message to Reports. Pure: a later call returns the same Reports. The patterns of a clinic's own profile have a time limit. */
export function read(message: Uint8Array, profile: Profile, context: ReadContext): Reading {
  if (!profile.id.startsWith("own/")) return readAny(message, profile, context);
  try {
    return withinTime(() => readAny(message, profile, context));
  } catch (error) {
    if (error instanceof ProfileTooSlow) return { is: "quarantined", reason: error.message };
    throw error;
  }
}

function readAny(message: Uint8Array, profile: Profile, context: ReadContext): Reading {
  switch (profile.protocol) {
    case "astm":
      return readAstm(message, profile, context);
    case "hl7":
      return readHl7(message, profile, context);
    case "text":
      return readText(message, profile, context);
    case "poct1a":
      return readPoct1(message, profile, context);
    case "file":
      return { is: "not-for-patients", reason: "a list of practice software has no results" };
  }
}

/** Joins a message with the cut messages that it completes. `incomplete` has the latest first. */
export function complete<Part extends { readonly bytes: Uint8Array }>(
  message: Uint8Array,
  incomplete: readonly Part[],
  profile: Profile,
): { readonly bytes: Uint8Array; readonly completed: readonly Part[] } {
  let bytes = message;
  const completed: Part[] = [];
  for (const part of incomplete) {
    const whole = completedBy(bytes, part.bytes, profile);
    if (whole === null) continue;
    bytes = whole;
    completed.push(part);
  }
  return { bytes, completed };
}

function completedBy(message: Uint8Array, incomplete: Uint8Array, profile: Profile): Uint8Array | null {
  switch (profile.protocol) {
    case "astm":
      return contains(message, incomplete) ? message : joinRest(incomplete, message);
    case "hl7":
      return isResent(message, incomplete) ? message : null;
    case "text":
      return beginsWith(message, incomplete) ? message : null;
    case "poct1a":
      return continues(message, incomplete) ? message : null;
    case "file":
      return null;
  }
}

function beginsWith(bytes: Uint8Array, beginning: Uint8Array): boolean {
  return beginning.length <= bytes.length && beginning.every((byte, index) => byte === bytes[index]);
}

/** Returns true if the cut message is a prefix of the complete one. They are never joined: another message follows a cut frame. */
function isResent(message: Uint8Array, incomplete: Uint8Array): boolean {
  const [whole, cut] = [withoutStamp(message), withoutStamp(incomplete)];
  if (whole === null || cut === null) return false;
  const body = incomplete.subarray(cut.end);
  if (body.length === 0) return whole.header.startsWith(cut.header);
  return whole.header === cut.header && beginsWith(message.subarray(whole.end), body);
}
