import fs from "node:fs";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Comparator, Flag } from "../../../../shared/api/study.ts";
import { type Analyte, analyteByCode, analytes } from "../../../../shared/clinical/analytes/analytes.ts";
import { convert } from "../../../../shared/clinical/analytes/units.ts";
import { flag, intervalText } from "../../../../shared/clinical/flag.ts";
import { publishedInterval } from "../../../../shared/clinical/reference.ts";
import { type SentResult, shownValue } from "../../../../shared/clinical/units/shown-value.ts";
import { AS_SENT, UNIT_SYSTEMS } from "../../../../shared/clinical/units/unit-choice.ts";
import { chosenUnit, decimalsIn } from "../../../../shared/clinical/units/unit-systems.ts";
import { unitText } from "../../../../shared/clinical/units/unit-text.ts";

const numeric = analytes.filter(({ value_type }) => value_type === "numeric");

function analyte(code: string): Analyte {
  const found = analyteByCode(code);
  if (found === undefined) throw new Error(`no analyte ${code}`);
  return found;
}

function shown(code: string, given: Partial<SentResult> & { value: number }, unit: string) {
  const sent = { unit: null, reference_range: null, flag: null, ...given };
  const { value, unit: text, reference_range } = shownValue(analyte(code), sent, unit);
  return [value, text, reference_range].filter((part) => part !== null).join(" ");
}

test.each([
  ["GLU", { value: 100, unit: "mg/dL", reference_range: "70-143" }, "mmol/L", "5.6 mmol/L 3.89-7.94"],
  ["GLU", { value: 5.2, unit: "mmol/L", reference_range: "3.3-6.1" }, "mg/dL", "94 mg/dL 59.5-110"],
  ["CREA", { value: 1.4, unit: "mg/dL", reference_range: "0.3-1.4", flag: "normal" }, "umol/L", "124 µmol/L 26.5-124"],
  ["TP", { value: 7.05, unit: "g/dL", reference_range: "5.5-7.5" }, "g/L", "71 g/L 55.0-75.0"],
  ["HCT", { value: 45.2, unit: "%", reference_range: "37.3-61.7" }, "L/L", "0.452 L/L 0.373-0.617"],
  ["PCO2", { value: 40, unit: "mm[Hg]" }, "kPa", "5.33 kPa"],
  ["TBIL", { value: 0.2, comparator: "<", unit: "mg/dL" }, "umol/L", "<3.4 µmol/L"],
  // The same digits in another writing.
  ["WBC", { value: 12.345, unit: "10*3/uL", reference_range: "5.05-16.76" }, "10*9/L", "12.345 ×10⁹/L 5.05-16.76"],
  ["NA", { value: 150, unit: "mEq/L", reference_range: "144-160" }, "mmol/L", "150 mmol/L 144-160"],
  ["WBC", { value: 5550, unit: "/uL" }, "10*9/L", "5.55 ×10⁹/L"],
  // Ehrlich units have no factor.
  ["UUBGN", { value: 1, unit: "EU/dL" }, "umol/L", "1 EU/dL"],
  // One bound stays one.
  ["CHOL", { value: 100, unit: "mg/dL", reference_range: "<200" }, "mmol/L", "2.6 mmol/L <5.17"],
  // Half is rounded away from zero.
  ["HGB", { value: 14.25, unit: "g/dL" }, "g/L", "143 g/L"],
  ["BE", { value: -2.5, unit: "mEq/L" }, "mmol/L", "-2.5 mmol/L"],
  // A narrow interval stays one.
  ["WBC", { value: 1005, unit: "/uL", reference_range: "1005-1006" }, "10*9/L", "1.005 ×10⁹/L 1.005-1.006"],
  // A value that is not 0 is never shown as 0.
  ["CREA", { value: 0.001, unit: "mg/dL" }, "umol/L", "0.1 µmol/L"],
] as [string, Partial<SentResult> & { value: number }, string, string][])(
  "%s %o in %s is %s",
  (code, sent, unit, text) => {
    expect(shown(code, sent, unit)).toBe(text);
  },
);

test("a rounded value gets a digit where it would contradict its flag, then its interval too", () => {
  const of = (value: number, range: string, flagged: Flag) =>
    shown("CREA", { value, unit: "mg/dL", reference_range: range, flag: flagged }, "umol/L");
  // 1.401 mg/dL is 123.85 µmol/L, the bound 1.4 mg/dL is 123.76.
  expect(of(1.401, "0.5-1.4", "high")).toBe("123.9 µmol/L 44.20-123.8");
  expect(of(1.4, "0.5-1.4", "normal")).toBe("124 µmol/L 44.2-124");
});

