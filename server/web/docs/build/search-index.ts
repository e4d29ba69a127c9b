import { type Page, plainText } from "./page.ts";
import { type SearchIndex, wordsOf } from "../search.ts";

/** Makes the index of all pages. A section ends at the next heading of depth 2 or 3. */
export function indexOf(pages: readonly Page[]): SearchIndex {
  const sections: [page: number, anchor: string, title: string][] = [];
  const places = new Map<string, Set<number>>();
  const add = (text: string) => {
    for (const each of wordsOf(text)) {
      const known = places.get(each) ?? new Set<number>();
      places.set(each, known.add(sections.length - 1));
    }
  };
  for (const [number, page] of pages.entries()) {
    sections.push([number, "", ""]);
    for (const token of page.tokens) {
      const heading = page.headings.find((each) => each.token === token);
      if (heading?.depth === 2 || heading?.depth === 3) sections.push([number, heading.id, heading.title]);
      add(plainText(token));
    }
  }
  const words = [...places].map(([each, numbers]) => [each, steps([...numbers])] as const);
  return {
    pages: pages.map(({ url, title, language }) => [url, title, language]),
    sections,
    words: Object.fromEntries(words.toSorted(([a], [b]) => (a < b ? -1 : 1))),
  };
}

/** Rising numbers as differences, which are shorter to write. */
function steps(numbers: readonly number[]): number[] {
  return numbers.map((number, index) => number - (numbers[index - 1] ?? 0));
}
