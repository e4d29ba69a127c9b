import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Report } from "../../../agent/report/report.ts";
import { study } from "../../../agent/study/study.ts";
import { readValue } from "../../../shared/clinical/analytes/value.ts";
import { dog } from "../../support/runner/fixtures.ts";
import { soakCount } from "../../support/runner/soak.ts";
import { msh, obx, PID, readGeneric as readHl7 } from "../protocols/hl7/segments.ts";
import { only, readGeneric as readAstm, reportOf, reportsOf, resultRecord } from "../records.ts";

// The content of a result field is a row, or is named as a placeholder.

const URINE = "OBR|1||U-1|UA|||20261120101200||||||||Urine";
const source = { device_id: "hema-1", message_id: "message-1" };
const published = (report: Report) =>
  study(report, dog, source).body.results.map(({ analyte, value, value_text, comparator, unit }) =>
    [analyte, `${comparator ?? ""}${value ?? ""}`, value_text ?? "", unit ?? ""].join("|"),
  );
const hl7 = (...segments: readonly string[]) => only(reportsOf(readHl7(msh(), PID, URINE, ...segments)));

test("a coding system without code and text is not a value", () => {
  for (const value of ["^^L", "^^LN", "^^99MRC"]) {
    expect(published(hl7(obx("NIT", value, { 2: "CE", 6: "" }), obx("WBC", "3", { 6: "/HPF" })))).toEqual([
      "WBC|3||/HPF",
    ]);
  }
});

test("values other than a single number reach the study as they were sent", () => {
  const report = hl7(
    obx("WBC", "5-10", { 2: "ST", 6: "/HPF" }),
    obx("SQEP", "0-5", { 2: "ST", 6: "/HPF" }),
    obx("RBC", "<1", { 2: "ST", 6: "/HPF" }),
    obx("LEPTO", "1/400", { 2: "ST", 6: "" }),
    obx("PARVO", "(+)", { 2: "ST", 6: "" }),
    obx("CAST", "^2^-^4", { 2: "SN", 6: "/LPF" }),
    obx("IGE", "1.2E3", { 6: "IU/mL" }),
  );
  expect(published(report)).toEqual([
    "WBC||5-10|/HPF",
    "SQEP||0-5|/HPF",
    "RBC|<1||/HPF",
    "LEPTO||1/400|",
    "PARVO||(+)|",
    "CAST||2-4|/LPF",
    "IGE|1200||IU/mL",
  ]);
  expect(report.leftOut).toEqual([]);
});

test.each([
  ["ST", "5~6", "5~6"],
  ["NM", "1+^25", "1+^25"],
  ["SN", ">^1^:^40", ">1:40"],
  ["CE", "A^Struvite^L~B^Oxalate^L", "Struvite~Oxalate"],
  ["CWE", "260385009^^SCT", "260385009^^SCT"],
  ["NM", "1,234", "1,234"],
  ["NM", "5.", "5."],
  ["ST", "2025-08-09", "2025-08-09"],
])("an OBX-5 of type %s with %s is the words %s", (type, sent, words) => {
  const [row] = hl7(obx("ALT", sent, { 2: type })).rows;
  expect([row?.value, row?.text]).toEqual([null, words]);
});

test.each([
  ["5\\6", "5\\6"],
  ["2+^125", "2+^125"],
  ["5-10", "5-10"],
])("an R-4 %s is the words %s", (sent, words) => {
  const [row] = reportOf(["P|1|4711", "O|1|S-1", resultRecord("^^^ALT", sent, "U/L")]).rows;
  expect([row?.value, row?.text]).toEqual([null, words]);
});

test("a text that is too long for a value is a comment of the study", () => {
  const text = "Many struvite crystals. ".repeat(30).trim();
  const report = hl7(obx("SED", text, { 2: "TX", 6: "" }), obx("USG", "1.020", { 6: "" }));
  expect(report.leftOut).toEqual([`SED has no value: a value of ${text.length} characters, at most 200`]);
  expect(study(report, null, source).body.comments?.join("")).toContain("struvite crystals");
});

