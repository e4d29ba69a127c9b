import type Database from "better-sqlite3";
import type { PushedStudy } from "../../../../shared/api/study.ts";
import { ROW_BYTES, type StoredBytes } from "../devices/stored-bytes.ts";

// The documents that a device puts beside its files of results, such as its report as PDF. A document belongs to the study of the file
// with its name, or to the one study whose sample, patient's number or animal its name has. It is never read for values.

/** A file of a watched folder that became a message. */
export interface FolderFile {
  readonly name: string;
  /** A document for people; null for a file of results. */
  readonly document: { readonly bytes: Uint8Array; readonly text: string } | null;
}

/** Time between a document and a study of its name. The numbers of samples begin again. */
const NEAR_MS = 7 * 24 * 60 * 60_000;
/** Studies that are searched for the name of a document, the newest first. */
const STUDIES_MAX = 2_000;

export type Documents = ReturnType<typeof documentsOn>;

/** Statements on the table `folder_file`, for the operation that files a message. */
export function documentsOn(db: Database.Database, storedBytes: StoredBytes) {
  const sql = {
    insert: db
      .prepare(
        `INSERT INTO folder_file (message, device, name, stem, received_at, bytes, text)
       SELECT id, device, @name, @stem, received_at, @bytes, @text FROM message WHERE id = @message
       ON CONFLICT (message) DO NOTHING
       RETURNING COALESCE(length(bytes), 0) + COALESCE(length(text), 0) + ${ROW_BYTES.message} AS size`,
      )
      .pluck(),
    sourceOf: db.prepare("SELECT device, received_at AS receivedAt FROM message WHERE id = ?"),
    waiting: db.prepare(
      `SELECT f.message, f.device, f.stem, f.received_at AS receivedAt FROM folder_file f
       WHERE f.device = @device AND f.received_at >= @from AND f.bytes IS NOT NULL AND NOT EXISTS (SELECT 1 FROM message_study l WHERE l.message = f.message)
       ORDER BY f.received_at DESC LIMIT 100`,
    ),
    ofFile: db.prepare(
      `SELECT s.fp, MAX(s.revision) AS revision, s.body FROM folder_file f JOIN message_study l ON l.message = f.message
         JOIN study s ON s.fp = l.fp
       WHERE f.device = @device AND f.stem = @stem AND f.bytes IS NULL AND f.received_at BETWEEN @from AND @to AND json_valid(s.body)
       GROUP BY s.fp`,
    ),
    near: db.prepare(
      `SELECT fp, MAX(revision) AS revision, body FROM study
       WHERE rowid > (SELECT MAX(rowid) FROM study) - ${STUDIES_MAX} AND created_at BETWEEN @from AND @to AND json_valid(body) AND json_extract(body, '$.source.device_id') = @device GROUP BY fp`,
    ),
    link: db.prepare("INSERT INTO message_study (message, fp, revision) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"),
  };

  /** Finds the studies of one sample; none if there are several samples, since one of them would have another animal's document. */
  function studiesOf({ device, stem, receivedAt }: WaitingDocument): StudyRow[] {
    const span = { device, from: receivedAt - NEAR_MS, to: receivedAt + NEAR_MS };
    const ofFile = sql.ofFile.all({ ...span, stem }) as StudyRow[];
    if (ofFile.length > 0 && samplesIn(ofFile) === 1) return ofFile;
    const near = sql.near.all(span) as StudyRow[];
    for (const namesOf of [numbersOf, animalOf]) {
      const named = near.filter(({ body }) =>
        namesOf(JSON.parse(body) as PushedStudy).some((name) => isIn(name, stem)),
      );
      if (named.length > 0) return samplesIn(named) === 1 ? named : [];
    }
    return [];
  }

  return {
    /** Keeps a file of a message with its studies. @returns the documents that have their study now */
    keep(message: string, { name, document }: FolderFile): string[] {
      const { device, receivedAt } = sql.sourceOf.get(message) as { device: string; receivedAt: number };
      const { bytes = null, text = null } = document ?? {};
      const size = sql.insert.get({ message, name, stem: stemOf(name), bytes, text }) as number | undefined;
      if (size !== undefined) storedBytes.add(device, size);
      return (sql.waiting.all({ device, from: receivedAt - NEAR_MS }) as WaitingDocument[]).flatMap((waiting) => {
        const studies = studiesOf(waiting);
        for (const { fp, revision } of studies) sql.link.run(waiting.message, fp, revision);
        return studies.length > 0 ? [waiting.message] : [];
      });
    },
  };
}

interface WaitingDocument {
  readonly message: string;
  readonly device: string;
  readonly stem: string;
  readonly receivedAt: number;
}

interface StudyRow {
  readonly fp: string;
  readonly revision: number;
  readonly body: string;
}

/** Returns the name without its extension, folded, since Windows does not distinguish cases. */
function stemOf(name: string): string {
  return name
    .replace(/\.[^.]*$/, "")
    .normalize("NFC")
    .toLowerCase();
}

function samplesIn(studies: readonly StudyRow[]): number {
  const samples = studies.map(({ body }) => {
    const { patient_hint: hint, source, acquired_at } = JSON.parse(body) as PushedStudy;
    return JSON.stringify([hint?.identifier, hint?.name, source.sample_ids ?? acquired_at]);
  });
  return new Set(samples).size;
}

/** A shorter number, or one of few letters, is in many names. */
const [NUMBER_CHARS_MIN, NAME_CHARS_MIN] = [4, 3];

function numbersOf({ source, patient_hint: hint }: PushedStudy): string[] {
  const numbers = [...(source.sample_ids ?? []), hint?.identifier ?? ""];
  return numbers.filter((number) => number.length >= NUMBER_CHARS_MIN && /\d/.test(number));
}

function animalOf({ patient_hint: hint }: PushedStudy): string[] {
  const name = hint?.name ?? "";
  return name.length >= NAME_CHARS_MIN ? [name] : [];
}

/** Returns whether a name has a text as a word of its own: `4711` is in `report_4711`, not in `20264711`. */
function isIn(text: string, stem: string): boolean {
  const wanted = text.normalize("NFC").toLowerCase();
  for (let at = stem.indexOf(wanted); at >= 0; at = stem.indexOf(wanted, at + 1)) {
    const around = `${stem[at - 1] ?? ""} ${stem[at + wanted.length] ?? ""}`;
    if (!/[\p{L}\p{N}]/u.test(around)) return true;
  }
  return false;
}
