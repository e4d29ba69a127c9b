import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
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

/** @returns why this machine cannot mount a FileDisk; null if it can */
export function fileDiskProblem(): string | null {
  const folder = temporaryFolder();
  try {
    const disk = new FileDisk(path.join(folder, "disk"));
    const problem = fs.existsSync(disk.trigger) ? null : "the kernel cannot fail an ext4 file system on request";
    disk.remove();
    return problem;
  } catch {
    return "root, loop devices and mkfs.ext4 are needed";
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

/**
 * An ext4 file system in a file next to `folder`, mounted there. It turns read-only under open files, as after an error of the
 * disk.
 */
export class FileDisk {
  readonly #folder: string;
  readonly #image: string;

  constructor(folder: string) {
    this.#folder = folder;
    this.#image = `${folder}.img`;
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
    fs.writeFileSync(this.#image, "");
    fs.truncateSync(this.#image, 64 * 1024 * 1024);
    execFileSync("mkfs.ext4", ["-q", "-O", "^has_journal", this.#image], { stdio: "ignore" });
    this.#mount();
    fs.rmdirSync(`${folder}/lost+found`);
    fs.chmodSync(folder, 0o700);
  }

  /** The file through which the kernel reports an error of this file system. */
  get trigger(): string {
    const device = execFileSync("findmnt", ["-n", "-o", "SOURCE", this.#folder], { encoding: "utf8" });
    return `/sys/fs/ext4/${path.basename(device.trim())}/trigger_fs_error`;
  }

  /** Reports an error, after which the kernel refuses each write, also into open files. */
  fail(): void {
    fs.writeFileSync(this.trigger, "1");
  }

  /** Checks and mounts it again. No program may use it. */
  mend(): void {
    unmountDisk(this.#folder);
    try {
      execFileSync("e2fsck", ["-fy", this.#image], { stdio: "ignore" });
    } catch (error) {
      if ((error as { status?: number }).status !== 1) throw error; // 1: errors were corrected
    }
    this.#mount();
  }

  /** No file may be open for writing. */
  remount(mode: "ro" | "rw"): void {
    execFileSync("mount", ["-o", `remount,${mode}`, this.#folder], { stdio: "ignore" });
  }

  remove(): void {
    execFileSync("umount", ["--lazy", this.#folder]);
    fs.rmSync(this.#image);
  }

  #mount(): void {
    execFileSync("mount", ["-o", "loop,errors=remount-ro", this.#image, this.#folder], { stdio: "ignore" });
  }
}