test("an interval keeps the digits of its source in the source's own unit", () => {
  const row = publishedInterval("dog-any-any-alb-cornell_cobas_2017");
  expect(row).toMatchObject({ unit: "g/dL" });
  const sent = { value: 30, unit: "g/L", reference_range: intervalText(analyte("ALB"), row!, "g/L"), flag: null };
  expect(shownValue(analyte("ALB"), sent, "g/dL", row)).toMatchObject({ value: "3.0", reference_range: row!.text });
  // A row that does not have the printed range any more is not its source.
  const other = { ...sent, reference_range: "1.0-2.0" };
  expect(shownValue(analyte("ALB"), other, "g/dL", row).reference_range).toBe("0.100-0.200");
});

test("words, ranks and unknown units stay as they were sent", () => {
  const word = { value: null, value_text: "Positive", unit: null, reference_range: null, flag: null };
  expect(shownValue(undefined, word, null)).toMatchObject({ value: "Positive", unit: null, number: null });
  const unknown = { value: 5, unit: "10^3/ul", reference_range: "3-8", flag: null };
  expect(shownValue(undefined, unknown, null)).toMatchObject({ value: "5", unit: "×10³/µl", reference_range: "3-8" });
});

/** Printed numbers of the guide, section 5. */
const FACTORS: Record<string, number> = {
  ...{
    GLU: 0.05551,
    CREA: 88.4,
    BUN: 0.357,
    UREA: 0.1665,
    TBIL: 17.1,
    DBIL: 17.1,
    CA: 0.2495,
    PHOS: 0.3229,
    MG: 0.4114,
  },
  ...{ CHOL: 0.02586, HDL: 0.02586, LDL: 0.02586, TRIG: 0.01129, TT4: 12.87, FT4: 12.87, CORT: 27.59, PROG: 3.18 },
  ...{
    VITD: 2.496,
    FE: 0.1791,
    URIC: 59.48,
    NH3: 0.5872,
    SDMA: 0.04944,
    FIB: 0.01,
    HGB: 10,
    MCHC: 10,
    TP: 10,
    ALB: 10,
  },
  ...{
    GLOB: 10,
    HCT: 0.01,
    PCO2: 0.1333,
    PO2: 0.1333,
    UCREA: 0.0884,
    ACR: 0.1131,
    WBC: 1,
    PLT: 1,
    RBC: 1,
    NA: 1,
    K: 1,
    CL: 1,
  },
};

test("the factors between the systems are the published ones", () => {
  const others = Object.entries(FACTORS).filter(([code, factor]) => {
    const [from, to] = UNIT_SYSTEMS.map((system) => chosenUnit({ system, exceptions: {} }, analyte(code)));
    const own = convert(analyte(code), 1, from ?? "", to ?? "") ?? 0;
    return Math.abs(own / factor - 1) > 0.0005;
  });
  expect(others).toEqual([]);
  expect(convert(analyte("CA"), 1, "mEq/L", "mmol/L")).toBe(0.5);
});

test("SI values have the decimals of the guide", () => {
  const si = (code: string) =>
    decimalsIn(analyte(code), chosenUnit({ system: "si", exceptions: {} }, analyte(code)) ?? "");
  const wanted = { HGB: 0, TP: 0, ALB: 0, HCT: 3, CREA: 0, GLU: 1, CA: 2, PHOS: 2, TBIL: 1, FT4: 1 };
  expect(Object.fromEntries(Object.keys(wanted).map((code) => [code, si(code)]))).toEqual(wanted);
  // Outside both systems the SI decimals decide: 1 µmol/L of creatinine is 0.11 mg/L.
  expect(decimalsIn(analyte("CREA"), "mg/L")).toBe(1);
});

test("an exception precedes the system, and no system leaves the unit that was sent", () => {
  const crea = analyte("CREA");
  expect(chosenUnit({ system: "si", exceptions: {} }, crea)).toBe("umol/L");
  expect(chosenUnit({ system: "si", exceptions: { CREA: "mg/dL" } }, crea)).toBe("mg/dL");
  expect(chosenUnit({ system: "si", exceptions: { CREA: "furlong" } }, crea)).toBe("umol/L");
  expect(chosenUnit(AS_SENT, crea)).toBeNull();
});

