import iconv from "iconv-lite";
import { isChinese, utf8Text } from "../../utf8.ts";

// Charsets of HL7 v2 messages, stated in MSH-18 or by the profile.

/** MSH-18: table 0211, and values of devices. All known analyzers with UNICODE send UTF-8. */
const STATED_CHARSETS = {
  UNICODE: "utf-8",
  "UNICODE UTF-8": "utf-8",
  "UTF-8": "utf-8",
  UTF8: "utf-8",
  "8859/1": "windows-1252",
  "8859/2": "iso-8859-2",
  "8859/3": "iso-8859-3",
  "8859/4": "iso-8859-4",
  "8859/5": "iso-8859-5",
  "8859/6": "iso-8859-6",
  "8859/7": "iso-8859-7",
  "8859/8": "iso-8859-8",
  "8859/9": "windows-1254",
  "8859/15": "iso-8859-15",
  "GB 18030-2000": "gb18030",
  "GB 18030": "gb18030",
  GB18030: "gb18030",
  "BIG-5": "big5",
  "KS X 1001": "euc-kr",
  "ISO IR87": "iso-2022-jp",
} as const;

export type Charset = (typeof STATED_CHARSETS)[keyof typeof STATED_CHARSETS];

export const CHARSETS: readonly Charset[] = [...new Set(Object.values(STATED_CHARSETS))];

export interface CharsetOptions {
  /** Overrides MSH-18: some devices declare ASCII and send another charset. */
  readonly charset?: Charset;
}

/** Encodes text; characters outside the charset become `?`. */
export function encodeText(text: string, charset: Charset): Uint8Array {
  if (charset === "utf-8") return Buffer.from(text);
  return iconv.encode(text, iconv.encodingExists(charset) ? charset : "ascii");
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Drops a leading byte order mark; an invalid byte becomes U+FFFD. */
export function decodeFrom(charset: Charset, bytes: Uint8Array): string {
  return iconv.encodingExists(charset) ? iconv.decode(bytes, charset) : new TextDecoder(charset).decode(bytes);
}

/** Charset of undeclared text that is neither UTF-8 nor Chinese. */
const FALLBACK = "windows-1252";

/** Charsets whose characters of two bytes may look like UTF-8 by chance. */
const AMBIGUOUS: readonly Charset[] = ["gb18030", "big5", "euc-kr"];

export interface DecodedText {
  readonly text: string;
  readonly charset: Charset;
  /** The declared charset of text that is UTF-8; null if the declaration is right or missing. */
  readonly utf8Under: Charset | null;
}

/** Decodes the complete message before splitting: hundreds of GB 18030 characters end with the byte of a delimiter. */
export function decodeText(bytes: Uint8Array, { charset }: CharsetOptions): DecodedText {
  const stated = charset ?? statedCharset(bytes);
  if (stated !== null) {
    const text = stated === "utf-8" ? null : utf8Text(bytes, AMBIGUOUS.includes(stated));
    return text === null
      ? { text: decodeFrom(stated, bytes), charset: stated, utf8Under: null }
      : { text, charset: "utf-8", utf8Under: stated };
  }
  try {
    return { text: utf8.decode(bytes), charset: "utf-8", utf8Under: null };
  } catch {
    const likely = isChinese(bytes) ? "gb18030" : FALLBACK;
    return { text: decodeFrom(likely, bytes), charset: likely, utf8Under: null };
  }
}

/** Bytes that are searched for MSH-18. */
const HEADER_BYTES_MAX = 2_048;

/**
 * Reads the first repetition of MSH-18. ASCII counts as undeclared, because devices declare it and send another
 * charset.
 */
function statedCharset(bytes: Uint8Array): Charset | null {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, HEADER_BYTES_MAX)).toString("latin1");
  const [, field, rest] = /(?:^|[^A-Za-z0-9])MSH([^A-Za-z0-9\s])([^\r\n]*)/.exec(head) ?? [];
  if (field === undefined || rest === undefined) return null;
  const repetition = rest[1] ?? "";
  const stated = (rest.split(field)[16] ?? "").split(repetition)[0]?.trim().toUpperCase() ?? "";
  return Object.hasOwn(STATED_CHARSETS, stated) ? STATED_CHARSETS[stated as keyof typeof STATED_CHARSETS] : null;
}
