import fs from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { lockFolder } from "../../files/folder-lock.ts";
import { asOwner, trustedDatabase } from "../../files/folder-owner.ts";
import { localTime } from "../../runtime/local-time.ts";
import { makePrivateFolder, syncFolder } from "../../files/private-folder.ts";
import {
  checkMembers,
  extractMember,
  type OpenBackup,
  type Progress,
  readManifest,
  withBackup,
} from "./backup-file.ts";
import type { Manifest, Member } from "./manifest.ts";
import { commitPlan, finishRestore, type RestorePlan, STAGING } from "./restore-steps.ts";
import { storedSchema } from "./sqlite-schema.ts";
import { storageAdvice } from "./storage-advice.ts";

// Checks a backup and restores it into a data folder. The old files are moved aside and not deleted, because the backup may
// turn out to be the wrong one.

/** The folder of images, in the data folder, and a query for the names that a database knows. */
export interface KnownImages {
  readonly folder: string;
  readonly query: string;
}

/** A data folder and the program that owns it. */
export interface RestoreTarget {
  readonly program: Manifest["program"];
  /** Version of the schema that this program knows. */
  readonly schema: number;
  readonly folder: string;
  /** Names in the data folder. */
  readonly database: string;
  /** Further files that the backup may have: it was made only with all that its database needs. */
  readonly files: readonly string[];
  readonly images: KnownImages | null;
  /** Changes the restored database before it is used. */
  readonly prepare?: (db: Database.Database) => void;
}

export interface RestoreReport {
  /** The folder with the files that were there before; null if there were none. */
  readonly aside: string | null;
  readonly images: number;
  /** Number of images that the backup does not know. They are with the old files. */
  readonly later: number;
}

/** Prefix of the members that belong into the folder of the configuration. */
export const CONFIG_PREFIX = "config/";
const IMAGE = /^[0-9A-Z]{26}\.dcm$/;

/** Checks a backup for a program: complete, unchanged, of a schema that it knows, with a sound database. @throws Error */
export function checkBackup(
  file: string,
  { program, schema, database }: Pick<RestoreTarget, "program" | "schema" | "database">,
  progress: Progress,
): Manifest {
  if (!fs.existsSync(file)) throw new Error(`there is no ${file}: expected the file of a backup`);
  try {
    const manifest = readManifest(file);
    if (manifest.program !== program) {
      throw new Error(`${file} is a backup of the ${manifest.program}: use ${manifest.program} restore`);
    }
    if (manifest.schema > schema) {
      const found = `schema ${manifest.schema} of version ${manifest.version}`;
      throw new Error(
        `${file} has ${found}, this program knows schemas up to ${schema}: use that version or a newer one`,
      );
    }
    if (manifest.members[0]?.name !== database) throw new Error(`${file} has no ${database}: use another backup`);
    checkMembers(file, manifest, progress);
    checkDatabase(file, manifest);
    return manifest;
  } catch (error) {
    throw storageAdvice(error, file);
  }
}

/** The backup starts with the database, and SQLite ignores what follows it. */
function checkDatabase(file: string, { schema }: Manifest): void {
  inWords(file, () => {
    const db = new Database(file, { readonly: true, fileMustExist: true });
    try {
      const found = String(db.pragma("integrity_check(1)", { simple: true }));
      if (found !== "ok") throw new Error(`${file} has a damaged database (${found}): use another backup`);
      const { version } = storedSchema(db);
      if (version === schema) return;
      throw new Error(`${file} has a database of schema ${version}, expected ${schema} as listed: use another backup`);
    } finally {
      db.close();
    }
  });
}

/** Works on the database of a backup. A crafted one may have any tables. @throws Error that names the backup */
function inWords<Result>(file: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Database.SqliteError)) throw error;
    const advised = storageAdvice(error, file);
    if (advised !== error) throw advised;
    throw new Error(
      `${file} has a database that is not as its program made it (${error.message}): use another backup`,
      {
        cause: error,
      },
    );
  }
}

/**
 * Restores a checked backup. A kill leaves the old or the new state, and a second call finishes. `force` replaces the data of the folder.
 * @throws Error with the remedy
 */
export function restoreBackup(file: string, manifest: Manifest, target: RestoreTarget, force: boolean): RestoreReport {
  const { folder, program } = target;
  const backup = `${manifest.source} ${manifest.made_at}`;
  let release: (() => void) | null = null;
  try {
    makePrivateFolder(folder);
    release = lockFolder(folder, `the ${program} is running with ${folder}: stop it, then restore`);
    const finished = asOwner(folder, finishRestore);
    return withBackup(file, (opened) => {
      const images = asOwner(folder, (here) => restoreImages(opened, manifest, { ...target, folder: here }));
      const plan = finished?.backup === backup ? finished : replace(opened, manifest, target, force, backup);
      const kept = path.join(folder, plan.aside);
      return { aside: fs.existsSync(kept) ? kept : null, images, later: plan.later.length };
    });
  } catch (error) {
    throw storageAdvice(error, path.join(folder, target.database));
  } finally {
    release?.();
  }
}

