import type { HeardStep, ProfileName, SetupCandidate } from "../../shared/local/setup.ts";
import { DICOM } from "../config/schema.ts";
import { profilesNamedIn } from "../detection/protocol-marks.ts";
import { lineText, type SerialLine, suggest } from "../detection/detect.ts";
import { profileById, profiles } from "../devices/index.ts";
import { wireText } from "../protocols/transcript.ts";
import type { HeardBytes } from "./listening.ts";

// The devices that heard bytes may come from, with evidence.

/** A candidate, and what the configuration needs of it. */
export interface Candidate {
  readonly shown: SetupCandidate;
  readonly serial: SerialLine | null;
  /** The bytes that speak for it. */
  readonly bytes: Uint8Array;
}

const CANDIDATES_MAX = 8;

/** Returns the candidates, the best first. A profile that the sender's name leads to stands before a general one. */
export function candidatesOf(heard: readonly HeardBytes[]): Candidate[] {
  const found = heard.flatMap((sample) =>
    suggest([sample]).flatMap(({ line, protocol, profiles: named, score, reasons }) =>
      named.map((profile) => ({
        shown: {
          ...nameOf(profile),
          protocol,
          setting: line === null ? null : lineText(line),
          caller: sample.caller,
          score,
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
  const isListed = candidates.some(({ shown }) => shown.profile === profile && shown.score === best.score);
  if (isListed && !(isGeneral(profile) && !isGeneral(best.profile))) return null;
  return `this looks like ${best.name} (${best.profile}), not ${profile}: choose ${best.profile}, or insist on ${profile}`;
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
};

/** Returns the profiles of analyzers by name. */
export function analyzerNames(): ProfileName[] {
  return profiles.map(({ id }) => nameOf(id)).toSorted((one, other) => one.name.localeCompare(other.name, "en"));
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
