import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { expect, test } from "vitest";
import { problems } from "../../../shared/schema/problems.ts";

const Rows = Compile(Type.Array(Type.Object({ value: Type.Union([Type.Number(), Type.Null()]) })));

test("the check ends after the requested number of faults, and its last sentence names possible further ones", () => {
  let reads = 0;
  const far = Object.defineProperty({}, "value", { get: () => String((reads += 1)) });
  const rows = [...Array.from({ length: 100 }, () => ({ value: "HEM" })), far];
  const told = problems(Rows, rows, 8);
  // Three faults of a union make one sentence; the cut third sentence would hold two of them.
  const sentence = (index: number) => `${index}/value is "HEM", expected a number or null`;
  expect(told).toEqual([sentence(0), sentence(1), "the check ended after 8 faults: there may be more"]);
  expect(reads).toBe(0);
});

test("the check reports all faults of a value by default", () => {
  const rows = Array.from({ length: 100 }, () => ({ value: "HEM" }));
  expect(problems(Rows, rows)).toEqual(rows.map((_, index) => `${index}/value is "HEM", expected a number or null`));
  expect(problems(Rows, [{ value: 1 }])).toEqual([]);
});
