import { expect, test } from "vitest";
import {
  compareLooks,
  isWanted,
  type Sighting,
  type Standings,
} from "../../../../agent/transport/folder/ready-files.ts";

// Which file of a folder is complete, without a folder.

/** Looks one after the other, each after that many ms. @returns the names that are ready at each */
function looks(...steps: readonly (readonly [ms: number, ...found: Sighting[]])[]): string[][] {
  let standings: Standings = new Map();
  let now = 0;
  return steps.map(([ms, ...found]) => {
    now += ms;
    const compared = compareLooks(standings, found, now);
    standings = compared.standings;
    return compared.ready.map(({ name }) => name);
  });
}

const file = (bytes: number, modifiedMs = 1, name = "a.csv"): Sighting => ({ name, bytes, modifiedMs });

test("a file is complete once size and time stood over three looks and six seconds", () => {
  expect(looks([0, file(9)], [3000, file(9)], [3000, file(9)])).toEqual([[], [], ["a.csv"]]);
  // Three looks within a moment, and two looks after a pause of the machine.
  expect(looks([0, file(9)], [1, file(9)], [1, file(9)])).toEqual([[], [], []]);
  expect(looks([0, file(9)], [60_000, file(9)], [1, file(9)])).toEqual([[], [], ["a.csv"]]);
});

test("a file that grows, or changes in place, waits again from its last change", () => {
  expect(looks([0, file(1)], [3000, file(2)], [3000, file(3)], [3000, file(3)], [3000, file(3)])).toEqual([
    [],
    [],
    [],
    [],
    ["a.csv"],
  ]);
  expect(
    looks([0, file(1, 1)], [3000, file(1, 1)], [3000, file(1, 2)], [3000, file(1, 2)], [3000, file(1, 2)]),
  ).toEqual([[], [], [], [], ["a.csv"]]);
});

test("an empty file waits, and one that was away for a look starts again", () => {
  expect(looks([0, file(0)], [3000, file(0)], [3000, file(0)], [60_000, file(0)])).toEqual([[], [], [], []]);
  expect(looks([0, file(9)], [3000, file(9)], [3000], [3000, file(9)], [3000, file(9)])).toEqual([[], [], [], [], []]);
});

test("complete files come in the order of their change", () => {
  const found = [file(9, 2, "b.csv"), file(9, 1, "c.csv"), file(9, 2, "a.csv")];
  expect(looks([0, ...found], [3000, ...found], [3000, ...found]).at(-1)).toEqual(["c.csv", "a.csv", "b.csv"]);
});

test.each([
  ["a.csv", true],
  ["HASTA LİSTESİ.CSV", true],
  ["a.b.xlsx", true],
  ["~$a.xlsx", false],
  [".a.csv", false],
  ["a.csv.tmp", false],
  ["a.csv.part", false],
  ["a.pdf", false],
  ["csv", false],
  ["../a.csv", false],
  ["b\\a.csv", false],
])("the name %s is wanted: %s", (name, wanted) => {
  expect(isWanted(name, ["csv", "txt", "xlsx"])).toBe(wanted);
});
