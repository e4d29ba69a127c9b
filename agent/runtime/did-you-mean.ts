// The word that was meant, for the sentence that says a word is not known.

/** The word that begins so, or the one at the least edit distance if it is near enough to be meant. */
export function nearestWord(word: string, known: readonly string[]): string | null {
  const begun = known.filter((candidate) => word.length > 2 && candidate.toLowerCase().startsWith(word.toLowerCase()));
  if (begun.length === 1) return begun[0]!;
  const ranked = known.map((candidate) => ({
    candidate,
    distance: editDistance(word.toLowerCase(), candidate.toLowerCase()),
  }));
  const best = ranked.toSorted((a, b) => a.distance - b.distance)[0];
  return best !== undefined && best.distance <= Math.max(2, Math.floor(word.length / 3)) ? best.candidate : null;
}

/** Levenshtein. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 0; i < Math.min(a.length, 100); i++) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      next.push(Math.min(next[j]! + 1, row[j + 1]! + 1, row[j]! + (a[i] === b[j] ? 0 : 1)));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

/** What may have been meant. */
export function advice(word: string, known: readonly string[]): string {
  const nearest = nearestWord(word, known);
  if (nearest !== null) return `did you mean ${nearest}?`;
  return `expected ${known.length > 20 ? "one such as ALT, CREA or WBC" : `one of ${known.join(", ")}`}`;
}
