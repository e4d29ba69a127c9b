import fs from "node:fs";

/** Default of the bytes that images leave free for the results of analyzers. */
const FREE_BYTES = 1e9;
/** Default share of a small disk, below 50 times FREE_BYTES. */
const FREE_SHARE = 0.02;

/** Checks the free space of the folder's disk; `freeBytes` is null for the default. @throws an ENOSPC error below it */
export function requireFreeSpace(folder: string, freeBytes: number | null): void {
  const { bavail, blocks, bsize } = fs.statfsSync(folder);
  const wanted = freeBytes ?? Math.min(FREE_BYTES, blocks * bsize * FREE_SHARE);
  const free = bavail * bsize;
  if (free >= wanted) return;
  throw Object.assign(new Error(`${megabytes(free)} MB free, at least ${megabytes(wanted)}`), { code: "ENOSPC" });
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1e6);
}
