import { describe, expect, test } from "vitest";
import {
  blocksOf,
  commandsOf,
  EXCLUDED,
  exclusionReason,
  fencesOf,
  INSTALLING,
  LINES,
  readmes,
  rowsOf,
  wordsOf,
} from "../support/readme.ts";

// Goal: readme.slow.test.ts covers every command of a README. Method: every block has a kind that it supports, and every word of
// a row in a command table is in a command that it runs.

const files = readmes();
const blocks = files.flatMap(blocksOf);
const rows = files.flatMap(rowsOf);
const typed = [...LINES, ...blocks.filter(({ language }) => language === "sh").flatMap(commandsOf)];

describe("a README", () => {
  test.each(blocks)("the block at $place has a supported kind", ({ language, file }) => {
    // test/shared/client runs the code of the client.
    const installing = INSTALLING.map((each) => `${each} file`);
    const kinds = [...installing, "sh ", "ts ", "text ", "json ", "json file", "yaml ", "yaml file", "talk file"];
    expect(kinds).toContain(`${language} ${file === "" ? "" : "file"}`);
  });

  test("the README test finds every block", () => {
    expect(files.map((file) => [file, fencesOf(file)])).toEqual(files.map((file) => [file, 2 * blocksOf(file).length]));
  });

  test.each(rows)("the README test runs every word of the row at $place: $usage", (row) => {
    if (exclusionReason(row.usage) !== null) return;
    // A row that begins with `...` continues the command of an earlier row.
    const whole = rows.slice(0, rows.indexOf(row) + 1).findLast(({ usage }) => !usage.startsWith("..."))?.usage ?? "";
    const [, program = "", names = ""] = /^npm run (server|agent) -- ([a-z|]+)/.exec(whole) ?? [];
    const own = typed.filter((line) => names.split("|").some((name) => line.includes(`${program} -- ${name}`)));
    const words = own.flatMap((line) => line.split(/\s+/));
    expect(wordsOf(row).filter((word) => !words.includes(word))).toEqual([]);
  });

  test("every excluded command is in a README", () => {
    const commands = [...rows.map(({ usage }) => usage), ...typed];
    expect(EXCLUDED.filter(([pattern]) => !commands.some((command) => pattern.test(command)))).toEqual([]);
  });
});
