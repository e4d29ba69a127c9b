import type { TextReading } from "../../protocols/text/profile.ts";
import type { FoundEvent } from "../../report/device-event.ts";
import type { DeviceResult } from "../../report/report.ts";

// Text layout of Fujifilm's dry chemistry and immunoassay analyzers. The content shows the format that a device is set to: R and
// T records with commas (types 1, 2, A and B), or fixed columns without a letter (type 3).

/** Meanings of the marks after a value by place, from 1. `any` is every mark of a place. */
export type MarkMeanings = Readonly<Record<number, Readonly<Record<string, string>>>>;

/** Columns of a record. R and T start with type, condition, date, time, number, id, name, species, sex, age, position, count. */
const COUNT_COLUMN = 11;
const LAYOUTS = [
  { type: "R", head: 12, test: 7 }, // types 1 and 2
  { type: "R", head: 15, test: 9 }, // types A and B: operator, emergency, analyzer; lot and validity of each slide
  { type: "T", head: 12, test: 8 }, // types 1 and 2 with the kind of the interval
] as const;

/** Characters of type 3: of the head, and of each test without or with its interval. */
const FIXED_HEAD = 50;
const FIXED_TESTS = [36, 49] as const;
const FIXED_START = /^[ -~]{7}\d[\d-]{8}\d\d\d:\d\d/;

/** Characters of the value in its column; the rest is the unit. */
const VALUE_CHARS = 9;
const MEASURED_CHARS = 15;
const MARKS_CHARS = 11;
const ETB = "\x17";

/** Words in place of a value. */
const NO_VALUE: readonly (readonly [RegExp, string])[] = [
  [/^\*+$/, "the measurement failed"],
  [/^[+-]OR$/, "the electrolyte is out of range"],
  [/^EXP$/, "the slide is expired"],
  [/^CHK QC$/, "a quality control is due"],
];

/** A run in any of the formats. Columns of the tests are not trimmed, because the place of a mark counts. */
interface Run {
  readonly condition: string;
  readonly date: string;
  readonly time: string;
  readonly specimen: string;
  readonly identifier: string;
  readonly name: string;
  /** Number in the clinic's own list of species; "" without one. */
  readonly species: string;
  readonly sex: string;
  readonly comments: readonly string[];
  readonly tests: readonly TestColumns[];
}

interface TestColumns {
  readonly name: string;
  readonly sign: string;
  /** Value and unit. */
  readonly measured: string;
  readonly low: string;
  readonly high: string;
  readonly marks: string;
  /** The lot of the slide, and the end of its validity as `YYYYMM`; both "" in the other formats. */
  readonly lot: string;
  readonly validity: string;
}

export function readFujiText(text: string, marks: MarkMeanings): TextReading {
  const record = joinBlocks(text);
  const trouble = fujiTrouble(record);
  if (trouble !== null) return { ...notForPatients(trouble), events: [faultOf(record)] };
  switch (/^([A-Z]),/.exec(record)?.[1]) {
    case "R":
    case "T":
      return readRecord(record, marks);
    case "S":
      return notForPatients("the device has begun a test (S)");
    case "I":
    case "W":
    case "X":
    case "Y":
      return notForPatients(`a query for orders (${record.slice(0, 1)})`);
    default:
      return readFixed(record, marks);
  }
}

/** Returns the error of an E record in a sentence; null for another text. */
export function fujiTrouble(text: string): string | null {
  const [type, date = "", time = "", code = "", , ...words] = text.split(",").map((column) => column.trim());
  if (type !== "E") return null;
  return `the device reports error ${[code, ...words].filter(Boolean).join(" ")} at ${date} ${time}`;
}

/** Reads an E record: date, time, code, count, words. */
function faultOf(record: string): FoundEvent {
  const [, date = "", time = "", subject = "", , ...words] = record.split(",").map((column) => column.trim());
  const at = timeOf(date, time.slice(0, 5)) ?? "";
  return { event: "fault", at, subject, text: words.join(", ") };
}

/** Returns whether a text has a BCC: every record with a letter, and no text of fixed columns. */
export function fujiHasBcc(text: string): boolean {
  return /^[A-Z],/.test(text);
}

/** Joins the blocks of a message. Between two of them the comma of their columns may be missing. */
function joinBlocks(text: string): string {
  return text.split(ETB).reduce((joined, block) => {
    const isSeparated = !fujiHasBcc(joined) || joined.endsWith(",") || block.startsWith(",");
    return `${joined}${isSeparated ? "" : ","}${block}`;
  });
}

