import path from "node:path";
import { rightsAdvice } from "../../files/rights-advice.ts";

// Refusals of the disk in words, with what to do.

const ADVICE: Readonly<Record<string, string>> = {
  ENOENT: "the folder is missing: plug in its disk or create the folder",
  ENOTDIR: "the folder is a file: name a folder",
  ENOSPC: "the disk is full: make room there, or use another disk",
  EDQUOT: "the user's quota is full: make room there, or use another disk",
  EFBIG: "the file is too large for this disk: format it as exFAT or NTFS, or use another disk",
  EIO: "the disk has a fault: use another disk",
  ENXIO: "the disk has a fault: use another disk",
  SQLITE_FULL: "the disk is full: make room there, or use another disk",
  SQLITE_CANTOPEN:
    "the folder is missing or closed to the program: plug in its disk, or give its user the right to write",
  SQLITE_READONLY: "the disk is read-only: unlock it, or use another disk",
};

/** @returns an error with its path, else `target`, and the remedy for a refusal of the disk; otherwise the same error */
export function storageAdvice(error: unknown, target: string): unknown {
  if (!(error instanceof Error) || !("code" in error)) return error;
  const rights = rightsAdvice(error, target);
  if (rights !== null) return new Error(rights, { cause: error });
  const code = String(error.code);
  const advice = ADVICE[code] ?? (code.startsWith("SQLITE_IOERR") ? ADVICE["EIO"] : undefined);
  if (advice === undefined) return error;
  const file = "path" in error && typeof error.path === "string" ? error.path : target;
  const place = code === "ENOENT" || code === "ENOTDIR" ? path.dirname(file) : file;
  return new Error(`${place} cannot be used (${code}), ${advice}`, { cause: error });
}
