import { decode, type Encoding, ENCODINGS } from "../../../../shared/files/table/encoding.ts";
import type { FileCharset } from "./records.ts";

/**
 * Decodes a file: by its byte order mark, else in the charset that the profile declares, else as UTF-8 or as the code page of Windows
 * that its letters show.
 */
export function decodeText(bytes: Uint8Array, declared: FileCharset | undefined): string {
  const chosen = hasMark(bytes) ? undefined : declared;
  if (chosen !== undefined && !isEncoding(chosen)) return new TextDecoder(chosen).decode(bytes);
  return [...decode(bytes, chosen).pieces()].join("");
}

function isEncoding(charset: FileCharset): charset is Encoding & FileCharset {
  return (ENCODINGS as readonly string[]).includes(charset);
}

function hasMark([first, second, third]: Uint8Array): boolean {
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return true;
  return first === 0xef && second === 0xbb && third === 0xbf;
}
