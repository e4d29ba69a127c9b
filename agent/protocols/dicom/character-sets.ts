import iconv from "iconv-lite";
import { utf8Text } from "../utf8.ts";

// Character sets of texts (PS3.3 §C.12.1.1.2) by their defined terms.

const UTF_8 = "ISO_IR 192";
/** Character sets in order of preference, the most widely supported first; "" is the default repertoire, ASCII. */
const PREFERENCE = ["", "ISO_IR 100", "ISO_IR 148", UTF_8];
/** Encodings by the number in the defined term (PS3.3 tables C.12-2 to C.12-5). */
const ENCODINGS: Readonly<Record<string, string>> = {
  "": "ascii",
  "6": "ascii",
  "100": "iso-8859-1",
  "101": "iso-8859-2",
  "109": "iso-8859-3",
  "110": "iso-8859-4",
  "144": "iso-8859-5",
  "127": "iso-8859-6",
  "126": "iso-8859-7",
  "138": "iso-8859-8",
  "148": "iso-8859-9",
  "203": "iso-8859-15",
  "166": "tis620",
  "13": "shift_jis",
  "192": "utf8",
};

/** Character sets whose bytes may look like UTF-8 by chance: of two bytes a character, Thai and half-width Katakana. */
export function hasAmbiguousBytes(charset: string): boolean {
  return /^GB|IR (?:13|58|149|166)\b/.test(charset);
}

/** Decodes as declared, except text that is UTF-8 beyond doubt: devices send it under another character set, or under none. */
export function decodeText(bytes: Uint8Array, charset: string): string {
  const encoding = encodingNamed(charset);
  // Bytes beyond ASCII are read one by one, so that nothing is lost.
  const declared = encoding === "ascii" ? "iso-8859-1" : encoding;
  return utf8Text(bytes, hasAmbiguousBytes(charset)) ?? iconv.decode(Buffer.from(bytes), declared);
}

export function encodeText(text: string, charset: string): Uint8Array {
  return iconv.encode(text, encodingNamed(charset));
}

/** Returns the first character set that has all characters of the text: `wanted`, else by preference. */
export function chooseCharset(text: string, wanted: string): string {
  const isComplete = (charset: string) => decodeText(encodeText(text, charset), charset) === text;
  return [wanted, ...PREFERENCE].find(isComplete) ?? UTF_8;
}

/** Returns the encoding of a Specific Character Set. Only the first set of code extensions is supported. */
function encodingNamed(charset: string): string {
  const [first = ""] = charset.split("\\");
  if (first === "GB18030" || first === "GBK") return first;
  // Text of an unknown repertoire is decoded byte by byte, so that nothing is lost.
  return ENCODINGS[first.replace(/^ISO(_| 2022 )IR /, "").trim()] ?? "iso-8859-1";
}
