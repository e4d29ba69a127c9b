import type { ProfileForm } from "../devices/table/schema.ts";
import type { MakerNode } from "../page/types/maker.ts";
import { type Role, rolesAt } from "../page/types/maker-roles.ts";
import type { Patch } from "./draft.ts";
import { nodeAt } from "./tree.ts";

// The meanings that a place of a message can have, and the patch of the profile's form for each.

type Protocol = ProfileForm["protocol"];

/** A click: a role for a node of a record. */
export interface Click {
  readonly role: Role;
  readonly place: string;
  /** The record of the node. */
  readonly record: MakerNode;
  /** The text of the node, where it is one of several repeats. */
  readonly text?: string | undefined;
  /** The catalogue's species for a text that is a code of the device. */
  readonly species?: string | undefined;
  /** The meaning of a doubt or of a missing value, in the clinic's words. */
  readonly words?: string | undefined;
}

/** Returns the patch of a click. @returns null if a profile of this protocol cannot say so */
export function patchOf(form: ProfileForm, { role, place, record, species, words, ...click }: Click): Patch | null {
  const kind = place === record.place ? ("record" as const) : ("field" as const);
  if (!rolesAt(form.protocol, { place, kind }).includes(role)) return null;
  const text = (click.text ?? nodeAt(record, place)?.text ?? "").trim();
  switch (role) {
    case "identifier":
    case "name":
    case "owner":
    case "sex":
    case "born":
      return { patient: { [role]: place } };
    case "species":
      return { patient: { species: speciesSource(form, place, text, species) } };
    case "typed": {
      const isField = record.place === "OBR" && !place.includes(".");
      const [when, unless] = [{ [place]: String.raw`\d` }, { [place]: String.raw`\d` }];
      const patient = { identifier: { at: place, when }, name: { at: place, unless } };
      return isField ? { patient, sample: { number: place } } : { patient };
    }
    case "sample":
      return { sample: { number: place } };
    case "time":
      return { sample: { time: place } };
    case "code":
      return { results: { names: namesWith(form, place) } };
    case "value":
    case "unit":
    case "range":
    case "flag":
      return { results: { [role]: place } };
    case "high":
    case "low":
    case "normal":
      return text === "" ? null : { flags: { [text]: { high: "H", low: "L", normal: "N" }[role] } };
    case "doubt":
      return text === "" ? null : { doubts: { flags: { [text]: words ?? "the device doubts the value ({mark})" } } };
    case "final":
      return text === "" ? null : { statuses: { [text.toUpperCase()]: "final" } };
    case "empty":
      return text === '""' ? { results: { nullIsEmpty: true } } : null;
    case "remark":
      return { rows: rowsWith(form, "remark", codeOf(form.protocol, record)) };
    case "species-row":
      return { rows: rowsWith(form, "species", codeOf(form.protocol, record)) };
    case "no-value":
      return text === "" ? null : { rows: [...(form.rows ?? []), noValueRule(place, text, words)] };
    case "sender":
      return text === "" ? null : { recognize: { sender: senderPattern(form.protocol, place, text) } };
    case "nothing":
      return clearing(form, place, codeOf(form.protocol, record));
    default:
      return null;
  }
}

/** A word is read as it is. A code of the device needs its meaning, next to those that were given before. */
function speciesSource(form: ProfileForm, place: string, text: string, species: string | undefined): unknown {
  if (species === undefined || text === "") return place;
  const before = [form.patient?.species ?? []]
    .flat()
    .find((source) => typeof source === "object" && source.at === place);
  const map = { ...(typeof before === "object" ? before.map : {}), [text]: species };
  return [{ at: place, map }, place];
}

type NameSource = NonNullable<NonNullable<ProfileForm["results"]>["names"]>[number];

/** The device's own code is the first name in HL7 and the last one in ASTM. */
function namesWith(form: ProfileForm, place: string): NameSource[] {
  const others = (form.results?.names ?? standardNames(form.protocol)).filter((each) => each !== place);
  return form.protocol === "hl7" ? [place, ...others] : [...others, place];
}

/** The places where the reader looks for names without a statement of the profile. */
function standardNames(protocol: Protocol): NameSource[] {
  if (protocol === "text") return ["name"];
  return protocol === "hl7" ? ["OBX-3.2", "OBX-3.1"] : ["R-3.1", "R-3.2", "R-3.5", "R-3.4"];
}

/** Returns the patch by which the code of a row means an analyte of the catalogue. @returns null if the row has no code */
export function analytePatch(form: ProfileForm, record: MakerNode, analyte: string): Patch | null {
  const names = form.results?.names ?? standardNames(form.protocol);
  if (form.protocol === "hl7" && form.results?.names === undefined) {
    // The reader takes a number in OBX-3 for a count of rows, not for a code.
    const texts = ["OBX-3.1", "OBX-3.2", "OBX-4.1"].map((each) => textAt(record, each));
    const shown = texts.find((text) => /\p{L}/u.test(text)) ?? texts[0] ?? "";
    return shown === "" ? null : { analytes: { [shown]: analyte } };
  }
  const places = placesOf(form.protocol === "hl7" ? names : names.toReversed());
  const place = places.find((each) => textAt(record, each) !== "");
  if (place === undefined) return null;
  const code = textAt(record, place);
  const before = names.find(
    (each) => typeof each === "object" && !Array.isArray(each) && each.at === place && each.map,
  );
  const known = typeof before === "object" && !Array.isArray(before) ? before.map : {};
  const mapped = { at: place, map: { ...known, [code]: analyte } };
  const others = names.filter((each) => each !== before);
  // The device's own code is the first name in HL7.
  const own = form.protocol === "hl7" ? others.slice(0, 1) : [];
  return { results: { names: [...own, mapped, ...others.slice(own.length)] } };
}

