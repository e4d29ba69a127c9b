import type Database from "better-sqlite3";
import type { PushedStudy, Snapshot } from "../../../../shared/api/study.ts";

/** A code of a device that the catalogue did not find, as the stored studies hold it. */
export interface SeenCode {
  readonly device: string;
  readonly code: string;
  /** The device's name of the test; null without one. */
  readonly label: string | null;
  /** Results under the device's code. */
  readonly unknown: number;
  /** Results under the analyte that the clinic mapped the code to. */
  readonly mapped: number;
  /** The value as printed in the newest study, its unit, and the time of the measurement. */
  readonly last: { readonly value: string; readonly unit: string | null; readonly at: string };
}

/** Max revisions that are read, the newest first. They hold months of a clinic, and are read in two seconds. */
const REVISIONS_MAX = 10_000;

/** Lists the codes outside the catalogue in the newest studies, the most frequent first. A study counts as it is now. */
export function listSeenCodes(db: Database.Database, revisionsMax = REVISIONS_MAX): SeenCode[] {
  const revisions = db.prepare(
    `SELECT fp, CASE WHEN instr(body, '"code_source"') > 0 THEN body END AS body,
       CASE WHEN instr(body, '"code_source"') > 0 THEN snapshot END AS snapshot
     FROM study ORDER BY rowid DESC LIMIT ?`,
  );
  const studies = new Set<string>();
  const codes = new Map<string, SeenCode>();
  for (const { fp, body, snapshot } of revisions.iterate(revisionsMax) as IterableIterator<RevisionRow>) {
    if (studies.has(fp)) continue;
    studies.add(fp);
    if (body === null || snapshot === null) continue;
    for (const seen of codesIn(JSON.parse(body) as PushedStudy, JSON.parse(snapshot) as Snapshot)) {
      const key = JSON.stringify([seen.device, seen.code]);
      const newer = codes.get(key);
      const counts = { unknown: (newer?.unknown ?? 0) + seen.unknown, mapped: (newer?.mapped ?? 0) + seen.mapped };
      codes.set(key, { ...seen, ...newer, label: newer?.label ?? seen.label, ...counts });
    }
  }
  const frequency = ({ unknown, mapped }: SeenCode) => unknown + mapped;
  return [...codes.values()].toSorted((one, other) => frequency(other) - frequency(one));
}

interface RevisionRow {
  readonly fp: string;
  /** Null for a study whose codes are all of the catalogue. */
  readonly body: string | null;
  readonly snapshot: string | null;
}

function codesIn({ source, acquired_at, results }: PushedStudy, { rows }: Snapshot): SeenCode[] {
  return results.flatMap(({ code_source, analyte, unit }, index) => {
    const row = rows[index];
    if (code_source === undefined || row === undefined) return [];
    const { device_code = analyte, device_label = null, text } = row;
    const isMapped = code_source === "clinic";
    return [
      {
        device: source.device_id,
        code: device_code,
        label: device_label,
        unknown: isMapped ? 0 : 1,
        mapped: isMapped ? 1 : 0,
        last: { value: text, unit, at: acquired_at },
      },
    ];
  });
}
