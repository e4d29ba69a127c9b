import { Compile } from "typebox/compile";
import { ClinicRange, subjectOf, clinicRangeProblem } from "../../shared/clinical/clinic-ranges.ts";
import { nulProblems, problems } from "../../shared/api/problems.ts";

// Reads the file of a clinic's reference intervals: one JSON object a line. A file replaces all intervals of the clinic.

const clinicRange = Compile(ClinicRange);

/** Max rows of a file: every analyte for every species, with several ages and devices. */
const RANGES_MAX = 5000;

/** Reads the rows of a file. @returns all problems with their line numbers if there are any */
export function readRanges(text: string): { rows: ClinicRange[] } | { problems: string[] } {
  const rows: ClinicRange[] = [];
  const found: string[] = [];
  const seen = new Map<string, number>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === "") continue;
    const number = index + 1;
    const row = parse(line);
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

function parse(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined;
  }
}

function rowProblems(row: unknown): string[] {
  if (row === undefined) return ["invalid JSON"];
  const problemsOfRow = [...problems(clinicRange, row), ...nulProblems(row)];
  if (problemsOfRow.length > 0) return problemsOfRow;
  const problem = clinicRangeProblem(row as ClinicRange);
  return problem === null ? [] : [`${(row as ClinicRange).id} ${problem}`];
}
