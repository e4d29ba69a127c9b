import { expect, test } from "vitest";
import { ageOn, type PatientStudy, type ResultValue } from "../../../../../server/dashboard/types/patients.ts";
import { resultMatrix, resultRows } from "../../../../../server/dashboard/types/results/result-rows.ts";
import { valueText } from "../../../../../shared/clinical/units/value-text.ts";

const analytes = [
  { modality: "HEMATOLOGY" as const, code: "WBC", name: "White blood cells", name_tr: "Lökosit" },
  {
    modality: "BIOCHEMISTRY" as const,
    code: "ALT",
    name: "Alanine aminotransferase",
    name_tr: "Alanin aminotransferaz",
  },
  { modality: "BIOCHEMISTRY" as const, code: "GLU", name: "Glucose", name_tr: "Glukoz" },
  { modality: "URINALYSIS" as const, code: "GLU", name: "Glucose, urine pad", name_tr: "Glukoz, idrar" },
];

function study(fp: string, acquired_at: string, values: ResultValue[], more: Partial<PatientStudy> = {}): PatientStudy {
  return { fp, modality: "BIOCHEMISTRY", device_name: "VS2", device: 0, device_id: null, acquired_at, values, ...more };
}

function result(analyte: string, value: number | null, more: Partial<ResultValue> = {}): ResultValue {
  const absent = { reference_range: null, low: null, high: null, flag: null, device_label: null, change: null };
  const text = valueText({ value, ...more });
  return { analyte, value, text, unit: "mmol/L", ...absent, ...more };
}

/** Rows in short: name of the row, then its values with the study of each. */
function short(studies: PatientStudy[]) {
  return resultRows({ studies, analytes }).map(({ modality, analyte, unit, device, name, values }) => [
    [modality, analyte, unit, device, name].join(" "),
    ...values.map((value) => `${value.study.fp} ${valueText(value)}`),
  ]);
}

test("an analyte in two units has two rows, and no value is lost", () => {
  const studies = [
    study("c", "2026-11-20T10:00:00.000Z", [result("GLU", 5.2)]),
    study("b", "2026-11-10T10:00:00.000Z", [result("GLU", 93, { unit: "mg/dL" })]),
    study("a", "2026-11-01T10:00:00.000Z", [result("GLU", 4.9), result("GLU", 5.1)]),
  ];
  expect(short(studies)).toEqual([
    ["BIOCHEMISTRY GLU mg/dL  Glucose", "b 93"],
    ["BIOCHEMISTRY GLU mmol/L  Glucose", "c 5.2", "a 4.9", "a 5.1"],
  ]);
});

test("rows follow the modality and then the catalogue, and other codes come last", () => {
  const pad = { unit: null, value_text: "2+" };
  const studies = [
    study("d", "2026-11-20T10:00:00.000Z", [result("GLU", 2, pad)], { modality: "URINALYSIS" }),
    study("c", "2026-11-20T10:00:00.000Z", [result("ZZZ", 1), result("GLU", 5), result("ALT", 70, { unit: "U/L" })]),
    study("b", "2026-11-20T10:00:00.000Z", [result("WBC", 9, { unit: "10*9/L" })], { modality: "HEMATOLOGY" }),
  ];
  expect(short(studies)).toEqual([
    ["HEMATOLOGY WBC 10*9/L  White blood cells", "b 9"],
    ["BIOCHEMISTRY ALT U/L  Alanine aminotransferase", "c 70"],
    ["BIOCHEMISTRY GLU mmol/L  Glucose", "c 5"],
    ["BIOCHEMISTRY ZZZ mmol/L  ", "c 1"],
    ["URINALYSIS GLU   Glucose, urine pad", "d 2+"],
  ]);
});

test("a device's own code has a row for each device, apart from the catalogue's analyte of that code", () => {
  const own = { code_source: "device" as const, device_label: "Glukoz" };
  const studies = [
    study("c", "2026-11-20T10:00:00.000Z", [result("GLU", 1, own)], { device_name: "BC-30", device: 1 }),
    study("b", "2026-11-19T10:00:00.000Z", [result("GLU", 2, own)]),
    study("a", "2026-11-18T10:00:00.000Z", [result("GLU", 3), result("GLU", 4, { code_source: "clinic" })]),
  ];
  expect(short(studies)).toEqual([
    ["BIOCHEMISTRY GLU mmol/L  Glucose", "a 3", "a 4"],
    ["BIOCHEMISTRY GLU mmol/L BC-30 Glukoz", "c 1"],
    ["BIOCHEMISTRY GLU mmol/L VS2 Glukoz", "b 2"],
  ]);
});

test("a column holds the studies of a day, at most one of each modality, and images without values have none", () => {
  const wbc = [result("WBC", 9)];
  const studies = [
    study("e", "2026-11-20T21:30:00.000Z", [result("GLU", 5)]),
    study("d", "2026-11-20T10:00:00.000Z", [result("GLU", 4)]),
    study("c", "2026-11-20T09:00:00.000Z", wbc, { modality: "HEMATOLOGY" }),
    study("b", "2026-11-20T08:00:00.000Z", [], { modality: "RADIOLOGY" }),
    study("a", "2026-11-20T07:00:00.000Z", [result("GLU", 3), result("GLU", 3.1)]),
  ];
  // Istanbul is three hours ahead of UTC.
  const dayOf = (instant: string) => new Date(Date.parse(instant) + 3 * 3_600_000).toISOString().slice(0, 10);
  const { columns, groups } = resultMatrix({ studies, analytes }, dayOf);
  expect(columns.map(({ day, studies: of }) => [day, ...of.map(({ fp }) => fp)])).toEqual([
    ["2026-11-21", "e"],
    ["2026-11-20", "d", "c"],
    ["2026-11-20", "a"],
  ]);
  expect(
    groups.map(({ modality, rows }) => [
      modality,
      rows.map(({ cells }) => cells.map((cell) => cell.map(valueText).join(" and "))),
    ]),
  ).toEqual([
    ["HEMATOLOGY", [["", "9", ""]]],
    ["BIOCHEMISTRY", [["5", "4", "3 and 3.1"]]],
  ]);
});

test.each([
  ["2026-11-21", "2019-04-12", "7 year 7 month"],
  ["2026-11-21", "2024-11-21", "2 year"],
  ["2026-11-21", "2025-11-22", "11 month"],
  ["2026-11-21", "2026-08-21", "3 month"],
  ["2026-11-21", "2026-08-22", "13 week"],
  ["2026-11-21", "2026-11-08", "13 day"],
  ["2026-11-21", "2026-11-21", "0 day"],
  ["2026-11-21", "2026-11-22", ""],
  ["2026-11-21", "someday", ""],
])("on %s an animal born on %s has the age %j", (day, birth, age) => {
  expect(
    ageOn(day, birth)
      .map(({ unit, count }) => `${count} ${unit}`)
      .join(" "),
  ).toBe(age);
});
