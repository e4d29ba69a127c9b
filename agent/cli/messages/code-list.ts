import { analyteByCode, findAnalyte } from "../../../shared/clinical/analytes/analytes.ts";
import { tableLines } from "../../../shared/platform/cli/output.ts";
import { zonedTime } from "../../report/device-time.ts";
import type { ListedCode } from "../../tools/offline/code-list.ts";

// The text of `agent codes`.

const HEAD = ["DEVICE", "CODE", "TEST", "LAST VALUE", "LAST MEASURED", "RESULTS", "ANALYTE"];

/** Formats the codes as rows under a header. */
export function codeLines(codes: readonly ListedCode[], timeZone: string): string[] {
  return tableLines([HEAD, ...codes.map((code) => cells(code, timeZone))]);
}

function cells(listed: ListedCode, timeZone: string): string[] {
  const { device, code, label, count, last_value, last_unit, last_measured_at } = listed;
  const time = last_measured_at === null ? "never" : zonedTime(Date.parse(last_measured_at), timeZone).slice(0, 16);
  const value = last_value === null ? "-" : [last_value, last_unit ?? ""].join(" ").trim();
  return [device, code, label ?? "-", value, time.replace("T", " "), String(count), analyteCell(listed)];
}

function analyteCell({ code, mapped_to, unknown_count, suggestions }: ListedCode): string {
  const known = mapped_to === null ? findAnalyte([code], { modality: null, urine: false }) : null;
  if (known !== null) return `${known.analyte.code}, but its value or its specimen is of another kind`;
  if (mapped_to === null) return suggestions.length === 0 ? "unknown" : `unknown, perhaps ${suggestions.join(" or ")}`;
  if (unknown_count === 0) return mapped_to;
  const kind = analyteByCode(mapped_to)?.value_type === "numeric" ? "no number" : "no word";
  return `${mapped_to}, ${unknown_count} not yet: reprocess them, unless the value is ${kind}`;
}
