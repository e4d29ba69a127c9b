import { type Analyte, analyteByCode } from "../../../shared/clinical/analytes/analytes.ts";
import { convert } from "../../../shared/clinical/analytes/units.ts";
import type { ClinicRange } from "../../../shared/clinical/clinic-ranges.ts";
import { intervalFields, needsSubgroup } from "../../../shared/clinical/reference.ts";
import { subgroupsOf } from "../../../shared/clinical/species.ts";
import { shownValue } from "../../../shared/clinical/units/shown-value.ts";
import type { UnitChoice } from "../../../shared/clinical/units/unit-choice.ts";
import { chosenUnit, decimalsIn } from "../../../shared/clinical/units/unit-systems.ts";
import { unitText } from "../../../shared/clinical/units/unit-text.ts";
import type { LimitShown } from "../../dashboard/types/settings/limits.ts";
import type { ShownUnit } from "../../dashboard/types/settings/own-intervals.ts";
import type {
  ChangedRange,
  RangeChanges,
  RangeDifference,
  RangesInUse,
  ShownRange,
} from "../../dashboard/types/settings/ranges.ts";

// The clinic's own intervals and limits as the settings show them: in the reader's units. What is stored stays as it was typed.

/** Returns the rows in the reader's units, without those that are in them already. */
export function shownRanges(rows: readonly ClinicRange[], units: UnitChoice): Record<string, ShownRange> {
  return Object.fromEntries(rows.flatMap((row) => shownRange(row, units) ?? []).map((shown) => shown));
}

function shownRange(row: ClinicRange, units: UnitChoice): [string, ShownRange][] {
  const to = readersUnit(row, units);
  if (to === null) return [];
  const { reference_range: interval } = printed(to, row.unit, `${row.low}-${row.high}`, row.low);
  if (interval === null) return [];
  const shown = {
    ...{ interval, unit: unitText(to.unit) },
    critical_low: shownBound(to, row.unit, "<", row.critical_low) ?? "",
    critical_high: shownBound(to, row.unit, ">", row.critical_high) ?? "",
  };
  return [[row.id, shown]];
}

const BOUNDS = ["low", "high", "critical_low", "critical_high"] as const satisfies (keyof ClinicRange)[];

/** Adds the reader's units to the difference that an import makes. A changed row may change its unit, too. */
export function shownChanges(
  changes: RangeDifference,
  before: readonly ClinicRange[],
  units: UnitChoice,
): RangeChanges {
  const old = new Map(before.map((row) => [row.id, row]));
  return {
    ...changes,
    changed: changes.changed.map(({ row, fields }) => ({
      row,
      fields: fields.map((change) => ({ ...change, ...shownChange(change, old.get(row.id) ?? row, row, units) })),
    })),
    shown: shownRanges([...changes.added, ...changes.removed], units),
  };
}

function shownChange(
  { field }: ChangedRange["fields"][number],
  before: ClinicRange,
  after: ClinicRange,
  units: UnitChoice,
): Pick<ChangedRange["fields"][number], "shown"> {
  const bound = BOUNDS.find((each) => each === field);
  if (bound === undefined || [before, after].every((row) => readersUnit(row, units) === null)) return {};
  const shown = (row: ClinicRange) => {
    const to = readersUnit(row, units);
    const text = to === null ? row[bound] : bareBound(to, row.unit, row[bound]);
    return text === undefined ? null : `${text} ${unitText(to?.unit ?? row.unit)}`;
  };
  return { shown: { from: shown(before), to: shown(after) } };
}

/** Returns the bounds of a critical limit in the reader's unit; null if they are in it already. */
export function shownLimit(
  limit: Pick<LimitShown, "analyte" | "unit" | "low" | "high">,
  units: UnitChoice,
): LimitShown["shown"] {
  const to = readersUnit(limit, units);
  if (to === null) return null;
  const [low, high] = [limit.low, limit.high].map((bound) => bareBound(to, limit.unit, bound));
  return { ...(low !== undefined && { low }), ...(high !== undefined && { high }), unit: unitText(to.unit) };
}

/** Returns the reader's unit for values of an analyte that are in another unit, and how they are written in it. */
export function shownUnit(of: { analyte: string; unit: string | null }, units: UnitChoice): ShownUnit | null {
  const { unit: from } = of;
  if (from === null) return null;
  const to = readersUnit({ analyte: of.analyte, unit: from }, units);
  const factor = to === null ? null : convert(to.analyte, 1, from, to.unit);
  if (to === null || factor === null) return null;
  return { unit: unitText(to.unit), factor, decimals: decimalsIn(to.analyte, to.unit) };
}

interface ReadersUnit {
  readonly analyte: Analyte;
  readonly unit: string;
}

/** Returns the unit in which the reader has an analyte; null if it is the given one, is written like it, or has no factor. */
function readersUnit(
  { analyte: code, unit }: { analyte: string; unit: string },
  units: UnitChoice,
): ReadersUnit | null {
  const analyte = analyteByCode(code);
  const chosen = analyte === undefined ? null : chosenUnit(units, analyte);
  if (analyte === undefined || chosen === null || unitText(chosen) === unitText(unit)) return null;
  return convert(analyte, 1, unit, chosen) === null ? null : { analyte, unit: chosen };
}

function shownBound(to: ReadersUnit, from: string, sign: "<" | ">", bound: string | undefined): string | null {
  return bound === undefined ? null : printed(to, from, `${sign}${bound}`, bound).reference_range;
}

function bareBound(to: ReadersUnit, from: string, bound: string | undefined): string | undefined {
  return shownBound(to, from, "<", bound)?.slice("<".length);
}

function printed({ analyte, unit }: ReadersUnit, from: string, reference_range: string, value: string) {
  return shownValue(analyte, { value: Number(value), unit: from, reference_range, flag: "normal" }, unit);
}

/** The species that a row may name, with their subgroups. */
export const rangeAnimals: RangesInUse["animals"] = intervalFields.species.enum.map((species) => ({
  species,
  subgroups: [...subgroupsOf(species)],
  needs_subgroup: needsSubgroup(species),
}));
