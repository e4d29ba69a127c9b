import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Analyte, analyteByCode, analytes } from "../../../shared/clinical/analytes/analytes.ts";
import { assess, type Bounds, type DeviceRange, flag } from "../../../shared/clinical/flag.ts";
import { chooseInterval } from "../../../shared/clinical/reference.ts";
import type { Comparator, Flag } from "../../../shared/api/study.ts";
import type { Signalment } from "../../../shared/clinical/signalment.ts";
import { convert } from "../../../shared/clinical/analytes/units.ts";

function analyte(code: string): Analyte {
  const known = analyteByCode(code);
  if (known === undefined) throw new Error(`no analyte ${code}`);
  return known;
}

function signalment(species: string, more: Partial<Signalment> = {}): Signalment {
  return { species, subgroup: null, ageDays: null, sex: null, neutered: null, ...more };
}

const dog = signalment("dog");

interface Sent {
  comparator?: Comparator;
  ordinal?: boolean;
  device_range?: DeviceRange;
  device_flag?: string;
}

function assessed(code: string, value: number, unit: string | null, of: Signalment | null = dog, sent: Sent = {}) {
  const result = {
    analyte: analyte(code),
    value,
    unit,
    comparator: null,
    ordinal: false,
    device_range: null,
    device_flag: null,
  };
  return assess({ ...result, ...sent }, of, null);
}

const bounds = { low: 6, high: 17, critical_low: 2, critical_high: 30 };

test.each([
  [1.99, "critical"],
  [2, "low"],
  [5.99, "low"],
  [6, "normal"],
  [17, "normal"],
  [17.01, "high"],
  [30, "high"],
  [30.01, "critical"],
  [-1, "critical"],
] as const)("%d of 6-17 with critical bounds 2 and 30 is %s", (value, expected) => {
  expect(flag(value, null, bounds)).toBe(expected);
});

test.each([
  ["<", 2, "critical"],
  ["<", 2.1, "low"],
  ["<", 6, "low"],
  ["<", 6.1, null],
  ["<", 40, null],
  ["<=", 1.9, "critical"],
  ["<=", 2, "low"],
  ["<=", 5.9, "low"],
  ["<=", 6, null],
  [">", 30, "critical"],
  [">", 29, "high"],
  [">", 17, "high"],
  [">", 16.9, null],
  [">", 1, null],
  [">=", 30, "high"],
  [">=", 30.1, "critical"],
  [">=", 17, null],
  [">=", 17.1, "high"],
] as const)("%s%d of 6-17 with critical bounds 2 and 30 is %s", (comparator, bound, expected) => {
  expect(flag(bound, comparator, bounds)).toBe(expected);
});

test("a value below a printed bound is normal only if the range starts at 0", () => {
  const fromZero = { low: 0, high: 0.3, critical_low: null, critical_high: null };
  expect(flag(0.2, "<", fromZero)).toBe("normal");
  expect(flag(0.3, "<", fromZero)).toBe("normal");
  expect(flag(0.4, "<", fromZero)).toBeNull();
  expect(flag(0.4, ">", fromZero)).toBe("high");
});

test("a base excess below a printed bound is never normal, since it may be far below its range", () => {
  const excess = { low: -5.2, high: 3.8, critical_low: null, critical_high: null };
  expect(flag(2, "<", excess)).toBeNull();
  expect(flag(-10, "<", excess)).toBe("low");
  expect(flag(-5.2, "<", excess)).toBe("low");
});

test("a comparator's flag is the flag of every value that it allows", () => {
  const bound = fc.integer({ min: 0, max: 60 }).map((n) => n / 2);
  fc.assert(
    fc.property(
      fc.uniqueArray(bound, { minLength: 4, maxLength: 4 }).map((four) => four.toSorted((a, b) => a - b)),
      bound,
      fc.constantFrom("<", "<=", ">", ">="),
      fc.integer({ min: 0, max: 400 }).map((n) => n / 8),
      ([critical_low = 0, low = 0, high = 0, critical_high = 0], printed, comparator, value) => {
        const allowed = { "<": value < printed, "<=": value <= printed, ">": value > printed, ">=": value >= printed };
        fc.pre(allowed[comparator]);
        const whole = { low, high, critical_low, critical_high };
        const said = flag(printed, comparator, whole);
        const actual = flag(value, null, whole);
        // A value flagged low may be critical, never normal. The same holds for high.
        const truths = {
          low: ["low", "critical"],
          high: ["high", "critical"],
          normal: ["normal"],
          critical: ["critical"],
        };
        expect(said === null ? [actual] : truths[said]).toContain(actual);
      },
    ),
  );
});

