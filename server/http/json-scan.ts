/** Max nesting of a body. The deepest honest one, a push, has 6 levels. */
const DEPTH_MAX = 32;

/** Outcome of a scan: a number of values, and the first fault that a parser would not report. */
export interface JsonScan {
  /** Upper bound of the number of values. */
  readonly values: number;
  readonly problem: string | null;
}

/**
 * Scans a text before it is parsed. JSON.parse takes the last of two equal names of an object, other parsers the first, so that
 * a proxy could check one value and the server use the other (RFC 8259 §4). Text that is not JSON gets any outcome.
 */
export function scanJson(text: string): JsonScan {
  /** The names of each open object; null for an open list. */
  const open: (Set<string> | null)[] = [];
  let values = 1;
  let problem: string | null = null;
  let isName = false;
  for (let index = 0; index < text.length; index += 1) {
    switch (text.charCodeAt(index)) {
      case QUOTE: {
        const end = endOfText(text, index + 1);
        if (isName) problem ??= repeated(open.at(-1), text.slice(index, end + 1));
        isName = false;
        index = end;
        break;
      }
      case OBJECT:
      case LIST: {
        isName = text.charCodeAt(index) === OBJECT;
        values += 1;
        if (open.length === DEPTH_MAX) return { values, problem: `The body nests values more than ${DEPTH_MAX} deep` };
        open.push(isName ? new Set() : null);
        break;
      }
      case OBJECT_END:
      case LIST_END:
        isName = false;
        open.pop();
        break;
      case COMMA:
        values += 1;
        isName = open.at(-1) instanceof Set;
    }
  }
  return { values, problem };
}

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [OBJECT, OBJECT_END, LIST, LIST_END] = [0x7b, 0x7d, 0x5b, 0x5d];

/** Finds the closing quote of a text: one with an even number of backslashes before it. */
function endOfText(text: string, from: number): number {
  for (let end = text.indexOf('"', from); end !== -1; end = text.indexOf('"', end + 1)) {
    let start = end;
    while (text.charCodeAt(start - 1) === BACKSLASH && start > from) start -= 1;
    if ((end - start) % 2 === 0) return end;
  }
  return text.length;
}

/** Adds a name to those of its object. @returns a sentence if the object has it already */
function repeated(names: Set<string> | null | undefined, quoted: string): string | null {
  const name = quoted.includes("\\") ? unescaped(quoted) : quoted;
  if (names?.has(name) === true) return `The body has a name twice in one object: ${name.slice(0, 60)}`;
  names?.add(name);
  return null;
}

/** `"a\u0062"` and `"ab"` are one name. */
function unescaped(quoted: string): string {
  try {
    return JSON.stringify(JSON.parse(quoted));
  } catch {
    return quoted;
  }
}