function readRecord(record: string, marks: MarkMeanings): TextReading {
  const columns = record.split(",");
  const [type, condition = "", date = "", time = "", ...hints] = columns.map((column) => column.trim());
  const [specimen = "", identifier = "", name = "", species = "", sex = ""] = hints;
  const count = Number(columns[COUNT_COLUMN]);
  const layout = LAYOUTS.find((one) => one.type === type && one.head + one.test * count === columns.length);
  if (layout === undefined) {
    const own = LAYOUTS.filter((one) => one.type === type).map(({ head, test }) => head + test * count);
    const expected = Number.isInteger(count) ? own.join(" or ") : "a number of results in column 12";
    return problem(`${columns.length} columns, expected ${expected} for ${columns[COUNT_COLUMN]?.trim()} results`);
  }
  const tests = Array.from({ length: count }, (_, index) =>
    testOf(columns.slice(layout.head + layout.test * index, layout.head + layout.test * (index + 1)), layout),
  );
  const head = columns.slice(COUNT_COLUMN + 1, layout.head).map((column) => column.trim());
  return readRun(
    { condition, date, time, specimen, identifier, name, species, sex, comments: headComments(head), tests },
    marks,
  );
}

function testOf(columns: readonly string[], { test }: (typeof LAYOUTS)[number]): TestColumns {
  const [name = "", sign = "", measured = "", , low = "", high = "", marks = "", lot = "", validity = ""] = columns;
  const slide = test === 9 ? { lot: lot.trim(), validity: validity.trim() } : { lot: "", validity: "" };
  return { name, sign, measured, low, high, marks, ...slide };
}

function lotText({ lot, validity }: TestColumns): string {
  return [lot, /^\d{6}$/.test(validity) ? `valid to ${validity.slice(0, 4)}-${validity.slice(4)}` : validity]
    .filter(Boolean)
    .join(", ");
}

function headComments([operator = "", emergency = "", analyzer = ""]: readonly string[]): string[] {
  return [
    ...(operator === "" ? [] : [`Operator: ${operator}`]),
    ...(emergency === "1" ? ["Emergency"] : []),
    ...(analyzer === "" ? [] : [`Analyzer: ${analyzer}`]),
  ];
}

/** Reads type 3: condition 7, date 10, time 5, number 13, id 13, position 2 characters; then the tests. */
function readFixed(text: string, marks: MarkMeanings): TextReading {
  if (!FIXED_START.test(text))
    return problem(`the text starts with ${JSON.stringify(text.slice(0, 20))}, expected R or T`);
  const rest = text.length - FIXED_HEAD;
  const size = FIXED_TESTS.find((one) => rest > 0 && rest % one === 0);
  if (size === undefined) {
    return problem(`${text.length} characters, expected ${FIXED_HEAD} and ${FIXED_TESTS.join(" or ")} for each test`);
  }
  const [condition = "", date = "", time = "", specimen = "", identifier = ""] = slices(text, [7, 10, 5, 13, 13]);
  const tests = Array.from({ length: rest / size }, (_, index) => {
    const test = text.slice(FIXED_HEAD + size * index, FIXED_HEAD + size * (index + 1));
    const [name = "", sign = "", measured = "", , own = "", , , low = "", high = ""] = slices(test, [
      7,
      1,
      MEASURED_CHARS,
      2,
      MARKS_CHARS,
      2,
      1,
      5,
      5,
    ]);
    return { name, sign, measured, low, high, marks: own, lot: "", validity: "" };
  });
  const hints = { specimen: specimen.trim(), identifier: identifier.trim(), name: "", species: "", sex: "" };
  return readRun({ condition: condition.trim(), date, time, ...hints, comments: [], tests }, marks);
}

function slices(text: string, widths: readonly number[]): string[] {
  let at = 0;
  return widths.map((width) => {
    at += width;
    return text.slice(at - width, at);
  });
}

