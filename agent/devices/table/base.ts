import type { Pattern, ProfileBase } from "../../protocols/profile.ts";
import type { ControlMaterial } from "../../report/sample.ts";
import { readPattern } from "./pattern.ts";
import type { ProfileForm } from "./schema.ts";
import { type Records, type Source, sourceOf } from "./source.ts";

// The columns that profiles of both protocols share.

/** The columns of every protocol. */
export function baseOf({ profile, device, serial, recognize, results, evidence }: ProfileForm) {
  const { marks, sharedMarks, names } = recognize ?? {};
  const suffix = results?.suffix;
  const sender = senderOf(recognize);
  return {
    id: profile,
    modality: device.modality ?? null,
    device_name: device.name ?? null,
    ...(serial === undefined ? {} : { serial }),
    ...(marks === undefined ? {} : { marks: readPattern(marks) }),
    ...(sharedMarks === undefined ? {} : { sharedMarks: readPattern(sharedMarks) }),
    ...(names === undefined ? {} : { names: readPattern(`/${names}/i`) }),
    ...(evidence?.state === "unverified" || evidence?.state === "parser" ? { isUnproven: true as const } : {}),
    ...(suffix === undefined ? {} : { valueSuffix: suffix }),
    ...(sender === null ? {} : { sender }),
  } satisfies ProfileBase & { device_name: string | null; sender?: Pattern };
}

function senderOf({ sender, notSender }: NonNullable<ProfileForm["recognize"]> = {}): Pattern | null {
  if (sender === undefined && notSender === undefined) return null;
  const [wanted, refused] = [sender, notSender].map((each) => (each === undefined ? null : readPattern(each)));
  return { test: (text) => (wanted?.test(text) ?? true) && refused?.test(text) !== true };
}

/** Reads the names of a result: all of one list, or of the first list in which any has a text. */
export function namesOf(
  { names, namesMatch }: NonNullable<ProfileForm["results"]>,
  records: readonly string[],
): ((found: Records) => string[]) | undefined {
  if (names === undefined) return undefined;
  const lists = names.some(Array.isArray) ? names.map((each) => (Array.isArray(each) ? each : [each])) : [names];
  const sources: Source[][] = lists.map((list) => list.map((each) => sourceOf(each, records)));
  const matching = namesMatch === undefined ? null : readPattern(namesMatch);
  return (found) => {
    for (const list of sources) {
      const read = list.map((source) => source(found));
      const known = matching === null ? read : read.filter((name) => matching.test(name));
      if (known.some((name) => name !== "")) return known;
    }
    return [];
  };
}

const MATERIAL = ["material", "level", "lot", "expires"] as const;

/** Reads the control material of an order; undefined for a profile without places of its own. */
export function materialOf(
  controls: NonNullable<ProfileForm["controls"]>,
  names: readonly string[],
): ((found: Records) => ControlMaterial) | undefined {
  const sources = MATERIAL.flatMap((key) => {
    const form = controls[key];
    return form === undefined ? [] : [[key, sourceOf(form, names)] as const];
  });
  if (sources.length === 0) return undefined;
  return (found) => Object.fromEntries(sources.map(([key, source]) => [key, source(found)]));
}

/** Returns words by mark, where a key may list several marks. */
export function wordsByMark(words: Readonly<Record<string, string>> | undefined): Record<string, string> | undefined {
  if (words === undefined) return undefined;
  const pairs = Object.entries(words).flatMap(([marks, text]) =>
    marks.split(" ").map((mark) => [mark, text.replaceAll("{mark}", mark)]),
  );
  return Object.fromEntries(pairs) as Record<string, string>;
}

/** Returns the object without its undefined values, whose keys a profile leaves out. */
export function stated<T extends object>(columns: T): { [Key in keyof T]: Exclude<T[Key], undefined> } {
  const given = Object.entries(columns).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as { [Key in keyof T]: Exclude<T[Key], undefined> };
}
