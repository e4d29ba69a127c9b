import type { PushedStudy, Result } from "../../../shared/api/study.ts";
import { valueText } from "../../../shared/clinical/units/value-text.ts";

// Finds the codes of a pushed study that the catalogue does not know.

/** A code of a device as a study shows it. It names no patient and no study. */
export interface UnknownCode {
  readonly code: string;
  /** The device's name of the test; null if it sends none. */
  readonly label: string | null;
  readonly unit: string | null;
  /** The printed value; null for long words, which may be a comment that names somebody. */
  readonly value: string | null;
  /** Number of studies that the code was not counted for: 0 if the previous revision has it too. */
  readonly newStudies: 0 | 1;
}

export interface CodeNews {
  readonly unknown: readonly UnknownCode[];
  /** Codes that are unknown no longer: the clinic mapped them, or a corrected study found them in the catalogue. */
  readonly known: readonly string[];
}

/** Max characters of a value in the list. Words of results, such as `NOT DETECTED`, are shorter. */
const VALUE_MAX = 32;

/** Returns what a study reveals about its device's codes, each once, in the order of the codes. `before`: the previous revision. */
export function codeNews(
  { results, snapshot }: Pick<PushedStudy, "results" | "snapshot">,
  before: readonly Result[],
): CodeNews {
  const counted = new Set(before.flatMap(({ analyte, code_source }) => (code_source === "device" ? [analyte] : [])));
  const unknown = new Map<string, UnknownCode>();
  const known = new Set<string>();
  for (const [index, result] of results.entries()) {
    const { analyte, code_source, unit } = result;
    const kept = snapshot?.rows[index];
    const row = kept?.analyte === analyte ? kept : undefined;
    if (code_source !== "device") {
      const sent = row?.device_code;
      if (sent !== undefined && (code_source === "clinic" || counted.has(sent))) known.add(sent);
      continue;
    }
    const printed = valueText(result);
    unknown.set(analyte, {
      code: analyte,
      label: row?.device_label ?? null,
      unit,
      value: printed.length <= VALUE_MAX ? printed : null,
      newStudies: counted.has(analyte) ? 0 : 1,
    });
  }
  // Servers that share a database then lock the rows in the same order.
  const inOrder = [...unknown.values()].toSorted((a, b) => (a.code < b.code ? -1 : 1));
  return { unknown: inOrder, known: [...known].filter((code) => !unknown.has(code)).toSorted() };
}