function readRun(run: Run, marks: MarkMeanings): TextReading {
  const { condition, identifier, species, tests } = run;
  const reason = `a control run (${condition})`;
  const isControl = condition === "CONTROL" || condition === "QC";
  if (!isControl && condition !== "NORMAL")
    return problem(`the condition is ${condition}, and only NORMAL is known to be a patient's`);
  const measuredAt = timeOf(run.date, run.time);
  if (measuredAt === null) {
    if (isControl) return notForPatients(reason);
    return problem(`the time is ${run.date} ${run.time}, expected yyyy-mm-dd or dd-mm-yyyy, and hh:mm`);
  }
  const specimens = new Set(tests.map(({ name }) => specimenOf(name).specimen));
  const urine = specimens.has("urine") && !specimens.has("blood");
  const isMixed = specimens.has("urine") && specimens.has("blood");
  const events = tests.flatMap(({ name, lot, validity }): FoundEvent[] =>
    lot === "" ? [] : [{ event: "reagent", at: measuredAt, subject: specimenOf(name).analyte, lot, expires: validity }],
  );
  return {
    is: "sample",
    events,
    // The column of the name has the control solution. The lots of slides are comments: each test has its own.
    ...(isControl ? { control: { reason, material: run.name } } : {}),
    sample: {
      identifier,
      // Staff type the animal's name into the column of the id.
      name: run.name === "" && /^[A-Za-z][A-Za-z .'-]*$/.test(identifier) ? identifier : run.name,
      species: "",
      specimen: run.specimen,
      measuredAt,
      sex: { "0": "M", "1": "F" }[run.sex] ?? "",
      urine,
      results: tests.map((test) => resultOf(test, marks, isMixed)),
      comments: [
        ...run.comments,
        ...tests.flatMap((test) => (lotText(test) === "" ? [] : [`${test.name.trim()}: lot ${lotText(test)}`])),
      ],
      notes:
        species === "" || isControl
          ? []
          : [`the species is number ${species} of the clinic's own list, which is not read`],
    },
  };
}

/** Returns `YYYYMMDDHHMM`. A device setting decides whether the year is first; null for another form. */
function timeOf(date: string, time: string): string | null {
  const [, hour, minute] = /^(\d\d):(\d\d)$/.exec(time.trim()) ?? [];
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(date.trim()) ?? [];
  const [, ownDay, ownMonth, ownYear] = /^(\d\d)-(\d\d)-(\d{4})$/.exec(date.trim()) ?? [];
  if (hour === undefined || (year === undefined && ownYear === undefined)) return null;
  return `${year ?? ownYear}${month ?? ownMonth}${day ?? ownDay}${hour}${minute}`;
}

/**
 * Splits a name such as TCHO-PS, CRP-P, GLU-W or CRE-U: plasma or serum, whole blood, urine. A calculated result has no
 * suffix, and no analyte's own name ends in one of these.
 */
function specimenOf(written: string): { readonly analyte: string; readonly specimen: "blood" | "urine" | "unsaid" } {
  const name = written.trim();
  const [, analyte = name, suffix = ""] = /^(.+?)-(PS?|[WU].*)?$/.exec(name) ?? [];
  if (suffix.startsWith("U")) return { analyte, specimen: "urine" };
  return { analyte, specimen: suffix === "" ? "unsaid" : "blood" };
}

function resultOf(test: TestColumns, meanings: MarkMeanings, isMixed: boolean): DeviceResult {
  const written = test.name.trim();
  const { analyte, specimen } = specimenOf(written);
  const value = test.measured.slice(0, VALUE_CHARS).trim();
  const unit = test.measured.slice(VALUE_CHARS).trim();
  const doubts = [
    ...doubtsOf(test.marks.slice(0, MARKS_CHARS), meanings),
    ...(isMixed && specimen === "unsaid" ? ["calculated in a run of blood and urine"] : []),
  ];
  const [low, high] = [test.low.trim(), test.high.trim()];
  // The row of urine keeps its suffix: it is never the analyte of blood.
  const code = specimen === "urine" ? written : analyte;
  return {
    names: [code],
    code,
    label: written === code ? "" : written,
    value: /[<>]/.test(test.sign) ? `${test.sign.trim()}${value}` : value,
    unit,
    range: low === "" || high === "" ? "" : `${low}-${high}`, // 0.00-0.00 is an unset range
    flag: test.marks.slice(0, MARKS_CHARS).replaceAll(" ", ""),
    notFinal: noValueReason(test, value),
    doubt: doubts.length === 0 ? null : doubts.join("; "),
  };
}

/** Returns why a row has no value; null for a value. A lost character moves the unit into the value. */
function noValueReason({ sign, measured }: TestColumns, value: string): string | null {
  if (measured.length !== MEASURED_CHARS) {
    return `the column ${JSON.stringify(measured)} has ${measured.length} characters, expected ${MEASURED_CHARS}`;
  }
  if (!/^[=<> ]?$/.test(sign)) return `the sign is ${JSON.stringify(sign)}, expected =, < or >`;
  const [, reason] = NO_VALUE.find(([pattern]) => pattern.test(value)) ?? [];
  return reason === undefined ? null : `${reason} (${value})`;
}

/** Returns the device's doubts. H and L at place 1 are not doubts: they compare with the printed range. */
export function doubtsOf(marks: string, meanings: MarkMeanings): string[] {
  return Array.from(marks).flatMap((mark, index) => {
    if (mark === " " || (index === 0 && /[HL]/.test(mark))) return [];
    const place = meanings[index + 1];
    return [place?.[mark] ?? place?.["any"] ?? `the device marks the value with ${mark} at place ${index + 1}`];
  });
}

function notForPatients(reason: string): TextReading & { readonly is: "not-for-patients" } {
  return { is: "not-for-patients", reason };
}

function problem(reason: string): TextReading {
  return { is: "problem", reason };
}
