import type { ProfileForm } from "../devices/table/schema.ts";
import { readSpecies } from "../../shared/clinical/species.ts";
import type { Patch } from "./draft.ts";
import { nodeAt, type Node } from "./tree.ts";

// What a place of a message can mean, and the patch of the profile's form that makes it mean so.

const PATIENT_ROLES = ["identifier", "name", "owner", "species", "sex", "born"] as const;
type PatientRole = (typeof PATIENT_ROLES)[number];

export const ROLES = [
  ...PATIENT_ROLES,
  /** A number or a name, as staff type it into one field. */
  "typed",
  "sample",
  "time",
  "code",
  "value",
  "unit",
  "range",
  "high",
  "low",
  "normal",
  "doubt",
  "final",
  /** `""` is a value that the device left empty; HL7 deletes the earlier one by it. */
  "empty",
  "remark",
  "species-row",
  /** The row has no value where the place has this text. */
  "no-value",
  "sender",
  "nothing",
] as const;
export type Role = (typeof ROLES)[number];

type Protocol = ProfileForm["protocol"];

/** Returns the roles that a profile of the protocol can give to a node. */
export function rolesAt(protocol: Protocol, node: Pick<Node, "place" | "kind">): Role[] {
  if (node.place === "" || node.kind === "message") return [];
  const [record = "", number = ""] = node.place.split(/[-.]/);
  if (node.kind === "record") {
    if (protocol === "hl7") return record === "OBX" ? ["remark", "species-row", "nothing"] : [];
    return record === "R" ? ["remark", "nothing"] : [];
  }
  return protocol === "hl7" ? hl7Roles(record, Number(number), node) : astmRoles(record, Number(number));
}

function hl7Roles(record: string, field: number, node: Pick<Node, "place">): Role[] {
  switch (record) {
    case "PID":
      return [...PATIENT_ROLES, "typed", "nothing"];
    case "OBR": {
      const isField = !node.place.includes(".");
      return [...PATIENT_ROLES, "typed", ...(isField ? (["sample", "time"] as const) : []), "nothing"];
    }
    case "OBX":
      if (field === 3) return ["code", "remark", "species-row", "nothing"];
      if (field === 8) return ["high", "low", "normal", "doubt", "nothing"];
      if (field === 11) return ["final", "no-value"];
      if (field === 5) return ["value", "empty", "no-value"];
      return ["code", "value", "unit", "range", "no-value", "nothing"];
    case "MSH":
      return field === 3 || field === 4 ? ["sender"] : [];
    default:
      return [];
  }
}

function astmRoles(record: string, field: number): Role[] {
  switch (record) {
    case "P":
      return ["species", "owner", "nothing"];
    case "O":
      return ["name", "nothing"];
    case "R":
      if (field === 3) return ["code", "remark", "nothing"];
      if (field === 7) return ["doubt"];
      return field === 9 ? ["final", "nothing"] : ["code", "unit", "nothing"];
    case "H":
      return field === 5 ? ["sender"] : [];
    default:
      return [];
  }
}

/** A click: a role for a node of a record. */
export interface Click {
  readonly role: Role;
  readonly place: string;
  /** The record of the node. */
  readonly record: Node;
  /** The text of the node, where it is one of several repeats. */
  readonly text?: string | undefined;
  /** The catalogue's species of the text, where the text itself is none: a code of the device. */
  readonly species?: string | undefined;
  /** What a doubt or a missing value means, in the clinic's words. */
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

/** Returns whether the text of a place names a species by itself. */
export function isSpeciesWord(text: string): boolean {
  return readSpecies(text) !== null;
}

type NameSource = NonNullable<NonNullable<ProfileForm["results"]>["names"]>[number];

/** The device's own code is the first name in HL7 and the last one in ASTM. */
function namesWith(form: ProfileForm, place: string): NameSource[] {
  const others = (form.results?.names ?? standardNames(form.protocol)).filter((each) => each !== place);
  return form.protocol === "hl7" ? [place, ...others] : [...others, place];
}

/** The places where the reader looks for names without a statement of the profile. */
function standardNames(protocol: Protocol): NameSource[] {
  return protocol === "hl7" ? ["OBX-3.2", "OBX-3.1"] : ["R-3.1", "R-3.2", "R-3.5", "R-3.4"];
}

/** Returns the patch by which the device's code means an analyte of the catalogue. `place`: the place of the code. */
export function analytePatch(form: ProfileForm, code: string, analyte: string, place: string): Patch {
  if (form.protocol === "hl7" && form.results?.names === undefined) return { analytes: { [code]: analyte } };
  const names = form.results?.names ?? standardNames(form.protocol);
  const before = names.find(
    (each) => typeof each === "object" && !Array.isArray(each) && each.at === place && each.map,
  );
  const known = typeof before === "object" && !Array.isArray(before) ? before.map : {};
  const mapped = { at: place, map: { ...known, [code]: analyte } };
  const others = names.filter((each) => each !== before);
  return {
    results: {
      names: form.protocol === "hl7" ? [others[0] ?? place, mapped, ...others.slice(1)] : [mapped, ...others],
    },
  };
}

type Rule = NonNullable<ProfileForm["rows"]>[number];

/** The field whose text names a row. */
function codeOf(protocol: Protocol, record: Node): { readonly place: string; readonly text: string } {
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

function escaped(text: string): string {
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

export function isPatientRole(role: string): role is PatientRole {
  return (PATIENT_ROLES as readonly string[]).includes(role);
}
