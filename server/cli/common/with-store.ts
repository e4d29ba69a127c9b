import fs from "node:fs";
import path from "node:path";
import { printError } from "../../../shared/platform/cli/output.ts";
import { settleRestore } from "../../../shared/platform/care/restore-steps.ts";
import { lockFolder } from "../../../shared/files/folder-lock.ts";
import { makePrivateFolder } from "../../../shared/files/private-folder.ts";
import { loadPepper } from "../../http/auth/pepper.ts";
import { readVariable } from "./environment-file.ts";
import { findClinicState } from "../../records/clinics/clinics.ts";
import { countKeys, findClinic } from "../../records/clinics/keys.ts";
import { isPostgresUrl, openExistingStore, openStore } from "../../database/open.ts";
import { hasSqliteFile } from "../../database/sqlite.ts";
import type { Session } from "../../database/query.ts";
import type { Store } from "../../database/store.ts";

// The database of a command, from `--data` and DATABASE_URL.

/** The places of the service vetwire-server on Linux. */
const SERVICE = { data: "/var/lib/vetwire/server", variables: "/etc/default/vetwire-server" };

/** Max wait for a commit of the server, in ms. A person waits rather than types the command again. */
const WRITE_WAIT_MS = 30_000;

type StoreWork = (store: Store) => Promise<void>;

/** Runs a command that reads or changes an existing database. @throws Error if there is none */
export async function withStore(data: string, work: StoreWork): Promise<void> {
  await beside(data, openExistingStore, work);
}

/** Runs a command that creates the database if there is none. If the command fails, nothing of a new database stays. */
export async function withNewStore(data: string, work: StoreWork): Promise<void> {
  if (isPostgresUrl(storeLocation(data)) || hasSqliteFile(data)) return beside(data, openStore, work);
  const kept = existing(data);
  makePrivateFolder(data);
  try {
    await beside(data, openStore, work);
  } catch (error) {
    removeNew(data, kept);
    throw error;
  }
}

/** The files of a folder, and the deepest folder on its path that exists. */
function existing(data: string): { files: ReadonlySet<string>; folder: string } {
  let folder = path.resolve(data);
  while (!fs.existsSync(folder)) folder = path.dirname(folder);
  return { files: new Set(folder === path.resolve(data) ? fs.readdirSync(folder) : []), folder };
}

/** Removes what a failed command made, unless another program uses the folder. */
function removeNew(data: string, { files, folder }: ReturnType<typeof existing>): void {
  try {
    lockFolder(data, "another program uses it")();
  } catch {
    return;
  }
  for (const name of fs.readdirSync(data)) {
    if (!files.has(name) && /^(vetwire|lock)\.db/.test(name)) fs.rmSync(path.join(data, name));
  }
  try {
    // rmdir fails at the first folder that has other files, and leaves it.
    for (let made = path.resolve(data); made !== folder; made = path.dirname(made)) fs.rmdirSync(made);
  } catch {
    return;
  }
}

/** Runs a command while a server and other commands run, but not during a restore, which would move the command's changes aside. */
async function beside(data: string, open: typeof openStore, work: StoreWork): Promise<void> {
  const location = storeLocation(data);
  let release: (() => void) | null = null;
  if (!isPostgresUrl(location) && fs.existsSync(data)) {
    settleRestore(data);
    // A folder without a database gets no lock, which would stay in it. Opening the database reports what was expected.
    const isUsed = open === openStore || hasSqliteFile(data);
    if (isUsed) release = lockFolder(data, `a restore is running with ${data}: wait for its end`, "shared");
  }
  try {
    const store = await open(location, WRITE_WAIT_MS);
    store.damaged.report = ({ message }) => printError(`${message}; it is left out`);
    try {
      await work(store);
    } finally {
      await store.close();
    }
  } finally {
    release?.();
  }
}

/**
 * Returns the URL of PostgreSQL in DATABASE_URL, else the data folder with the SQLite file. systemd gives the service its
 * variables from a file. A command for the service's data folder reads the URL there, if its user may.
 */
export function storeLocation(data: string, service = SERVICE): string {
  const isOfService = path.resolve(data) === service.data;
  const url =
    process.env["DATABASE_URL"] ?? (isOfService ? readVariable(service.variables, "DATABASE_URL") : undefined);
  if (url === undefined) return data;
  if (!isPostgresUrl(url))
    throw new Error("invalid DATABASE_URL, expected postgres://... for PostgreSQL, or none for SQLite");
  return url;
}

/** Loads the pepper of the key digests. It is a file of the data folder with either engine. */
export async function loadStorePepper(store: Store, data: string): Promise<Buffer> {
  return loadPepper(data, (await countKeys(store)) > 0);
}

/** @throws Error if there is no such clinic */
export async function clinicIdOf(store: Session, fp: string): Promise<number> {
  const clinic = await findClinic(store, fp);
  if (clinic === undefined) throw new Error(`clinic ${fp} does not exist, expected the fp of an imported clinic`);
  return clinic.id;
}

/** Returns the id of a clinic for a command that adds to it. @throws Error if there is no such clinic, or if its erasure began */
export async function growingClinicId(store: Session, fp: string): Promise<number> {
  const id = await clinicIdOf(store, fp);
  if ((await findClinicState(store, fp))?.erasure == null) return id;
  throw new Error(`the erasure of clinic ${fp} has begun, expected a clinic that keeps its data`);
}
