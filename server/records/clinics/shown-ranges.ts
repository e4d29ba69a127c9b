import { analyteByCode } from "../../../shared/clinical/analytes/analytes.ts";
import type { ClinicRange } from "../../../shared/clinical/clinic-ranges.ts";
import { intervalFields, needsSubgroup } from "../../../shared/clinical/reference.ts";
import { subgroupsOf } from "../../../shared/clinical/species.ts";
import { shownValue } from "../../../shared/clinical/units/shown-value.ts";
import type { UnitChoice } from "../../../shared/clinical/units/unit-choice.ts";
import { chosenUnit } from "../../../shared/clinical/units/unit-systems.ts";
import { unitText } from "../../../shared/clinical/units/unit-text.ts";
import type { RangesInUse, ShownRange } from "../../dashboard/types/settings/ranges.ts";

// The clinic's own intervals as the settings show them.

/** Returns the rows in the reader's units, without those that are in them already. */
export function shownRanges(rows: readonly ClinicRange[], units: UnitChoice): Record<string, ShownRange> {
  return Object.fromEntries(rows.flatMap((row) => shownRange(row, units) ?? []).map((shown) => shown));
}

function shownRange(row: ClinicRange, units: UnitChoice): [string, ShownRange][] {
  const analyte = analyteByCode(row.analyte);
  const unit = analyte === undefined ? null : chosenUnit(units, analyte);
  if (analyte === undefined || unit === null || unit === row.unit) return [];
  const printed = (reference_range: string, value: string) =>
    shownValue(analyte, { value: Number(value), unit: row.unit, reference_range, flag: "normal" }, unit);
  const { reference_range: interval, unit: inUnit } = printed(`${row.low}-${row.high}`, row.low);
  if (interval === null || inUnit === null || inUnit === unitText(row.unit)) return [];
  const critical = (sign: "<" | ">", bound: string | undefined) =>
    bound === undefined ? "" : (printed(`${sign}${bound}`, bound).reference_range ?? "");
  const shown = {
    ...{ interval, unit: inUnit },
    ...{ critical_low: critical("<", row.critical_low), critical_high: critical(">", row.critical_high) },
  };
  return [[row.id, shown]];
}

/** The species that a row may name, with their subgroups. */
export const rangeAnimals: RangesInUse["animals"] = intervalFields.species.enum.map((species) => ({
  species,
  subgroups: [...subgroupsOf(species)],
  needs_subgroup: needsSubgroup(species),
}));
