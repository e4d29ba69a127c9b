import { isDeepStrictEqual } from "node:util";
import { analyteByCode, analytes as catalogue } from "../../../shared/clinical/analytes/analytes.ts";
import { nearAnalytes } from "../../../shared/clinical/analytes/near-analytes.ts";
import { knownUnits, unitsSpelled } from "../../../shared/clinical/analytes/unit-spellings.ts";
import { errorMessage } from "../../../shared/runtime/error-message.ts";
import { nearestWord } from "../../runtime/did-you-mean.ts";
import { dotted } from "../../runtime/yaml-lines.ts";
import { capabilitiesOf } from "../capabilities/capabilities.ts";
import { constantsOf, type Part, partsOf, type Protocol } from "./parts.ts";
import { readPattern } from "./pattern.ts";
import type { ProfileForm } from "./schema.ts";
import { type Condition, type SourceForm, TEXT } from "./source.ts";

// The checks that the form of a profile cannot express: keys and places of another protocol, patterns, rules that never count, names of the
// catalogue.

/** A problem with the path of its place; `words` name the place. */
export interface FormProblem {
  readonly steps: readonly string[];
  readonly words: string;
}

/** Returns the problems of a form. `captures`: how many captures lie beside it; null if that is unknown. */
export function formProblems(form: ProfileForm, captures: number | null): FormProblem[] {
  const parts = partsOf(form);
  const ofPatterns = patternProblems(parts);
  // The other checks try the patterns, which would take long.
  if (ofPatterns.length > 0) return ofPatterns;
  return [
    ...foreignKeys(form),
    ...parts.flatMap((part) => placeProblem(form, part)),
    ...ordersProblems(form),
    ...unreachableRows(form),
    ...rolesTwice(form),
    ...marksTwice(form),
    ...catalogueProblems(form),
    ...senderProblems(form),
    ...capabilityProblems(form),
    ...proofProblems(form, captures),
  ];
}

function problem(steps: readonly string[], words: string): FormProblem {
  return { steps, words: `${dotted(steps)} ${words}` };
}

const NAMES: Readonly<Record<Protocol, string>> = { astm: "ASTM", hl7: "HL7", text: "text" };

/** Keys that not every protocol has. */
const KEYS: Readonly<Record<string, readonly Protocol[]>> = {
  ...of(["astm"], "charset fields doubts.besideValue collect.number reagent"),
  ...of(
    ["hl7"],
    "device.default sample.time results.split results.note results.nullIsEmpty analytes controls.expiredLot",
  ),
  ...of(
    ["hl7"],
    "controls.patientProcessing collect.singles orders.neutered orders.tests orders.testSystem orders.panel",
  ),
  ...of(["hl7"], "orders.patientRows orders.displayFirst orders.speciesRow orders.lines"),
  ...of(["hl7"], "controls.target controls.inOrder"),
  ...of(["text"], "text results.flag results.words results.comment"),
  ...of(
    ["astm", "hl7"],
    "recognize.sender recognize.notSender doubts.flags statuses controls collect orders capabilities",
  ),
  ...of(["astm", "text"], "sample.urine"),
  ...of(
    ["hl7", "text"],
    "patient.identifier patient.sex patient.born sample.number sample.comments results.value results.range",
  ),
  ...of(["hl7", "text"], "flags doubts.when"),
};

function of(protocols: readonly Protocol[], keys: string): Record<string, readonly Protocol[]> {
  return Object.fromEntries(keys.split(" ").map((key) => [key, protocols]));
}

const LINKS: Readonly<Record<ProfileForm["link"]["kind"], Protocol>> = {
  ...{ lis01: "astm", "soh-eot": "astm", "raw-records": "astm" },
  ...{ mllp: "hl7", "one-way": "text" },
};

const ROWS: Readonly<Record<Protocol, readonly string[]>> = {
  astm: ["remark"],
  hl7: ["remark", "note", "species", "data", "no-result"],
  text: ["no-result"],
};

function foreignKeys(form: ProfileForm): FormProblem[] {
  const { protocol, link, rows = [], statuses = {} } = form;
  const found = Object.entries(KEYS)
    .filter(([key, protocols]) => !protocols.includes(protocol) && valueAt(form, key.split(".")) !== undefined)
    .map(([key, protocols]) =>
      problem(key.split("."), `is a key of ${protocols.map((each) => NAMES[each]).join(" and ")}`),
    );
  if (LINKS[link.kind] !== protocol) {
    found.push(problem(["link", "kind"], `is ${link.kind}, a link of ${NAMES[LINKS[link.kind]]}`));
  }
  if (protocol === TEXT && form.text === undefined) found.push({ steps: [], words: "text is missing" });
  for (const [index, { as }] of rows.entries()) {
    if (ROWS[protocol].includes(as)) continue;
    found.push(
      problem(
        ["rows", String(index), "as"],
        `is ${as}, expected ${ROWS[protocol].join(", ")} in a profile of ${NAMES[protocol]}`,
      ),
    );
  }
  for (const [status, meaning] of Object.entries(statuses)) {
    if (protocol === "hl7" && meaning !== "final") {
      found.push(problem(["statuses", status], "is no final status, expected final in a profile of HL7"));
    }
  }
  return found;
}

