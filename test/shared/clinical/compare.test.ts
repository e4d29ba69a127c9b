import * as fc from "fast-check";
import { expect, test } from "vitest";
import { type ComparedResult, compareResults } from "../../../shared/clinical/compare/compare.ts";

const glucose: ComparedResult = {
  analyte: "GLU",
  value: 100,
  unit: "mg/dL",
  comparator: null,
  device: "A",
  interval: "i",
  ageDays: 2000,
  doubt: false,
};

function against(before: Partial<ComparedResult>, now: Partial<ComparedResult> = {}, species = "dog") {
  return compareResults({ ...glucose, ...before }, { ...glucose, ...now }, species);
}

test("a change has its size, its percentage and the published reference change value", () => {
  expect(against({}, { value: 130 })).toEqual({
    absolute: 30,
    percent: 30,
    direction: "up",
    rcv: { rcv: 28, unit: "%", source: expect.stringContaining("Jensen"), exceeded: true },
  });
  expect(against({}, { value: 120 })).toMatchObject({ rcv: { exceeded: false } });
});

test("the first reason in the order of the guide is the only one", () => {
  const reasons: [string, Partial<ComparedResult>][] = [
    ["interval", { interval: "other" }],
    ["device", { device: "B" }],
    ["unit", { unit: "U/L" }],
    ["comparator", { comparator: "<" }],
  ];
  let before: Partial<ComparedResult> = {};
  for (const [code, difference] of reasons) {
    before = { ...before, ...difference };
    expect(against(before)).toEqual({ code });
  }
  expect(against({ analyte: "CREA", ageDays: 100 }, { analyte: "CREA" })).toEqual({ code: "age" });
});

test("there is no reference change value for a young animal, an unknown age, a doubt or another species", () => {
  for (const change of [
    against({ ageDays: 300 }),
    against({ ageDays: null }),
    against({ doubt: true }),
    against({}, {}, "rabbit"),
  ]) {
    expect(change).toMatchObject({ absolute: 0, rcv: null });
  }
});

test("an absolute reference change value needs the unit of the change", () => {
  const crp = { analyte: "CRP", value: 10, unit: "mg/L" };
  expect(against(crp, { ...crp, value: 14 })).toMatchObject({ rcv: { unit: "mg/L", exceeded: false } });
  expect(against(crp, { ...crp, value: 15 })).toMatchObject({ rcv: { exceeded: true } });
  expect(against({ ...crp, unit: null }, { ...crp, unit: null, value: 15 })).toMatchObject({ percent: 50, rcv: null });
});

test("a change does not depend on the unit in which the earlier value came", () => {
  const amounts = fc.double({ min: 1, max: 1000, noNaN: true });
  fc.assert(
    fc.property(amounts, amounts, (from, to) => {
      const same = against({ value: from }, { value: to });
      const converted = against({ value: from * 0.0555, unit: "mmol/L" }, { value: to });
      if ("code" in same || "code" in converted) throw new Error("not comparable");
      expect(converted.absolute).toBeCloseTo(same.absolute, -1);
      expect(Math.sign(same.absolute)).toBe({ up: 1, down: -1, same: 0 }[same.direction]);
    }),
  );
});

test("no value with a comparator is ever subtracted", () => {
  fc.assert(
    fc.property(
      fc.double({ noNaN: true }),
      fc.constantFrom("<", "<=", ">", ">="),
      fc.boolean(),
      (value, comparator, first) => {
        const bound = { value, comparator } as const;
        expect(first ? against(bound) : against({}, bound)).toEqual({ code: "comparator" });
      },
    ),
  );
});