const ORDER: Flag[] = ["critical", "low", "normal", "high"];

test("raising a value never moves the flag down", () => {
  const figure = fc.double({ min: -1e6, max: 1e6, noNaN: true });
  fc.assert(
    fc.property(fc.array(figure, { minLength: 4, maxLength: 4 }), figure, figure, (four, one, other) => {
      const [critical_low = 0, low = 0, high = 0, critical_high = 0] = four.toSorted((a, b) => a - b);
      const step = (value: number) => {
        const said = flag(value, null, { low, high, critical_low, critical_high });
        return said === "critical" && value > high ? 4 : ORDER.indexOf(said ?? "normal");
      };
      expect(step(Math.min(one, other))).toBeLessThanOrEqual(step(Math.max(one, other)));
    }),
  );
});

test("a value without bounds, or without a finite number, has no flag", () => {
  expect(flag(5, null, { low: null, high: null, critical_low: null, critical_high: null })).toBeNull();
  for (const value of [Number.NaN, Infinity, -Infinity]) expect(flag(value, null, bounds)).toBeNull();
});

test("a bound with a rounding error of arithmetic is still normal", () => {
  const third = { low: 0.3, high: 0.3, critical_low: 0.3, critical_high: 0.3 };
  expect(flag(0.1 + 0.2, null, third)).toBe("normal");
  expect(flag(0.3 - 1e-8, null, third)).toBe("critical");
  expect(flag(1.1 * 1.1, "<=", { ...third, low: 1.21 })).toBeNull();
});

// Rows compared with their published tables: each bound is normal, and one step of the last digit beyond it is not.
describe("a value is normal at the bounds of a published row, and not beyond them", () => {
  test.each([
    ["dog", null, "WBC", "10*3/uL", "4.74", "12.47"],
    ["dog", null, "RBC", "10*6/uL", "5.16", "7.9"],
    ["dog", null, "HGB", "g/dL", "13.2", "19.8"],
    ["dog", null, "HCT", "%", "36.8", "56.7"],
    ["dog", null, "MCV", "fL", "62.0", "78.0"],
    ["dog", null, "MCHC", "g/dL", "32.4", "37.8"],
    ["dog", null, "PLT", "10*3/uL", "167", "480"],
    ["dog", null, "NEU", "10*3/uL", "2.15", "9.94"],
    ["dog", null, "LYM", "10*3/uL", "0.8", "3.4"],
    ["dog", null, "ALB", "g/dL", "3.2", "4.1"],
    ["dog", null, "ALP", "U/L", "7", "115"],
    ["dog", null, "ALT", "U/L", "17", "95"],
    ["dog", null, "BUN", "mg/dL", "9", "26"],
    ["dog", null, "CA", "mg/dL", "9.4", "11.1"],
    ["dog", null, "CREA", "mg/dL", "0.6", "1.4"],
    ["dog", null, "GLU", "mg/dL", "68", "104"],
    ["dog", null, "K", "mEq/L", "4.1", "5.4"],
    ["dog", null, "NA", "mEq/L", "143", "150"],
    ["dog", null, "PHOS", "mg/dL", "2.7", "5.4"],
    ["dog", null, "TP", "g/dL", "5.5", "7.2"],
    ["dog", null, "USG", "{SG}", "1.015", "1.045"],
    ["cat", null, "WBC", "10*3/uL", "5.5", "19.5"],
    ["cat", null, "RBC", "10*6/uL", "6.9", "10.1"],
    ["cat", null, "HCT", "%", "31", "48"],
    ["cat", null, "PLT", "10*3/uL", "300", "800"],
    ["cat", null, "ALT", "U/L", "28", "109"],
    ["cat", null, "BUN", "mg/dL", "17", "35"],
    ["cat", null, "CA", "mg/dL", "9.0", "11.3"],
    ["cat", null, "CREA", "mg/dL", "0.8", "2.1"],
    ["cat", null, "GLU", "mg/dL", "71", "182"],
    ["cat", null, "PH", "[pH]", "7.24", "7.4"],
    ["cat", "domestic_shorthair", "CREA", "umol/L", "89", "207"],
    ["cat", "domestic_shorthair", "GLU", "mmol/L", "4.1", "8.2"],
    ["cat", "maine_coon", "HCT", "L/L", "0.37", "0.48"],
    ["rabbit", null, "RBC", "10*12/L", "5.36", "8.13"],
    ["rabbit", null, "NEU", "10*6/L", "820", "5031"],
    ["bird", "ringneck_parakeet", "WBC", "10*3/uL", "1.0", "8.0"],
    ["reptile", "desert_tortoise", "WBC", "/uL", "1496", "10924"],
    ["exotic", "guinea_pig", "HGB", "mmol/L", "7.26", "10.51"],
    ["exotic", "ferret", "RBC", "10*12/L", "7.4", "13.0"],
    ["horse", null, "AST", "U/L", "222", "489"],
    ["cow", null, "GGT", "U/L", "17", "54"],
  ] as const)("the row of %s %s %s in %s is %s-%s", (species, subgroup, code, unit, low, high) => {
    const step = 10 ** -Math.max(low.split(".")[1]?.length ?? 0, high.split(".")[1]?.length ?? 0);
    const at = (value: number) => assessed(code, value, unit, signalment(species, { subgroup }));
    expect(at(Number(low))).toEqual({
      reference_range: `${low}-${high}`,
      flag: "normal",
      interval_id: expect.stringMatching(`^${species}-${subgroup ?? "any"}-`),
      reason: null,
    });
    expect(at(Number(high)).flag).toBe("normal");
    expect(at(Number(low) - step).flag).toBe("low");
    expect(at(Number(high) + step).flag).toBe("high");
  });
});

