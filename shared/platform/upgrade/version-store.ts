import fs from "node:fs";
import path from "node:path";
import { compareVersions } from "../../api/upgrade.ts";
import { makePrivateFolder, syncFolder, writePrivateFile } from "../../files/private-folder.ts";
import { NO_UPGRADE, type UpgradeRecord, type Versions } from "./versions.ts";

// The versions folder of one service: unpacked versions by their names, and the launcher's files. The launcher alone writes them.

/** A start of the program that ended without an order. */
export interface FailedStart {
  readonly started_at: string;
  readonly ended_at: string;
  readonly version: string;
  readonly code: number | null;
  readonly signal: string | null;
  /** Its last words on stderr. */
  readonly sentence: string | null;
}

/** The process of the program that the launcher started last. */
export interface RunningProgram {
  readonly version: string;
  readonly started_at: string;
  readonly process: number;
}

const STARTS_MAX = 10;
const FILE_BYTES_MAX = 1024 ** 2;
/** Follows no link, and waits for no writer of a pipe. Windows lacks both flags, and has neither danger. */
export const READ = fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK;
/** Drafts of the folder: incomplete archives and versions. */
const DRAFTS = "drafts";
const FILES = {
  versions: "current.json",
  upgrades: "upgrades.json",
  starts: "starts.json",
  running: "running.json",
} as const;

export function readVersions(folder: string): Versions {
  return { ...NO_UPGRADE, ...(readJson(folder, FILES.versions) as Partial<Versions> | null) };
}

export function writeVersions(folder: string, versions: Versions): void {
  writeJson(folder, FILES.versions, versions);
}

/** @returns the upgrades that ended, the newest last */
export function readUpgrades(folder: string): readonly UpgradeRecord[] {
  return listOf(folder, FILES.upgrades) as UpgradeRecord[];
}

export function writeUpgrades(folder: string, records: readonly UpgradeRecord[]): void {
  writeJson(folder, FILES.upgrades, records);
}

/** @returns the last starts that failed, the newest last */
export function readStarts(folder: string): readonly FailedStart[] {
  return listOf(folder, FILES.starts) as FailedStart[];
}

export function addStart(folder: string, start: FailedStart): void {
  writeJson(folder, FILES.starts, [...readStarts(folder), start].slice(-STARTS_MAX));
}

/** @returns the last process, which may have ended; null before the first start */
export function readRunning(folder: string): RunningProgram | null {
  return readJson(folder, FILES.running) as RunningProgram | null;
}

export function writeRunning(folder: string, running: RunningProgram): void {
  writeJson(folder, FILES.running, running);
}

export function unpackedVersions(folder: string): string[] {
  return fs.existsSync(folder) ? fs.readdirSync(folder).filter((name) => compareVersions(name, name) === 0) : [];
}

export function versionFolder(folder: string, version: string): string {
  return path.join(folder, version);
}

/** Returns Node and the file of the command `vetwire` in a version's folder. */
export function programOf(unpacked: string): [string, string] {
  const node = process.platform === "win32" ? "node.exe" : "node";
  return [path.join(unpacked, "runtime", node), path.join(unpacked, "app/shared/main.js")];
}

/** Returns an empty folder for drafts. What an earlier upgrade left is removed. */
export function draftsFolder(folder: string): string {
  const drafts = path.join(folder, DRAFTS);
  fs.rmSync(drafts, { recursive: true, force: true });
  makePrivateFolder(drafts);
  return drafts;
}

/** Removes all unpacked versions but these. */
export function removeOthers(folder: string, kept: readonly string[]): void {
  for (const version of unpackedVersions(folder)) {
    if (kept.includes(version)) continue;
    // Under its own name a part of it would count as complete.
    const doomed = path.join(draftsFolder(folder), `old-${version}`);
    fs.renameSync(versionFolder(folder, version), doomed);
    syncFolder(folder);
    fs.rmSync(doomed, { recursive: true, force: true });
  }
  syncFolder(folder);
}

function listOf(folder: string, name: string): unknown[] {
  const list = readJson(folder, name);
  return Array.isArray(list) ? list : [];
}

/**
 * Reads a small file. Root reads here too, and the service may put a pipe, a device or a link in the place of its file.
 * @returns null for a missing file; a damaged one counts as missing, since the package's own version always runs
 */
export function readJson(folder: string, name: string): unknown {
  let handle: number | null = null;
  try {
    handle = fs.openSync(path.join(folder, name), READ);
    const found = fs.fstatSync(handle);
    if (!found.isFile() || found.size > FILE_BYTES_MAX) return null;
    const bytes = Buffer.alloc(found.size);
    return JSON.parse(bytes.toString("utf8", 0, fs.readSync(handle, bytes)));
  } catch {
    return null;
  } finally {
    if (handle !== null) fs.closeSync(handle);
  }
}

function writeJson(folder: string, name: string, value: unknown): void {
  writePrivateFile(path.join(folder, name), `${JSON.stringify(value, null, 2)}\n`);
}
