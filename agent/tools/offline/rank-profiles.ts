import type { Profile } from "../../devices/profile.ts";
import { allProfiles, profileById } from "../../devices/index.ts";
import { isOwn } from "../../devices/own/reference.ts";
import type { Reading, Report } from "../../report/report.ts";
import { read } from "../../study/read.ts";
import type { Suggestion } from "../../devices/detection/detect.ts";
import { replay } from "./replay.ts";
import { type Claim, claimOf, type MakerText } from "../../devices/detection/claims.ts";
import { astmMessages, type HeardMessage, hl7Messages } from "../../devices/detection/heard-messages.ts";

// Ranks the profiles of one framing by what speaks for them in heard bytes, and by what they read of them. Reading alone does not
// distinguish related models: they share a grammar, and a loose rule of one reads more than the right rule of another.

export interface Ranked {
  readonly profile: string;
  readonly points: number;
  /** Place and text by which the device names itself or its maker; null if it does not. */
  readonly named: MakerText | null;
  /** A text is there that only this device and its sisters write, or one that other makers write too. */
  readonly mark: Claim["mark"];
  /** Its reading; null if it cannot read the bytes, or if the time was over. */
  readonly reading: ProfileReading | null;
}

export interface ProfileReading {
  /** Rows with a name of the catalogue. */
  readonly known: number;
  readonly rows: readonly ReadRow[];
  /** Results without a row. */
  readonly leftOut: number;
  readonly points: number;
}

export interface ReadRow {
  readonly name: string;
  readonly text: string;
}

/** Time after which profiles for which nothing speaks are not read. The others are few. */
const READING_MS_MAX = 200;
/** Messages that are read. */
const MESSAGES_MAX = 10;

/** Returns the profiles of a suggestion, the best first: as suggested where no message can be cut from the bytes. */
export function rankSuggested({ line, profiles }: Suggestion, bytes: Uint8Array): readonly Ranked[] {
  // The eighth bit is the parity on a line with seven data bits.
  const text = line?.dataBits === 7 ? bytes.map((byte) => byte & 0x7f) : bytes;
  const general = profiles.find(isGeneral);
  const ranked = general === undefined ? [] : rankProfiles(text, general);
  if (ranked.length > 0) return ranked;
  return profiles.map((id) => {
    const profile = profileById(id);
    const reading = profile === undefined ? null : readingOf(text, profile);
    return { profile: id, points: 0, named: null, mark: null, reading };
  });
}

export function isGeneral(profile: string): boolean {
  return profile.startsWith("generic-");
}

/**
 * Returns the profiles of the framing of `general`, the best first: special ones that something speaks for, then the general one,
 * then special ones that only read the bytes. Profiles that refuse the sender are left out.
 */
function rankProfiles(bytes: Uint8Array, general: string): Ranked[] {
  const base = profileById(general);
  if (base === undefined) return [];
  const messages = base.protocol === "hl7" ? hl7Messages(bytes) : base.protocol === "astm" ? astmMessages(bytes) : [];
  if (messages.length === 0) return [];
  const family = allProfiles().filter(
    ({ protocol, link }) => protocol === base.protocol && link.kind === base.link.kind,
  );
  const claims = family.map((profile) => claimOf(profile, messages));
  const owners = sendersOf(claims);
  const possible = claims
    .filter(({ isRefused, sender, mark, profile }) => {
      return !isRefused && (owners.length === 0 || sender !== null || mark !== null || profile.id === general);
    })
    .toSorted((one, other) => tier(other, general) - tier(one, general));
  const until = performance.now() + READING_MS_MAX;
  const ranked = possible.map((claim) => {
    const isLate = tier(claim, general) === 0 && performance.now() > until;
    const reading = isLate ? undefined : readingOfMessages(messages, claim.profile);
    return { claim, reading: reading ?? null, points: pointsOf(claim, owners, reading) };
  });
  const ofGeneral = ranked.find(({ claim }) => claim.profile.id === general)?.reading?.points ?? 0;
  const ordered = ranked
    .filter(({ claim, reading }) => tier(claim, general) > 0 || (reading?.points ?? 0) > ofGeneral)
    .toSorted(
      (one, other) =>
        tier(other.claim, general) - tier(one.claim, general) ||
        other.points - one.points ||
        trust(other.claim.profile) - trust(one.claim.profile),
    );
  return settled(ordered, general).map(({ claim: { profile, named, mark }, ...rest }) => {
    return { profile: profile.id, named, mark, ...rest };
  });
}

