import { expect, test } from "vitest";
import { profiles } from "../../../agent/devices/index.ts";
import { isControlRow, isRunRow, saysControl } from "../../../agent/protocols/remarks.ts";
import type { Reading } from "../../../agent/report/report.ts";
import { analytes } from "../../../shared/clinical/analytes/analytes.ts";
import { ALT as ALT_ROW, msh, OBR, obx, PID, readGeneric as readHl7, readWith as readHl7With } from "./hl7/segments.ts";
import {
  ALT,
  only,
  readGeneric as readAstm,
  readWith as readAstmWith,
  reportsOf,
  resultRecord,
  VETSCAN_HEADER,
} from "../records.ts";
import { astmDevice } from "../../support/clinic/profiles.ts";
import { patiently } from "../../support/runner/patience.ts";

const abaxisVetscanVs2 = astmDevice("abaxis-vetscan-vs2");

// Rows that are not results: of control material, and of the run. And results that nobody calls a control.

const SETTINGS = [
  ["Age", "3"],
  ["Take Mode", "O"],
  ["Sampling Mode", "AS"],
  ["Ref Group", "General"],
  ["Reference_Group", "Dog"],
  ["Recheck flag", "Y"],
  ["Print_BMP", "C"],
  ["Blood Mode", "W"],
  ["Mode of sampling", "open"],
  ["Age (months)", "38"],
  ["Animal age", "3Y"],
  ["Print", "on"],
] as const;

const rowsOf = (reading: Reading) => reportsOf(reading).flatMap(({ rows }) => rows.map(({ code }) => code));
const wordsOf = (reading: Reading) =>
  reportsOf(reading)
    .flatMap(({ notes, comments }) => [...notes, ...comments])
    .join("\n");

// Practice software sends no results.
const hl7Profiles = profiles
  .filter((profile) => profile.protocol === "hl7")
  .filter(({ registry }) => registry === undefined);

test.each(hl7Profiles)("$id keeps the settings of a run as remarks", (profile) => {
  const anySender = { ...profile, sender: /(?:)/ };
  const settings = SETTINGS.map(([name, value]) => obx(name, value, { 2: "IS", 4: name, 6: "" }));
  const reading = readHl7With(anySender, msh(), PID, OBR, ...settings, obx("ALT", "52", { 4: "ALT" }));
  expect(rowsOf(reading)).toEqual(["ALT"]);
  for (const [, value] of SETTINGS) expect(wordsOf(reading)).toContain(value);
});

test("an ASTM analyzer's settings of a run are remarks", () => {
  const settings = SETTINGS.map(([name, value]) => resultRecord(`^^^${name}`, value));
  const reading = readAstm(["P|1|4711", "O|1|S-1", ...settings, ALT]);
  expect(rowsOf(reading)).toEqual(["ALT"]);
  for (const [name, value] of SETTINGS) expect(wordsOf(reading)).toContain(`${name}: ${value}`);
});

test("age and weight by LOINC are remarks", () => {
  const rows = [obx("30525-0^Age^LN", "3"), obx("29463-7^Weight^LN", "12.5", { 6: "kg" })];
  expect(rowsOf(readHl7(msh(), PID, OBR, ...rows, ALT_ROW))).toEqual(["ALT"]);
});

test("a word of the run with an analyte's name describes its result", () => {
  const hl7 = readHl7(msh(), PID, OBR, obx("GLU^Glucose", "95", { 4: "Repeat", 6: "mg/dL" }));
  const astm = readAstm(["P|1|4711", "O|1|S-1", resultRecord("^^^GLU^Repeat", "95", "mg/dL")]);
  expect([rowsOf(hl7), rowsOf(astm)]).toEqual([["GLU"], ["GLU"]]);
});

test("a blood type is a result", () => {
  const reading = readHl7(msh(), PID, OBR, obx("BT^Blood Type", "DEA 1 POS", { 2: "ST", 6: "" }));
  expect(only(reportsOf(reading)).rows).toMatchObject([{ text: "DEA 1 POS" }]);
});

test.each(["* QUALITY CONTROL REPORT *: 4300D", "Quality Control", "Quality control report of lot 7"])(
  "an M record that starts with %s makes its order a control",
  (text) => {
    expect(readAstm(["P|1|4711", "O|1|S-1", ALT, `M|1|${text}`])).toMatchObject({ is: "not-for-patients" });
  },
);

