import fs from "node:fs";

// Descriptors of this process: open files and sockets. At the system's limit libuv retries each accept without pause, no file
// opens, and no device reaches the agent. Every listener therefore has a share, and files and outgoing connections keep theirs.

/** Fewest descriptors of a program. Its modules are loaded many at a time. */
export const DESCRIPTORS_MIN = 128;

/** Descriptors for threads, database, images, page, backup and connections to other machines. */
const RESERVED = 96;

/** @returns the max number of descriptors of a process; null if the system does not report it, or sets none */
export function descriptorLimit(processId: number | "self" = "self"): number | null {
  try {
    // Node raises the soft limit to the hard one at its start.
    const limit = /^Max open files +(\d+)/m.exec(fs.readFileSync(`/proc/${processId}/limits`, "utf8"))?.[1];
    return limit === undefined ? null : Number(limit);
  } catch {
    return null; // not Linux, or the process has ended
  }
}

/** @returns the max number of connections of each of `listeners` listeners: `most`, or fewer under a low limit */
export function connectionShare(listeners: number, most: number, limit = descriptorLimit()): number {
  if (limit === null) return most;
  return Math.min(most, Math.max(1, Math.floor((limit - RESERVED - listeners) / listeners)));
}

/** @returns the lack and its remedy; null if the limit leaves each listener `enough` connections */
export function lackOfDescriptors(
  listeners: number,
  enough: number,
  limit = descriptorLimit(),
  who = "this process",
): { readonly fault: string; readonly remedy: string } | null {
  const share = connectionShare(listeners, enough, limit);
  if (share === enough) return null;
  const fault = `${who} may have ${limit} open files, which leaves each listener ${share} connections`;
  return { fault, remedy: "raise ulimit -n, or LimitNOFILE of the service" };
}