/** Points within which two profiles fit alike. */
export const ALIKE_POINTS = 2;

/** Puts the more trusted of the first two first if they fit alike. */
function settled<Each extends { readonly claim: Claim; readonly points: number }>(
  ordered: readonly Each[],
  general: string,
): readonly Each[] {
  const [first, second, ...others] = ordered;
  if (first === undefined || second === undefined) return ordered;
  const isAlike =
    tier(first.claim, general) === tier(second.claim, general) && first.points - second.points <= ALIKE_POINTS;
  return isAlike && trust(second.claim.profile) > trust(first.claim.profile) ? [second, first, ...others] : ordered;
}

/** 2: something speaks for a special profile. 1: the general one. 0: a special one for which nothing speaks. */
function tier({ profile, sender, mark }: Claim, general: string): number {
  if (profile.id === general) return 1;
  return sender !== null || mark !== null ? 2 : 0;
}

/** Returns the profiles whose sender it is: those that it names, else those of its family. */
function sendersOf(claims: readonly Claim[]): readonly Claim[] {
  const models = claims.filter(({ sender, isRefused }) => sender === "model" && !isRefused);
  return models.length > 0 ? models : claims.filter(({ sender, isRefused }) => sender === "family" && !isRefused);
}

/** A clinic's own profile wins a tie, and one without proof loses it. */
function trust(profile: Profile): number {
  return isOwn(profile.id) ? 1 : "isUnproven" in profile ? -1 : 0;
}

function pointsOf(claim: Claim, named: readonly Claim[], reading: ProfileReading | null | undefined): number {
  const { profile, sender, mark } = claim;
  const hasMarks = profile.marks !== undefined || profile.names !== undefined;
  const ofSender = named.includes(claim) && named.length === 1 ? 40 : sender === null ? 0 : 20;
  const ofMarks = mark === "own" ? 20 : mark === "shared" ? 10 : hasMarks ? -20 : 0;
  return ofSender + ofMarks + (reading === null ? -50 : (reading?.points ?? 0));
}

const CONTEXT = { device: "set-up", timeZone: "UTC" };

function readingOfMessages(messages: readonly HeardMessage[], profile: Profile): ProfileReading | null {
  const context = { ...CONTEXT, receivedAt: Date.now() };
  return summaryOf(messages.slice(0, MESSAGES_MAX).map(({ bytes }) => read(bytes, profile, context)));
}

/** Reads the complete messages with the profile's own link; null if one cannot be read. */
export function readingOf(bytes: Uint8Array, profile: Profile): ProfileReading | null {
  const { messages } = replay([bytes], profile, { ...CONTEXT, receivedAt: Date.now() }, null);
  return summaryOf(messages.filter(({ incomplete }) => incomplete === null).map(({ reading }) => reading));
}

/** Returns what a profile reads of all messages; null if one of them cannot be read. */
function summaryOf(readings: readonly Reading[]): ProfileReading | null {
  if (readings.some(({ is }) => is === "quarantined")) return null;
  const reports = readings.flatMap((reading) => (reading.is === "reports" ? reading.reports : []));
  const all = reports.flatMap(({ rows }) => rows);
  const known = all.filter(({ codeSource }) => codeSource !== "device").length;
  const leftOut = reports.reduce((sum, report) => sum + report.leftOut.length, 0);
  return {
    known,
    rows: all.map(({ device_code, code, value, text, unit, comparator }) => ({
      name: device_code ?? code,
      text: [comparator, text ?? value, unit].filter((part) => part != null).join(" "),
    })),
    leftOut,
    points: known - (all.length - known) - leftOut / 2 + Math.max(0, ...reports.map(identityPoints)),
  };
}

/** Points of what names the patient and the sample. The title of a panel is not a name. */
function identityPoints({ identifier, species, patient_hint: { name, owner }, sampleIds = [] }: Report): number {
  const isName = name != null && /\p{L}/u.test(name) && !/count|panel|profile|chem|99[A-Z]{3}/i.test(name);
  return (
    (identifier === null ? 0 : 3) +
    (species === null ? 0 : 4) +
    (isName ? 2 : 0) +
    (owner == null ? 0 : 1) +
    (sampleIds.length === 0 ? 0 : 1)
  );
}
