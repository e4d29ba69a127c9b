import { expect, test } from "vitest";
import type { Report } from "../../../agent/report/report.ts";
import { study } from "../../../agent/study/study.ts";
import { analyteByCode } from "../../../shared/clinical/analytes/analytes.ts";
import { impossibleValue, possibleValues } from "../../../agent/report/possible.ts";
import { dataFile } from "../../../shared/clinical/analytes/data.ts";
import { factorOf } from "../../../shared/clinical/analytes/units.ts";
import { dog } from "../../support/runner/fixtures.ts";
import { msh, OBR, obx, PID, readGeneric as readHl7, readWith } from "../protocols/hl7/segments.ts";
import { only, reportOf, reportsOf, resultRecord } from "../records.ts";
import { hl7Device } from "../../support/clinic/profiles.ts";

const bionoteVcheck = hl7Device("bionote-vcheck");

// A value that the device doubts stays, with the device's words, and has neither range nor flag of ours.

const source = { device_id: "chem-1", message_id: "message-1" };
const shown = (report: Report) =>
  study(report, dog, source).body.results.map(({ value, reference_range, flag, comment }) => ({
    value,
    reference_range,
    flag,
    comment,
  }));
const hl7 = (...segments: readonly string[]) => only(reportsOf(readHl7(msh(), PID, OBR, ...segments)));
const potassium = (value: string, fields: Parameters<typeof obx>[2] = {}) =>
  obx("K", value, { 6: "mmol/L", ...fields });
const doubted = (comment: string, value = 5.5) => [{ value, reference_range: null, flag: null, comment }];

test.each(["5.5*", "5.5 *", "*5.5", "?5.5", "5.5?", "5.5!", "5.5#", "5.5@"])("a mark next to %s doubts it", (text) => {
  const mark = text.replace(/[\d. ]/g, "");
  const words = `the device marks the value with ${mark}`;
  expect(shown(hl7(potassium(text)))).toEqual(doubted(words));
  expect(shown(reportOf(["P|1|4711", "O|1|S-1", resultRecord("^^^K", text, "mmol/L")]))).toEqual(doubted(words));
});

test("a value without a doubt keeps its range and its flag", () => {
  const normal = [{ value: 4.5, flag: "normal", comment: undefined }];
  expect(shown(hl7(potassium("4.5", { 8: "N" })))).toMatchObject(normal);
  expect(shown(hl7(potassium("4.5", { 8: "*" })))).toMatchObject(normal);
});

test("a note explains a flag outside table 0078, after its row or once for all", () => {
  const own = hl7(potassium("5.5", { 8: "*" }), "NTE|1||* Low sample volume");
  expect(shown(own)).toEqual(doubted("* Low sample volume"));
  const legend = hl7(potassium("5.5", { 8: "!" }), obx("NA", "148", { 6: "mmol/L" }), "NTE|1||! = clot suspected");
  expect(shown(legend)).toMatchObject([{ flag: null, comment: "! = clot suspected" }, { flag: "normal" }]);
});

test("a note after a row doubts its value", () => {
  expect(shown(hl7(potassium("5.5"), "NTE|1||Sample hemolysed"))).toEqual(doubted("Sample hemolysed"));
});

test.each(["Interpretation=Normal", "Slope^1.000", "Slope 1.0", "Instrument Flag H", "Dilution: 2", "0", "OK", "High"])(
  "the note %s is a fact, not a doubt",
  (note) => {
    expect(shown(hl7(potassium("4.5"), `NTE|1||${note}`))).toMatchObject([{ flag: "normal" }]);
  },
);

test("a note that holds the value does not doubt it", () => {
  const row = obx("SDB-0860^F TBLAM FIA^LN", "", { 6: "" });
  const report = only(
    reportsOf(readWith(bionoteVcheck, msh({ 3: "FA20F", 4: "" }), PID, OBR, row, "NTE|1||Cut Off Index,Value=0.57")),
  );
  expect(report.rows.map(({ value, comment }) => [value, comment])).toEqual([[0.57, undefined]]);
});

