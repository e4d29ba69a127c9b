import fs from "node:fs";
import path from "node:path";

/** The version in package.json, found from the sources and from the build. */
export const VERSION = versionFrom(import.meta.dirname);

function versionFrom(folder: string): string {
  const file = path.join(folder, "package.json");
  if (fs.existsSync(file)) return (JSON.parse(fs.readFileSync(file, "utf8")) as { version: string }).version;
  const parent = path.dirname(folder);
  if (parent === folder) throw new Error("package.json is missing: unpack all files of the program");
  return versionFrom(parent);
}
