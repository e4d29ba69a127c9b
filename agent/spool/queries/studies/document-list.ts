import type Database from "better-sqlite3";

// The documents of the folders, for the command and the page.

export interface DocumentSummary {
  /** Id of its message. */
  readonly id: string;
  readonly device: string;
  readonly name: string;
  readonly received_at: string;
  readonly bytes: number;
  /** Empty while no study has its name. */
  readonly study_fps: readonly string[];
}

/** Lists the documents, the newest first: those of a study, or with a text in their name or their pages. */
export function listDocuments(
  db: Database.Database,
  { search = "", study = null }: { readonly search?: string; readonly study?: string | null } = {},
): DocumentSummary[] {
  const rows = db
    .prepare(
      `SELECT f.message AS id, f.device, f.name, f.received_at AS receivedAt, length(f.bytes) AS bytes, f.text,
         (SELECT json_group_array(DISTINCT COALESCE(s.existing_fp, s.fp)) FROM message_study l
            JOIN study s ON s.fp = l.fp AND s.revision = l.revision WHERE l.message = f.message) AS fps
       FROM folder_file f WHERE f.bytes IS NOT NULL ORDER BY f.received_at DESC, f.rowid DESC`,
    )
    .iterate() as Iterable<DocumentRow>;
  const found: DocumentSummary[] = [];
  for (const { fps, text, receivedAt, ...row } of rows) {
    const study_fps = JSON.parse(fps) as string[];
    if (study !== null && !study_fps.includes(study)) continue;
    if (!foldText(row.name).includes(foldText(search)) && !foldText(text).includes(foldText(search))) continue;
    found.push({ ...row, received_at: new Date(receivedAt).toISOString(), study_fps });
  }
  return found;
}

interface DocumentRow {
  readonly id: string;
  readonly device: string;
  readonly name: string;
  readonly receivedAt: number;
  readonly bytes: number;
  readonly text: string;
  readonly fps: string;
}

/** A document as it was in the folder, with its text; null if the spool has none of this id. */
export function documentOf(
  db: Database.Database,
  id: string,
): { readonly name: string; readonly bytes: Uint8Array; readonly text: string } | null {
  const row = db.prepare("SELECT name, bytes, text FROM folder_file WHERE message = ? AND bytes IS NOT NULL").get(id);
  return (row as { name: string; bytes: Uint8Array; text: string } | undefined) ?? null;
}

/** Folds a text for a search: case, marks, and blanks, which a page does not have where a reader sees them. */
function foldText(text: string): string {
  return text
    .toLowerCase()
    .normalize("NFKD")
    .replaceAll("ı", "i")
    .replace(/[\s\p{M}]+/gu, "");
}
