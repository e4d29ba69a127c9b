import fs from "node:fs";
import path from "node:path";

/**
 * Checks a file whose content leaves this machine: a key, an Authorization header, a secret that signs requests, a list of
 * operators. Otherwise a user who may change agent.yaml, or sees the problems of its check, could read any file of the agent's
 * user. Certificates are public and private keys never leave the machine, so the files of `tls` and `ca` may be anywhere.
 * @returns the problem, or null, also for a file that does not exist
 */
export function sentFileProblem(file: string, folder: string): string | null {
  const found = path.resolve(folder, file);
  const isThere =
    isInside(found, folder) && (!fs.existsSync(found) || isInside(fs.realpathSync(found), fs.realpathSync(folder)));
  if (isThere) return null;
  return `names ${found}, expected a file in the folder ${path.resolve(folder)}, because its content leaves this machine: move it there`;
}

function isInside(file: string, folder: string): boolean {
  const way = path.relative(folder, file);
  return way !== "" && way.split(path.sep)[0] !== ".." && !path.isAbsolute(way);
}
