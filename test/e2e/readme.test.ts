import { describe, expect, test } from "vitest";
import {
  blocksOf,
  commandsOf,
  EXCLUDED,
  fencesOf,
  LINES,
  readmes,
  rowsOf,
  exclusionReason,
  wordsOf,
} from "../support/readme.ts";

// Goal: nothing that a README tells to type escapes readme.slow.test.ts. Method: every block is of a kind that it knows, and
// every word of a command table's row is in a line that it runs.

const files = readmes();
const blocks = files.flatMap(blocksOf);
const rows = files.flatMap(rowsOf);
const typed = [...LINES, ...blocks.filter(({ language }) => language === "sh").flatMap(commandsOf)];

describe("a README", () => {
  test.each(blocks)("has a block of a known kind at $place", ({ language, file }) => {
    const kinds = ["sh ", "text ", "json ", "json file", "yaml ", "yaml file", "talk file"];
    expect(kinds).toContain(`${language} ${file === "" ? "" : "file"}`);
  });

  test("has no block but those that are found", () => {
    expect(files.map((file) => [file, fencesOf(file)])).toEqual(files.map((file) => [file, 2 * blocksOf(file).length]));
  });

  test.each(rows)("has a row at $place whose words are all run: $usage", (row) => {
    if (exclusionReason(row.usage) !== null) return;
    // A row that begins with dots goes on with the command of an earlier one.
    const whole = rows.slice(0, rows.indexOf(row) + 1).findLast(({ usage }) => !usage.startsWith("..."))?.usage ?? "";
    const [, program = "", names = ""] = /^npm run (server|agent) -- ([a-z|]+)/.exec(whole) ?? [];
    const own = typed.filter((line) => names.split("|").some((name) => line.includes(`${program} -- ${name}`)));
    const words = own.flatMap((line) => line.split(/\s+/));
    expect(wordsOf(row).filter((word) => !words.includes(word))).toEqual([]);
  });

  test("has every command that is left out", () => {
    const told = [...rows.map(({ usage }) => usage), ...typed];
    expect(EXCLUDED.filter(([pattern]) => !told.some((command) => pattern.test(command)))).toEqual([]);
  });
});