function valueAt(form: unknown, steps: readonly string[]): unknown {
  return steps.reduce<unknown>((value, step) => (value as Record<string, unknown> | undefined)?.[step], form);
}

const EXAMPLES: Readonly<Record<string, string>> = {
  P: "P-6.1",
  O: "O-3.1",
  R: "R-3.4",
  PID: "PID-5.2",
  PV1: "PV1-2",
  OBR: "OBR-3.1",
  OBX: "OBX-3.1",
};
const ASTM_RECORD = /^[HPOR]-/;

/** Steps of the engine for all patterns of a profile. Shipped ones have at most 600. */
const PATTERN_STEPS_MAX = 20_000;

function patternProblems(parts: readonly Part[]): FormProblem[] {
  const found: FormProblem[] = [];
  let size = 0;
  for (const { steps, is, written } of parts) {
    if (is === "place") continue;
    try {
      size += readPattern(written).size;
    } catch (error) {
      found.push(problem(steps, errorMessage(error)));
    }
    // The next ones are not even compiled.
    if (size > PATTERN_STEPS_MAX)
      return [...found, problem(steps, "makes the patterns too large, expected simpler ones")];
  }
  return found;
}

function placeProblem(form: ProfileForm, { steps, is, written, records }: Part): FormProblem[] {
  if (is === "pattern") return [];
  const path = steps.at(-1) === written ? steps.slice(0, -1) : steps;
  const place = written.replace("*", "");
  if (records.includes(TEXT)) {
    const columns = columnsOf(form);
    if (columns.includes(place)) return [];
    const nearest = nearestWord(place, columns);
    const advice = nearest === null ? `expected one of ${columns.join(", ")}` : `did you mean ${nearest}?`;
    return [{ steps, words: `${dotted(path)} is ${written}, no column of the text, ${advice}` }];
  }
  const [record = ""] = place.split("-");
  if (records.includes(place) || (records.includes(record) && place !== record)) return [];
  const isOfOther = ASTM_RECORD.test(place) !== (form.protocol === "astm") && /^[A-Z]/.test(place);
  const other = isOfOther ? `a place of ${form.protocol === "astm" ? "HL7" : "ASTM"}, ` : "";
  const example = records.map((each) => EXAMPLES[each] ?? each).join(" or ");
  const expected = records.some((each) => each.includes("-"))
    ? `expected ${example}`
    : `expected one such as ${example}`;
  return [{ steps, words: `${dotted(path)} is ${written}, ${other}${expected}` }];
}

/** Named groups of a layout's patterns. */
function columnsOf({ text = [] }: ProfileForm): string[] {
  const patterns = text.flatMap(({ first, last, lines }) => [
    first?.pattern,
    last?.pattern,
    ...lines.map(({ pattern }) => pattern),
  ]);
  return [...new Set(patterns.flatMap((each) => namesIn(each ?? "")))];
}

