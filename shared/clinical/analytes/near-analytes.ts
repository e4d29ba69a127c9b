import { distance } from "fastest-levenshtein";
import { analytes, foldName } from "./analytes.ts";

/** Max analytes that are suggested for an unknown code. */
const SUGGESTED_MAX = 3;

/**
 * Returns the codes of the analytes whose code, name or synonym is nearest to one of the texts, the nearest first. A number is
 * near to no name.
 */
export function nearAnalytes(texts: readonly string[]): string[] {
  const wanted = texts.map((text) => foldName(text.trim())).filter((text) => /\p{L}/u.test(text));
  const ranked = NAMES.flatMap(({ code, names }) => {
    const edits = Math.min(...wanted.flatMap((text) => names.map((name) => editsBetween(text, name))));
    return Number.isFinite(edits) ? [{ code, edits }] : [];
  });
  return ranked
    .toSorted((one, other) => one.edits - other.edits)
    .slice(0, SUGGESTED_MAX)
    .map(({ code }) => code);
}

const NAMES = analytes.map(({ code, api_code, name, synonyms }) => ({
  code,
  names: [...new Set([code, api_code, name, ...synonyms].map(foldName))],
}));

/** Returns the edit distance, one edit for a longer word of the same beginning; infinity if a third of the text differs. */
function editsBetween(text: string, name: string): number {
  if (text.length > 2 && name.length > 2 && (name.startsWith(text) || text.startsWith(name))) {
    return text.length === name.length ? 0 : 1;
  }
  const edits = distance(text, name);
  return edits <= Math.max(1, Math.floor(text.length / 3)) && edits < Math.min(text.length, name.length)
    ? edits
    : Number.POSITIVE_INFINITY;
}
