import type { Result } from "../../../shared/api/study.ts";
import type { StudyHistory } from "./facts.ts";

// The changes since a study was first filed, for the status of its resources.

/** A revision that clinics could read. */
interface ReadRevision {
  readonly patientFp: string;
  readonly results: readonly Result[];
}

/**
 * Compares a study with its earlier filed revisions. A changed value or another patient corrects it, a new result appends to it, and
 * a changed range or flag amends it.
 */
export function historyOf(current: ReadRevision, earlier: readonly ReadRevision[]): StudyHistory {
  const before = earlier.map(({ results }) => resultsByName(results));
  const states = [...resultsByName(current.results)].map(([name, result]) => {
    const old = before.flatMap((results) => results.get(name) ?? []);
    if (old.some((each) => measured(each) !== measured(result))) return "corrected";
    return old.some((each) => assessed(each) !== assessed(result)) ? "amended" : "final";
  });
  return { report: reportState(current, earlier, states), results: states };
}

function reportState(
  current: ReadRevision,
  earlier: readonly ReadRevision[],
  states: StudyHistory["results"],
): StudyHistory["report"] {
  const names = resultsByName(current.results);
  const lost = earlier.some(({ results }) => [...resultsByName(results).keys()].some((name) => !names.has(name)));
  const moved = earlier.some(({ patientFp }) => patientFp !== current.patientFp);
  if (lost || moved || states.includes("corrected")) return "corrected";
  if (states.includes("amended")) return "amended";
  return earlier.some(({ results }) => results.length < current.results.length) ? "appended" : "final";
}

/** Results by their analyte, and by their place among those of the same one. */
function resultsByName(results: readonly Result[]): Map<string, Result> {
  const counts = new Map<string, number>();
  return new Map(
    results.map((result) => {
      const count = (counts.get(result.analyte) ?? 0) + 1;
      counts.set(result.analyte, count);
      return [`${count} ${result.analyte}`, result];
    }),
  );
}

function measured({ value, unit, comparator, value_text }: Result): string {
  return JSON.stringify([value, unit, comparator ?? null, value_text ?? null]);
}

function assessed({ reference_range, flag, abnormal, comment }: Result): string {
  return JSON.stringify([reference_range, flag, abnormal === true, comment ?? null]);
}
