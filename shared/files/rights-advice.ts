import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { type Advised, advisedText } from "../runtime/advised.ts";

// Refusals of the system's rights in words: the user, the path, and the command as remedy.

export interface RightsFault extends Advised {
  /** The remedy, with a command. */
  readonly remedy: string;
}

/** The user of a process, and where it runs. */
export interface Who {
  readonly user: string;
  readonly isRoot: boolean;
  readonly platform: NodeJS.Platform;
  /** systemd started the process, and its unit may close folders to it. */
  readonly isUnit: boolean;
}

/** Folders of the system have two parts at most, and no service gets them: `/var/log`. */
const SYSTEM_PARTS = 2;

/** SQLite's codes for a file that the system's rights close. */
const OF_SQLITE = /^SQLITE_(CANTOPEN|READONLY|PERM|AUTH)/;

/** @returns null for an error that has nothing to do with rights. `file` is the path of an error without one */
export function rightsFault(error: unknown, file: string | null = null, who = whoRuns()): RightsFault | null {
  if (!(error instanceof Error) || !("code" in error)) return null;
  const code = String(error.code);
  const given = "path" in error && typeof error.path === "string" ? error.path : null;
  // Work with the rights of a folder's owner has paths relative to it.
  const place = given !== null && (file === null || path.isAbsolute(given)) ? path.resolve(given) : file;
  if (place === null) return null;
  if (code === "EROFS") return readOnly(place, who);
  const isRights = code === "EACCES" || code === "EPERM" || (OF_SQLITE.test(code) && !mayWrite(place));
  return isRights ? forbidden(place, who) : null;
}

/** @returns the fault and its remedy as one sentence, or null */
export function rightsAdvice(error: unknown, file: string | null = null, who = whoRuns()): string | null {
  const found = rightsFault(error, file, who);
  return found === null ? null : advisedText(found);
}

/** @returns why a user may not listen on a port, and the remedy, as one sentence */
export function portAdvice(port: number, program: string, who = whoRuns()): string {
  return advisedText(portFault(port, program, who));
}

/** @returns why a user may not listen on a port; `program` is "agent" or "server" */
export function portFault(port: number, program: string, { user, platform } = whoRuns()): RightsFault {
  if (platform === "win32") {
    const remedy = 'choose another port, or look at "netsh interface ipv4 show excludedportrange tcp"';
    return { fault: `Windows keeps port ${port} for itself`, remedy };
  }
  const unit = `sudo systemctl edit vetwire-${program}`;
  const remedy = `choose a port from 1024 up, or let the ${program} use lower ones (${unit}, then AmbientCapabilities=CAP_NET_BIND_SERVICE under [Service])`;
  return { fault: `no permission for port ${port}, which the user ${user} may not open`, remedy };
}

function whoRuns(): Who {
  const isRoot = process.geteuid?.() === 0;
  return { user: userName(), isRoot, platform: process.platform, isUnit: process.env["INVOCATION_ID"] !== undefined };
}

function userName(): string {
  try {
    return os.userInfo().username;
  } catch {
    // A container may run a user that no file of users names.
    return String(process.geteuid?.() ?? "of this program");
  }
}

function readOnly(place: string, { user, isUnit }: Who): RightsFault {
  const remount = `sudo mount -o remount,rw "$(findmnt -n -o TARGET -T ${quoted(existing(place))})"`;
  return {
    fault: `the user ${user} may not write to ${place}, because it is on a read-only disk`,
    remedy: isUnit
      ? `add ReadWritePaths=${existing(place)} to the unit of the service (sudo systemctl edit), or use another folder`
      : `${remount}, or use another disk`,
  };
}

function forbidden(place: string, who: Who): RightsFault {
  const { user, isRoot, platform } = who;
  if (platform === "win32") {
    const there = existing(place);
    const rights = isFolder(there) ? "(OI)(CI)M" : "M";
    return { fault: `the user ${user} may not use ${place}`, remedy: `icacls "${there}" /grant "${user}:${rights}"` };
  }
  if (isRoot) {
    const remedy = `look at its owner and attributes (ls -ld ${quoted(place)}; lsattr -d ${quoted(place)}), or use another folder`;
    return { fault: `root may not use ${place}, as on a share, for a locked file or through a link`, remedy };
  }
  const closed = foldersOf(place).find((folder) => fs.existsSync(folder) && !isAllowed(folder, fs.constants.X_OK));
  if (closed !== undefined) {
    const fault = `the user ${user} may not enter ${closed}, and so not use ${place}`;
    const mend = isOfSystem(closed)
      ? `sudo chmod o+x ${quoted(closed)}, or use another folder`
      : ownRemedy(closed, user);
    return { fault, remedy: ofService(mend, who) };
  }
  return { fault: `the user ${user} may not use ${place}`, remedy: ofService(ownRemedy(place, user), who) };
}

/** A person who runs a command as somebody else must not take the files from the service. */
function ofService(mend: string, { user, isUnit }: Who): string {
  return isUnit ? mend : `run this as root or as the user of the service; if ${user} is that user: ${mend}`;
}

/** Gives the user the file, or the folder where it would be. No service gets a folder of the system. */
function ownRemedy(place: string, user: string): string {
  const there = existing(place);
  if (there === place) return `sudo chown ${isFolder(place) ? "-R " : ""}${user} ${quoted(place)}`;
  if (!isOfSystem(there)) return `sudo chown -R ${user} ${quoted(there)}`;
  const [first = ""] = path.relative(there, place).split(path.sep);
  const own = path.join(there, path.dirname(place) === there ? "vetwire" : first);
  return `sudo install -d -o ${user} -m 700 ${quoted(own)}, and use a path in it`;
}

function isOfSystem(folder: string): boolean {
  return folder.split("/").filter(Boolean).length <= SYSTEM_PARTS;
}

/** The nearest path that exists: the place itself, or a folder above it. */
function existing(place: string): string {
  return fs.existsSync(place) || path.dirname(place) === place ? place : existing(path.dirname(place));
}

/** The folders above a path, from the root on. */
function foldersOf(place: string): string[] {
  const above = path.dirname(place);
  return above === place ? [place] : [...foldersOf(above), above];
}

function isFolder(place: string): boolean {
  return fs.statSync(place, { throwIfNoEntry: false })?.isDirectory() === true;
}

function mayWrite(place: string): boolean {
  return isAllowed(existing(place), fs.constants.W_OK) && isAllowed(path.dirname(existing(place)), fs.constants.W_OK);
}

function isAllowed(place: string, mode: number): boolean {
  try {
    fs.accessSync(place, mode);
    return true;
  } catch {
    return false;
  }
}

/** Quotes a path for a shell if it needs that. */
function quoted(place: string): string {
  return /^[\w./@:+-]+$/.test(place) ? place : `'${place.replaceAll("'", String.raw`'\''`)}'`;
}
