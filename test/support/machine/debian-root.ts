import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { canMount } from "./small-disk.ts";
import { ROOT, type Running, startProgram, temporaryFolder } from "./processes.ts";

// A Debian without Node and without a compiler, in a folder that a test changes its root to. systemd does not run in it.

/** Kept between test runs: apt needs a minute for it. */
const ARCHIVE = path.join(ROOT, "node_modules/.cache/vetwire-package/debian-bookworm.tar");
const PACKAGES = "libc6,libstdc++6,ca-certificates,passwd";
const PATH = "/usr/sbin:/usr/bin:/sbin:/bin";
/** Mounts /proc for one command alone: the mount ends with the command. */
const IN_ROOT = 'mount -t proc proc "$0/proc"; exec chroot "$0" "$@"';
/** Files outside the installation, such as the copies that useradd makes. */
const CHANGING = /^\.\/((proc|dev|tmp|run|var\/log|var\/cache)\/|etc\/(passwd|group|g?shadow)-$)/;

/** @returns why this machine cannot run a Debian of its own; null if it can */
export function debianRootProblem(): string | null {
  if (process.getuid?.() !== 0 || !canMount()) return "it needs root and mounts";
  if (fs.existsSync(ARCHIVE)) return null;
  if (spawnSync("mmdebstrap", ["--version"]).status !== 0) return "mmdebstrap is missing (apt-get install mmdebstrap)";
  return null;
}

export class DebianRoot {
  readonly folder: string;

  /** Unpacks a Debian of its own. */
  static create(): DebianRoot {
    if (!fs.existsSync(ARCHIVE)) {
      fs.mkdirSync(path.dirname(ARCHIVE), { recursive: true });
      const draft = `${ARCHIVE}.${process.pid}`;
      const words = ["--quiet", "--variant=essential", `--include=${PACKAGES}`, "--format=tar", "bookworm", draft];
      execFileSync("mmdebstrap", words, { stdio: ["ignore", "ignore", "inherit"] });
      fs.renameSync(draft, ARCHIVE);
    }
    const folder = temporaryFolder();
    fs.chmodSync(folder, 0o755);
    execFileSync("tar", ["-xf", ARCHIVE, "-C", folder]);
    return new DebianRoot(folder);
  }

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** @returns the file as this machine sees it */
  at(file: string): string {
    return path.join(this.folder, file);
  }

  /** Runs a command as root in it. @throws if the command fails, with its output */
  run(...words: readonly string[]): string {
    const { status, stdout, stderr } = spawnSync("unshare", this.#words(words), { encoding: "utf8", env: { PATH } });
    if (status !== 0) throw new Error(`${words.join(" ")}: exit ${status}\n${stdout}\n${stderr}`);
    return stdout;
  }

  start(words: readonly string[], env: NodeJS.ProcessEnv = {}): Running {
    return startProgram("unshare", this.#words(words), { PATH, ...env });
  }

  /** Installs a package of this machine, as an administrator does. @returns the output of dpkg */
  install(...packages: readonly string[]): string {
    const names = packages.map((file) => path.join("/tmp", path.basename(file)));
    for (const [index, file] of packages.entries()) fs.copyFileSync(file, this.at(names[index]!));
    const output = this.run("dpkg", "-i", ...names);
    for (const name of names) fs.rmSync(this.at(name));
    return output;
  }

  /** @returns the names of all files and folders that stay after a start of the machine */
  files(): string[] {
    const names = execFileSync("find", [".", "-xdev"], { cwd: this.folder, encoding: "utf8", maxBuffer: 1e8 });
    return names
      .split("\n")
      .filter((name) => !CHANGING.test(name))
      .toSorted();
  }

  end(): void {
    fs.rmSync(this.folder, { recursive: true, force: true });
  }

  #words(words: readonly string[]): string[] {
    return ["--mount", "sh", "-c", IN_ROOT, this.folder, ...words];
  }
}
