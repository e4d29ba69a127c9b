import { newUlid } from "../../../shared/api/fp.ts";
import type { FileChoices, FileFault, FileReading, LineOutcome } from "../../dashboard/types/file-import.ts";
import type { Session } from "../../database/query.ts";
import { rolledBack, type Store } from "../../database/store.ts";
import { type OpenFile, openFile } from "./read-thread.ts";
import { type StoredLine, storeItems } from "./store-items.ts";

/** Lines that are read and stored before the next ones. */
const LINES_AT_ONCE = 500;

interface TableImport {
  readonly clinicId: number;
  readonly source: string;
  readonly choices: FileChoices;
  /** Stores nothing, and returns what would become of the lines. */
  readonly isDryRun: boolean;
  readonly now: () => number;
}

/** The outcome of a file, or why it was not read. A file with an open question is not imported. */
export type TableOutcome =
  | { readonly fault: FileFault }
  | { readonly reading: FileReading; readonly counts: null }
  | {
      readonly reading: FileReading;
      readonly counts: Readonly<Record<LineOutcome, number>>;
      readonly refused: readonly StoredLine[];
    };

/** Imports the animals or owners of a CSV or Excel file in one transaction, without the lines that are refused. */
export async function importTable(
  store: Store,
  bytes: Uint8Array,
  options: TableImport,
  progress: (done: number, total: number) => void,
): Promise<TableOutcome> {
  const file = await openFile(bytes, { ...options, now: options.now() });
  if ("fault" in file) return file;
  const { reading } = file;
  try {
    if (reading.questions.length > 0) return { reading, counts: null };
    const work = async (session: Session) => storeLines(session, file, options, progress);
    return { reading, ...(await (options.isDryRun ? rolledBack(store, work) : store.transaction(work))) };
  } finally {
    await file.close();
  }
}

async function storeLines(
  session: Session,
  file: OpenFile,
  { clinicId, source, now }: TableImport,
  progress: (done: number, total: number) => void,
): Promise<{ counts: Record<LineOutcome, number>; refused: StoredLine[] }> {
  const { rows } = file.reading;
  const by = { requestId: newUlid(), address: "server import" };
  const request = { clinicId, source, now: now(), clock: now, by, batch: null };
  const counts = { new: 0, changed: 0, unchanged: 0, refused: 0 };
  const refused: StoredLine[] = [];
  for (let from = 0; from < rows; from += LINES_AT_ONCE) {
    for (const line of await storeItems(session, await file.items(from, from + LINES_AT_ONCE), request)) {
      counts[line.outcome] += 1;
      if (line.outcome === "refused") refused.push(line);
    }
    progress(Math.min(rows, from + LINES_AT_ONCE), rows);
  }
  return { counts, refused };
}
