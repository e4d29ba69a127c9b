import { isUtf8 } from "node:buffer";
import { encodingOf } from "../text-file.ts";

// The text of a file that another program exported, whose encoding nothing names.

export const ENCODINGS = ["utf-8", "utf-16le", "utf-16be", "windows-1254", "windows-1252"] as const;
export type Encoding = (typeof ENCODINGS)[number];

/** Letters of Turkish in cp1254, which cp1252 reads as letters of Icelandic: `ð` is ğ, `ý` is ı, `þ` is ş, and their capitals. */
const TURKISH_ONLY = /[ÐÝÞðýþ]/gu;

/** Other letters beyond ASCII that Turkish does not have: a text with more of them is of another language. */
const OTHER_LETTERS = /[ÀÁÃÅÆÈÉÊËÌÍÒÓÔÕØÙÚßàáãåæèéêëìíòóôõøùúŠŒŽšœž]/gu;

/** A file as text. */
export interface Decoded {
  readonly encoding: Encoding;
  /** Returns the text in pieces, since it takes several times the memory of its bytes. */
  readonly pieces: () => Iterable<string>;
}

/**
 * Decodes a file: by its byte order mark, as UTF-8 if each byte fits, else as a code page of Windows. Letters decide between the
 * Turkish and the western one.
 */
export function decode(bytes: Uint8Array, chosen?: Encoding): Decoded {
  const encoding = chosen ?? encodingFor(bytes);
  const isWrong = encoding === "utf-8" && isReadWrong(lettersOf(piecesOf(bytes, encoding)));
  return { encoding, pieces: () => (isWrong ? turkishAgain(piecesOf(bytes, encoding)) : piecesOf(bytes, encoding)) };
}

function encodingFor(bytes: Uint8Array): Encoding {
  const unicode = encodingOf(bytes);
  if (unicode !== "utf-8") return unicode;
  if (isUtf8(bytes)) return "utf-8";
  return isTurkish(lettersOf(piecesOf(bytes, "windows-1252"))) ? "windows-1254" : "windows-1252";
}

const PIECE_BYTES = 256 * 1024;

function* piecesOf(bytes: Uint8Array, encoding: Encoding): Generator<string> {
  const decoder = new TextDecoder(encoding);
  for (let from = 0; from < bytes.length; from += PIECE_BYTES) {
    yield decoder.decode(bytes.subarray(from, from + PIECE_BYTES), { stream: true });
  }
  yield decoder.decode();
}

/** Counts of the letters by which languages are known. */
interface Letters {
  readonly turkishOnly: number;
  readonly other: number;
  /** Whether the text has the letters that a correct Turkish text has, or those of an Icelandic one. */
  readonly isCorrect: boolean;
}

function lettersOf(pieces: Iterable<string>): Letters {
  let [turkishOnly, other, isCorrect] = [0, 0, false];
  for (const piece of pieces) {
    turkishOnly += piece.match(TURKISH_ONLY)?.length ?? 0;
    other += piece.match(OTHER_LETTERS)?.length ?? 0;
    isCorrect ||= /[ĞğİıŞşÁÆÉÓÚáæéóú]/.test(piece);
  }
  return { turkishOnly, other, isCorrect };
}

function isTurkish({ turkishOnly, other }: Letters): boolean {
  return turkishOnly > 0 && turkishOnly >= other / 4;
}

/** Whether an earlier program read a Turkish text as cp1252 and saved it as UTF-8: `Þahin` is Şahin. */
function isReadWrong(letters: Letters): boolean {
  return isTurkish(letters) && !letters.isCorrect;
}

const TURKISH_LETTERS: Readonly<Record<string, string>> = { Ð: "Ğ", Ý: "İ", Þ: "Ş", ð: "ğ", ý: "ı", þ: "ş" };

function* turkishAgain(pieces: Iterable<string>): Generator<string> {
  for (const piece of pieces) yield piece.replaceAll(TURKISH_ONLY, (letter) => TURKISH_LETTERS[letter] ?? letter);
}