test.each(["E", "edited by hand", "Manual", "modified"])("OBX-13 %s means that a person changed the value", (check) => {
  expect(shown(hl7(potassium("5.5", { 13: check })))).toEqual(
    doubted(`the value was changed by hand (OBX-13 is ${check})`),
  );
});

test.each(["H", "Pass", "0.1234", "Aydin"])("OBX-13 %s means nothing for the value", (check) => {
  expect(shown(hl7(potassium("4.5", { 13: check })))).toMatchObject([{ flag: "normal" }]);
});

test("a comment of the instrument after an R record doubts its value", () => {
  const record = ["P|1|4711", "O|1|S-1", resultRecord("^^^K", "5.5", "mmol/L")];
  for (const type of ["I", "G", ""]) {
    expect(shown(reportOf([...record, `C|1|I|Clot detected|${type}`]))).toEqual(doubted("Clot detected"));
  }
  // Numbers, facts, and the words of a person are not the device's doubt.
  const others = ["C|1|I|0|I", "C|2|L|called the owner|G", "C|3|I|1.000^0.0 mg/L|G", "C|4|I|Instrument Flag H"];
  expect(shown(reportOf([...record, ...others]))).toMatchObject([{ comment: undefined }]);
});

test("a result whose validity is questionable (R-9 is W) is doubtful", () => {
  const record = resultRecord("^^^K", "5.5", "mmol/L", { 9: "W" });
  expect(shown(reportOf(["P|1|4711", "O|1|S-1", record]))).toEqual(
    doubted("the device holds the value for questionable (R-9 is W)"),
  );
});

test("an MCHC of 0 with a hemoglobin of 14 is doubtful, the hemoglobin is not", () => {
  const report = hl7(obx("HGB", "14", { 6: "g/dL" }), obx("MCHC", "0", { 6: "g/dL" }));
  expect(shown(report)).toMatchObject([
    { value: 14, flag: "normal" },
    { value: 0, reference_range: null, flag: null, comment: "MCHC 0 g/dL cannot be: expected 8 to 80 g/dL" },
  ]);
});

test.each([
  ["MCV", 0, "fL"],
  ["HCT", 0, "L/L"],
  ["HGB", 800, "g/L"],
  ["PH", 74, "[pH]"],
  ["K", 0, "mmol/L"],
  ["NA", 1400, "mmol/L"],
  ["MCHC", 0, null],
  ["ALT", -3, "U/L"],
  ["RDW", 0, "%"],
])("%s %d %s cannot be", (code, value, unit) => {
  expect(impossibleValue(analyteByCode(code)!, value, unit)).toMatch(`${code} ${value}`);
});

test.each([
  ["MCHC", 340, "g/L"],
  ["BEECF", -10, "mmol/L"],
  ["PLT", 0, "10*9/L"],
  ["WBC", 0.01, "10*9/L"],
  ["GLU", 30, "mmol/L"],
  ["ALT", 0, "U/L"],
  ["MCHC", 34, null],
])("%s %d %s may be", (code, value, unit) => {
  expect(impossibleValue(analyteByCode(code)!, value, unit)).toBeNull();
});

type Interval = { readonly analyte: string; readonly unit: string; readonly low: string; readonly high: string };
const json = (name: string) => JSON.parse(dataFile(name).toString("utf8")) as unknown;

test("each bound names a source of the catalogue", () => {
  const sources = new Set((json("sources.json") as { id: string }[]).map(({ id }) => id));
  expect(possibleValues.filter(({ source_id }) => !sources.has(source_id))).toEqual([]);
});

test("a bound leaves room of a third below and above all published intervals", () => {
  const near = (json("reference-intervals.json") as Interval[]).flatMap(({ analyte: code, unit, low, high }) => {
    const bounds = possibleValues.find(({ analyte }) => analyte === code);
    const analyte = analyteByCode(code);
    if (bounds === undefined || analyte === undefined || bounds.unit === "[pH]" || bounds.unit === "{SG}") return [];
    const factor = factorOf(analyte, unit) ?? 1;
    const isRoomy = Number(low) * factor * 0.67 >= (bounds.low ?? 0) && Number(high) * factor * 1.33 <= bounds.high;
    return isRoomy ? [] : [`${code} ${low}-${high} ${unit}`];
  });
  expect(near).toEqual([]);
});
