import * as fc from "fast-check";
import { expect, test } from "vitest";
import { type ComparedResult, compareResults } from "../../../shared/clinical/compare/compare.ts";
import { substanceOf } from "../../../shared/clinical/compare/not-comparable.ts";

const glucose: ComparedResult = {
  analyte: "GLU",
  value: 100,
  unit: "mg/dL",
  comparator: null,
  device: { name: "A", id: null },
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
    ["device", { device: { name: "B", id: null } }],
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

test("urea and urea nitrogen are one substance, equal in mmol/L and not in mg/dL", () => {
  const urea = { analyte: "UREA", interval: "of urea" };
  const bun = { analyte: "BUN", interval: "of urea nitrogen" };
  expect(against({ ...urea, value: 60.056 }, { ...bun, value: 28.014 })).toMatchObject({
    absolute: expect.closeTo(0, 6),
    percent: expect.closeTo(0, 6),
  });
  expect(against({ ...urea, value: 5, unit: "mmol/L" }, { ...bun, value: 6, unit: "mmol/L" })).toMatchObject({
    absolute: expect.closeTo(1, 6),
  });
  expect(against({ ...urea, unit: null }, { ...bun, unit: null })).toEqual({ code: "unit" });
  expect([substanceOf("UREA") === substanceOf("BUN"), substanceOf("GLU")]).toEqual([true, "GLU"]);
  expect(against({ analyte: "CREA" }, { analyte: "GLU" })).toEqual({ code: "unit" });
});

test("a device is known by its name and, where both have one, its id", () => {
  const of = (name: string, id: string | null) => ({ device: { name, id } });
  expect(against(of("VS2", "left"), of("VS2", "right"))).toEqual({ code: "device" });
  // A station brings the results of several devices over one connection.
  expect(against(of("Catalyst", "station"), of("ProCyte", "station"))).toEqual({ code: "device" });
  expect(against(of("VS2", "left"), of("VS2", "left"))).toMatchObject({ absolute: 0 });
  expect(against(of("VS2", null), of("VS2", "left"))).toMatchObject({ absolute: 0 });
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
