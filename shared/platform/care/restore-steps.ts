import fs from "node:fs";
import path from "node:path";
import { type Static, Type } from "typebox";
import { lockFolder } from "../../files/folder-lock.ts";
import { asOwner } from "../../files/folder-owner.ts";
import { makePrivateFolder, syncFolder } from "../../files/private-folder.ts";
import { storageAdvice } from "./storage-advice.ts";
import { compileLater } from "../../schema/compile-later.ts";

// The last steps of a restore: renames that replace the files of a data folder. A plan on the disk makes them one step. A kill
// before the plan leaves the old state; after it, the next start or restore repeats the renames to the end.

/** Folder of the new files, in the data folder. */
export const STAGING = "restoring";
const PLAN = "restore.json";

// Names that a plan may have. It moves files, so a changed plan must not lead out of the data folder.
const FileName = Type.String({ pattern: "^\\w[\\w.-]*$" });
const ImageName = Type.String({ pattern: "^images[\\\\/][0-9A-Z]{26}\\.(dcm|part)$" });

const Plan = Type.Object({
  /** The backup, by its source and time. */
  backup: Type.String(),
  /** Name of the database. It is moved last. */
  database: FileName,
  /** Names of the other new files. */
  files: Type.Array(FileName),
  /** Files that the new database does not know, with the names that they get in the folder of the old files. */
  later: Type.Array(Type.Object({ file: ImageName, kept: ImageName })),
  /** Folder in the data folder for the files that were there before. */
  aside: Type.String({ pattern: "^before-restore-[\\w-]+$" }),
});
type Plan = Static<typeof Plan>;
export type RestorePlan = Readonly<Omit<Plan, "files" | "later">> & {
  readonly files: readonly string[];
  readonly later: readonly Readonly<Plan["later"][number]>[];
};

const compiled = compileLater(Plan);

/** Decides the restore: from here on it is done, even after a kill. */
export function commitPlan(folder: string, plan: RestorePlan): void {
  syncFolder(path.join(folder, STAGING));
  const part = path.join(folder, `${PLAN}.part`);
  fs.writeFileSync(part, JSON.stringify(plan), { mode: 0o600, flush: true });
  fs.renameSync(part, path.join(folder, PLAN));
  syncFolder(folder);
}

/** Finishes a decided restore and removes an undecided one. The caller has the lock. @returns the finished plan, or null */
export function finishRestore(folder: string): RestorePlan | null {
  const plan = readPlan(folder);
  if (plan !== null) replaceFiles(folder, plan);
  fs.rmSync(path.join(folder, STAGING), { recursive: true, force: true });
  return plan;
}

/** Finishes an interrupted restore before a program opens the database. @throws Error while a restore is running */
export function settleRestore(folder: string): void {
  if (![STAGING, PLAN].some((name) => fs.existsSync(path.join(folder, name)))) return;
  const release = lockFolder(folder, `a restore or another server is running with ${folder}: end it first`);
  try {
    asOwner(folder, finishRestore);
  } catch (error) {
    throw storageAdvice(error, folder);
  } finally {
    release();
  }
}

function readPlan(folder: string): RestorePlan | null {
  const file = path.join(folder, PLAN);
  if (!fs.existsSync(file)) return null;
  const plan = parsed(fs.readFileSync(file, "utf8"));
  if (compiled.Check(plan)) return plan;
  throw new Error(`${path.resolve(file)} is not a plan that a restore made: remove it, then restore the backup again`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}

/** Each rename is done at most once, because a new file leaves the staging folder with it. */
function replaceFiles(folder: string, { database, files, later, aside }: RestorePlan): void {
  const kept = path.join(folder, aside);
  const staged = (name: string) => path.join(folder, STAGING, name);
  makePrivateFolder(kept);
  for (const name of files.filter((each) => fs.existsSync(staged(each)))) {
    moveAside(folder, kept, name);
    fs.renameSync(staged(name), path.join(folder, name));
  }
  for (const { file, kept: name } of later) {
    const to = path.join(kept, name);
    makePrivateFolder(path.dirname(to));
    if (fs.existsSync(path.join(folder, file))) fs.renameSync(path.join(folder, file), to);
  }
  // Without the plan the next start would remove images that the new database does not know.
  for (const place of new Set(later.map(({ kept: name }) => path.dirname(path.join(kept, name))))) syncFolder(place);
  if (fs.existsSync(staged(database))) {
    // The old write-ahead log must be gone before the new database is there. SQLite would apply it to that.
    for (const name of [`${database}-wal`, `${database}-shm`, database]) moveAside(folder, kept, name);
    syncFolder(folder);
    fs.renameSync(staged(database), path.join(folder, database));
  }
  syncFolder(kept);
  syncFolder(folder);
  if (fs.readdirSync(kept).length === 0) fs.rmdirSync(kept);
  fs.rmSync(path.join(folder, PLAN));
  syncFolder(folder);
}

function moveAside(folder: string, kept: string, name: string): void {
  const file = path.join(folder, name);
  if (fs.existsSync(file)) fs.renameSync(file, path.join(kept, name));
}
