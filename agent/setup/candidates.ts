import type { HeardStep, ProfileName, SetupCandidate } from "../page/types/setup.ts";
import { DICOM } from "../config/values/schema.ts";
import { profilesNamedIn } from "../devices/detection/protocol-marks.ts";
import { lineText, type SerialLine, suggest } from "../devices/detection/detect.ts";
import { allProfiles, profileById } from "../devices/index.ts";
import type { Profile } from "../devices/profile.ts";
import { wireText } from "../protocols/transcript.ts";
import { replay } from "../tools/offline/replay.ts";
import type { HeardBytes } from "./listening.ts";

// The devices that heard bytes may come from, with evidence.

/** A candidate, and what the configuration needs of it. */
export interface Candidate {
  readonly shown: SetupCandidate;
  readonly serial: SerialLine | null;
  /** The bytes that suggest it. */
  readonly bytes: Uint8Array;
}

const CANDIDATES_MAX = 8;

/** Points that rank a general profile below a special one for the same bytes. */
const GENERAL_POINTS = 5;

/** Returns the candidates, the best first. */
export function candidatesOf(heard: readonly HeardBytes[]): Candidate[] {
  const found = heard.flatMap((sample) =>
    suggest([sample]).flatMap(({ line, protocol, profiles: named, score, reasons }) =>
      named.map((profile, index) => ({
        shown: {
          ...nameOf(profile),
          protocol,
          setting: line === null ? null : lineText(line),
          caller: sample.caller,
          score: index > 0 && isGeneral(profile) ? score - GENERAL_POINTS : score,
          reasons,
        },
        serial: line,
        bytes: sample.bytes,
      })),
    ),
  );
  return found.toSorted((one, other) => other.shown.score - one.shown.score).slice(0, CANDIDATES_MAX);
}

/** Marks of a protocol without their end have this score. Less is a guess. */
const LIKELY = 40;

/** Returns why a profile does not fit the bytes, null if it may. */
export function misfit(profile: string, candidates: readonly Candidate[]): string | null {
  const best = candidates[0]?.shown;
  if (best === undefined || best.score < LIKELY || best.profile === profile) return null;
  const isListed = candidates.some(({ shown }) => shown.profile === profile);
  const isRight = isGeneral(best.profile)
    ? isListed || readsAsMuch(profile, candidates[0]!)
    : isListed && !isGeneral(profile);
  if (isRight) return null;
  return `this looks like ${best.name} (${best.profile}), not ${profile}: choose ${best.profile}, or insist on ${profile}`;
}

/**
 * Returns whether a special profile reads what the general one of the same framing reads: each result with a name of the catalogue
 * is a row, or left out with a reason that only the special one knows. A general profile is suggested only without another one, so
 * it never excludes such a special one.
 */
function readsAsMuch(profile: string, { shown, bytes }: Candidate): boolean {
  const [special, general] = [profileById(profile), profileById(shown.profile)];
  if (special === undefined || general === undefined) return false;
  if (special.protocol !== general.protocol || special.link.kind !== general.link.kind) return false;
  const [own, other] = [readingOf(bytes, special), readingOf(bytes, general)];
  if (own === null) return false;
  return other === null || other.rows === 0 || (own.rows > 0 && own.rows + own.leftOut >= other.rows);
}

/** Counts the results with a name of the catalogue, and the omitted ones, in complete messages; null if one cannot be read. */
export function readingOf(
  bytes: Uint8Array,
  profile: Profile,
): { readonly rows: number; readonly leftOut: number } | null {
  const context = { device: "set-up", timeZone: "UTC", receivedAt: Date.now() };
  const messages = replay([bytes], profile, context, null).messages.filter(({ incomplete }) => incomplete === null);
  if (messages.some(({ reading }) => reading.is === "quarantined")) return null;
  const reports = messages.flatMap(({ reading }) => (reading.is === "reports" ? reading.reports : []));
  return {
    rows: reports.flatMap(({ rows }) => rows).filter(({ codeSource }) => codeSource !== "device").length,
    leftOut: reports.reduce((sum, { leftOut }) => sum + leftOut.length, 0),
  };
}

/** Returns the profile that a stored message looks like, null if the chosen one fits. */
export function looksLike(message: Uint8Array, chosen: string): ProfileName | null {
  const named = profilesNamedIn(message);
  const [first] = named;
  return first === undefined || named.includes(chosen) ? null : nameOf(first);
}

export function nameOf(profile: string): ProfileName {
  const known = profileById(profile);
  const own = known !== undefined && "device_name" in known ? known.device_name : null;
  return { profile, name: own ?? GENERAL_NAMES[profile] ?? profile };
}

const GENERAL_NAMES: Readonly<Record<string, string>> = {
  [DICOM]: "Imaging device (DICOM)",
  "generic-astm": "Any analyzer with ASTM",
  "generic-astm-raw": "Any analyzer with ASTM without frames",
  "generic-hl7": "Any analyzer with HL7",
  "generic-poct1a": "Any analyzer with POCT1-A",
  "practice-system": "Practice software (HL7)",
};

export function analyzerNames(): ProfileName[] {
  // A watched folder is not a line on which a device is heard.
  const heard = allProfiles().filter(({ protocol }) => protocol !== "file");
  return heard.map(({ id }) => nameOf(id)).toSorted((one, other) => one.name.localeCompare(other.name, "en"));
}

function isGeneral(profile: string): boolean {
  return profile.startsWith("generic-");
}

/** Bytes whose text is shown. */
const SHOWN_BYTES = 400;

/** Returns the last bytes as text, for the user's eye. */
export function shownBytes(heard: readonly HeardBytes[]): Pick<HeardStep, "bytes" | "shown"> {
  const last = heard.at(-1)?.bytes ?? new Uint8Array(0);
  return {
    bytes: heard.reduce((sum, { bytes }) => sum + bytes.length, 0),
    shown: wireText(last.subarray(-SHOWN_BYTES)),
  };
}
