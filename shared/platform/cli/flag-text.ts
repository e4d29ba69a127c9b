import { type ClinicRanges, clinicRangeById, limitById, rangeText } from "../../clinical/clinic-ranges.ts";
import { whyContext, whyInterval } from "../../clinical/passport/why-interval.ts";
import { whyText } from "../../clinical/passport/why-words.ts";
import { describePublished } from "../../clinical/reference.ts";
import { flagReasonText } from "../../clinical/flag-reasons.ts";
import type { Result, RowSnapshot, Snapshot } from "../../api/study.ts";

// Formats results with the intervals of their flags, for the `explain` commands of both programs.

/** Formats a result as the API has it. */
export function resultLine(result: Result): string {
  return lineOf(result.analyte, result, undefined);
}

/**
 * Formats each result with the origin of its code and with the device's words for it: its name of an own code, or the meaning of
 * a code in an image.
 */
function resultLines(results: readonly Result[], snapshot: Snapshot | null): string[] {
  return results.map((result, index) => lineOf(codeText(result, snapshot?.rows[index]), result, snapshot?.rows[index]));
}

function lineOf(code: string, result: Result, row: RowSnapshot | undefined): string {
  const { value, unit, reference_range, flag, comparator, value_text, comment, abnormal } = result;
  // No interval of ours applies to the device's own code, so its own range and flag are shown.
  const own = result.code_source === "device" ? row : undefined;
  return [
    code,
    value_text ?? `${comparator ?? ""}${value}`,
    unit ?? "",
    own?.device_range == null ? (reference_range ?? "no range") : `the device's range ${own.device_range}`,
    own?.device_flag == null
      ? (flag ?? (abnormal === true ? "abnormal" : "no flag"))
      : `the device's flag ${own.device_flag}`,
    ...(comment === undefined ? [] : [`in doubt: ${comment}`]),
    ...(row?.meaning === undefined ? [] : [`= ${row.meaning}`]),
  ].join("  ");
}

/** Formats the analyte, and the origin of a code outside the catalogue. */
function codeText({ analyte, code_source }: Result, row: RowSnapshot | undefined): string {
  if (code_source === undefined) return analyte;
  const name = row?.device_label ?? "";
  if (code_source === "device") return `${analyte} (${name === "" ? "" : `${name}, `}the device's own code)`;
  const sent = row?.device_code === undefined ? "" : ` for ${`${row.device_code} ${name}`.trimEnd()}`;
  return `${analyte} (the clinic's code${sent})`;
}

/** Formats each result with the interval of its flag, the source of that interval and why it applies. */
export function flagLines(
  { results, acquired_at }: { readonly results: readonly Result[]; readonly acquired_at: string },
  snapshot: Snapshot | null,
  ranges: ClinicRanges | undefined,
): string[] {
  const printed = resultLines(results, snapshot);
  if (snapshot === null) return printed.map((line) => `  ${line}  (the sender did not send the interval)`);
  const context = whyContext(snapshot, acquired_at);
  const versions = `catalogue ${snapshot.catalogue}, the clinic's intervals ${snapshot.ranges ?? "none"}`;
  const lines = results.map(({ code_source }, index) => {
    const row = snapshot.rows[index];
    const id = row?.interval_id ?? null;
    // The reason for which the device's interval applies names its origin.
    const source = id === null ? "no interval" : id === "device" ? id : `${id}: ${sourceOf(id, ranges)}`;
    const reasons = row === undefined ? [] : whyInterval(row, ranges, context);
    const why = reasons.length === 0 ? "" : `; ${whyText(reasons, "en")}`;
    // The line of the device's own code shows them already.
    const shown = code_source === "device";
    const device =
      row?.device_range == null || shown
        ? ""
        : `; the device's range ${row.device_range} for ${row.device_species ?? "no species"}`;
    const flagged = row?.device_flag == null || shown ? "" : `; the device's flag ${row.device_flag}`;
    const limit = row?.limit_id === undefined ? "" : limitText(row.limit_id, ranges);
    const reason = row?.reason == null ? "" : `; ${flagReasonText(row.reason, "en")}`;
    return `  ${printed[index]}  printed ${row?.text ?? "-"}  ${source}${why}${limit}${reason}${device}${flagged}`;
  });
  return [versions, ...lines, ...snapshot.notes.map((note) => `  note: ${note}`)];
}

function limitText(id: string, ranges: ClinicRanges | undefined): string {
  const limit = ranges && limitById(ranges, id);
  if (limit === undefined) return `; critical by the accepted limit ${id}`;
  const { low = "", high = "", unit, accepted_by, accepted_at, source } = limit;
  return `; critical by the limit ${low}..${high} ${unit} that ${accepted_by} accepted at ${accepted_at} (${source})`;
}

function sourceOf(id: string, ranges: ClinicRanges | undefined): string {
  const own = ranges && clinicRangeById(ranges, id);
  return own ? rangeText(own) : (describePublished(id) ?? "a row that this catalogue lacks");
}
