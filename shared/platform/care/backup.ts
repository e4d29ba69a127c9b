import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import Database from "better-sqlite3";
import { describeDamage } from "../../files/damaged-file.ts";
import { trustedDatabase } from "../../files/folder-owner.ts";
import { syncFolder } from "../../files/private-folder.ts";
import { BackupWriter, type Progress } from "./backup-file.ts";
import type { Manifest } from "./manifest.ts";
import { newerSchema } from "./schema-steps.ts";
import { storedSchema } from "./sqlite-schema.ts";
import { storageAdvice } from "./storage-advice.ts";

// Makes a backup of a data folder while its program runs. A read transaction gives one consistent state of the database.

/** The parts of a data folder that a program needs to start again. Plain data, for a thread. */
export interface BackupSource {
  readonly program: Manifest["program"];
  readonly version: string;
  /** Version of the schema that this program knows. */
  readonly schema: number;
  readonly folder: string;
  /** Name of the database in the data folder. */
  readonly database: string;
  /** Further files, by their names in the backup. A missing one ends the backup. */
  readonly files: readonly { readonly name: string; readonly path: string }[];
  /** Query for the names of images in a folder of the data folder; null to leave images out. */
  readonly images: { readonly folder: string; readonly query: string } | null;
}

export interface MadeBackup {
  readonly file: string;
  readonly bytes: number;
  readonly manifest: Omit<Manifest, "members">;
}

/** Name of an incomplete backup. */
export const PARTIAL = ".partial";

/** Pages of a step of the snapshot. */
const STEP_PAGES = 256;
/** Bytes that a backup needs on its disk in addition to its members. */
const SPARE_BYTES = 1024 * 1024;

/** Makes a backup under a temporary name, and names it `file` when it is on the disk. @throws Error with the remedy */
export async function makeBackup(
  source: BackupSource,
  file: string,
  progress: Progress = () => undefined,
): Promise<MadeBackup> {
  const target = path.resolve(file);
  const database = path.join(source.folder, source.database);
  if (!fs.existsSync(database)) {
    throw new Error(`there is no ${database}: expected the data folder that the ${source.program} has used`);
  }
  // Before the copy, which takes long.
  const absent = source.files.find(({ path: from }) => !fs.existsSync(from));
  if (absent !== undefined) throw missingFile(absent.path);
  if (fs.existsSync(target)) throw new Error(`${target} exists already: choose another name`);
  const partial = target + PARTIAL;
  try {
    removeParts(partial);
    fs.closeSync(fs.openSync(partial, "wx", 0o600));
    const made = await write(source, partial, progress);
    fs.renameSync(partial, target);
    syncFolder(path.dirname(target));
    return { file: target, ...made };
  } catch (error) {
    removeQuietly(partial);
    throw storageAdvice(error, target);
  }
}

async function write(source: BackupSource, partial: string, progress: Progress): Promise<Omit<MadeBackup, "file">> {
  const { program, version, folder, files, images } = source;
  const { names, ...state } = await copyDatabase(source, partial, progress);
  const paths = names.map((name) => ({
    name: `${images?.folder}/${name}`,
    path: path.join(folder, images!.folder, name),
  }));
  const total = fs.statSync(partial).size + [...files, ...paths].reduce((sum, each) => sum + sizeOf(each.path), 0);
  requireRoom(path.dirname(partial), total - fs.statSync(partial).size);
  let done = 0;
  const add = (bytes: number) => progress(total + (done += bytes), 2 * total);

  const descriptor = fs.openSync(partial, "r+");
  try {
    const writer = new BackupWriter(descriptor, source.database, add);
    for (const { name, path: from } of files) {
      if (!writer.add(name, from, add)) throw missingFile(from);
    }
    let missing = 0;
    for (const { name, path: from } of paths) if (!writer.add(name, from, add)) missing += 1;
    const manifest = { program, version, source: sourceName(folder), ...state, missing };
    return { bytes: writer.end(manifest), manifest };
  } finally {
    fs.closeSync(descriptor);
  }
}

function missingFile(file: string): Error {
  return new Error(`${file} is missing, and the backup needs it: restore it first`);
}

/** @returns the machine and the data folder */
export function sourceName(folder: string): string {
  return `${os.hostname()}:${path.resolve(folder)}`;
}

/** Copies the database in one state and checks the copy. The program may write meanwhile; its log grows until the end. */
async function copyDatabase(
  { folder, database: name, schema: known, images }: BackupSource,
  copy: string,
  progress: Progress,
) {
  const database = path.join(folder, name);
  const db = new Database(trustedDatabase(database), { readonly: true, fileMustExist: true });
  try {
    // Everything that was committed before this time is in the backup.
    const made_at = new Date().toISOString();
    // The first read fixes the state. Without it each commit of the program would restart the copy.
    db.exec("BEGIN");
    const stored = storedSchema(db);
    if (stored.version > known) throw newerSchema(database, stored, known);
    const names = images === null ? [] : (db.prepare(images.query).pluck().all() as string[]);
    const [pages, pageBytes] = ["page_count", "page_size"].map((each) => Number(db.pragma(each, { simple: true })));
    requireRoom(path.dirname(copy), pages! * pageBytes!);
    await db.backup(copy, {
      progress({ totalPages, remainingPages }) {
        progress(totalPages - remainingPages, 2 * totalPages);
        return STEP_PAGES;
      },
    });
    checkCopy(copy, database);
    return { made_at, schema: stored.version, names };
  } catch (error) {
    throw describeDamage(error, database);
  } finally {
    db.close();
  }
}

/** Makes the copy a single file, without the write-ahead log of its original. @throws Error if it is damaged */
function checkCopy(copy: string, database: string): void {
  const db = new Database(copy);
  try {
    db.pragma("journal_mode = DELETE");
    const found = String(db.pragma("quick_check(1)", { simple: true }));
    if (found !== "ok") throw new Error(`${database} is damaged (${found}): restore an earlier backup`);
  } finally {
    db.close();
  }
}

function requireRoom(folder: string, bytes: number): void {
  const { bavail, bsize } = fs.statfsSync(folder);
  if (bavail * bsize >= bytes + SPARE_BYTES) return;
  const [free, needed] = [bavail * bsize, bytes + SPARE_BYTES].map((size) => `${Math.ceil(size / 1e6)} MB`);
  throw new Error(`${folder} has ${free} free and the backup needs ${needed}: make room there, or use another disk`);
}

function sizeOf(file: string): number {
  return fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

function removeParts(partial: string): void {
  for (const name of [partial, `${partial}-journal`, `${partial}-wal`, `${partial}-shm`])
    fs.rmSync(name, { force: true });
}

function removeQuietly(partial: string): void {
  try {
    removeParts(partial);
  } catch {
    // The first failure matters.
  }
}
