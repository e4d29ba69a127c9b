import { type ClinicRanges, clinicRangeById, rangeText } from "./clinic-ranges.ts";
import { describePublished } from "./reference.ts";
import type { Result, Snapshot } from "./study.ts";

// Results and what their flags rest on, as both programs' `explain` prints them.

export function resultLine({ analyte, value, unit, reference_range, flag, comparator, value_text }: Result): string {
  const printed = value_text ?? `${comparator ?? ""}${value}`;
  return [analyte, printed, unit ?? "", reference_range ?? "no range", flag ?? "no flag"].join("  ");
}

/** Each result with the interval row that its flag rests on and where that is from. */
export function flagLines(
  results: readonly Result[],
  snapshot: Snapshot | null,
  ranges: ClinicRanges | undefined,
): string[] {
  if (snapshot === null)
    return results.map((result) => `  ${resultLine(result)}  (the sender did not say by which interval)`);
  const versions = `catalogue ${snapshot.catalogue}, the clinic's intervals ${snapshot.ranges ?? "none"}`;
  const lines = results.map((result, index) => {
    const row = snapshot.rows[index];
    const id = row?.interval_id ?? null;
    const why = id === null ? "no interval" : `${id}: ${sourceOf(id, ranges)}`;
    const device =
      row?.device_range == null
        ? ""
        : `; the device's range ${row.device_range} for ${row.device_species ?? "no species"}`;
    const flagged = row?.device_flag == null ? "" : `; the device's flag ${row.device_flag}`;
    return `  ${resultLine(result)}  printed ${row?.text ?? "-"}  ${why}${row?.reason == null ? "" : `; ${row.reason}`}${device}${flagged}`;
  });
  return [versions, ...lines, ...snapshot.notes.map((note) => `  note: ${note}`)];
}

function sourceOf(id: string, ranges: ClinicRanges | undefined): string {
  if (id === "device") return "the device's own, for the animal's species";
  const own = ranges && clinicRangeById(ranges, id);
  return own ? rangeText(own) : (describePublished(id) ?? "a row that this catalogue has no more");
}