test("a dog's platelets below 20 are critical, and 20 are low", () => {
  expect(assessed("PLT", 19, "10*3/uL").flag).toBe("critical");
  expect(assessed("PLT", 20, "10*3/uL").flag).toBe("low");
  expect(assessed("PLT", 20, "10*9/L").flag).toBe("low");
  expect(assessed("PLT", 19_999, "/uL").flag).toBe("critical");
});

const vs2 = (text: string, low: number | null, high: number | null, species: string | null): Sent => ({
  device_range: { low, high, text, species },
});

test("the device's range applies if it is for the patient's species", () => {
  expect(assessed("ALT", 98, "U/L", dog, vs2("20-100", 20, 100, "dog"))).toEqual({
    reference_range: "20-100",
    flag: "normal",
    interval_id: "device",
    reason: null,
  });
  expect(assessed("ALT", 98, "U/L", dog, vs2("20-100", 20, 100, "cat")).interval_id).toBe(
    "dog-any-any-alt-cornell_cobas_2017",
  );
});

test("a human-labelled device range is never used", () => {
  expect(assessed("WBC", 4.2, "10*9/L", dog, vs2("4.00-10.00", 4, 10, null))).toEqual({
    reference_range: "4.74-12.47",
    flag: "low",
    interval_id: "dog-any-any-wbc-dap_2023",
    reason: null,
  });
  expect(
    assessed("WBC", 4.2, "10*9/L", signalment("unicorn"), vs2("4.00-10.00", 4, 10, null)).reference_range,
  ).toBeNull();
});

test("a device range with only an upper bound starts at 0, and one with only a lower bound yields to the catalogue", () => {
  expect(assessed("CRP", 8, "mg/L", dog, vs2("<10.0", null, 10, "dog"))).toEqual({
    reference_range: "0-10.0",
    flag: "normal",
    interval_id: "device",
    reason: null,
  });
  expect(assessed("CRP", 8, "mg/L", dog, vs2(">5", 5, null, "dog")).reference_range).toBeNull();
  expect(assessed("BE", -30, "mmol/L", dog, vs2("<3", null, 3, "dog")).flag).toBeNull();
});

test("a result without a patient, a species, an interval or a unit has neither range nor flag", () => {
  const nothing = { reference_range: null, flag: null, interval_id: null };
  expect(assessed("WBC", 8, "10*9/L", null)).toEqual({ ...nothing, reason: { code: "PATIENT.NONE", values: [] } });
  expect(assessed("WBC", 8, "10*9/L", signalment("unicorn"))).toEqual({
    ...nothing,
    reason: { code: "INTERVAL.NONE", values: ["WBC", "unicorn", ""] },
  });
  expect(assessed("SAA", 8, "mg/L")).toEqual({
    ...nothing,
    reason: { code: "INTERVAL.NONE", values: ["SAA", "dog", ""] },
  });
  expect(assessed("WBC", 8, null)).toEqual({ ...nothing, reason: { code: "UNIT.UNKNOWN", values: [] } });
  expect(assessed("WBC", 8, "mg/dL")).toEqual({ ...nothing, reason: { code: "UNIT.UNKNOWN", values: [] } });
  expect(assessed("HCT", 40, "%", signalment("reptile", { ageDays: 900 }))).toEqual({
    ...nothing,
    reason: { code: "INTERVAL.NONE", values: ["HCT", "reptile", "900"] },
  });
});

