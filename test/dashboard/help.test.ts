import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { helpPages } from "../../server/web/screens/help/pages.ts";

const WEB = path.resolve(import.meta.dirname, "../../server/web");
const languages = ["en", "tr"];
const names: readonly string[] = helpPages;

function textOf(language: string, page: string): string {
  return readFileSync(path.join(WEB, "help", language, `${page}.md`), "utf8");
}

test.each(languages)("the help has each page in %s, and no other", (language) => {
  const files = readdirSync(path.join(WEB, "help", language));
  expect(files.toSorted()).toEqual(names.map((name) => `${name}.md`).toSorted());
});

test.each(helpPages)("the page %s has one title and the same parts, links and code in both languages", (page) => {
  const shapes = languages.map((language) => {
    const text = textOf(language, page);
    expect(text.match(/^# /gm)).toHaveLength(1);
    return {
      marks: Array.from(text.matchAll(/^(#+ |- |\d+\. |\||```)/gm), ([mark]) => mark),
      links: Array.from(text.matchAll(/\]\(([^)]+)\)/g), ([, link]) => link),
      code: Array.from(text.matchAll(/`[^`\n]+`/g), ([code]) => code).toSorted(),
    };
  });
  expect(shapes[1]).toEqual(shapes[0]);
});

test("every link to the help leads to a page", () => {
  const sources = readdirSync(WEB, { recursive: true, encoding: "utf8" }).filter((file) => /\.(tsx?|md)$/.test(file));
  const linked = sources.flatMap((file) =>
    Array.from(
      readFileSync(path.join(WEB, file), "utf8").matchAll(/\/dashboard\/help\/([a-z][\w-]*)/g),
      ([, page = ""]) => page,
    ),
  );
  expect(linked.length).toBeGreaterThan(5);
  expect([...new Set(linked)].filter((page) => !names.includes(page))).toEqual([]);
});
