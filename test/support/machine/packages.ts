import { execFileSync } from "node:child_process";
import path from "node:path";
import { ROOT } from "./processes.ts";

// Packages that the tests install.

/** Makes packages in a folder, by the command of the README without its build. @returns their files */
export function makePackages(kind: string, out: string, ...options: readonly string[]): string[] {
  const words = ["shared/platform/package/main.ts", kind, "--out", out, ...options];
  const env = { ...process.env, SOURCE_DATE_EPOCH: "1790000000" };
  const output = execFileSync(process.execPath, words, { cwd: ROOT, encoding: "utf8", env });
  return output
    .split("\n")
    .flatMap((line) => /^(\/.+) \(\d+ MB\)$/.exec(line)?.[1] ?? [])
    .map((file) => path.resolve(file));
}