/** A result of any numeric analyte in one of its units, flagged by its interval, and another unit. */
const anyResult = fc
  .record({
    analyte: fc.constantFrom(...numeric),
    from: fc.nat(20),
    to: fc.nat(20),
    value: fc.tuple(fc.nat(999_999), fc.nat(5)),
    low: fc.tuple(fc.nat(9999), fc.nat(4)),
    width: fc.integer({ min: 1, max: 9999 }),
    comparator: fc.constantFrom<(Comparator | undefined)[]>(undefined, undefined, undefined, "<", ">"),
    atBound: fc.constantFrom("low", "high", "none", "none"),
  })
  .map(({ analyte: of, comparator, ...given }) => {
    const unitAt = (index: number) => of.units[index % of.units.length]?.unit ?? "";
    const [lowDigits, lowDecimals] = given.low;
    const low = lowDigits / 10 ** lowDecimals;
    const high = (lowDigits + given.width) / 10 ** lowDecimals;
    const value =
      given.atBound === "low" ? low : given.atBound === "high" ? high : given.value[0] / 10 ** given.value[1];
    const bounds = { low, high, critical_low: null, critical_high: null };
    const sent: SentResult = {
      ...{
        value,
        unit: unitAt(given.from),
        reference_range: `${low.toFixed(lowDecimals)}-${high.toFixed(lowDecimals)}`,
      },
      flag: flag(value, comparator ?? null, bounds),
      ...(comparator === undefined ? {} : { comparator }),
    };
    return { of, sent, unit: unitAt(given.to) };
  });

test("in any unit the printed texts agree with the flag, nothing becomes 0, and the number is the converted one", () => {
  fc.assert(
    fc.property(anyResult, ({ of, sent, unit }) => {
      const { value, number, low, high } = shownValue(of, sent, unit);
      expect(value).toBe(`${sent.comparator ?? ""}${value.replace(/^[<>]/, "")}`);
      expect(Number(value.replace(/^[<>]/, ""))).toBe(number);
      expect(number === 0).toBe(sent.value === 0);
      const own = flag(number ?? 0, sent.comparator ?? null, { low, high, critical_low: null, critical_high: null });
      // A bound may say less after rounding, never something else.
      const isExact = sent.flag === "normal" || sent.comparator === undefined;
      expect(isExact ? [own] : [own, null]).toContain(sent.flag);
      const exact = convert(of, sent.value ?? 0, sent.unit ?? "", unit) ?? 0;
      const step = 10 ** -decimalsIn(of, unit);
      expect(Math.abs((number ?? 0) - exact)).toBeLessThanOrEqual(step / 2 + 1e-9 * Math.abs(exact));
    }),
    { numRuns: 3000 },
  );
});

test("a bound that is normal up to the end of its interval is not printed beyond it", () => {
  const sent = { value: 475, unit: "/uL", reference_range: "0-475", flag: "normal", comparator: "<" } as const;
  expect(shownValue(analyte("WBC"), sent, "10*9/L")).toMatchObject({ value: "<0.475", high: 0.475 });
});

test("a value that comes back to its own unit is as near as the rounding between", () => {
  fc.assert(
    fc.property(anyResult, ({ of, sent, unit }) => {
      const there = shownValue(of, { ...sent, reference_range: null, flag: null }, unit);
      const back = convert(of, there.number ?? 0, unit, sent.unit ?? "") ?? 0;
      const step = convert(of, 10 ** -decimalsIn(of, unit), unit, sent.unit ?? "") ?? 0;
      expect(Math.abs(back - (sent.value ?? 0))).toBeLessThanOrEqual(step / 2 + 1e-9 * Math.abs(back));
    }),
    { numRuns: 2000 },
  );
});

test("every unit is written as people write it: no bracket, asterisk, brace or u for micro", () => {
  const rows = JSON.parse(fs.readFileSync("shared/data/units.json", "utf8")) as { unit: string }[];
  const texts = rows.map(({ unit }) => unitText(unit));
  expect(texts.filter((text) => /[[\]{}*^]|(^|\/)u/.test(text))).toEqual([]);
  expect(Object.fromEntries(rows.map(({ unit }, index) => [unit, texts[index]]))).toMatchObject({
    ...{ "10*9/L": "×10⁹/L", "10*3/uL": "×10³/µL", "10*12/L": "×10¹²/L", "/uL": "/µL", "umol/L": "µmol/L" },
    ...{ "mm[Hg]": "mmHg", "{ratio}": "", "[pH]": "", "{SG}": "", "{INR}": "", "/[HPF]": "/HPF", "uIU/mL": "µIU/mL" },
    ...{ "ukat/L": "µkat/L", "mEq/L": "mEq/L", "U/L": "U/L", "%": "%", s: "s" },
  });
});

test.each([
  ["deg", "°"],
  ["Cel", "°C"],
  ["cm2", "cm²"],
  ["m/s2", "m/s²"],
  ["{H.B.}/min", "/min"],
  ["cm[H2O]", "cmH2O"],
  ["1", ""],
  ["mL", "mL"],
])("the unit %s of a measurement in images is written %s", (unit, text) => {
  expect(unitText(unit)).toBe(text);
});
