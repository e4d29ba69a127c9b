// Looks through the text of a body before it is parsed, and refuses what a parser would spend seconds on or reads in two ways.

/** Max nesting. The deepest honest body, a push, has 6 levels. */
const DEPTH_MAX = 32;
/** Max different names. Honest bodies have some hundred; each further one costs a parser a hundred times what a value costs. */
const NAMES_MAX = 2000;
/** Max characters of a name. A refusal repeats the unknown ones. */
const NAME_CHARS_MAX = 200;

/** A fault as the end of a sentence about the body. */
export interface JsonFault {
  readonly isTooLarge: boolean;
  readonly fault: string;
}

/**
 * Scans a text before it is parsed. JSON.parse takes the last of two equal names of an object, other parsers the first, so that
 * a proxy could check one value and the server use the other (RFC 8259 §4). Text that is not JSON gets any outcome.
 * @returns the first fault that a parser would not report, or null
 */
export function jsonFault(text: string, valuesMax: number): JsonFault | null {
  /** The names of each open object; null for an open list. */
  const open: (Set<string> | null)[] = [];
  const known = new Set<string>();
  let values = 1;
  let isName = false;
  for (let index = 0; index < text.length; index += 1) {
    switch (text.charCodeAt(index)) {
      case QUOTE: {
        const end = endOfText(text, index + 1);
        const fault = isName ? nameFault(text.slice(index, end + 1), open.at(-1), known) : null;
        if (fault !== null) return fault;
        isName = false;
        index = end;
        break;
      }
      case OBJECT:
      case LIST: {
        isName = text.charCodeAt(index) === OBJECT;
        values += 1;
        if (open.length === DEPTH_MAX) return invalid(`nests values more than ${DEPTH_MAX} deep`);
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
    if (values > valuesMax) return tooLarge(`has more than ${valuesMax} values`);
  }
  return null;
}

const invalid = (fault: string): JsonFault => ({ isTooLarge: false, fault });
const tooLarge = (fault: string): JsonFault => ({ isTooLarge: true, fault });

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

/** Adds a name to the names of its object and of the complete text. @returns its fault, or null */
function nameFault(quoted: string, names: Set<string> | null | undefined, known: Set<string>): JsonFault | null {
  if (quoted.length > NAME_CHARS_MAX) return tooLarge(`has a name of more than ${NAME_CHARS_MAX} characters`);
  const name = quoted.includes("\\") ? unescaped(quoted) : quoted;
  if (names?.has(name) === true) return invalid(`has a name twice in one object: ${name.slice(0, 60)}`);
  names?.add(name);
  known.add(name);
  return known.size > NAMES_MAX ? tooLarge(`has more than ${NAMES_MAX} different names`) : null;
}

/** `"a\u0062"` and `"ab"` are one name. */
function unescaped(quoted: string): string {
  try {
    return JSON.stringify(JSON.parse(quoted));
  } catch {
    return quoted;
  }
}