function textAt(record: MakerNode, place: string): string {
  return nodeAt(record, place)?.text.trim() ?? "";
}

type Rule = NonNullable<ProfileForm["rows"]>[number];

/** The field whose text names a row. */
function codeOf(protocol: Protocol, record: MakerNode): { readonly place: string; readonly text: string } {
  const place = protocol === "hl7" ? "OBX-3" : "R-3";
  return { place, text: nodeAt(record, place)?.text.trim() ?? "" };
}

/** Max characters of a list of codes: a pattern has at most 500. */
const LIST_MAX = 480;
const LIST = /^\^\((.*)\)\$$/s;

/** Adds a code to the rule of its kind that lists codes, or a rule of its own before all others: the first that fits counts. */
function rowsWith(form: ProfileForm, as: Rule["as"], { place, text }: ReturnType<typeof codeOf>): Rule[] {
  const rows = withoutCode(form.rows ?? [], place, text);
  const at = rows.findIndex((rule) => rule.as === as && listOf(rule, place) !== null);
  const list = at < 0 ? null : listOf(rows[at]!, place);
  const codes = [...(list ?? []), escaped(text)];
  const rule: Rule = { as, when: { [place]: `^(${codes.join("|")})$` } };
  if (list === null || codes.join("|").length > LIST_MAX) {
    return [{ as, when: { [place]: `^(${escaped(text)})$` } }, ...rows];
  }
  return rows.map((each, index) => (index === at ? rule : each));
}

/** Returns the codes that a rule lists, as patterns; null for another rule. */
function listOf({ when, unless }: Rule, place: string): string[] | null {
  if (when === undefined || Array.isArray(when) || unless !== undefined || Object.keys(when).length !== 1) return null;
  const found = LIST.exec(when[place] ?? "")?.[1];
  return found === undefined ? null : found.split(/(?<!\\)\|/);
}

/** Removes a code from the rules that list codes. */
function withoutCode(rows: readonly Rule[], place: string, text: string): Rule[] {
  return rows.flatMap((rule) => {
    const list = listOf(rule, place);
    if (list === null || !list.includes(escaped(text))) return [rule];
    const codes = list.filter((code) => code !== escaped(text));
    return codes.length === 0 ? [] : [{ ...rule, when: { [place]: `^(${codes.join("|")})$` } }];
  });
}

function noValueRule(place: string, text: string, words = `${place} is {${place}}`): Rule {
  return { as: "no-result", when: { [place]: `^${escaped(text)}$` }, reason: words };
}

function senderPattern(protocol: Protocol, place: string, text: string): string {
  const first = text.split("^")[0] ?? text;
  if (protocol === "astm") return `/^${escaped(text.split(/[\^\\]/)[0] ?? text)}/i`;
  return place.startsWith("MSH-4") ? String.raw`/\|${escaped(first)}/i` : `/^${escaped(first)}/i`;
}

/** Returns a text as the part of a pattern that matches it alone. */
export function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
}

/** Takes from the form what a click gave to the place. */
function clearing(form: ProfileForm, place: string, code: ReturnType<typeof codeOf>): Patch | null {
  const patch: Record<string, unknown> = {};
  for (const section of ["patient", "sample", "results"] as const) {
    const own = Object.entries(form[section] ?? {}).filter(([, source]) => readsAt(source, place));
    const cleared = own.map(([key, source]) => [key, key === "names" ? namesWithout(source, place) : null]);
    if (cleared.length > 0) patch[section] = Object.fromEntries(cleared);
  }
  const rows = form.rows ?? [];
  const left = withoutCode(rows, code.place, code.text).filter(
    ({ as, when }) => !(as === "no-result" && when !== undefined && !Array.isArray(when) && Object.hasOwn(when, place)),
  );
  if (JSON.stringify(left) !== JSON.stringify(rows)) patch["rows"] = left;
  return Object.keys(patch).length === 0 ? null : patch;
}

function namesWithout(names: unknown, place: string): unknown {
  const left = [names].flat().filter((each) => !readsAt(each, place));
  return left.length === 0 ? null : left;
}

function readsAt(source: unknown, place: string): boolean {
  if (typeof source === "string") return source === place;
  if (Array.isArray(source)) return source.some((each) => readsAt(each, place));
  return typeof source === "object" && source !== null && "at" in source && source.at === place;
}

/** Returns the places of a source, as the form names them. */
export function placesOf(source: unknown): string[] {
  if (typeof source === "string") return source === "none" ? [] : [source.replace("*", "")];
  if (Array.isArray(source)) return source.flatMap(placesOf);
  return typeof source === "object" && source !== null && "at" in source ? placesOf(source.at) : [];
}
