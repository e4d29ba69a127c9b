import { execFileSync } from "node:child_process";
import fs from "node:fs";
import { temporaryFolder } from "./processes.ts";

/** @returns whether this machine can mount a tmpfs, for tests of a full disk */
export function canMount(): boolean {
  const folder = temporaryFolder();
  try {
    mountDisk(folder, 1);
    unmountDisk(folder);
    return true;
  } catch {
    return false;
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

/** Mounts a tmpfs of that size at the folder. */
export function mountDisk(folder: string, megabytes: number): void {
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "vetwire", folder], { stdio: "ignore" });
}

export function unmountDisk(folder: string): void {
  execFileSync("umount", [folder]);
}
