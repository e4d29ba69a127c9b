import zlib from "node:zlib";
import { storedText } from "./stored-text.ts";

// SQLite has no checksum of its pages: a byte that the disk changed inside a value is read as if it had been stored. Rows of
// lasting content carry a checksum of their own.

/** Value of a column that a checksum covers. */
export type CheckedValue = string | number | null;

/** Separates the values of a row. */
const SEPARATOR = "\u001F";
const NULL = "\u0001";
/** Replaces a value of the wrong type. One bit of the disk turns a text of SQLite into the same bytes, or bytes into text. */
const WRONG_TYPE = "\u0002";

/**
 * Computes the checksum (CRC-32) of the values of a row, and of `bytes` after them. Equal text has an equal checksum in each
 * database.
 */
export function rowChecksum(values: readonly CheckedValue[], bytes: Uint8Array | null = null): number {
  const text = values
    .map((value) => (typeof value === "object" && value !== null ? WRONG_TYPE : (value ?? NULL)))
    .join(SEPARATOR);
  const checksum = zlib.crc32(storedText(text));
  return bytes === null ? checksum : zlib.crc32(bytes instanceof Uint8Array ? bytes : WRONG_TYPE, checksum);
}
