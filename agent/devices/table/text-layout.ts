import type { Pattern } from "../../protocols/profile.ts";
import { readPattern } from "./pattern.ts";
import type { TextLayout } from "./schema.ts";
import { conditionOf, TEXT, textRecord } from "./source.ts";

// Reads a text without checksum by its layout: every part of it is a line that the layout names, or nothing of it is read.

/** Max characters and lines of a text. */
const [CHARS_MAX, LINES_MAX] = [64 * 1024, 2000];

type Groups = Readonly<Record<string, string>>;

/** The facts and results in the lines of a text. */
export interface Lines {
  /** Columns of the sample. */
  readonly facts: Groups;
  /** Columns of each result, and comments, in the order of the text. */
  readonly rows: readonly (Groups | string)[];
}

interface Layout {
  /** The beginning of a text of this layout; null for any. */
  readonly begins: Pattern | null;
  /** Reads the lines. @returns a sentence for a text of another form */
  read(text: string): Lines | string;
}

type Rule = TextLayout["lines"][number] & {
  /** Returns what of a text the line takes, and its groups; null for another text. */
  readonly match: (text: string) => { readonly whole: string; readonly groups: Groups } | null;
};

export function layoutOf(form: TextLayout): Layout {
  const rules = form.lines.map(ruleOf);
  const [first, last] = [form.first, form.last].map(partOf);
  const isSequence = form.cut === "match";
  return {
    begins: form.begins === undefined ? null : readPattern(form.begins),
    read: (text) => {
      if (text.length > CHARS_MAX) return `the text has ${text.length} characters, at most ${CHARS_MAX}`;
      const parts = partsOf(form, text);
      if (parts.length > LINES_MAX) return `the text has ${parts.length} lines, at most ${LINES_MAX}`;
      if (form.count !== undefined && parts.length !== form.count) {
        return `the text has ${parts.length} lines, expected ${form.count}`;
      }
      const facts: Record<string, string> = {};
      const head = first?.(parts[0] ?? "");
      if (typeof head === "string") return head;
      const tail = last?.(parts.at(-1) ?? "");
      if (typeof tail === "string") return tail;
      Object.assign(facts, head?.groups, tail?.groups);
      // The first part of a sequence is its beginning only.
      const begun = head === undefined || isSequence ? 0 : 1;
      const inner = parts.slice(begun, tail === undefined ? undefined : -1);
      const whole = isSequence
        ? inner.map((part, index) => (index === 0 ? part.slice(head?.whole.length) : part))
        : inner;
      const pieces = whole.flatMap((part) => piecesOf(form, rules, part));
      return linesOf(form, rules, pieces, begun, facts);
    },
  };
}

/** A line of a text as its layout cuts it. `groups`: null for a line that no rule of the layout takes. */
export interface ShownLine {
  readonly text: string;
  readonly groups: Groups | null;
  readonly isResult: boolean;
}

/** Returns the lines of a text, also of one that the layout does not read. @returns null for the text of another layout */
export function shownLines(form: TextLayout, text: string): ShownLine[] | null {
  if (form.begins !== undefined && !readPattern(form.begins).test(text)) return null;
  const rules = form.lines.map(ruleOf);
  const parts = partsOf(form, text.slice(0, CHARS_MAX)).slice(0, LINES_MAX);
  const lineOf = (piece: string): ShownLine => {
    const rule = rules.find(({ match }) => match(piece) !== null);
    return { text: piece, groups: rule?.match(piece)?.groups ?? null, isResult: rule?.as === "result" };
  };
  return parts.flatMap((part, index) => {
    const fixed = index === 0 ? form.first : index === parts.length - 1 ? form.last : undefined;
    const found = fixed === undefined ? null : readPattern(fixed.pattern).named(part);
    if (found === null) return piecesOf(form, rules, part).map(lineOf);
    const rest = form.cut === "match" ? part.slice(found.whole.length) : "";
    const head = { text: rest === "" ? part : found.whole, groups: found.groups, isResult: false };
    return [head, ...(rest === "" ? [] : piecesOf(form, rules, rest).map(lineOf))];
  });
}

