import type { HeardStep, ProfileName, SetupCandidate, SetupTie } from "../page/types/setup.ts";
import { DICOM } from "../config/values/schema.ts";
import { aeTitlesIn, profilesNamedIn } from "../devices/detection/protocol-marks.ts";
import { lineText, type SerialLine, suggest, type Suggestion } from "../devices/detection/detect.ts";
import { allProfiles, ownReferences, profileById } from "../devices/index.ts";
import {
  ALIKE_POINTS,
  isGeneral,
  type ProfileReading,
  rankSuggested,
  readingOf,
} from "../tools/offline/rank-profiles.ts";
import { isOwn } from "../devices/own/reference.ts";
import { wireText } from "../protocols/transcript.ts";
import type { HeardBytes } from "./listening.ts";

// The devices that heard bytes may come from, with evidence.

/** A candidate, and what the configuration needs of it. */
export interface Candidate {
  readonly shown: SetupCandidate;
  readonly serial: SerialLine | null;
  /** The bytes that suggest it. */
  readonly bytes: Uint8Array;
  readonly points: number;
  readonly reading: ProfileReading | null;
}

const CANDIDATES_MAX = 8;

/** Points that rank a general profile below a special one for the same bytes. A special one for which nothing speaks is below it. */
const GENERAL_POINTS = 5;

/** Candidates of the bytes that a step holds, which the page asks for each second, and the own profiles that were ranked. */
const computed = new WeakMap<readonly HeardBytes[], { readonly own: string; readonly candidates: Candidate[] }>();

/** Returns the candidates, the best first. */
export function candidatesOf(heard: readonly HeardBytes[]): Candidate[] {
  const own = ownReferences().join(" ");
  const before = computed.get(heard);
  if (before?.own === own) return before.candidates;
  const found = heard.flatMap((sample) => suggest([sample]).flatMap((suggestion) => candidatesIn(sample, suggestion)));
  const candidates = found.toSorted((one, other) => other.shown.score - one.shown.score).slice(0, CANDIDATES_MAX);
  computed.set(heard, { own, candidates });
  return candidates;
}

/** 0 for the first profile and those before the general one, 1 for the general one, 2 for those after it. */
function stepsBelow(index: number, general: number): number {
  if (general < 0 || index === 0 || index < general) return 0;
  return index > general ? 2 : 1;
}

function candidatesIn({ bytes, caller }: HeardBytes, suggestion: Suggestion): Candidate[] {
  const { line, protocol, score, reasons } = suggestion;
  const ranked = rankSuggested(suggestion, bytes);
  const general = ranked.findIndex(({ profile }) => isGeneral(profile));
  return ranked.map(({ profile, points, named, mark, reading }, index) => {
    const rows = reading === null ? null : { read: reading.known, of: reading.rows.length + reading.leftOut };
    return {
      shown: {
        ...nameOf(profile),
        protocol,
        setting: line === null ? null : lineText(line),
        caller,
        score: score - GENERAL_POINTS * stepsBelow(index, general),
        reasons,
        named: profile === DICOM ? { text: aeTitlesIn(latin1(bytes)).calling, place: "AE" } : named,
        mark,
        rows: rows?.of === 0 ? null : rows,
        isGeneral: isGeneral(profile),
      },
      serial: line,
      bytes,
      ...{ points, reading },
    };
  });
}

function latin1(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes.subarray(0, 42));
}

/**
 * Returns the first two candidates if something speaks for both alike, with the rows that they read in different ways. A clinic's own
 * profile was made for the device, so it is never one of the two.
 */
export function tieOf([first, second]: readonly Candidate[]): SetupTie | null {
  if (first === undefined || second === undefined || first.bytes !== second.bytes) return null;
  const isOpen = [first, second].every(({ shown }) => shown.named !== null || shown.mark !== null);
  if (
    !isOpen ||
    first.shown.isGeneral ||
    isOwn(first.shown.profile) ||
    Math.abs(first.points - second.points) > ALIKE_POINTS
  )
    return null;
  const [one, other] = [first, second].map(
    ({ reading }) => new Map(reading?.rows.map(({ name, text }) => [name, text])),
  );
  const names = [...new Set([...one!.keys(), ...other!.keys()])];
  const rows = names
    .map((name) => ({ name, read: [one!.get(name) ?? null, other!.get(name) ?? null] as const }))
    .filter(({ read }) => read[0] !== read[1]);
  return { names: [first.shown.name, second.shown.name], rows: rows.slice(0, TIE_ROWS_MAX) };
}

const TIE_ROWS_MAX = 20;

/** Marks of a protocol without their end have this score. Less is a guess. */
const LIKELY = 40;

/**
 * Returns why a profile does not fit the bytes, null if it may. A special profile that reads more of them argues against another one. A
 * general one argues only against a profile that cannot read them.
 */
export function misfit(profile: string, candidates: readonly Candidate[]): string | null {
  const [best] = candidates;
  if (best === undefined || best.shown.score < LIKELY || best.shown.profile === profile) return null;
  const chosen = candidates.find(({ shown }) => shown.profile === profile);
  const isRight = isGeneral(best.shown.profile)
    ? chosen !== undefined || readsAsMuch(profile, best)
    : chosen !== undefined && !readsMore(best, chosen);
  if (isRight) return null;
  const { name, profile: id } = best.shown;
  return `this looks like ${name} (${id}), not ${profile}: choose ${id}, or insist on ${profile}`;
}

/** Returns whether a special profile reads more than the chosen one. Of a header alone nothing is read, and its name counts. */
function readsMore(best: Candidate, chosen: Candidate): boolean {
  const isRead = [best, chosen].some(({ reading }) => (reading?.rows.length ?? 0) > 0);
  if (!isRead) return chosen.shown.isGeneral;
  return (best.reading?.points ?? 0) > (chosen.reading?.points ?? 0);
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
  return other === null || other.known === 0 || (own.known > 0 && own.known + own.leftOut >= other.known);
}

/** Returns the profile that a stored message looks like, null if the chosen one fits. */
export function looksLike(message: Uint8Array, chosen: string): ProfileName | null {
  const named = profilesNamedIn(message);
  const [first] = named;
  return first === undefined || named.includes(chosen) ? null : nameOf(first);
}

export function nameOf(profile: string): ProfileName {
  const known = profileById(profile);
  const own = known === undefined || !("device_name" in known) ? null : known.device_name;
  const usual = known !== undefined && "defaultName" in known ? known.defaultName : undefined;
  return { profile, name: own ?? usual ?? GENERAL_NAMES[profile] ?? profile };
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