test("a control among a patient's tests takes none of the results", () => {
  const readings = [
    readAstm(["P|1|4711", "O|1|S-1", ALT, "M|1|Quality control passed"]),
    readAstm(["P|1|4711", "O|1|S-1||^^^ALT\\^^^QC", ALT]),
    readHl7(msh(), PID, "OBR|1||S-1|CHEM~QC|||20261121113015", ALT_ROW),
  ];
  expect(readings.map(rowsOf)).toEqual([["ALT"], ["ALT"], ["ALT"]]);
});

test("no name of the catalogue is a setting or a control", () => {
  expect(SETTINGS.map(([name]) => name).filter((name) => !isRunRow("", [name]))).toEqual([]);
  const names = analytes.flatMap(({ code, name, synonyms }) => [code, name, ...synonyms]);
  expect(names.filter((name) => isRunRow(name, [name]) || isControlRow([name], "52"))).toEqual([]);
});

test.each([
  "* QUALITY CONTROL REPORT *: 4300D",
  "^^^* QUALITY CONTROL REPORT *",
  "LEVEL 1: IQC 1",
  "IQC",
  "QC-Report",
  "Calibration",
  "contrôle de qualité",
  "Qualitätskontrolle",
  "kalite kontrol",
])("%s names a control", (name) => {
  expect(saysControl(name)).toBe(true);
});

test.each([
  "Control Rex",
  "Critical Care Profile: 0029A",
  "CHEM",
  "Calcium",
  "QCX panel",
  "Level 2 panel",
  "V36QC92",
  "4QC17",
])("%s does not name a control", (name) => {
  expect(saysControl(name)).toBe(false);
});

test.each(["* QUALITY CONTROL REPORT *: 4300D", "LEVEL 1: IQC 1"])("an order named %s is not for a patient", (name) => {
  expect(readAstm(["P|1|4711", `O|1|S-1||^^^${name}`, ALT])).toMatchObject({ is: "not-for-patients" });
  expect(readHl7(msh(), PID, `OBR|1||S-1|${name}|||20261121113015`, ALT_ROW)).toMatchObject({ is: "not-for-patients" });
});

test.each(["LEVEL 1: IQC 1", "IQC 2", "Quality control high"])("a sample numbered %s is a control", (number) => {
  expect(readAstm(["P|1", `O|1|${number}`, ALT])).toMatchObject({ is: "not-for-patients" });
  expect(readAstm(["P|1|4711", `O|1|${number}`, ALT])).toMatchObject({ is: "reports" });
});

test("a control's row among a patient's results is a remark", () => {
  const astm = readAstm([
    "P|1|4711",
    "O|1|S-1",
    resultRecord("^^^CHEM", "LEVEL 1: IQC 1", "102", { 7: "90 to 110" }),
    ALT,
  ]);
  const hl7 = readHl7(msh(), PID, OBR, obx("CHEM", "LEVEL 1: IQC 1", { 2: "ST", 6: "" }), ALT_ROW);
  for (const reading of [astm, hl7]) {
    expect(rowsOf(reading)).toEqual(["ALT"]);
    expect(only(reportsOf(reading)).comments.join()).toContain("LEVEL 1: IQC 1");
  }
});

test("rows of a control alone are not for a patient, and the message keeps their words", () => {
  const row = resultRecord("^^^CHEM", "LEVEL 1: IQC 1", "102");
  expect(readAstm(["P|1|4711", "O|1|S-1", row])).toMatchObject({
    is: "not-for-patients",
    reason: expect.stringContaining("LEVEL 1: IQC 1"),
  });
  expect(readHl7(msh(), PID, OBR, obx("CHEM", "LEVEL 1: IQC 1", { 2: "ST", 6: "" }))).toMatchObject({
    is: "not-for-patients",
    reason: expect.stringContaining("LEVEL 1: IQC 1"),
  });
});

test("a long text of many levels is read without delay", () => {
  const text = "level 1 ".repeat(100_000);
  const begin = performance.now();
  readHl7(msh(), PID, OBR, obx("SED", text, { 2: "TX" }), ALT_ROW);
  expect(performance.now() - begin).toBeLessThan(patiently(5_000));
});

test("results without an order and a patient wait for a person, if nothing calls them a control", () => {
  const reason = "1 results without an order (O) and a patient (P): whose are they?";
  expect(readAstmWith(abaxisVetscanVs2, VETSCAN_HEADER, ALT, "L|1|N")).toEqual({ is: "quarantined", reason });
  // A device that need not name its patient: the study waits at the desk.
  expect(only(reportsOf(readAstm([ALT]))).identifier).toBeNull();
});
