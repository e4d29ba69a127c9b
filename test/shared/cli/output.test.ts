import { expect, test } from "vitest";
import { plural, progressInTenths, tableLines } from "../../../shared/cli/output.ts";

test("a count of one has the noun in singular", () => {
  expect([plural(0, "device"), plural(1, "device"), plural(2, "device")]).toEqual([
    "0 devices",
    "1 device",
    "2 devices",
  ]);
});

test("each column of a table is as wide as its widest cell, and no line ends in spaces", () => {
  expect(
    tableLines([
      ["ID", "STATE", "NOTE"],
      ["chem-1", "on", ""],
      ["x", "listening", "a note"],
    ]),
  ).toEqual(["ID      STATE      NOTE", "chem-1  on", "x       listening  a note"]);
  expect(tableLines([])).toEqual([]);
});

test("progress prints each tenth once, and skips those between two calls", () => {
  const printed: string[] = [];
  const progress = progressInTenths((text) => printed.push(text));
  for (const done of [0, 1, 9, 10, 11, 35, 39, 100, 100]) progress(done, 100);
  expect(printed).toEqual(["10 %", "30 %", "100 %"]);
});
