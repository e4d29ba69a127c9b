import { RE2JS } from "re2js";
import { errorMessage } from "../../../shared/runtime/error-message.ts";
import type { Pattern } from "../../protocols/profile.ts";

// Patterns of profiles. A stranger's pattern runs on each field of each message, so that the engine takes linear time: it has no
// look-ahead, no look-behind and no back-reference.

/** Max characters of a pattern. */
export const PATTERN_CHARS_MAX = 500;

const FLAGS = { i: RE2JS.CASE_INSENSITIVE, m: RE2JS.MULTILINE, s: RE2JS.DOTALL } as const;

/** A pattern that also returns what it found. */
export interface TextPattern extends Pattern {
  /** Size of the program that the engine runs for it. */
  readonly size: number;
  /** Returns the first group, or the whole match of a pattern without groups; null without a match. */
  found(text: string): string | null;
  /** Returns the group at `index`, from 1; null without a match, "" for a group that took no part in it. */
  group(text: string, index: number): string | null;
  /** Returns the match, and the texts of the named groups; null without a match. */
  named(text: string): { readonly whole: string; readonly groups: Readonly<Record<string, string>> } | null;
}

/**
 * Reads a pattern: its text, or `/text/flags` with the flags i, m and s. It is compiled when it is first used, since an agent uses few
 * of the shipped profiles: `size` and each match throw an Error that names what the engine does not know.
 */
export function readPattern(written: string): TextPattern {
  let engine: RE2JS | null = null;
  const compiled = () => (engine ??= compile(written));
  /** Returns the match; null without one. */
  const matched = (text: string) => {
    const matcher = compiled().matcher(text);
    return timed(() => matcher.find()) ? matcher : null;
  };
  const group = (text: string, index: number) => {
    const matcher = matched(text);
    return matcher === null ? null : (matcher.group(index) ?? "");
  };
  return {
    get size() {
      return compiled().programSize();
    },
    test: (text) => matched(text) !== null,
    found: (text) => {
      const groups = compiled().groupCount();
      if (groups === 0) return group(text, 0);
      for (let index = 1; index <= groups; index += 1) {
        const part = group(text, index);
        if (part === null || part !== "") return part;
      }
      return "";
    },
    group,
    named: (text) => {
      const matcher = matched(text);
      if (matcher === null) return null;
      const named = Object.entries(compiled().namedGroups());
      const pairs = named.map(([name, index]) => [name, matcher.group(index) ?? ""] as const);
      return { whole: matcher.group(0) ?? "", groups: Object.fromEntries(pairs) };
    },
  };
}

function compile(written: string): RE2JS {
  const [, delimited, letters = ""] = /^\/(.*)\/([a-z]*)$/s.exec(written) ?? [];
  const source = delimited ?? written;
  let flags = 0;
  for (const letter of letters) {
    if (!Object.hasOwn(FLAGS, letter)) throw new Error(`has the flag ${letter}, expected i, m or s`);
    flags |= FLAGS[letter as keyof typeof FLAGS];
  }
  const [around] = /\(\?<?[=!]/.exec(source) ?? [];
  if (around !== undefined) throw new Error(`uses ${around}, expected unless or notSender`);
  try {
    return RE2JS.compile(RE2JS.translateRegExp(source), flags);
  } catch (error) {
    const words = errorMessage(error).replace("error parsing regexp: ", "");
    throw new Error(`is no pattern: ${words}`, { cause: error });
  }
}

/** Max time of the patterns of one message, in milliseconds. A usual profile takes a thousandth of it. */
const PATTERNS_MS = 50;
/** A single test counts at most this much: the operating system may stop the process for longer. */
const TEST_MS_MAX = PATTERNS_MS / 5;

/** The patterns of a clinic's profile took too long for a message. */
export class ProfileTooSlow extends Error {}

/** Milliseconds that patterns took for the message that is read; null if they are not counted. */
let spentMs: number | null = null;

/** Reads a message while the time of its patterns is counted. @throws ProfileTooSlow above 50 ms */
export function withinTime<Result>(read: () => Result): Result {
  spentMs = 0;
  try {
    return read();
  } finally {
    spentMs = null;
  }
}

function timed(find: () => boolean): boolean {
  if (spentMs === null) return find();
  const started = performance.now();
  const isFound = find();
  spentMs += Math.min(TEST_MS_MAX, performance.now() - started);
  if (spentMs > PATTERNS_MS)
    throw new ProfileTooSlow(`the profile is too slow: its patterns took more than ${PATTERNS_MS} ms`);
  return isFound;
}
