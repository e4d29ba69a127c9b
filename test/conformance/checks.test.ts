import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { checkGroups } from "./checks.ts";

const checks = checkGroups
  .flatMap(({ file, checks: all }) => all.map((check) => ({ ...check, file })))
  .toSorted((a, b) => a.number - b.number);

test("each number from 1 on names exactly one check", () => {
  expect(checks.map(({ number }) => number)).toEqual(checks.map((_, index) => index + 1));
});

test("no title holds the number of a check", () => {
  expect(checks.filter(({ title }) => /\bchecks? \d|^\d+[.: ]|#\d/.test(title))).toEqual([]);
});

test("each check that HTTP cannot show names an existing test file", () => {
  const files = checks.flatMap((check) => ("shownIn" in check ? [check.shownIn] : []));
  expect(files.length).toBeGreaterThan(0);
  expect(files.filter((file) => !existsSync(new URL(`../../${file}`, import.meta.url)))).toEqual([]);
});

test("the README lists every check with its number, title and file", async () => {
  const shown = checks.filter((check) => "shownIn" in check).length;
  await expect(`# Conformance: the numbered checks of the read API and of the sync API

\`npm run conformance\` runs ${checks.length - shown} checks over HTTP, on SQLite and on PostgreSQL. Tests show the other ${shown}, since no public route
can. A number stays with its check, because reports of earlier runs cite it. A new check takes the next number.

\`main.ts\` starts the servers and counts. \`data.ts\` holds the records that the checks expect, \`shapes.ts\` the documented shapes,
independent of the server's schemas. \`checks.test.ts\` compares this file with the checks; delete the file to write it again.

| number | title | shown in |
|---|---|---|
${checks.map(({ number, title, file, ...check }) => `| ${number} | ${title} | ${"shownIn" in check ? check.shownIn : file} |`).join("\n")}
`).toMatchFileSnapshot("README.md");
});
