import type { Language } from "../../../shared/api/language.ts";
import { folded } from "../ui/words/folded.ts";

/** The index that the build writes for the search: every word, with the sections that have it. */
export interface SearchIndex {
  readonly pages: readonly (readonly [url: string, title: string, language: Language])[];
  /** The anchor is empty for the text before the first heading. */
  readonly sections: readonly (readonly [page: number, anchor: string, title: string])[];
  /** For each word the numbers of its sections, each as the difference from the one before. */
  readonly words: Readonly<Record<string, readonly number[]>>;
}

export interface Found {
  readonly url: string;
  readonly page: string;
  readonly section: string;
  readonly language: Language;
}

/** Returns the words of a text, folded. */
export function wordsOf(text: string): string[] {
  return folded(text).match(/[\p{L}\p{N}]+/gu) ?? [];
}

const EXACT = 2;
const START = 1;
const IN_TITLE = 4;
const OWN_LANGUAGE = 100;

/**
 * Finds the sections that have every word, or a word that starts with it; the best ones first. Readers of English get no page in
 * Turkish; readers of Turkish get the pages in Turkish first.
 */
export function search(index: SearchIndex, asked: string, language: Language): Found[] {
  const wanted = wordsOf(asked);
  const scores = wanted.map((each) => scoresOf(index, each));
  const [first = new Map<number, number>(), ...others] = scores;
  const found: { readonly of: Found; readonly score: number }[] = [];
  for (const [number, score] of first) {
    const [pageNumber = 0, anchor = "", section = ""] = index.sections[number] ?? [];
    const [url = "", page = "", pageLanguage = "en"] = index.pages[pageNumber] ?? [];
    if (others.some((each) => !each.has(number)) || (language === "en" && pageLanguage !== "en")) continue;
    const titles = wordsOf(`${page} ${section}`);
    const inTitle = wanted.filter((each) => titles.some((title) => title.startsWith(each))).length;
    const sum = others.reduce((total, each) => total + (each.get(number) ?? 0), score);
    found.push({
      of: { url: anchor === "" ? url : `${url}#${anchor}`, page, section, language: pageLanguage },
      score: sum + inTitle * IN_TITLE + (pageLanguage === language ? OWN_LANGUAGE : 0),
    });
  }
  // The sort keeps the order of the menu among equals.
  return found.toSorted((a, b) => b.score - a.score).map(({ of }) => of);
}

/** The sections with a word, with a higher score for the complete word than for its start. */
function scoresOf({ words }: SearchIndex, wanted: string): Map<number, number> {
  const sections = new Map<number, number>();
  for (const [known, steps] of Object.entries(words)) {
    if (!known.startsWith(wanted)) continue;
    let number = 0;
    for (const step of steps) {
      number += step;
      sections.set(number, Math.max(sections.get(number) ?? 0, known === wanted ? EXACT : START));
    }
  }
  return new Map([...sections].toSorted(([a], [b]) => a - b));
}
