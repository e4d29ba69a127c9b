import fs from "node:fs";

// Files that people write. Windows programs also save UTF-16: Notepad as "Unicode", PowerShell with `>`.

/**
 * Reads a text file in UTF-8, or in UTF-16 with or without a byte order mark, which is dropped. @throws Error if the file cannot be
 * read; with `strict` also for bytes that are not text in these encodings, such as a Windows code page
 */
export function readTextFile(file: string, { strict = false } = {}): string {
  const bytes = fs.readFileSync(file);
  const encoding = encodingOf(bytes);
  try {
    // A TextDecoder drops the byte order mark of its encoding.
    return new TextDecoder(encoding, { fatal: strict }).decode(bytes);
  } catch {
    throw new Error(`${file} is not UTF-8: save it as UTF-8, in a spreadsheet as "CSV UTF-8"`);
  }
}

/** Names the encoding of a text. UTF-8 has no zero bytes, and UTF-16 has one with each ASCII character. */
export function encodingOf(bytes: Uint8Array): "utf-8" | "utf-16le" | "utf-16be" {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return "utf-16le";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  if (first !== 0 && second === 0) return "utf-16le";
  return first === 0 && second !== 0 && second !== undefined ? "utf-16be" : "utf-8";
}
