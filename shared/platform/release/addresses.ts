import fs from "node:fs";
import path from "node:path";
import { PROGRAM_FOLDER } from "../../files/program-files.ts";

// Every address of a release is made of `homepage` in package.json, the owner's. The paths are those of a repository on GitHub; a
// static host has the same folders.

export function homepage(): string {
  const text = fs.readFileSync(path.join(PROGRAM_FOLDER, "package.json"), "utf8");
  return ((JSON.parse(text) as { homepage?: string }).homepage ?? "").replace(/\/$/, "");
}

/** Whether it is a placeholder: nobody can own a name that ends in .example (RFC 2606). */
export function isExample(address: string): boolean {
  return !URL.canParse(address) || new URL(address).hostname.endsWith(".example");
}

/** The address of a file of a release. */
export function fileAddress(base: string, version: string, name: string): string {
  return `${base}/releases/download/v${version}/${name}`;
}

/** The file of a release with its documentation. */
export function docsFile(version: string): string {
  return `vetwire-docs-${version}.tar.gz`;
}

/** The address of a file of the newest release, such as latest.json. */
export function newestAddress(base: string, name: string): string {
  return `${base}/releases/latest/download/${name}`;
}
