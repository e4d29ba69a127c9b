import { execFileSync } from "node:child_process";
import crypto from "node:crypto";
import fs from "node:fs";
import path from "node:path";

// Closes a release: signs its packages, and lists every file with its hash.

const SUMS = "SHA256SUMS";

/**
 * Signs `packages` with minisign and writes SHA256SUMS of every file in their folder. Without a key nothing is signed; a
 * signature of an earlier run is removed, because it may be of other bytes.
 */
export function seal(folder: string, packages: readonly string[], signKey: string | null): void {
  for (const file of packages) sign(file, signKey);
  const sums = path.join(folder, SUMS);
  const files = fs.readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
  const names = files.map(({ name }) => name).filter((name) => !name.startsWith(SUMS));
  const lines = names.toSorted().map((name) => `${sha256(path.join(folder, name))}  ${name}\n`);
  fs.writeFileSync(sums, lines.join(""));
  sign(sums, signKey);
}

/** Writes FILE.minisig. The trusted comment, which is signed too, names the file as `verifyFile` of the upgrades expects it. */
function sign(file: string, key: string | null): void {
  fs.rmSync(`${file}.minisig`, { force: true });
  if (key === null) return;
  const words = ["-S", "-s", key, "-m", file, "-t", `file:${path.basename(file)}`];
  // minisign reads the password of a key from the terminal.
  execFileSync("minisign", words, { stdio: ["inherit", "ignore", "inherit"] });
}

function sha256(file: string): string {
  return crypto.createHash("sha256").update(fs.readFileSync(file)).digest("hex");
}
