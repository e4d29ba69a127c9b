import { execFileSync, spawnSync } from "node:child_process";

// promtool of Prometheus, which checks rules and the text of a scrape.

/** True if promtool is installed. Tests with it are skipped without it, with a message. */
export const promtool = isInstalled();
if (!promtool)
  process.stderr.write("rules of Prometheus: skipped, promtool is not installed (apt-get install prometheus)\n");

function isInstalled(): boolean {
  try {
    execFileSync("promtool", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** Runs promtool. @returns its exit code and output */
export function runPromtool(args: readonly string[], input = ""): { code: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync("promtool", args, { input, encoding: "utf8" });
  return { code: status, output: stdout + stderr };
}