test.each([
  ["71.5 fL", "fL", "71.5 fL", ""],
  ["71,5FL", "fL", "71.5 fL", ""],
  ["65.2%", "", "65.2 %", ""],
  ["<0.5 mg/dL", "", "<0.5 mg/dL", ""],
  ["8.1 10^9/L", "10^9/L", "8.1 10^9/L", ""],
  ["9.1 H", "fL", "9.1 fL", "H"],
  ["9.1 (H)", "fL", "9.1 fL", "H"],
  ["9.1[L]", "fL", "9.1 fL", "L"],
  ["> 20.0 H", "fL", ">20 fL", "H"],
  ["HH 9.1", "fL", "9.1 fL", "HH"],
  ["↑ 612", "fL", "612 fL", "↑"],
  ["＜12．5", "fL", "<12.5 fL", ""],
  ["1.2 L", "L", "1.2 L", ""],
  ["0.42 L/L", "", "0.42 L/L", ""],
  ["1.2 L", "", "1.2 null", "L"],
  // Another unit than the field's, and texts that are not one number with its unit, stay words.
  ["135 g/L", "g/dL", null, ""],
  ["5-10 H", "fL", null, ""],
  ["12 cells", "", null, ""],
  ["Type 2 N", "", null, ""],
  ["1:40 H", "", null, ""],
  ["10^5 L", "", null, ""],
  ["L2", "", null, ""],
  ["1 234 fL", "fL", null, ""],
  ["H", "fL", null, ""],
])("the value %s in %j is %s with the flag %j", (sent, unit, value, flag) => {
  const row = only(hl7(obx("XYZ", sent, { 2: "ST", 6: unit })).rows);
  const shown = row.value === null ? null : `${row.comparator ?? ""}${row.value} ${row.unit}`;
  expect([shown, row.device_flag ?? ""]).toEqual([value, flag]);
});

test.each([
  ["39-56 %", "%", "39-56"],
  ["(0.5-1.2 mg/dL)", "mg/dL", null],
  ["0.5-1.2 mg/dL", "mg/dL", "0.5-1.2"],
  ["<5U/L", "U/L", "<5"],
  ["4.0-10.0 10^9/L", "10^9/L", "4.0-10.0"],
  // In another unit than the value it would be misread.
  ["44-159 umol/L", "mg/dL", null],
])("the printed range %s of a value in %s is %s", (range, unit, printed) => {
  const row = only(hl7(obx("XYZ", "1", { 6: unit, 7: range })).rows);
  expect(row.device_range?.text ?? null).toBe(printed);
});

/** A placeholder by another rule than the reader's: no letter and no digit, and no grade in plus signs. */
const PLACEHOLDERS = [
  "",
  "-",
  "--",
  "----",
  ".....",
  "**.*",
  "***.**",
  "~~~",
  "****",
  "+++++",
  "?",
  "*",
  "<",
  ">",
  "/",
  "HEM",
  "NA",
];

test.each(PLACEHOLDERS)("the placeholder %j makes no row and is named", (text) => {
  expect(readValue(text, { decimalComma: true }).is).toBe("none");
});

test("any other text in a result field is a row", () => {
  const part = fc.constantFrom("5", "10", "-", "/", "(+)", ":", ",", ".", "<", "%", "²", "E", "x", " ", "±");
  const text = fc.array(part, { minLength: 1, maxLength: 8 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(text, fc.boolean(), (sent, isAstm) => {
      const reading = isAstm
        ? readAstm(["P|1|4711", "O|1|S-1", resultRecord("^^^XYZ", sent, "U/L")])
        : readHl7(msh(), PID, "OBR|1||S-1|CHEM|||20261121113015", obx("XYZ", sent));
      const rows = reading.is === "reports" ? reading.reports.flatMap((report) => report.rows) : [];
      const hasText = /[\p{L}\p{N}]|^\(\+\)$/u.test(sent.trim());
      const isNamed = JSON.stringify(reading).includes("no value");
      expect([rows.map((row) => row.text), isNamed]).toEqual(
        hasText || rows.length > 0 ? [[sent.trim()], false] : [[], true],
      );
    }),
    { numRuns: soakCount(1_000) },
  );
});
