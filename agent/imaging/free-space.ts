import fs from "node:fs";

/** Default of the bytes that images leave free for analyzers' results. */
const FREE_BYTES = 1e9;
/** Default share of a disk that is smaller than fifty times that. */
const FREE_SHARE = 0.02;

/** @throws as a full disk does, when less than that is free where the folder is; `freeBytes` null: than is usual */
export function makeSureOfRoom(folder: string, freeBytes: number | null): void {
  const { bavail, blocks, bsize } = fs.statfsSync(folder);
  const wanted = freeBytes ?? Math.min(FREE_BYTES, blocks * bsize * FREE_SHARE);
  const free = bavail * bsize;
  if (free >= wanted) return;
  throw Object.assign(new Error(`${megabytes(free)} MB free, at least ${megabytes(wanted)}`), { code: "ENOSPC" });
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1e6);
}
