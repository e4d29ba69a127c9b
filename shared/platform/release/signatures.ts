import crypto from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { LATEST, type LatestRelease } from "../../api/upgrade.ts";
import { errorMessage } from "../../runtime/error-message.ts";
import { verifyFile } from "../upgrade/minisign.ts";

// Verifies a release as its users do: the hash of each file, and the signatures that a person made.

export const SUMS = "SHA256SUMS";
export const NOTES = "NOTES.md";
/** Files that no list of packages has: the notes, and those next to the image. */
const OTHERS = [NOTES, "Dockerfile", "compose.yaml"];

/** The files that programs and users verify by a signature. The others are verified by SHA256SUMS. */
export function signedFiles(latest: LatestRelease): string[] {
  return [LATEST, SUMS, ...latest.files.filter(({ kind }) => kind === "archive").map(({ name }) => name)];
}

/**
 * The command that signs them. minisign reads the password of the key for each file. The key stays outside the folder, whose files
 * become public.
 */
export function signCommand(folder: string, latest: LatestRelease): string {
  const files = signedFiles(latest).join(" ");
  return `for f in ${files}; do minisign -S -s release.key -m "${folder}/$f" -t "file:$f"; done`;
}

/** The files of a release that its folder has. @throws Error for any other file in it, since that may be the secret key */
export function publicFiles(folder: string, latest: LatestRelease): string[] {
  const known = new Set([...latest.files.map(({ name }) => name), ...signedFiles(latest), ...OTHERS]);
  const names = fs.readdirSync(folder);
  const strange = names.filter((name) => !known.has(name.replace(/\.minisig$/, "")));
  if (strange.length > 0) throw new Error(`${folder} has ${strange.join(", ")}, which no release has: move it away`);
  return names;
}

export interface Verdict {
  /** Files without a signature. */
  readonly unsigned: readonly string[];
  /** One sentence for each fault. */
  readonly faults: readonly string[];
}

/** Verifies the files of a folder. Without a key, the signatures that are there are not verified. */
export async function verifyRelease(folder: string, latest: LatestRelease, publicKey: string | null): Promise<Verdict> {
  const faults = wrongSums(folder, latest);
  const unsigned: string[] = [];
  for (const name of signedFiles(latest)) {
    const file = path.join(folder, name);
    if (!fs.existsSync(`${file}.minisig`)) unsigned.push(name);
    else if (publicKey === null) faults.push(`${name} has a signature: name the key by --public-key`);
    else {
      const signature = fs.readFileSync(`${file}.minisig`, "utf8");
      await verifyFile(file, name, signature, publicKey).catch((error: unknown) => faults.push(errorMessage(error)));
    }
  }
  return { unsigned, faults };
}

function wrongSums(folder: string, latest: LatestRelease): string[] {
  const lines = fs.readFileSync(path.join(folder, SUMS), "utf8").split("\n").filter(Boolean);
  const sums = new Map(lines.map((line) => [line.slice(66), line.slice(0, 64)]));
  const unlisted = latest.files.filter(({ name, sha256 }) => sums.get(name) !== sha256);
  const wrong = [...sums].filter(([name, sum]) => sumOf(path.join(folder, name)) !== sum);
  return [
    ...unlisted.map(({ name }) => `${name} has another hash in ${SUMS} than in ${LATEST}`),
    ...wrong.map(([name]) => `${name} is missing, or does not have the hash in ${SUMS}`),
  ];
}

function sumOf(file: string): string | null {
  return fs.existsSync(file) ? crypto.createHash("sha256").update(fs.readFileSync(file)).digest("hex") : null;
}
