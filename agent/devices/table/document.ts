import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isPair,
  isScalar,
  Lexer,
  LineCounter,
  parseDocument,
  stringify,
} from "yaml";
import { lineAt } from "../../runtime/yaml-lines.ts";
import type { AnyProfileForm } from "./file.ts";

// The text of a profile as values with their lines. A stranger may have written it, so that its size is bounded before it is read.

/** A problem of a profile. `steps` lead to its place: `rows`, `3`, `when`. */
export interface ProfileProblem {
  readonly steps: readonly string[];
  readonly line: number;
  /** `own/acme-x1.yaml:12 rows[3] is never reached: rows[1] takes all`. */
  readonly message: string;
}

/** Values of a text, with the line of each. */
export interface ProfileDocument {
  readonly values: Readonly<Record<string, unknown>>;
  lineOf(steps: readonly string[]): number;
}

const BYTES_MAX = 256 * 1024;
const DEPTH_MAX = 12;

/** Reads the text, or says what it is not. Lines are from 1. */
export function readDocument(text: string): ProfileDocument | { readonly line: number; readonly words: string } {
  const bytes = Buffer.byteLength(text);
  if (bytes > BYTES_MAX) return { line: 1, words: `the profile has ${bytes} bytes, at most ${BYTES_MAX}` };
  const deep = tooDeepLine(text);
  if (deep !== null) return { line: deep, words: TOO_DEEP };
  const lines = new LineCounter();
  const document = parseDocument(text, {
    schema: "core",
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: sameKeys,
  });
  const [error] = document.errors;
  if (error !== undefined) return { line: lines.linePos(error.pos[0]).line, words: error.message };
  const foreign = foreignPart(document);
  if (foreign !== null) return { line: lines.linePos(foreign.at).line, words: foreign.words };
  if (!isMap(document.contents))
    return { line: 1, words: "the profile has no keys, expected schema, profile, revision" };
  return {
    values: document.toJS() as Readonly<Record<string, unknown>>,
    lineOf: (steps) => lineAt(document.contents, steps, lines),
  };
}

/** Prints a form. What it prints reads as the same form. */
export function printProfile(form: AnyProfileForm): string {
  return stringify(form, { schema: "core", lineWidth: 120, aliasDuplicateObjects: false });
}

const TOO_DEEP = `the profile is nested too deep, at most ${DEPTH_MAX}`;

/**
 * Finds text that nests far deeper than a profile, by its tokens alone: the parser calls itself for each level, and a text of dashes
 * would end the process.
 */
function tooDeepLine(text: string): number | null {
  const indented = text.split("\n").findIndex((each) => /^[ \t]*/.exec(each)![0].length > INDENT_MAX);
  if (indented !== -1) return indented + 1;
  let [brackets, indicators, line] = [0, 0, 1];
  let isScalarNext = false;
  for (const token of new Lexer().lex(text)) {
    line += token.split("\n").length - 1;
    if (isScalarNext) isScalarNext = false;
    else if (token === SCALAR) isScalarNext = true;
    else if (token === "[" || token === "{") brackets += 1;
    else if (token === "]" || token === "}") brackets = Math.max(0, brackets - 1);
    else if (token.includes("\n")) indicators = 0;
    else if (brackets === 0 && (token === "-" || token === "?" || token === ":")) indicators += 1;
    if (brackets > 2 * DEPTH_MAX || indicators > 2 * DEPTH_MAX) return line;
  }
  return null;
}

/** The lexer announces a scalar with this token. */
const SCALAR = "\x1f";
const INDENT_MAX = 120;

/** Finds what makes a text other than it looks: anchors, aliases, tags, keys that are not texts, and what is nested too deep. */
function foreignPart(document: Document.Parsed): { readonly at: number; readonly words: string } | null {
  const open: { readonly node: unknown; readonly depth: number }[] = [{ node: document.contents, depth: 1 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, depth } = next;
    if (isPair(node)) {
      if (!isScalar(node.key)) return { at: 0, words: "a key is no text" };
      // A code stays as written: 0413 is another one than 413.
      if (typeof node.key.value !== "string") node.key.value = node.key.source ?? String(node.key.value);
      open.push({ node: node.key, depth }, { node: node.value, depth });
    } else if (isAlias(node)) {
      return { at: node.range?.[0] ?? 0, words: `the alias *${node.source} is no part of a profile` };
    } else if (isScalar(node) || isCollection(node)) {
      const at = node.range?.[0] ?? 0;
      if (node.anchor !== undefined) return { at, words: `the anchor &${node.anchor} is no part of a profile` };
      if (node.tag !== undefined) return { at, words: `the tag ${node.tag} is no part of a profile` };
      if (!isCollection(node)) continue;
      if (depth > DEPTH_MAX) return { at, words: TOO_DEEP };
      for (const item of node.items) open.push({ node: item, depth: depth + 1 });
    }
  }
  return null;
}

/** Keys are texts: 413 and "413" are the same one. */
function sameKeys(one: unknown, other: unknown): boolean {
  return keyText(one) === keyText(other);
}

function keyText(key: unknown): unknown {
  if (!isScalar(key)) return key;
  return typeof key.value === "string" ? key.value : (key.source ?? key.value);
}
