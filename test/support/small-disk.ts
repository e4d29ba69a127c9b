import { execFileSync } from "node:child_process";
import fs from "node:fs";
import { temporaryFolder } from "./processes.ts";

/** @returns whether a tmpfs can be mounted here, for tests of a full disk */
export function canMount(): boolean {
  const folder = temporaryFolder();
  try {
    mountDisk(folder, 1);
    execFileSync("umount", [folder]);
    return true;
  } catch {
    return false;
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

/** Mounts a disk of that many megabytes at the folder. */
export function mountDisk(folder: string, megabytes: number): void {
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "vetwire", folder], { stdio: "ignore" });
}
