import fs from "node:fs";
import path from "node:path";

// Finds the files of the program. The sources, the build in dist/ and a package have the same folders agent, server and shared in
// one code folder. In a build, a module may be in any chunk of it.

/** The folder of the program, with its package.json. */
export const PROGRAM_FOLDER = folderAbove(import.meta.dirname, "package.json");

/** The folder with the code and its data: agent, server, shared. */
export const CODE_FOLDER = folderAbove(import.meta.dirname, "shared/data");

export const VERSION = (
  JSON.parse(fs.readFileSync(path.join(PROGRAM_FOLDER, "package.json"), "utf8")) as { version: string }
).version;

/** The system and the processor, as the names of packages have them: linux-x64, win-x64. */
export const PLATFORM = `${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;

/** Returns the folder in the archive of a release for this machine, and the name of the archive without its ending. */
export function releaseName(program: "agent" | "server", version: string): string {
  return `vetwire-${program}-${version}-${PLATFORM}`;
}

/** Returns the file of a module that a thread or a process starts with, such as "agent/spool/thread/worker". */
export function moduleFile(name: string): string {
  return path.join(CODE_FOLDER, `${name}${path.extname(import.meta.filename)}`);
}

function folderAbove(folder: string, file: string): string {
  if (fs.existsSync(path.join(folder, file))) return folder;
  const parent = path.dirname(folder);
  if (parent === folder) throw new Error(`${file} is missing: unpack all files of the program`);
  return folderAbove(parent, file);
}