function replace(
  opened: OpenBackup,
  manifest: Manifest,
  target: RestoreTarget,
  force: boolean,
  backup: string,
): RestorePlan {
  const { folder, database } = target;
  if (!force) refuseData(manifest, target);
  const names = [database, ...target.files];
  const members = manifest.members.filter(({ name }) => names.includes(name));
  asOwner(folder, (here) => {
    makePrivateFolder(path.join(here, STAGING));
    for (const member of members) extractMember(opened, member, path.join(here, STAGING, member.name));
  });
  const later = inWords(opened.file, () => {
    prepareStaged(target);
    return laterImages(target);
  });
  const aside = `before-restore-${new Date().toISOString().replaceAll(/[:.]/g, "-")}`;
  const plan = { backup, database, files: target.files, later, aside };
  asOwner(folder, (here) => {
    commitPlan(here, plan);
    finishRestore(here);
  });
  return plan;
}

function prepareStaged({ folder, database, prepare }: RestoreTarget): void {
  if (prepare === undefined) return;
  const db = new Database(trustedDatabase(path.join(folder, STAGING, database)));
  try {
    prepare(db);
  } finally {
    db.close();
  }
}

const PART = ".part";

/**
 * Lists the image files that the staged database does not know: devices sent them after the backup, and trust that they are kept.
 * Their rows are in the old database. A partial file without a row there was never acknowledged; if that database cannot be read,
 * each may have been.
 */
function laterImages({ folder, database, images }: RestoreTarget): RestorePlan["later"] {
  if (images === null || !fs.existsSync(path.join(folder, images.folder))) return [];
  const known = namesIn(path.join(folder, STAGING, database), images);
  let before: ReadonlySet<string> | null;
  try {
    before = namesIn(path.join(folder, database), images);
  } catch {
    before = null;
  }
  return fs.readdirSync(path.join(folder, images.folder)).flatMap((name) => {
    const whole = name.endsWith(PART) ? `${name.slice(0, -PART.length)}.dcm` : name;
    if (!IMAGE.test(whole) || known.has(whole)) return [];
    if (name !== whole && before !== null && !before.has(whole)) return [];
    return [{ file: path.join(images.folder, name), kept: path.join(images.folder, whole) }];
  });
}

function namesIn(file: string, { query }: KnownImages): ReadonlySet<string> {
  const db = new Database(trustedDatabase(file), { readonly: true, fileMustExist: true });
  try {
    return new Set(db.prepare(query).pluck().all() as string[]);
  } finally {
    db.close();
  }
}

/** @throws Error if the folder has a database, whose data may be newer than the backup */
function refuseData({ made_at }: Manifest, { folder, database }: RestoreTarget): void {
  if (!fs.existsSync(path.join(folder, database))) return;
  throw new Error(
    `${folder} has data already, and the backup ends at ${localTime(made_at)}: restore into an empty folder, ` +
      "or add --force, which moves the old data aside and deletes nothing",
  );
}

/** Writes the files of the configuration that are missing in its folder. @returns their paths */
export function restoreConfig(file: string, { members }: Manifest, configFolder: string): string[] {
  const written: string[] = [];
  const root = path.resolve(configFolder);
  makePrivateFolder(root);
  const restore = (backup: OpenBackup, here: string) => {
    // The configuration itself is the first member and is written last: while it is missing, a second call goes on.
    for (const member of members.filter(({ name }) => name.startsWith(CONFIG_PREFIX)).toReversed()) {
      const place = path.resolve(root, member.name.slice(CONFIG_PREFIX.length));
      const to = path.join(here, path.relative(root, place));
      // Skips members outside the folder, which only a changed backup has.
      if (!place.startsWith(root + path.sep) || fs.existsSync(to)) continue;
      write(backup, member, to);
      written.push(place);
    }
  };
  try {
    withBackup(file, (backup) => asOwner(root, (here) => restore(backup, here)));
  } catch (error) {
    throw storageAdvice(error, root);
  }
  return written;
}

/** Writes the images that are missing. Images that are there stay. @returns the number of written images */
function restoreImages(backup: OpenBackup, { members }: Manifest, { folder, images }: RestoreTarget): number {
  if (images === null) return 0;
  let count = 0;
  for (const member of members) {
    const prefix = `${images.folder}/`;
    const name = member.name.startsWith(prefix) ? member.name.slice(prefix.length) : "";
    const to = path.join(folder, images.folder, name);
    if (!IMAGE.test(name) || fs.statSync(to, { throwIfNoEntry: false })?.size === member.bytes) continue;
    write(backup, member, to);
    count += 1;
  }
  return count;
}

/** Writes a member so that a kill leaves no part of it under its name. */
function write(backup: OpenBackup, member: Member, to: string): void {
  const part = `${to}.restoring`;
  extractMember(backup, member, part);
  fs.renameSync(part, to);
  syncFolder(path.dirname(to));
}
