import fs from "node:fs";

/** The characters of a header value (RFC 9110 §5.5). */
const PRINTABLE = /^[ -~]*$/;

/**
 * Reads a file with one line for an HTTP header. The file is UTF-8, or UTF-16 with a byte order mark, which `>` of Windows
 * PowerShell writes.
 * @throws Error if the file cannot be read or has a character that a header must not have
 */
export function readSecret(file: string): string {
  const bytes = fs.readFileSync(file);
  // A TextDecoder drops the byte order mark of its encoding.
  const text = new TextDecoder(encodingOf(bytes)).decode(bytes).trim();
  if (PRINTABLE.test(text)) return text;
  const characters = Array.from(text);
  const index = characters.findIndex((character) => !PRINTABLE.test(character));
  const code = (characters[index]?.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  throw new Error(`its character ${index + 1} is U+${code}, expected one line of printable ASCII`);
}

function encodingOf([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return "utf-16le";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  return "utf-8";
}
