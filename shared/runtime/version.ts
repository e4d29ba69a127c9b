import fs from "node:fs";
import path from "node:path";

/** The folder of the program, with its package.json, found from the sources and from the build. */
export const PROGRAM_FOLDER = programFolder(import.meta.dirname);

/** The version in package.json. */
export const VERSION = (
  JSON.parse(fs.readFileSync(path.join(PROGRAM_FOLDER, "package.json"), "utf8")) as { version: string }
).version;

function programFolder(folder: string): string {
  if (fs.existsSync(path.join(folder, "package.json"))) return folder;
  const parent = path.dirname(folder);
  if (parent === folder) throw new Error("package.json is missing: unpack all files of the program");
  return programFolder(parent);
}