function ruleOf(form: TextLayout["lines"][number]): Rule {
  const pattern = readPattern(form.pattern);
  const holds = conditionOf(form.when, form.unless, [TEXT]);
  return {
    ...form,
    match: (text) => {
      const found = pattern.named(text);
      return found !== null && holds(textRecord(found.groups)) ? found : null;
    },
  };
}

function partOf(form: TextLayout["first"]) {
  if (form === undefined) return undefined;
  const pattern = readPattern(form.pattern);
  return (text: string) => pattern.named(text) ?? sentence(form.otherwise, text, 1, form.shown);
}

/** Splits a text into its lines or blocks. */
function partsOf({ bits, lineEnds, split = [], trim }: TextLayout, message: string): string[] {
  let text = message;
  if (bits === 7) text = Array.from(text, (char) => String.fromCharCode(char.charCodeAt(0) & 0x7f)).join("");
  if (lineEnds !== undefined) text = text.replaceAll(/[\r\n]+/g, lineEnds === "blank" ? " " : "");
  let parts = [text];
  if (split.includes("ETB")) parts = parts.flatMap((part) => part.split("\x17"));
  if (split.includes("lines")) parts = parts.flatMap((part) => part.split(/[\r\n]+/));
  if (trim) parts = parts.map((part) => part.trim());
  return split.includes("lines") ? parts.filter((part) => part !== "") : parts;
}

/** Cuts a part into pieces: each of them is a line. What no line takes is a piece too. */
function piecesOf({ cut }: TextLayout, rules: readonly Rule[], part: string): string[] {
  if (cut === undefined) return [part];
  const pieces: string[] = [];
  for (let rest = part; rest !== ""; ) {
    const taken = cut === "match" ? takenBy(rules, rest) : rest.slice(0, cut);
    pieces.push(taken);
    rest = rest.slice(taken.length);
  }
  return pieces;
}

function takenBy(rules: readonly Rule[], rest: string): string {
  for (const { match } of rules) {
    const whole = match(rest)?.whole ?? "";
    if (whole !== "" && rest.startsWith(whole)) return whole;
  }
  return rest;
}

/** Reads the lines. `begun`: lines before them. @returns the sentence of the first line that no rule of the layout matches */
function linesOf(
  form: TextLayout,
  rules: readonly Rule[],
  lines: readonly string[],
  begun: number,
  facts: Record<string, string>,
): Lines | string {
  const rows: (Groups | string)[] = [];
  const texts = new Map<Rule, string>();
  for (const [index, line] of lines.entries()) {
    const number = begun + index + 1;
    if (form.width !== undefined && line.length !== form.width) {
      return `line ${number} has ${line.length} characters, expected ${form.width}`;
    }
    const rule = rules.find(({ match }) => match(line) !== null);
    if (rule === undefined) return sentence(form.otherwise, line, number, form.shown);
    const groups = rule.match(line)?.groups ?? {};
    if (rule.as === "result") rows.push(groups);
    else if (rule.as === "comment") rows.push(line);
    else Object.assign(facts, groups);
    const text = Object.values(groups).join(" ").trim();
    const before = texts.get(rule) ?? text;
    if (rule.twice !== undefined && text !== before) {
      return rule.twice.replace("{before}", () => before).replace("{now}", () => text);
    }
    texts.set(rule, text);
  }
  const isComplete = rules.every((rule) => rule.required === undefined || texts.has(rule));
  if (!isComplete || !rows.some((row) => typeof row !== "string")) return form.missing ?? "the text has no result";
  return { facts, rows };
}

/** Makes the problem of a line, with its text and its number. */
function sentence(words: string, text: string, line: number, shown = 40): string {
  return words.replace("{text}", () => JSON.stringify(text.slice(0, shown))).replace("{line}", String(line));
}
