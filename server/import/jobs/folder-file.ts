import { createHash } from "node:crypto";
import type { FileFault, FileQuestion, FileReading } from "../../dashboard/types/file-import.ts";
import { query, type Session, uncachedWrite } from "../../database/query.ts";
import { type FileImportColumns, parseStored } from "../../database/schema.ts";
import type { Store } from "../../database/store.ts";
import { openFile } from "../table/read-thread.ts";
import { beginPhase, insertImport, keepReading } from "./file-imports.ts";
import { shownName, toParts } from "./stored-file.ts";

// A file that an agent brings from a watched folder. Nobody is there to answer: a file without an open question is imported in the
// background, and another one waits for a person at the dashboard.

export interface FolderFile {
  readonly clinicId: number;
  readonly keyId: number;
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly now: number;
}

export type TakenFile =
  /** It is imported in the background. */
  | { readonly is: "imported" }
  /** The last file of its name had the same content. */
  | { readonly is: "known" }
  | { readonly is: "question"; readonly questions: readonly FileQuestion[]; readonly missing: FileReading["missing"] }
  | { readonly is: "fault"; readonly fault: FileFault };

/**
 * Takes a file once. The same request again has the same answer while the file waits for a person. A program that exports under one
 * name may come back to an earlier content, which is newer than what came between.
 */
export async function takeFolderFile(store: Store, file: FolderFile): Promise<TakenFile> {
  const { clinicId, keyId, name, bytes, now } = file;
  const asked = remembered(file);
  const before = await findKnown(store, asked);
  if (before !== undefined) return before.phase === "read" ? answerOf(before) : { is: "known" };
  const parts = await toParts(bytes);
  const opened = await openFile(bytes, { clinicId, choices: {}, now });
  const [reading, fault] = "fault" in opened ? [null, opened.fault] : [opened.reading, null];
  if (!("fault" in opened)) await opened.close();
  const isOpen = reading === null || reading.questions.length > 0;
  const keep = async (session: Session) => {
    if ((await findKnown(session, asked)) !== undefined) return false;
    const { id } = await insertImport(session, {
      clinicId,
      keyId,
      userId: null,
      fileName: shownName(name),
      parts,
      now,
    });
    await session.all(forgetOld, { before: now - REMEMBERED_MS });
    await session.all(forgetName, asked);
    await session.all(insertKnown, { ...asked, id, now });
    await keepReading(session, id, { choices: {}, reading, fault, userId: null });
    if (!isOpen) await beginPhase(session, id, "running", now);
    return true;
  };
  return (await store.transaction(keep)) ? outcomeOf(reading, fault) : { is: "known" };
}

function answerOf({ reading, fault }: Pick<FileImportColumns, "reading" | "fault">): TakenFile {
  return outcomeOf(parseStored(reading), parseStored(fault));
}

function outcomeOf(reading: FileReading | null, fault: FileFault | null): TakenFile {
  if (fault !== null) return { is: "fault", fault };
  if (reading === null || reading.questions.length === 0) return { is: "imported" };
  return { is: "question", questions: reading.questions, missing: reading.missing };
}

/** Time for which the same file is known again. */
const REMEMBERED_MS = 400 * 24 * 3_600_000;

/** How a file is remembered. */
interface Remembered {
  readonly clinicId: number;
  /** Its name and its content. The last file of a name is the only one of these that begins with the digest of the name. */
  readonly digest: string;
  readonly from: string;
  readonly to: string;
}

function remembered({ clinicId, name, bytes }: FolderFile): Remembered {
  const ofName = createHash("sha256").update(name).digest("hex");
  const ofContent = createHash("sha256").update(bytes).digest("hex");
  return { clinicId, digest: `${ofName}.${ofContent}`, from: `${ofName}.`, to: `${ofName}/` };
}

/** Finds the file if it is the last one of its name. */
async function findKnown(session: Session, file: Remembered) {
  const last = await session.first(lastOfName, file);
  return last?.digest === file.digest ? last : undefined;
}

const lastOfName = query((db, p: Remembered) =>
  db
    .selectFrom("imported_file")
    .leftJoin("file_import", "file_import.id", "imported_file.import_id")
    .select(["imported_file.digest", "file_import.phase", "file_import.reading", "file_import.fault"])
    .where("imported_file.clinic_id", "=", p.clinicId)
    .where("digest", ">", p.from)
    .where("digest", "<", p.to)
    .limit(1),
);

const insertKnown = uncachedWrite((db, p: Remembered & { id: number; now: number }) =>
  db.insertInto("imported_file").values({ clinic_id: p.clinicId, digest: p.digest, import_id: p.id, at: p.now }),
);

const forgetName = uncachedWrite((db, p: Remembered) =>
  db
    .deleteFrom("imported_file")
    .where("clinic_id", "=", p.clinicId)
    .where("digest", ">", p.from)
    .where("digest", "<", p.to),
);

const forgetOld = uncachedWrite((db, p: { before: number }) =>
  db.deleteFrom("imported_file").where("at", "<", p.before),
);
