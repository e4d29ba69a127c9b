import { printable } from "../../shared/runtime/printable.ts";
import { tableLines } from "../../shared/cli/output.ts";
import type { SetupStudy } from "../../shared/local/setup.ts";

/** Formats studies as they would be filed. */
export function studyLines(studies: readonly SetupStudy[]): string[] {
  return studies.flatMap(({ device_name, acquired_at, hint, patient, match, results }) => {
    const { identifier, name, species, owner } = hint;
    const typed = [identifier, name, species, owner].filter((part) => part !== null).join(", ");
    const rows = results.map(({ analyte, value, value_text, comparator = "", unit, reference_range, flag }) => [
      analyte,
      value_text ?? (value === null ? "" : `${comparator}${value}`),
      unit ?? "",
      reference_range ?? "",
      flag ?? "",
    ]);
    return [
      `${device_name}, ${acquired_at}`,
      `typed at the device: ${typed || "nothing"}`,
      patient === null ? `no animal yet: ${match}` : `animal: ${patient}`,
      ...tableLines(rows),
    ].map(printable);
  });
}
