import { distance } from "fastest-levenshtein";

// Suggestions for the sentence that reports an unknown word.

/** Longer lists of known words are replaced by an example in the suggestion. */
const LISTED_WORDS_MAX = 20;

/** Returns the only known word with this prefix, else the one at the least edit distance; null if all are too far. */
export function nearestWord(word: string, known: readonly string[]): string | null {
  const wanted = word.toLowerCase();
  const begun = known.filter((candidate) => word.length > 2 && candidate.toLowerCase().startsWith(wanted));
  if (begun.length === 1) return begun[0]!;
  const ranked = known.map((candidate) => ({ candidate, edits: distance(wanted, candidate.toLowerCase()) }));
  const best = ranked.toSorted((a, b) => a.edits - b.edits)[0];
  return best !== undefined && best.edits <= Math.max(2, Math.floor(word.length / 3)) ? best.candidate : null;
}

/** Returns the end of a sentence about an unknown word: the nearest known word, or the words that are expected. */
export function advice(word: string, known: readonly string[]): string {
  const nearest = nearestWord(word, known);
  if (nearest !== null) return `did you mean ${nearest}?`;
  return `expected ${known.length > LISTED_WORDS_MAX ? "one such as ALT, CREA or WBC" : `one of ${known.join(", ")}`}`;
}
