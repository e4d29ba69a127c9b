import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import type { FolderProblem, SetupLine } from "../page/types/setup.ts";
import type { Config } from "../config/values/schema.ts";
import { type FolderReading, readFolder } from "../tools/offline/sniff-folder.ts";

// A folder that a new device's program exports into: whether it can be watched, and which profile reads its files.

export type FolderLine = Extract<SetupLine, { readonly kind: "folder" }>;

export interface WatchedFolder {
  readonly problem: FolderProblem | null;
  /** The device that watches it already. */
  readonly device: string | null;
  readonly found: readonly FolderReading[];
}

export async function lookAtFolder(line: FolderLine, config: Config | null): Promise<WatchedFolder> {
  const problem = problemOf(line, config?.data ?? null);
  if (problem !== null) return { problem, device: null, found: [] };
  const device = config?.devices.find(
    ({ connection: { folder } }) => folder !== undefined && isSame(folder, line.path),
  );
  if (device !== undefined) return { problem: "taken", device: device.id, found: [] };
  return { problem: null, device: null, found: await readFolder(line.path) };
}

function problemOf({ path: folder, leave }: FolderLine, data: string | null): FolderProblem | null {
  if (!path.isAbsolute(folder)) return "relative";
  const real = realOf(folder);
  if (real === null) return "missing";
  if (!fs.statSync(real).isDirectory()) return "noFolder";
  const own = data === null ? null : realOf(data);
  // The agent would read its own database, or move it to `done`.
  if (own !== null && (isInside(real, own) || isInside(own, real))) return "data";
  if (!may(real, fs.constants.R_OK | fs.constants.X_OK)) return "unreadable";
  return leave || may(real, fs.constants.W_OK) ? null : "readOnly";
}

function realOf(folder: string): string | null {
  try {
    return fs.realpathSync(folder);
  } catch {
    return null;
  }
}

function may(folder: string, mode: number): boolean {
  try {
    fs.accessSync(folder, mode);
    return true;
  } catch {
    return false;
  }
}

function isInside(one: string, other: string): boolean {
  const way = path.relative(other, one);
  return way === "" || (!way.startsWith("..") && !path.isAbsolute(way));
}

function isSame(one: string, other: string): boolean {
  return (realOf(one) ?? path.resolve(one)) === (realOf(other) ?? path.resolve(other));
}

const FOLDERS_MAX = 60;

/** Returns the folders of this PC in which programs usually export: those of the user, and of the disk on Windows. */
export function likelyFolders(): string[] {
  const home = os.homedir();
  const roots = [
    ...["Documents", "Desktop", "Belgeler", "Masaüstü"].map((name) => path.join(home, name)),
    "/srv",
    "C:\\",
  ];
  return roots
    .filter((root) => path.isAbsolute(root) && fs.existsSync(root))
    .flatMap(withInner)
    .slice(0, FOLDERS_MAX);
}

function withInner(root: string): string[] {
  try {
    const inner = fs
      .readdirSync(root, { withFileTypes: true })
      .filter((each) => each.isDirectory() && !each.name.startsWith("."));
    return [root, ...inner.map(({ name }) => path.join(root, name))];
  } catch {
    return [];
  }
}
