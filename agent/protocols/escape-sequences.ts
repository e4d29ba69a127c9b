// Escape sequences of ASTM (LIS02-A2 §5.4.5) and HL7 (chapter 2). Both put a code between two marks; the codes differ.

/**
 * Decodes escape sequences. Unknown and unclosed sequences stay as they are, because comments hold lone ampersands and
 * paths hold backslashes. `decode` returns null for an unknown code.
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
      // The first mark is text; the second may start an escape.
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
 * Encodes control characters and the characters of `codes` as escape sequences, so that a text cannot add a field,
 * record or frame. A message that declares no escape gets spaces.
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

/** Returns the bytes of a code such as `X0D0A`, null for an invalid code. */
export function hexadecimal(code: string): Uint8Array | null {
  // A repeated group of a pattern may exhaust the stack over the millions of digits of a message.
  const digits = code.slice(1);
  if (!/^X/i.test(code) || digits === "" || digits.length % 2 !== 0 || /[^0-9A-F]/i.test(digits)) return null;
  return new Uint8Array(Buffer.from(digits, "hex"));
}

/** Quotes the start of a text for an error message, without control characters. */
export function printable(text: string): string {
  const short = text.slice(0, 20).replace(/[^\x20-\x7e]/g, "?");
  return `"${short}${text.length > 20 ? "..." : ""}"`;
}
