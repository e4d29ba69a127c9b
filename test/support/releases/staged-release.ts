import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { archiveName } from "../../../shared/api/upgrade.ts";
import { stage } from "../../../shared/platform/package/stage.ts";
import { PLATFORM } from "../../../shared/files/program-files.ts";
import { temporaryFolder } from "../machine/processes.ts";

// Releases for the tests of upgrades: the program's folder, staged once, in patched copies with higher versions, signed by minisign.

/** @returns why no release can be made here; null if it can */
export function releaseProblem(): string | null {
  if (process.platform !== "linux" || process.arch !== "x64") return "the tests stage programs for linux-x64 alone";
  try {
    execFileSync("minisign", ["-v"], { stdio: "ignore" });
    return null;
  } catch {
    return "minisign is missing: apt-get install minisign";
  }
}

export interface Patch {
  /** Code in front of the program's entry. */
  readonly code?: string;
  /** Replaces the program that starts as Node. */
  readonly node?: string;
  /** A statement that the server's schema has as its last version. */
  readonly migration?: string;
  /** Bytes of zeros that the release carries in addition. */
  readonly ballast?: number;
}

export class Releases {
  readonly folder = temporaryFolder();
  /** The program's folder of version 0.1.0, as a package installs it. */
  readonly program = path.join(this.folder, "program");
  readonly #keys = path.join(this.folder, "release");

  static async create(): Promise<Releases> {
    const releases = new Releases();
    releases.#makeKey(releases.#keys);
    const release = { version: "0.1.0", time: 1_790_000_000, publicKey: `${releases.#keys}.pub` };
    await stage(releases.program, "linux-x64", release);
    return releases;
  }

  get node(): string {
    return path.join(this.program, "runtime/node");
  }

  get main(): string {
    return path.join(this.program, "app/shared/main.js");
  }

  /** Makes the archive of a version and its signature. Node is not copied: a script starts version 0.1.0's. */
  make(folder: string, version: string, patch: Patch = {}, program: "agent" | "server" = "agent"): string {
    const archive = archiveName({ version, platform: PLATFORM }).replace("agent", program);
    const file = path.join(folder, archive);
    const name = path.basename(file, ".tar.gz");
    const copy = path.join(this.folder, name);
    execFileSync("cp", ["-al", this.program, copy]);
    this.#replace(copy, "runtime/node", patch.node ?? `#!/bin/sh\nexec ${this.node} "$@"\n`, 0o755);
    const description = { name: "vetwire", version, type: "module", private: true };
    this.#replace(copy, "app/package.json", JSON.stringify(description));
    const main = `app/${program}/main.js`;
    const entry = fs.readFileSync(path.join(copy, main), "utf8");
    this.#replace(copy, main, `${patch.code ?? ""}\n${entry}`);
    if (patch.migration !== undefined) this.#addMigration(copy, patch.migration);
    if (patch.ballast !== undefined) fs.writeFileSync(path.join(copy, "ballast"), Buffer.alloc(patch.ballast));
    const words = ["-C", this.folder, "--format=ustar", "--use-compress-program=gzip -1", "-cf", file, name];
    execFileSync("tar", words);
    fs.rmSync(copy, { recursive: true });
    this.sign(file);
    return file;
  }

  sign(file: string, keys = this.#keys): void {
    execFileSync("minisign", ["-S", "-s", `${keys}.sec`, "-m", file], { stdio: "ignore" });
  }

  /** Signs with a key that the program does not trust. */
  signAsStranger(file: string): void {
    const stranger = path.join(this.folder, "stranger");
    if (!fs.existsSync(`${stranger}.sec`)) this.#makeKey(stranger);
    this.sign(file, stranger);
  }

  remove(): void {
    fs.rmSync(this.folder, { recursive: true, force: true });
  }

  #makeKey(keys: string): void {
    execFileSync("minisign", ["-G", "-f", "-W", "-p", `${keys}.pub`, "-s", `${keys}.sec`], { stdio: "ignore" });
  }

  #addMigration(copy: string, statement: string): void {
    const end = /\n\];\nvar SCHEMA_VERSION = versions\d*\.length;/;
    for (const chunk of fs.readdirSync(path.join(copy, "app/chunks"))) {
      const text = fs.readFileSync(path.join(copy, "app/chunks", chunk), "utf8");
      if (!text.includes("function migrationsFor(") || !end.test(text)) continue;
      const added = text.replace(end, (found) => `,\n  () => ${JSON.stringify(statement)}${found}`);
      return this.#replace(copy, `app/chunks/${chunk}`, added);
    }
    throw new Error("expected the migrations of the server in a chunk of the bundle");
  }

  /** Writes a file of a copy whose files are links to the program's. */
  #replace(copy: string, name: string, text: string, mode = 0o644): void {
    const file = path.join(copy, name);
    fs.rmSync(file, { force: true });
    fs.writeFileSync(file, text, { mode });
  }
}
