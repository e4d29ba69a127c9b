import { differenceOf, isSameDevice } from "../../../shared/clinical/compare/compare.ts";
import type { PatientStudyHead, SideBySide, SideBySideRow } from "../../dashboard/types/patients.ts";
import { asPrinted, isSameSubject, type PlacedResult, type PlacedStudy, shownPlaced } from "./compared-results.ts";

// The same animal on two devices: what both measured within a day.

const DAY_MS = 86_400_000;

/** Pairs of studies that a page shows. */
const PAIRS_MAX = 6;

/** Takes the studies the newest first, each with its head for the dashboard. */
export function sideBySide(
  studies: readonly { readonly placed: PlacedStudy; readonly head: PatientStudyHead }[],
): SideBySide[] {
  const pairs: SideBySide[] = [];
  for (const [index, later] of studies.entries()) {
    for (const earlier of studies.slice(index + 1)) {
      const apart = Date.parse(later.head.acquired_at) - Date.parse(earlier.head.acquired_at);
      if (apart > DAY_MS || pairs.length === PAIRS_MAX) break;
      if (isSameDevice(later.placed.device, earlier.placed.device)) continue;
      const rows = earlier.placed.results.flatMap((one) => rowOf(one, later.placed.results));
      if (rows.length > 0) pairs.push({ studies: [earlier.head, later.head], rows });
    }
  }
  return pairs;
}

function rowOf(one: PlacedResult, others: readonly PlacedResult[]): SideBySideRow[] {
  if (one.compared === null) return [];
  const other = others.find((each) => each.compared !== null && isSameSubject(each, one));
  if (other?.compared == null) return [];
  const [first, second] = [shownPlaced(one), shownPlaced(other)];
  return [
    {
      analyte: other.result.analyte,
      name: other.analyte?.name ?? null,
      name_tr: other.analyte?.name_tr ?? null,
      values: [
        { analyte: one.result.analyte, text: first.value, unit: first.unit },
        { analyte: other.result.analyte, text: second.value, unit: second.unit },
      ],
      difference: asPrinted(differenceOf(one.compared, other.compared), [first.value, second.value]),
    },
  ];
}
