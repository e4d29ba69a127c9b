import { analyteByCode } from "../../../shared/clinical/analytes/analytes.ts";
import type { IntervalFields } from "../../../shared/clinical/reference.ts";
import { fold } from "../../../shared/clinical/species.ts";
import { convert } from "../../../shared/clinical/analytes/units.ts";
import { readRange } from "../../../shared/clinical/analytes/value.ts";

// Finds intervals under the wrong species, by comparing them with the intervals of other sources.

export type LabelledRow = IntervalFields & { readonly source_id: string };

/** A range as a device prints it for a species. */
export interface PrintedRange {
  readonly device: string;
  readonly species: string;
  readonly analyte: string;
  readonly low: number;
  readonly high: number;
}

/** A published number that the catalogue excludes. */
export interface ExcludedRow {
  readonly source_id: string;
  readonly species: string;
  readonly analyte: string;
  readonly as_printed: string;
}

/** Returns one sentence for each row, or set of rows, with the numbers of another species. */
export function mislabelled(
  rows: readonly LabelledRow[],
  printed: readonly PrintedRange[],
  excluded: readonly ExcludedRow[],
): string[] {
  return [
    ...rows.filter((row) => isExcluded(row, excluded)).map(({ id }) => `${id} is excluded`),
    ...rows.flatMap((row) => printedForAnother(row, printed)),
    ...sharedBySpecies(rows),
    ...nearerToAnother(rows),
  ];
}

function isExcluded(row: LabelledRow, excluded: readonly ExcludedRow[]): boolean {
  return excluded.some((entry) => {
    const range = readRange(entry.as_printed);
    return (
      [entry.source_id, entry.species, entry.analyte].join() === [row.source_id, row.species, row.analyte].join() &&
      range?.low === Number(row.low) &&
      range.high === Number(row.high)
    );
  });
}

/** Finds rows of a device with the bounds that it prints for another species only. */
function printedForAnother(row: LabelledRow, printed: readonly PrintedRange[]): string[] {
  if (row.device === undefined) return [];
  const device = fold(row.device);
  const species = printed
    .filter((range) => fold(range.device).includes(device) && range.analyte === row.analyte)
    .filter(({ low, high }) => low === Number(row.low) && high === Number(row.high))
    .map((range) => range.species);
  if (species.length === 0 || species.includes(row.species)) return [];
  return [`${row.id} has the bounds that ${row.device} prints for ${[...new Set(species)].join(", ")}`];
}

const SHARED_ANALYTES_MIN = 3;

/** Finds sources with equal bounds for two species in most analytes: one of them is a copy. */
function sharedBySpecies(rows: readonly LabelledRow[]): string[] {
  const problems: string[] = [];
  for (const { source, species, rows: own } of sets(rows)) {
    for (const { species: other, rows: others } of sets(rows.filter((row) => row.source_id === source))) {
      if (species >= other) continue;
      const pairs = own.flatMap((row) =>
        others.filter(({ analyte }) => analyte === row.analyte).map((twin) => [row, twin] as const),
      );
      const same = pairs.filter(([row, twin]) => distance(row, twin) === 0);
      if (pairs.length >= SHARED_ANALYTES_MIN && same.length * 2 > pairs.length) {
        problems.push(
          `${source} gives ${species} and ${other} the same bounds for ${same.length} of ${pairs.length} analytes`,
        );
      }
    }
  }
  return problems;
}

/** Min analytes of a comparison. Fewer prove nothing: sodium and potassium are alike in most mammals. */
const COMPARED_ANALYTES_MIN = 6;

/** The species with enough sources. The two sources of the guinea pig differ more from each other than from the rabbit. */
const COMPARED_SPECIES = ["dog", "cat"];

/** Finds sources whose rows are mostly nearer to another species' rows of other sources than to their own species'. */
function nearerToAnother(rows: readonly LabelledRow[]): string[] {
  const compared = rows.filter((row) => COMPARED_SPECIES.includes(speciesOf(row)));
  return sets(compared).flatMap(({ source, species, rows: own }) => {
    const elsewhere = compared.filter(({ source_id }) => source_id !== source);
    const other = COMPARED_SPECIES.find((name) => name !== species) ?? "";
    const isNearer = own.flatMap((row) => {
      const [toOwn, toOther] = [meanDistance(row, elsewhere, species), meanDistance(row, elsewhere, other)];
      return toOwn === null || toOther === null ? [] : [toOther < toOwn];
    });
    const nearer = isNearer.filter(Boolean).length;
    if (isNearer.length < COMPARED_ANALYTES_MIN || nearer * 2 <= isNearer.length) return [];
    return [`${source} has ${nearer} of ${isNearer.length} rows of ${species} nearer to other sources' ${other}`];
  });
}

function meanDistance(row: LabelledRow, among: readonly LabelledRow[], species: string): number | null {
  const twins = among.filter((other) => other.analyte === row.analyte && speciesOf(other) === species);
  if (twins.length === 0) return null;
  return twins.reduce((sum, twin) => sum + distance(row, twin), 0) / twins.length;
}

/** Returns the distance of two intervals, as a share of their joint span: 0 for equal bounds. */
function distance(one: LabelledRow, other: LabelledRow): number {
  const [[low, high], [otherLow, otherHigh]] = [bounds(one), bounds(other)];
  const span = Math.max(high, otherHigh) - Math.min(low, otherLow);
  const apart = (Math.abs(low - otherLow) + Math.abs(high - otherHigh)) / span;
  return apart < 0.01 ? 0 : apart;
}

function bounds({ analyte: code, unit, low, high, id }: LabelledRow): [number, number] {
  const analyte = analyteByCode(code);
  const inUnit = (bound: string) => analyte && convert(analyte, Number(bound), unit, analyte.canonical_unit ?? "");
  const [lower, upper] = [inUnit(low), inUnit(high)];
  if (lower == null || upper == null) throw new Error(`${id} cannot be converted`);
  return [lower, upper];
}

interface RowSet {
  readonly source: string;
  readonly species: string;
  readonly rows: LabelledRow[];
}

/** Returns the adult rows of each source and species. */
function sets(rows: readonly LabelledRow[]): RowSet[] {
  const found = new Map<string, RowSet>();
  for (const row of rows) {
    if (row.age_max_days !== undefined || row.life_stage === "juvenile") continue;
    const key = `${row.source_id} ${speciesOf(row)}`;
    const set = found.get(key) ?? { source: row.source_id, species: speciesOf(row), rows: [] };
    set.rows.push(row);
    found.set(key, set);
  }
  return [...found.values()];
}

function speciesOf({ species, subgroup }: LabelledRow): string {
  return subgroup === undefined ? species : `${species}/${subgroup}`;
}
