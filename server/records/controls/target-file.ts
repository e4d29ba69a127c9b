import { analyteByCode, findAnalyte } from "../../../shared/clinical/analytes/analytes.ts";
import { readUnit } from "../../../shared/clinical/analytes/units.ts";
import { readValue } from "../../../shared/clinical/analytes/value.ts";
import { type CsvRecord, readCsv } from "../../../shared/files/table/csv-records.ts";
import { isRealDate } from "../../../shared/schema/timestamp.ts";
import type { TargetFault, TargetFile, TargetValues } from "../../dashboard/types/quality.ts";
import { targetFault } from "./targets.ts";

// Reads a table of targets, as the maker of a control gives it or a person types it from the sheet.

const LINES_MAX = 500;
const CHARS_MAX = 64;

/** One line of a table: a series of the device, and its target. */
export interface TargetLine {
  readonly line: number;
  readonly key: {
    readonly analyte: string;
    readonly unit: string;
    readonly material: string;
    readonly level: string;
    readonly lot: string;
    readonly expires: string | null;
  };
  readonly values: TargetValues;
}

type Fault = TargetFile["faults"][number];

const NEEDED = ["analyte", "level", "lot"];
const KNOWN = [...NEEDED, "unit", "material", "mean", "sd", "low", "high", "factor", "expires"];

/** Reads the lines of a table. @returns all faults if there are any, with their lines */
export function readTargetFile(text: string): { lines: TargetLine[] } | { faults: Fault[] } {
  const content = readCsv(text.replace(/^\ufeff/, ""));
  if ("fault" in content) {
    const { line, problem } = content.fault;
    return { faults: [{ line, column: null, code: "unreadable", value: problem }] };
  }
  const [header, ...records] = content.records;
  const names = (header?.cells ?? []).map((name) => name.trim().toLowerCase());
  const missing = NEEDED.filter((name) => !names.includes(name));
  if (!names.includes("mean") && !names.includes("low")) missing.push("mean");
  const start = header?.line ?? 1;
  if (missing.length > 0) {
    return {
      faults: missing.map((column) => ({ line: start, column, code: "column_missing", value: names.join(", ") })),
    };
  }
  if (records.length === 0) return { faults: [{ line: start, column: null, code: "no_lines", value: "" }] };
  if (records.length > LINES_MAX) {
    return { faults: [{ line: start, column: null, code: "too_many_lines", value: String(records.length) }] };
  }
  const read = records.map((record) => readLine(names, record));
  const lines = read.flatMap((each) => ("key" in each ? [each] : []));
  const faults = [...read.flatMap((each) => ("key" in each ? [] : each)), ...repeated(lines)];
  return faults.length > 0 ? { faults: faults.toSorted((one, other) => one.line - other.line) } : { lines };
}

function readLine(names: readonly string[], { line, cells }: CsvRecord): TargetLine | Fault[] {
  const faults: Fault[] = [];
  const fail = (column: string, code: TargetFault, value: string) => void faults.push({ line, column, code, value });
  const cell = (name: string) => (cells[names.indexOf(name)] ?? "").trim();
  for (const name of KNOWN) if (cell(name).length > CHARS_MAX) fail(name, "too_long", cell(name).slice(0, CHARS_MAX));
  for (const name of NEEDED) if (cell(name) === "") fail(name, "missing", "");
  const target = readTarget(cell, fail);
  const analyte = readAnalyte(cell("analyte"), cell("unit"), fail);
  const expires = cell("expires") === "" ? null : cell("expires");
  const isDay = expires === null || (/^\d{4}-\d\d-\d\d$/.test(expires) && isRealDate(expires));
  if (!isDay) fail("expires", "day", expires);
  if (faults.length > 0 || target === null || analyte === null) return faults;
  const { code, unit } = analyte;
  const key = { analyte: code, unit, material: cell("material"), level: cell("level"), lot: cell("lot"), expires };
  return { line, key, values: target };
}

type Fail = (column: string, code: TargetFault, value: string) => void;

function readAnalyte(name: string, unit: string, fail: Fail): { code: string; unit: string } | null {
  if (name === "") return null;
  const found = analyteByCode(name) ?? findAnalyte([name], { modality: null, urine: false, unit })?.analyte;
  if (found === undefined) {
    fail("analyte", "unknown_analyte", name);
    return null;
  }
  const read = readUnit(found, unit, 1);
  if (unit !== "" && read.unit === null) fail("unit", "unknown_unit", unit);
  return { code: found.code, unit: read.unit ?? "" };
}

/** Reads mean and SD, or a range with its factor. A range alone does not say how many SDs it has to each side. */
function readTarget(cell: (name: string) => string, fail: Fail): TargetValues | null {
  const number = (name: string): number | null => {
    const text = cell(name);
    const read = readValue(text, { decimalComma: true });
    if (read.is === "number" && read.comparator === null) return read.value;
    fail(name, text === "" ? "missing" : "not_a_number", text);
    return null;
  };
  if (cell("mean") !== "" || cell("low") === "") {
    const [mean, sd] = [number("mean"), number("sd")];
    if (mean === null || sd === null) return null;
    if (targetFault({ mean, sd }) !== null) fail("sd", "not_positive", cell("sd"));
    return { mean, sd };
  }
  const [low, high] = [number("low"), number("high")];
  const factor = ([2, 3] as const).find((each) => String(each) === cell("factor"));
  if (factor === undefined) fail("factor", "factor", cell("factor"));
  if (low === null || high === null || factor === undefined) return null;
  if (targetFault({ low, high, factor }) !== null) fail("high", "bounds", cell("high"));
  return { low, high, factor };
}

function repeated(lines: readonly TargetLine[]): Fault[] {
  const seen = new Set<string>();
  return lines.flatMap(({ line, key: { expires: _expires, ...key } }) => {
    const name = JSON.stringify(key);
    if (seen.has(name))
      return [{ line, column: null, code: "repeated" as const, value: `${key.analyte} ${key.level}` }];
    seen.add(name);
    return [];
  });
}
