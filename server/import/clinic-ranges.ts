import { Compile } from "typebox/compile";
import { ClinicRange, subjectOf, clinicRangeProblem } from "../../shared/clinical/clinic-ranges.ts";
import { nulProblems, problems } from "../../shared/api/problems.ts";

// The file of a clinic's own intervals: one JSON object a line, and the whole of what the clinic has.

const clinicRange = Compile(ClinicRange);

/** More than every analyte for every species, with room for ages and devices. */
const RANGES_MAX = 5000;

/** The rows of a file's text, or everything that is wrong with it, each with its line. */
export function readRanges(text: string): { rows: ClinicRange[] } | { problems: string[] } {
  const rows: ClinicRange[] = [];
  const found: string[] = [];
  const seen = new Map<string, number>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === "") continue;
    const number = index + 1;
    const row = parse(line);
    const faults = faultsOf(row);
    if (faults.length === 0) {
      const { id, effective_from } = row as ClinicRange;
      for (const key of [`id ${id}`, `${subjectOf(row as ClinicRange)} ${Date.parse(effective_from)}`]) {
        const first = seen.get(key);
        if (first === undefined) seen.set(key, number);
        else if (key === `id ${id}`) faults.push(`${key} stands in line ${first} already`);
        else faults.push(`${id} is for the same animals from the same day on as line ${first}`);
      }
    }
    found.push(...faults.map((fault) => `line ${number}: ${fault}`));
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

function faultsOf(row: unknown): string[] {
  if (row === undefined) return ["is no JSON"];
  const faults = [...problems(clinicRange, row), ...nulProblems(row)];
  if (faults.length > 0) return faults;
  const problem = clinicRangeProblem(row as ClinicRange);
  return problem === null ? [] : [`${(row as ClinicRange).id} ${problem}`];
}
