import { expect, test } from "vitest";
import { type Direction, type SortValue, sortedRows, timeValue } from "../../server/web/ui/list/sort.ts";

function sorted(rows: readonly SortValue[], direction: Direction = "ascending", language = "tr"): readonly SortValue[] {
  return sortedRows(rows, { by: (row) => row, direction, language });
}

test("numbers are sorted as numbers, and numbers in texts too", () => {
  expect(sorted([10, 9, 100, -1])).toEqual([-1, 9, 10, 100]);
  expect(sorted([10, 9, 100, -1], "descending")).toEqual([100, 10, 9, -1]);
  expect(sorted(["PC 10", "PC 9"])).toEqual(["PC 9", "PC 10"]);
});

test("names follow the alphabet of the language", () => {
  const names = ["Zeki", "İnci", "Irmak", "Çakır", "Cemre", "Duman", "ceylan"];
  expect(sorted(names)).toEqual(["Cemre", "ceylan", "Çakır", "Duman", "Irmak", "İnci", "Zeki"]);
  expect(sorted(["ı", "i", "h", "ö", "p"], "descending")).toEqual(["p", "ö", "i", "ı", "h"]);
});

test("a row without a value is last in both directions, and rows of the same value keep their order", () => {
  const times = [null, "2026-11-09T08:00:00.000Z", "2026-02-10T08:00:00.000Z"].map(timeValue);
  expect(sorted(times)).toEqual([times[2], times[1], null]);
  expect(sorted(times, "descending")).toEqual([times[1], times[2], null]);
  const rows = [
    { key: 1, name: "b" },
    { key: 2, name: "a" },
    { key: 1, name: "c" },
  ];
  const byKey = sortedRows(rows, { by: ({ key }) => key, direction: "descending", language: "en" });
  expect(byKey.map(({ name }) => name)).toEqual(["a", "b", "c"]);
});
