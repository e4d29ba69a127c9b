import { expect, test } from "vitest";
import { record, reportOf, resultRecord, vetscanReport } from "../records.ts";
import { study } from "../../../agent/study/study.ts";
import { dog } from "../../support/runner/fixtures.ts";

// Units and specimens that decide the analyte of a result, or make its value doubtful.

const ORDER = "O|1|S-1";
const URINE = record("O", { 16: "UR" });

function rowsOf(order: string, ...results: readonly string[]) {
  const report = reportOf(["P|1|4711", order, ...results]);
  return study(report, dog, { device_id: "chem-1", message_id: "M1" }).body.results;
}

test("a percentage under a count's mnemonic is the relative analyte, or a row under the device's code", () => {
  expect(
    rowsOf(
      ORDER,
      resultRecord("^^^LYM", "35.57", "%"),
      resultRecord("^^^LYM#", "2.84", "10^9/L"),
      resultRecord("^^^PLT", "12", "%"),
    ),
  ).toMatchObject([
    { analyte: "LYMP", value: 35.57, unit: "%" },
    { analyte: "LYM", value: 2.84, unit: "10*9/L" },
    { analyte: "PLT", value: 12, unit: "%", reference_range: null, flag: null, code_source: "device" },
  ]);
});

test("a value that its unit makes impossible keeps value and unit, has a comment and no flag", () => {
  expect(rowsOf(ORDER, resultRecord("^^^HCT", "43.1", "L/L"), resultRecord("^^^HGB", "135", "g/dL"))).toEqual([
    {
      analyte: "HCT",
      value: 43.1,
      unit: "L/L",
      reference_range: null,
      flag: null,
      comment: "43.1 L/L is above 1 L/L: a part is not more than the whole",
    },
    {
      analyte: "HGB",
      value: 135,
      unit: "g/dL",
      reference_range: null,
      flag: null,
      comment: "135 g/dL is above 100 g/dL: a litre of a body fluid weighs about 1 kg",
    },
  ]);
});

test("the device's own doubt precedes the unit's", () => {
  const report = vetscanReport("Dog", resultRecord("4544-3", "43.1*", "L/L"));
  expect(report.rows[0]?.comment).toMatch(/^(?!43).+; 43\.1 L\/L is above 1 L\/L: /);
});

test("the number of a device's unit system is not a unit", () => {
  expect(rowsOf(ORDER, resultRecord("^^^HCT", "0.43", "1"))).toEqual([
    { analyte: "HCT", value: 0.43, unit: "1", reference_range: null, flag: null },
  ]);
});

test("a strip's grade with a unit keeps its pad, and a number with the unit is the amount", () => {
  expect(rowsOf(URINE, resultRecord("^^^URO", "norm", "mg/dL"))).toMatchObject([{ analyte: "UBG", value: 0 }]);
  expect(rowsOf(URINE, resultRecord("^^^URO", "3.2", "umol/L"))).toMatchObject([
    { analyte: "UUBGN", value: 3.2, unit: "umol/L" },
  ]);
});

test("a LOINC of urine with a blood mnemonic makes a row under the device's code", () => {
  expect(
    rowsOf(ORDER, resultRecord("2350-7^^^GLU", "250", "mg/dL"), resultRecord("^^^ALT", "50", "U/L")),
  ).toMatchObject([
    {
      analyte: expect.stringMatching(/^(GLU|2350-7)$/),
      value: 250,
      unit: "mg/dL",
      reference_range: null,
      flag: null,
      code_source: "device",
    },
    { analyte: "ALT", value: 50, flag: "normal" },
  ]);
});

test("rapid tests have results in words", () => {
  expect(
    rowsOf(
      ORDER,
      resultRecord("^^^FeLV", "Positive"),
      resultRecord("^^^FIV", "Negative"),
      resultRecord("^^^CPV Ag", "1"),
    ),
  ).toMatchObject([
    { analyte: "FELV", value: null, unit: null, value_text: "Positive", flag: null },
    { analyte: "FIV", value: null, value_text: "Negative" },
    { analyte: "CPV Ag", value: 1, code_source: "device" },
  ]);
});