function namesIn(pattern: string): string[] {
  return [...pattern.matchAll(/\(\?P?<(\w+)>/g)].map(([, name = ""]) => name);
}

function ordersProblems({ protocol, orders, sample = {}, controls = {} }: ProfileForm): FormProblem[] {
  const found: FormProblem[] = [];
  const { species } = orders ?? {};
  if (species !== undefined && (typeof species === "number") !== (protocol === "astm")) {
    found.push(
      problem(
        ["orders", "species"],
        protocol === "astm" ? "is a map, expected a field's number" : "is a number, expected a map",
      ),
    );
  }
  for (const key of ["time", "number"] as const) {
    const place = sample[key];
    if (protocol !== "hl7" || place === undefined || (typeof place === "string" && /^OBR-\d+$/.test(place))) continue;
    found.push(problem(["sample", key], "is no field, expected one such as OBR-22"));
  }
  if (protocol === "astm" && typeof controls.order === "object") {
    found.push(problem(["controls", "order"], "is a condition, expected a pattern in a profile of ASTM"));
  }
  return found;
}

/** A row that an earlier one takes whole, or that repeats its conditions. */
function unreachableRows({ rows = [] }: ProfileForm): FormProblem[] {
  const found: FormProblem[] = [];
  const first = rows.findIndex(({ when, unless }) => unless === undefined && takesAll(when));
  for (const [index, row] of rows.entries()) {
    const before = rows.slice(0, index);
    const all = first < index ? first : -1;
    const same = before.findIndex(({ when, unless }) => isDeepStrictEqual([when, unless], [row.when, row.unless]));
    if (all !== -1) found.push(problem(["rows", String(index)], `is never reached: rows[${all}] takes all`));
    else if (same !== -1)
      found.push(problem(["rows", String(index)], `is never reached: rows[${same}] takes the same`));
  }
  return found;
}

function takesAll(condition: Condition | undefined): boolean {
  if (condition === undefined) return true;
  const tests = Array.isArray(condition) ? condition : [condition];
  return tests.some((test) => Object.values(test).every((written) => written !== "empty" && matchesAny(written)));
}

/** Texts that no pattern of one device matches together. */
const ANY = ["", "x", "7", "~ é", "A^B"];

function matchesAny(written: string): boolean {
  try {
    const pattern = readPattern(written);
    return ANY.every((text) => pattern.test(text));
  } catch {
    return false;
  }
}

interface Reading {
  readonly role: string;
  readonly steps: readonly string[];
  readonly place: string;
  readonly form: SourceForm;
}

/** Two facts of a patient from one place: the species would be the name. */
function rolesTwice({ patient = {} }: ProfileForm): FormProblem[] {
  const readings = Object.entries(patient).flatMap(([role, form]) =>
    form === "none" ? [] : [form].flat().flatMap((each) => readingOf(role, each as SourceForm)),
  );
  const found: FormProblem[] = [];
  for (const [index, one] of readings.entries()) {
    const other = readings
      .slice(0, index)
      .find((each) => each.role !== one.role && each.place === one.place && !areApart(each, one));
    if (other !== undefined) {
      found.push({ steps: one.steps, words: `patient.${other.role} and patient.${one.role} both read ${one.place}` });
    }
  }
  return found;
}

function readingOf(role: string, form: SourceForm): Reading[] {
  const place = typeof form === "string" ? form : Array.isArray(form) ? undefined : form.at;
  return place === undefined ? [] : [{ role, steps: ["patient", role], place: place.replace("*", ""), form }];
}

/** Their conditions exclude each other, or they take other parts of the text. */
function areApart({ form: one }: Reading, { form: other }: Reading): boolean {
  const [a, b] = [one, other].map((form) => (typeof form === "string" || Array.isArray(form) ? {} : form)) as [
    Rule,
    Rule,
  ];
  return (
    excludes(a.when, b.unless) || excludes(b.when, a.unless) || !isDeepStrictEqual([a.match, a.map], [b.match, b.map])
  );
}

function excludes(when: unknown, unless: unknown): boolean {
  return when !== undefined && isDeepStrictEqual(when, unless);
}

type Rule = Exclude<SourceForm, string | readonly unknown[]>;

function marksTwice({ doubts = {}, flags = {} }: ProfileForm): FormProblem[] {
  const seen = new Set<string>();
  const found: FormProblem[] = [];
  for (const key of Object.keys(doubts.flags ?? {})) {
    for (const mark of key.split(" ")) {
      if (Object.hasOwn(flags, mark))
        found.push({ steps: ["doubts", "flags", key], words: `doubts.flags: ${mark} is also in flags` });
      if (seen.has(mark)) found.push({ steps: ["doubts", "flags", key], words: `doubts.flags has ${mark} twice` });
      seen.add(mark);
    }
  }
  return found;
}

const ofAnalytes = catalogue.flatMap(({ canonical_unit, units }) => [
  canonical_unit ?? "",
  ...units.map(({ unit }) => unit),
]);
/** `1` is the unit of a fraction. */
const UNITS: readonly string[] = [...new Set(["1", ...knownUnits, ...ofAnalytes])].filter((unit) => unit !== "");

function catalogueProblems({ analytes = {}, results = {} }: ProfileForm): FormProblem[] {
  const unknown = Object.entries(analytes).filter(([, code]) => analyteByCode(code) === undefined);
  return [
    ...unknown.map(([name, code]) => {
      const near = nearAnalytes([code]);
      const advice = near.length === 0 ? "expected one such as ALT, CREA or WBC" : `did you mean ${near.join(" or ")}?`;
      return problem(["analytes", name], `is ${code}, no analyte of the catalogue, ${advice}`);
    }),
    ...constantsOf(results.unit, ["results", "unit"]).flatMap(({ steps, text }) => {
      if (text === "" || unitsSpelled(UNITS, text).length > 0) return [];
      const nearest = nearestWord(text, UNITS);
      const advice = nearest === null ? "expected one such as mmol/L or 10*9/L" : `did you mean ${nearest}?`;
      return [{ steps, words: `${text} is no unit of the catalogue, ${advice}` }];
    }),
  ];
}

function senderProblems({ recognize = {} }: ProfileForm): FormProblem[] {
  const { sender } = recognize;
  return sender !== undefined && matchesAny(sender) ? [problem(["recognize", "sender"], "takes any sender")] : [];
}

function capabilityProblems({ protocol, capabilities = [] }: ProfileForm): FormProblem[] {
  const known = capabilitiesOf(protocol);
  return capabilities.flatMap((name, index) =>
    known.includes(name)
      ? []
      : [{ steps: ["capabilities", String(index)], words: `capabilities has ${name}, expected ${known.join(", ")}` }],
  );
}

function proofProblems({ evidence }: ProfileForm, captures: number | null): FormProblem[] {
  const needsCapture = evidence?.state === "capture" || evidence?.state === "printout";
  return needsCapture && captures === 0
    ? [problem(["evidence", "state"], `is ${evidence.state}, but no capture is there`)]
    : [];
}
