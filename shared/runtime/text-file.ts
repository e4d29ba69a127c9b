import fs from "node:fs";

/**
 * Reads a text file: UTF-8, or UTF-16 with a byte order mark, which `>` of Windows PowerShell and "Unicode" of Notepad write. A
 * TextDecoder drops the mark. @throws if it cannot be read
 */
export function readTextFile(file: string): string {
  const bytes = fs.readFileSync(file);
  return new TextDecoder(encodingOf(bytes)).decode(bytes);
}

function encodingOf([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return "utf-16le";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  return "utf-8";
}
