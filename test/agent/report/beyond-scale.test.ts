import { expect, test } from "vitest";
import type { Report } from "../../../agent/report/report.ts";
import { ALT as ALT_ROW, msh, OBR, obx, PID, readGeneric as readHl7 } from "../protocols/hl7/segments.ts";
import { only, reportOf, reportsOf, resultRecord } from "../records.ts";

// Abnormal flags < and > (LIS02-A2 §9.7, HL7 table 0078): the value is a bound.

const rows = (report: Report) =>
  report.rows.map(({ code, comparator, value }) => `${code} ${comparator ?? ""}${value}`);
const hl7 = (...segments: readonly string[]) => only(reportsOf(readHl7(msh(), PID, OBR, ...segments)));

test.each([
  ["600", ">", "GLU >600"],
  ["0.2", "<", "GLU <0.2"],
  ["600", "H\\>", "GLU >600"],
  ["600", ">\\H", "GLU >600"],
  ["600", " > ", "GLU >600"],
  ["600", "EXP^>", "GLU >600"],
  ["<0.2", "<", "GLU <0.2"],
  [">=600", ">", "GLU >=600"],
  ["40", "N", "GLU 40"],
  ["40", "H\\HH", "GLU 40"],
  ["40", "<\\>", "GLU 40"],
])("ASTM %s with the flag %s is %s", (value, flag, row) => {
  expect(rows(reportOf(["P|1|4711", "O|1|S-1", resultRecord("^^^GLU", value, "mg/dL", { 7: flag })]))).toEqual([row]);
});

test.each([
  ["600", ">", "GLU >600"],
  ["0.2", "<", "GLU <0.2"],
  ["1000", "H~>", "GLU >1000"],
  ["1000", ">~H", "GLU >1000"],
  ["1000", "~>", "GLU >1000"],
  ["600", ">^Above scale^HL70078", "GLU >600"],
  ["40", "N", "GLU 40"],
])("HL7 %s with the flag %s is %s", (value, flag, row) => {
  expect(rows(hl7(obx("GLU", value, { 6: "mg/dL", 8: flag })))).toEqual([row]);
});

test("a flag of a bound leaves words and the other rows as they are", () => {
  const report = hl7(obx("CRP", "Positive", { 2: "ST", 6: "", 8: ">" }), ALT_ROW);
  expect(report.rows.map(({ value, text, device_flag }) => [value, text, device_flag])).toEqual([
    [null, "Positive", ">"],
    [52, "52", null],
  ]);
});
