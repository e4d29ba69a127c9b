import { readTextFile } from "../../shared/runtime/text-file.ts";

/** The characters of a header value (RFC 9110 §5.5). */
const PRINTABLE = /^[ -~]*$/;

/**
 * Reads a file with one line for an HTTP header. The file may be UTF-16 with a byte order mark.
 * @throws Error if the file cannot be read or has a character that a header must not have
 */
export function readSecret(file: string): string {
  const text = readTextFile(file).trim();
  if (PRINTABLE.test(text)) return text;
  const characters = Array.from(text);
  const index = characters.findIndex((character) => !PRINTABLE.test(character));
  const code = (characters[index]?.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  throw new Error(`its character ${index + 1} is U+${code}, expected one line of printable ASCII`);
}
