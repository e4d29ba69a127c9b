import { describe, expect, test } from "vitest";
import {
  localTimes,
  plural,
  progressInTenths,
  type Table,
  tableLines,
  tableText,
} from "../../../../shared/platform/cli/output.ts";

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

describe("a list", () => {
  const zone = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "medium" });
  const at = "2026-11-21T09:30:00.250Z";
  const local = zone.format(new Date(at));
  const table: Table<readonly string[]> = { head: ["ID", "", "RECEIVED", "NOTE"], cells: (row) => row };
  const rows = [
    ["key_1", "a", `until ${at}`, "one\ntwo"],
    ["k", "", at, ""],
  ];
  const textOf = async (list: Iterable<readonly string[]>, forTerminal: boolean) => {
    const lines: string[] = [];
    for await (const line of tableText(table, list, forTerminal)) lines.push(line);
    return lines;
  };

  test("a terminal gets a header, aligned columns and local times", async () => {
    expect(await textOf(rows, true)).toEqual([
      `ID        RECEIVED${" ".repeat(17)}  NOTE`,
      `key_1  a  until ${local}  one\\u000atwo`,
      `k         ${local}`,
    ]);
  });

  test("a program gets the cells as the API writes them, without the empty ones", async () => {
    expect(await textOf(rows, false)).toEqual([`key_1  a  until ${at}  one\ntwo`, `k  ${at}`]);
  });

  test("an empty list has no lines, and a long one is shown before its end", async () => {
    expect([await textOf([], true), await textOf([], false)]).toEqual([[], []]);
    let read = 0;
    const endless = function* () {
      for (;;) yield [`key_${read++}`];
    };
    const lines = tableText(table, endless(), true);
    const shown: unknown[] = [];
    for (let count = 0; count < 500; count++) shown.push((await lines.next()).value);
    expect([shown[0], shown[499], read]).toEqual(["ID         RECEIVED  NOTE", "key_498", 499]);
  });
});

test("instants of a text become local times, and other texts stay", () => {
  const local = new Date("2026-11-21T09:30:00Z").toLocaleString("sv-SE");
  expect(localTimes("from 2026-11-21T09:30:00.250Z to 2026-11-21T09:30:00Z", "milliseconds")).toBe(
    `from ${local}.250 to ${local}`,
  );
  expect(localTimes("2026-11-21T09:30:00.250Z", "seconds")).toBe(local);
  for (const other of ["2026-11-21", "2026-99-21T09:30:00Z", "x2026-11-21T09:30:00Z", "2026-11-21T09:30:00+03:00"])
    expect(localTimes(other, "seconds")).toBe(other);
});
