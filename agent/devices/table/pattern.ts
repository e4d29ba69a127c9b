import { RE2JS } from "re2js";
import type { Pattern } from "../../protocols/profile.ts";

// Patterns of profiles. A stranger's pattern runs on each field of each message, so that the engine takes linear time: it has no
// look-ahead, no look-behind and no back-reference.

/** Max characters of a pattern. */
export const PATTERN_CHARS_MAX = 500;

const FLAGS = { i: RE2JS.CASE_INSENSITIVE, m: RE2JS.MULTILINE, s: RE2JS.DOTALL } as const;

/** A pattern that also returns what it found. */
export interface TextPattern extends Pattern {
  /** Returns the first group, or the whole match of a pattern without groups; null without a match. */
  found(text: string): string | null;
  /** Returns the group at `index`, from 1; null without a match, "" for a group that took no part in it. */
  group(text: string, index: number): string | null;
  /** Returns the match, and the texts of the named groups; null without a match. */
  named(text: string): { readonly whole: string; readonly groups: Readonly<Record<string, string>> } | null;
  /** Names of the groups. */
  readonly names: readonly string[];
  /** Returns the text with each match replaced. */
  replaced(text: string, by: string): string;
}

/**
 * Reads a pattern: its text, or `/text/flags` with the flags i, m and s. @throws an Error that names what the engine does not know
 */
export function readPattern(written: string): TextPattern {
  const [, delimited, letters = ""] = /^\/(.*)\/([a-z]*)$/s.exec(written) ?? [];
  const source = delimited ?? written;
  let flags = 0;
  for (const letter of letters) {
    if (!Object.hasOwn(FLAGS, letter)) throw new Error(`the flag ${letter}, expected i, m or s`);
    flags |= FLAGS[letter as keyof typeof FLAGS];
  }
  const compiled = compile(source, flags);
  const groups = compiled.groupCount();
  const named = Object.entries(compiled.namedGroups());
  const group = (text: string, index: number) => {
    const matcher = compiled.matcher(text);
    return matcher.find() ? (matcher.group(index) ?? "") : null;
  };
  return {
    test: (text) => compiled.matcher(text).find(),
    found: (text) => {
      if (groups === 0) return group(text, 0);
      for (let index = 1; index <= groups; index += 1) {
        const part = group(text, index);
        if (part === null || part !== "") return part;
      }
      return "";
    },
    group,
    named: (text) => {
      const matcher = compiled.matcher(text);
      if (!matcher.find()) return null;
      const pairs = named.map(([name, index]) => [name, matcher.group(index) ?? ""] as const);
      return { whole: matcher.group(0) ?? "", groups: Object.fromEntries(pairs) };
    },
    names: named.map(([name]) => name),
    replaced: (text, by) => compiled.matcher(text).replaceAll(by.replaceAll("$", "\\$")),
  };
}

function compile(source: string, flags: number): RE2JS {
  if (/\(\?<?[=!]/.test(source)) throw new Error("(?= or (?!, expected unless or notSender");
  try {
    return RE2JS.compile(RE2JS.translateRegExp(source), flags);
  } catch (error) {
    throw new Error(error instanceof Error ? error.message : String(error), { cause: error });
  }
}
