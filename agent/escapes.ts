// Escape sequences stand between two marks in ASTM (LIS02-A2 §5.4.5) and in HL7 (chapter 2) alike; what a code means differs.

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