test("a result of an unknown species never has a flag", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...analytes),
      fc.double({ noNaN: true }),
      fc.constantFrom("", "unicorn", "Dog", "fish", "other", "toString"),
      fc.constantFrom(null, "HH", "LL", "N"),
      (each, value, species, device_flag) => {
        const ordinal = each.value_type === "ordinal";
        const result = { analyte: each, value, comparator: null, ordinal, unit: each.canonical_unit, device_flag };
        const device_range = { low: 0, high: 1e9, text: "0-1000000000", species: "dog" };
        expect(
          assess({ ...result, device_range }, signalment(species), null, { includeLowQuality: true }),
        ).toMatchObject({
          reference_range: null,
          flag: null,
        });
      },
    ),
  );
});

test.each([
  [4, "LL", "critical"],
  [4, "L", "low"],
  [4, "HH", "low"],
  [20, "HH", "critical"],
  [20, "HH~A", "critical"],
  [20, "LL", "high"],
  [8, "LL", "normal"],
  [8, "HH", "normal"],
  [20, "~A", "high"],
  [20, "HHH", "high"],
] as const)("a dog's WBC of %d with the device's %s and its range for dogs is %s", (value, device_flag, expected) => {
  const own = { ...vs2("5-12", 5, 12, "dog"), device_flag };
  expect(assessed("WBC", value, "10*9/L", dog, own).flag).toBe(expected);
});

test.each([
  ["a range of another species", vs2("4-10", 4, 10, null)],
  ["no range", {}],
])("a device with %s makes nothing critical by LL or HH", (_, device) => {
  expect(assessed("WBC", 20, "10*9/L", dog, { ...device, device_flag: "HH" }).flag).toBe("high");
  expect(assessed("WBC", 4, "10*9/L", dog, { ...device, device_flag: "LL" }).flag).toBe("low");
});

test("a device's HH alone sets no flag", () => {
  expect(assessed("SAA", 500, "mg/L", dog, { device_flag: "HH" }).flag).toBeNull();
  expect(assessed("WBC", 8, "10*9/L", null, { device_flag: "HH" }).flag).toBeNull();
});

test("an undecided bound keeps its range, with a reason for the null flag", () => {
  expect(assessed("CREA", 0.7, "mg/dL", dog, { comparator: "<" })).toEqual({
    reference_range: "0.6-1.4",
    flag: null,
    interval_id: "dog-any-any-crea-cornell_cobas_2017",
    reason: { code: "VALUE.BOUND", values: [] },
  });
  expect(assessed("CREA", 0.6, "mg/dL", dog, { comparator: "<" }).flag).toBe("low");
});

test.each([
  ["UPRO", "dog", 0.5, "normal", "0-0.5"],
  ["UPRO", "dog", 1, "high", "0-0.5"],
  ["UBIL", "dog", 0.5, "normal", "0-0.5"],
  ["UBIL", "cat", 0.5, "high", "0-0"],
  ["UGLU", "cat", 0, "normal", "0-0"],
  ["UNIT", "dog", 1, "high", "0-0"],
] as const)("%s of a %s at rank %d is %s of %s", (code, species, rank, expected, range) => {
  expect(assessed(code, rank, null, signalment(species), { ordinal: true })).toEqual({
    reference_range: range,
    flag: expected,
    interval_id: `${species}-any-any-${code.toLowerCase()}-google_answers_urine`,
    reason: null,
  });
});

test("a pad without a published normal has no flag", () => {
  expect(assessed("UBLD", 3, null, dog, { ordinal: true }).flag).toBeNull();
  expect(assessed("UPRO", 3, null, signalment("rabbit"), { ordinal: true }).flag).toBeNull();
});

test("ranks and concentrations are never mixed under one analyte", () => {
  expect(assessed("UGLU", 100, "mg/dL")).toMatchObject({
    flag: null,
    reason: { code: "VALUE.NOT_AN_ORDINAL", values: ["UGLU"] },
  });
  expect(assessed("GLU", 2, null, dog, { ordinal: true })).toMatchObject({
    flag: null,
    reason: { code: "VALUE.NOT_A_NUMBER", values: ["GLU"] },
  });
});

