import { encodingOf } from "../../../shared/files/text-file.ts";

// The text of a file that another program exported, whose encoding nothing names.

export const ENCODINGS = ["utf-8", "utf-16le", "utf-16be", "windows-1254", "windows-1252"] as const;
export type Encoding = (typeof ENCODINGS)[number];

/** Letters of Turkish in cp1254, which cp1252 reads as letters of Icelandic: `ð` is ğ, `ý` is ı, `þ` is ş, and their capitals. */
const TURKISH_ONLY = /[ÐÝÞðýþ]/gu;

/** Other letters beyond ASCII that Turkish does not have: a text with more of them is of another language. */
const OTHER_LETTERS = /[ÀÁÃÅÆÈÉÊËÌÍÒÓÔÕØÙÚßàáãåæèéêëìíòóôõøùúŠŒŽšœž]/gu;

/**
 * Decodes a file: by its byte order mark, as UTF-8 if each byte fits, else as a code page of Windows. Letters decide between the
 * Turkish and the western one.
 */
export function decode(bytes: Uint8Array, chosen?: Encoding): { text: string; encoding: Encoding } {
  const encoding = chosen ?? encodingFor(bytes);
  const text = new TextDecoder(encoding).decode(bytes);
  return { text: encoding === "utf-8" ? turkishAgain(text) : text, encoding };
}

function encodingFor(bytes: Uint8Array): Encoding {
  const unicode = encodingOf(bytes);
  if (unicode !== "utf-8") return unicode;
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return "utf-8";
  } catch {
    return isTurkish(new TextDecoder("windows-1252").decode(bytes)) ? "windows-1254" : "windows-1252";
  }
}

function isTurkish(western: string): boolean {
  const turkish = western.match(TURKISH_ONLY)?.length ?? 0;
  return turkish > 0 && turkish >= (western.match(OTHER_LETTERS)?.length ?? 0) / 4;
}

const TURKISH_LETTERS: Readonly<Record<string, string>> = { Ð: "Ğ", Ý: "İ", Þ: "Ş", ð: "ğ", ý: "ı", þ: "ş" };

/** Restores the letters of a Turkish text that an earlier program read as cp1252 and saved as UTF-8: `Þahin` is Şahin. */
function turkishAgain(text: string): string {
  // A correct Turkish text has the right letters, and Icelandic has those of both kinds.
  if (!isTurkish(text) || /[ĞğİıŞş]/.test(text) || /[ÁÆÉÓÚáæéóú]/.test(text)) return text;
  return text.replaceAll(TURKISH_ONLY, (letter) => TURKISH_LETTERS[letter] ?? letter);
}
