import { type ClinicRanges, clinicRangeById, rangeText } from "./clinic-ranges.ts";
import { describePublished } from "./reference.ts";
import type { Result, RowSnapshot, Snapshot } from "../api/study.ts";

// Formats results with the intervals of their flags, for the `explain` commands of both programs.

export function resultLine({ analyte, value, unit, reference_range, flag, comparator, value_text }: Result): string {
  const printed = value_text ?? `${comparator ?? ""}${value}`;
  return [analyte, printed, unit ?? "", reference_range ?? "no range", flag ?? "no flag"].join("  ");
}

/** Formats each result with the interval of its flag and the source of that interval. */
export function flagLines(
  results: readonly Result[],
  snapshot: Snapshot | null,
  ranges: ClinicRanges | undefined,
): string[] {
  if (snapshot === null)
    return results.map((result) => `  ${resultLine(result)}  (the sender did not send the interval)`);
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
    const reason = row?.reason == null ? "" : `; ${row.reason}`;
    return `  ${resultLine(result)}${meaningText(row)}  printed ${row?.text ?? "-"}  ${why}${reason}${device}${flagged}`;
  });
  return [versions, ...lines, ...snapshot.notes.map((note) => `  note: ${note}`)];
}

/** Formats the meaning of a code from an image, to follow its result. */
export function meaningText(row: RowSnapshot | undefined): string {
  return row?.meaning === undefined ? "" : `  = ${row.meaning}`;
}

function sourceOf(id: string, ranges: ClinicRanges | undefined): string {
  if (id === "device") return "the device's own, for the patient's species";
  const own = ranges && clinicRangeById(ranges, id);
  return own ? rangeText(own) : (describePublished(id) ?? "a row that this catalogue lacks");
}
