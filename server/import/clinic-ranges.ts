import { ClinicRange, subjectOf, clinicRangeProblem } from "../../shared/clinical/clinic-ranges.ts";
import { readCsv } from "../../shared/files/table/csv-records.ts";
import { compileLater } from "../../shared/schema/compile-later.ts";
import { textProblems, problems } from "../../shared/schema/problems.ts";

// Reads the file of a clinic's reference intervals: one JSON object a line, or CSV with the names of the fields in its first
// line. A file replaces all intervals of the clinic.

const clinicRange = compileLater(ClinicRange);

/** Max rows of a file: every analyte for every species, with several ages and devices. */
const RANGES_MAX = 5000;

/** Reads the rows of a file. @returns all problems with their line numbers if there are any */
export function readRanges(text: string): { rows: ClinicRange[] } | { problems: string[] } {
  const rows: ClinicRange[] = [];
  const found: string[] = [];
  const seen = new Map<string, number>();
  if (text.includes("\ufffd") || text.slice(0, 16).includes("\0")) {
    return { problems: ['the file is not UTF-8: save it as UTF-8, in a spreadsheet as "CSV UTF-8"'] };
  }
  const content = rowsOf(text);
  if ("fault" in content) return { problems: [`line ${content.fault.line}: ${content.fault.problem}`] };
  for (const { number, row } of content.rows) {
    const problemsOfRow = rowProblems(row);
    if (problemsOfRow.length === 0) {
      const { id, effective_from } = row as ClinicRange;
      for (const key of [`id ${id}`, `${subjectOf(row as ClinicRange)} ${Date.parse(effective_from)}`]) {
        const first = seen.get(key);
        if (first === undefined) seen.set(key, number);
        else if (key === `id ${id}`) problemsOfRow.push(`${key} is already in line ${first}`);
        else problemsOfRow.push(`${id} has the same animals and start date as line ${first}`);
      }
    }
    found.push(...problemsOfRow.map((problem) => `line ${number}: ${problem}`));
    rows.push(row as ClinicRange);
  }
  if (rows.length > RANGES_MAX) found.push(`the file has ${rows.length} rows, at most ${RANGES_MAX}`);
  return found.length > 0 ? { problems: found } : { rows };
}

type Rows = { rows: { number: number; row: unknown }[] } | { fault: { line: number; problem: string } };

/** Returns the rows with the numbers of their lines. A spreadsheet writes a byte order mark in front. */
function rowsOf(text: string): Rows {
  const content = text.replace(/^\ufeff/, "");
  if (/^\s*"?id"?\s*[,;\t]/.test(content)) return csvRows(content);
  const lines = content.split(/\r?\n/).map((line, index) => ({ number: index + 1, line }));
  const filled = lines.filter(({ line }) => line.trim() !== "");
  return { rows: filled.map(({ number, line }) => ({ number, row: parse(line) })) };
}

function csvRows(text: string): Rows {
  const content = readCsv(text);
  if ("fault" in content) return content;
  const [header, ...records] = content.records;
  const isCommaDecimal = content.separator === ";";
  const names = header?.cells.map((name) => name.trim()) ?? [];
  const rows = records.map(({ line, cells }) => {
    const fields = cells.map((cell, index): [string, unknown] => {
      const name = names[index] ?? `column ${index + 1}`;
      return [name, fieldOf(name, cell.trim(), isCommaDecimal)];
    });
    return { number: line, row: Object.fromEntries(fields.filter(([, value]) => value !== "")) };
  });
  return { rows };
}

const WHOLE_NUMBERS = ["age_min_days", "age_max_days", "n"];
const BOUNDS = ["low", "high", "critical_low", "critical_high"];

/**
 * Converts a cell to the type of its field. An empty cell is an absent field. A spreadsheet whose decimals have a comma separates
 * cells by semicolons.
 */
function fieldOf(name: string, cell: string, isCommaDecimal: boolean): unknown {
  if (isCommaDecimal && BOUNDS.includes(name) && /^-?\d+,\d+$/.test(cell)) return cell.replace(",", ".");
  if (WHOLE_NUMBERS.includes(name) && /^\d+$/.test(cell)) return Number(cell);
  if (name === "neutered" && /^(true|false)$/i.test(cell)) return cell.toLowerCase() === "true";
  return cell;
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined;
  }
}

function rowProblems(row: unknown): string[] {
  if (row === undefined) return ["invalid JSON"];
  const problemsOfRow = [...problems(clinicRange, row), ...textProblems(row)];
  if (problemsOfRow.length > 0) return problemsOfRow;
  const problem = clinicRangeProblem(row as ClinicRange);
  return problem === null ? [] : [`${(row as ClinicRange).id} ${problem}`];
}
