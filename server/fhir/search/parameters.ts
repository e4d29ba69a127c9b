import { invalid, positiveInteger } from "../../http/query-parameters.ts";
import { fpOf, KINDS } from "../resources/ids.ts";
import { EVER, intersection, readSearchDate, type Span } from "./dates.ts";
import { type Position, readPosition } from "./page-token.ts";
import { parameterNames, SEARCHES, type SearchType } from "./searches.ts";

// The parameters of a search. One that a type does not have is an error: without it the response would hold other animals.

const COUNT_DEFAULT = 20;
/** A client that asks for more gets this many, as R4 allows. */
const COUNT_MAX = 100;

export interface Search {
  readonly type: SearchType;
  /** A match has one of these ids; null for any. */
  readonly ids: readonly string[] | null;
  readonly identifiers: readonly Token[] | null;
  /** Null for any; an fp of no patient matches nothing. */
  readonly patientFp: string | null;
  readonly date: Span;
  readonly lastUpdated: Span;
  readonly count: number;
  readonly includes: ReadonlySet<string>;
  readonly after: Position | null;
}

/** A value of `identifier`. `system` is null for any. */
interface Token {
  readonly system: string | null;
  readonly value: string;
}

/** Parameters of every response: its place in a walk, and its form, which is always JSON. */
export const OF_RESPONSE = ["_after", "_format", "_pretty"];

/** Reads the query of a search. @throws ApiError 400 for an unknown parameter or an invalid value */
export function readSearch(type: SearchType, query: Readonly<Record<string, unknown>>, base: string): Search {
  const { date, subject, includes } = SEARCHES[type];
  const known = parameterNames(type);
  for (const name of Object.keys(query)) {
    if (![...known, ...OF_RESPONSE].includes(name)) throw invalid(name, "unknown", `one of ${known.join(", ")}`);
  }
  const values = (name: string) => valuesOf(query[name]);
  return {
    type,
    ids: listOf("_id", values("_id")),
    identifiers: listOf("identifier", values("identifier"))?.map(tokenOf) ?? null,
    patientFp: subject ? patientOf([...values("patient"), ...values("subject")], base) : null,
    date: date === null ? EVER : spanOf(date, values(date)),
    lastUpdated: spanOf("_lastUpdated", values("_lastUpdated")),
    count: Math.min(COUNT_MAX, count.read(single("_count", values("_count")), "_count")),
    includes: new Set(values("_include").map((value) => includeOf(type, value, includes))),
    after: positionOf(type, single("_after", values("_after"))),
  };
}

const count = positiveInteger({ otherwise: COUNT_DEFAULT, max: 999_999_999, description: "" });

function valuesOf(value: unknown): string[] {
  return value === undefined ? [] : [value].flat().map(String);
}

function single(name: string, values: readonly string[]): string | null {
  if (values.length > 1) throw invalid(name, [...values], "given once");
  return values[0] ?? null;
}

/** A list of alternatives. Null if the parameter is absent. */
function listOf(name: string, values: readonly string[]): string[] | null {
  const value = single(name, values);
  if (value === null) return null;
  const list = value.match(/(?:\\.|[^,])+/gsu) ?? [];
  if (list.length === 0 || list.length > COUNT_MAX) throw invalid(name, value, `1 to ${COUNT_MAX} values`);
  return list;
}

/** Reads `value` or `system|value`. In both, `\` escapes a `,`, `|`, `$` or `\` (R4 §3.1.1.4.0.1). */
function tokenOf(text: string): Token {
  const [, system = null, value = text] = /^((?:\\.|[^|\\])*)\|(.*)$/su.exec(text) ?? [];
  // Any number of a system would be a list of its own.
  if (value === "") throw invalid("identifier", text, "a value, or a system and a value with | between them");
  return { system: system === null ? null : unescaped(system), value: unescaped(value) };
}

function unescaped(text: string): string {
  return text.replaceAll(/\\(.)/gsu, "$1");
}

/** Reads `patient-01…`, `Patient/patient-01…` or its address at this server. */
function patientOf(values: readonly string[], base: string): string | null {
  const [first] = values;
  if (first === undefined) return null;
  const fps = values.map((value) => {
    const id = value.replace(`${base}/`, "").replace(/^Patient\//, "");
    if (/[,|/:]/.test(id)) throw invalid("patient", value, "the id of one Patient");
    return fpOf(KINDS.Patient, id) ?? NOBODY;
  });
  return fps.every((fp) => fp === fps[0]) ? (fps[0] ?? null) : NOBODY;
}

/** The fp of no patient: a search for an unknown patient, or for two at the same time, matches nothing. */
const NOBODY = "-";

function spanOf(name: string, values: readonly string[]): Span {
  if (values.length === 0) return EVER;
  return intersection(
    values.map((value) => {
      const span = readSearchDate(value);
      if (span !== null) return span;
      throw invalid(name, value, "a date or time such as ge2026-11-21, with eq, gt, lt, ge, le, sa, eb or no prefix");
    }),
  );
}

/** `DiagnosticReport:subject`, or with the type of its target. @returns the name of the parameter */
function includeOf(type: SearchType, value: string, includes: readonly string[]): string {
  const [source, name = "", target] = value.split(":");
  const isPatient = target === undefined || (target === "Patient" && ["subject", "patient"].includes(name));
  if (source === type && isPatient && includes.includes(name)) return name;
  throw invalid("_include", value, includes.map((each) => `${type}:${each}`).join(", ") || "left out");
}

function positionOf(type: SearchType, value: string | null): Position | null {
  if (value === null) return null;
  const position = readPosition(type, value);
  if (position === null) throw invalid("_after", value, "the value in the next link of a page of this search");
  return position;
}
