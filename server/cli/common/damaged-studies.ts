import Database from "better-sqlite3";
import { plural } from "../../../shared/platform/cli/output.ts";
import { trustedDatabase } from "../../../shared/files/folder-owner.ts";
import { isWholeStudy } from "../../records/studies/study-checksum.ts";

// The studies of a SQLite file that are not as they were stored, for backups.

/** Rows of a read. The event loop runs between two reads. */
const PAGE_ROWS = 200;
/** Max studies in a sentence. */
const NAMED_MAX = 5;

const PAGE = `
  SELECT study.*, patient.fp AS patient_fp FROM study LEFT JOIN patient ON patient.id = patient_id
  WHERE study.id > ? ORDER BY study.id LIMIT ${PAGE_ROWS}`;

type Row = Parameters<typeof isWholeStudy>[0] & { readonly id: number };

/** Finds damaged studies. @returns a sentence with the remedy; null if there are none */
export async function damagedStudies(file: string): Promise<string | null> {
  const db = new Database(trustedDatabase(file), { readonly: true, fileMustExist: true });
  try {
    const page = db.prepare<[number], Row>(PAGE);
    const fps: string[] = [];
    for (let rows = page.all(0); rows.length > 0; rows = page.all(rows.at(-1)!.id)) {
      fps.push(...rows.filter((row) => !isWholeStudy(row)).map(({ fp }) => String(fp)));
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (fps.length === 0) return null;
    const further = fps.length > NAMED_MAX ? `, and ${fps.length - NAMED_MAX} more` : "";
    const found = `the disk changed ${plural(fps.length, "row")} of studies: ${fps.slice(0, NAMED_MAX).join(", ")}${further}`;
    return `${found}; send it again with agent resend, or restore an older backup`;
  } finally {
    db.close();
  }
}