test.each([
  ["dog", "WBC", "10*3/uL", "4.74-12.47"],
  ["dog", "WBC", "/uL", "4740.00-12470.00"],
  ["dog", "K", "mmol/L", "4.10-5.40"],
  ["dog", "GLU", "mmol/L", "3.77-5.77"],
  ["dog", "CREA", "umol/L", "53.04-123.76"],
  ["dog", "ALB", "g/L", "32.0-41.0"],
  ["dog", "CHOL", "mmol/L", "3.52-10.1"],
  ["dog", "TBIL", "umol/L", "0.00-3.42"],
  ["dog", "GGT", "ukat/L", "0-0.133"],
  ["dog", "HCT", "L/L", "0.368-0.567"],
  ["dog", "BUN", "mmol/L", "3.21-9.28"],
  ["cow", "RBC", "10*6/uL", "5.0-7.2"],
  ["rabbit", "NEU", "10*9/L", "0.820-5.03"],
])("the range of a %s's %s is printed in %s as %s", (species, code, unit, range) => {
  expect(assessed(code, 5, unit, signalment(species)).reference_range).toBe(range);
});

test("a negative bound is printed with its sign", () => {
  const ferret = signalment("exotic", { subgroup: "ferret", ageDays: 400 });
  expect(assessed("BE", -6, "mmol/L", ferret)).toMatchObject({ reference_range: "-5.2-3.8", flag: "low" });
  expect(assessed("BE", -6, "mEq/L", ferret)).toMatchObject({ reference_range: "-5.20-3.80", flag: "low" });
});

test("at every row's bounds, in every unit of the analyte, the converted value is normal", () => {
  const signalments = [dog, signalment("cat"), signalment("rabbit"), signalment("horse"), signalment("cow")];
  let compared = 0;
  for (const each of analytes) {
    for (const of of signalments) {
      const interval = chooseInterval(each, of, null);
      if (interval === null) continue;
      for (const { unit } of each.units) {
        for (const bound of [interval.low, interval.high]) {
          const value = convert(each, bound, interval.unit, unit) ?? Number.NaN;
          expect([each.code, unit, bound, assessed(each.code, value, unit, of).flag]).toEqual([
            each.code,
            unit,
            bound,
            "normal",
          ]);
          compared += 1;
        }
      }
    }
  }
  expect(compared).toBeGreaterThan(800);
});

test("scaling the value and its unit together never changes the flag", () => {
  const numeric = analytes.filter((each) => chooseInterval(each, dog, null) !== null);
  fc.assert(
    fc.property(
      fc.constantFrom(...numeric),
      fc.double({ min: 0, max: 3, noNaN: true }),
      fc.nat(),
      fc.nat(),
      (each, times, from, to) => {
        const interval = chooseInterval(each, dog, null);
        const one = each.units[from % each.units.length]?.unit ?? "";
        const other = each.units[to % each.units.length]?.unit ?? "";
        const value = convert(each, times * (interval?.high ?? 0), interval?.unit ?? "", one) ?? Number.NaN;
        const same = convert(each, value, one, other) ?? Number.NaN;
        expect(assessed(each.code, same, other).flag).toBe(assessed(each.code, value, one).flag);
      },
    ),
  );
});

test("scaling a value and its bounds by one factor never changes the flag", () => {
  const figure = fc.integer({ min: 0, max: 1_000_000 }).map((n) => n / 100);
  fc.assert(
    fc.property(
      fc.array(figure, { minLength: 4, maxLength: 4 }),
      fc.nat({ max: 3 }),
      fc.double({ min: 1e-6, max: 1e6, noNaN: true }),
      (four, which, factor) => {
        const [critical_low = 0, low = 0, high = 0, critical_high = 0] = four.toSorted((a, b) => a - b);
        const whole: Bounds = { low, high, critical_low, critical_high };
        const scaled: Bounds = {
          low: low * factor,
          high: high * factor,
          critical_low: critical_low * factor,
          critical_high: critical_high * factor,
        };
        // The bounds themselves are the hardest values: they stay normal, or low and high for critical bounds.
        const value = four[which] ?? 0;
        expect(flag(value * factor, null, scaled)).toBe(flag(value, null, whole));
      },
    ),
  );
});
