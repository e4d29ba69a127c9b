// What the texts of ASTM and HL7 share. Escape sequences stand between two marks in ASTM (LIS02-A2 §5.4.5) and in HL7
// (chapter 2) alike; what a code means differs.

/**
 * The text with its escape sequences decoded. Unknown and unclosed ones stay as they are: a lone ampersand in a comment, a
 * backslash in a path are common. `decode` gives null for a code that is none.
 */
export function unescapeText(text: string, mark: string, decode: (code: string) => string | null): string {
  let result = "";
  let at = 0;
  while (at < text.length) {
    const open = text.indexOf(mark, at);
    const close = open < 0 ? -1 : text.indexOf(mark, open + 1);
    if (close < 0) return result + text.slice(at);
    const decoded = decode(text.slice(open + 1, close));
    if (decoded === null) {
      // Not an escape: the second mark may begin one.
      result += text.slice(at, close);
      at = close;
    } else {
      result += text.slice(at, open) + decoded;
      at = close + 1;
    }
  }
  return result;
}

/**
 * The text with what `codes` has a code for, and every control character, written as escape sequences: one name may not make
 * a field, a record or a frame more. Where the message declares no escape a space stands for them.
 */
export function escapeText(text: string, mark: string | null, codes: ReadonlyMap<string | null, string>): string {
  let result = "";
  for (const char of text) {
    const isControl = char < " " || char === "\x7f";
    const code = isControl ? `X${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}` : codes.get(char);
    if (code === undefined) result += char;
    else result += mark === null ? " " : mark + code + mark;
  }
  return result;
}

/** The bytes of a code such as `X0D0A`; null: it is none. */
export function hexadecimal(code: string): Uint8Array | null {
  if (!/^X(?:[0-9A-F]{2})+$/i.test(code)) return null;
  return Uint8Array.from(code.slice(1).match(/../g)!, (digits) => Number.parseInt(digits, 16));
}

/** A short quotation for a reason: no control characters. */
export function printable(text: string): string {
  const short = text.slice(0, 20).replace(/[^\x20-\x7e]/g, "?");
  return `"${short}${text.length > 20 ? "..." : ""}"`;
}
