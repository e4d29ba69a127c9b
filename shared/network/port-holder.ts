import fs from "node:fs";
import path from "node:path";

// Names the program that holds a port or a file. Only Linux has that information, in /proc, and users other than root get it only
// for their own programs.

/** @returns the programs that have the file open, this one as `self`; empty if they are unknown */
export function holdersOfFile(file: string, self: string): string[] {
  try {
    const real = fs.realpathSync(file);
    return holdersOf((link) => link === real, self);
  } catch {
    return [];
  }
}

/** @returns the programs that listen on the TCP port, this one as `self`; empty if they are unknown */
export function holdersOfPort(port: number, self: string): string[] {
  const sockets = ["/proc/net/tcp", "/proc/net/tcp6"].flatMap((table) => listening(table, port));
  return sockets.length === 0 ? [] : holdersOf((link) => sockets.includes(link), self);
}

/** @returns the sockets that listen on the port, named as the links in /proc */
function listening(table: string, port: number): string[] {
  const local = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  return linesOf(table).flatMap((line) => {
    const [, address = "", , state, , , , , , inode] = line.trim().split(/\s+/);
    return address.endsWith(local) && state === "0A" ? [`socket:[${inode}]`] : [];
  });
}

function linesOf(file: string): string[] {
  try {
    return fs.readFileSync(file, "utf8").split("\n");
  } catch {
    return [];
  }
}

/** Max number of named programs. A file may be open in several, of which one has locked it. */
const NAMED_MAX = 3;

function holdersOf(isIt: (link: string) => boolean, self: string): string[] {
  const pids = entries("/proc").filter((name) => /^\d+$/.test(name) && opens(path.join("/proc", name, "fd"), isIt));
  return pids.slice(0, NAMED_MAX).flatMap((pid) => programName(pid, self) ?? []);
}

function programName(pid: string, self: string): string | null {
  if (Number(pid) === process.pid) return self;
  try {
    // The name in /proc/PID/comm is that of a thread, which is "MainThread" for Node.
    return `${path.basename(fs.readlinkSync(`/proc/${pid}/exe`))} (process ${pid})`;
  } catch {
    return null; // the program has ended
  }
}

function opens(folder: string, isIt: (link: string) => boolean): boolean {
  return entries(folder).some((name) => {
    try {
      return isIt(fs.readlinkSync(path.join(folder, name)));
    } catch {
      return false; // closed since the folder was read
    }
  });
}

/** Returns no entries for a missing folder, or a folder of another user. */
function entries(folder: string): string[] {
  try {
    return fs.readdirSync(folder);
  } catch {
    return [];
  }
}
