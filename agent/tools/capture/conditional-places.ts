import { ownProfile } from "../../devices/index.ts";
import { isOwn } from "../../devices/own/reference.ts";
import { conditionOf, type Records, type SourceForm } from "../../devices/table/source.ts";
import { Segment, STANDARD_DELIMITERS } from "../../protocols/hl7/message/segment.ts";

// The places of names that a clinic's own profile reads only under a condition, which may look at another segment of HL7.

/** Segments that the names of a patient are read from. */
export const PATIENT_SEGMENTS = ["PID", "PV1", "OBR"] as const;

/** VT starts a message. */
export const SEGMENT = /[^\r\n\v]+/g;

interface ConditionalPlace {
  readonly segment: string;
  readonly field: number;
  readonly holds: (records: Records) => boolean;
}

/** Returns the fields with names by the number of their segment in the text: the whole fields, in whatever form a name is there. */
export function conditionalFields(text: string, profile: string): ReadonlyMap<number, readonly number[]> {
  const found = new Map<number, number[]>();
  const places = placesOf(profile, PATIENT_SEGMENTS);
  if (places.length === 0) return found;
  let delimiters = STANDARD_DELIMITERS;
  let group = noGroup();
  for (const [index, [written]] of [...text.matchAll(SEGMENT)].entries()) {
    const name = written.slice(0, 3).toUpperCase();
    if (name === "MSH") {
      const [component = "", repetition = ""] = written.slice(4);
      delimiters = { ...STANDARD_DELIMITERS, field: written.slice(3, 4), component, repetition };
    }
    if (!PATIENT_SEGMENTS.some((each) => each === name)) continue;
    if (name === "PID") group = noGroup();
    group.records[name] = new Segment(written, delimiters);
    group.at.set(name, index);
    for (const { segment, field, holds } of places) {
      const at = group.at.get(segment);
      if (at !== undefined && holds(group.records)) found.set(at, [...(found.get(at) ?? []), field]);
    }
  }
  return found;
}

/** Returns the fields with names of one record of ASTM. */
export function conditionalFieldsOf(type: string, record: Records[string], profile: string): number[] {
  const places = placesOf(profile, [type]).filter(({ segment }) => segment === type);
  return places.filter(({ holds }) => holds({ [type]: record })).map(({ field }) => field);
}

function noGroup() {
  const records: Record<string, Segment> = {};
  for (const name of PATIENT_SEGMENTS) records[name] = new Segment(name, STANDARD_DELIMITERS);
  return { records, at: new Map<string, number>() };
}

function placesOf(profile: string, names: readonly string[]): ConditionalPlace[] {
  const read = isOwn(profile) ? ownProfile(profile) : null;
  if (read === null || !("form" in read)) return [];
  return [read.form.patient?.name, read.form.patient?.owner].flatMap((source) => placesIn(source, names));
}

function placesIn(source: SourceForm | undefined, names: readonly string[]): ConditionalPlace[] {
  if (source === undefined || typeof source === "string") return [];
  if (Array.isArray(source)) return source.flatMap((each) => placesIn(each, names));
  const { at = "", when, unless } = source;
  const [, segment, field] = /^([A-Z][A-Z0-9]{0,2})-(\d+)/.exec(at) ?? [];
  if (segment === undefined || !names.includes(segment) || (when === undefined && unless === undefined)) return [];
  return [{ segment, field: Number(field), holds: conditionOf(when, unless, names) }];
}
