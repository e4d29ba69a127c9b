import { existsSync, readFileSync } from "node:fs";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { mythic } from "../../../../agent/devices/text/mythic.ts";
import type { Reading, Report } from "../../../../agent/report/report.ts";
import { read } from "../../../../agent/study/read.ts";
import { redact } from "../../../../agent/tools/capture/redact.ts";
import { replay } from "../../../../agent/tools/offline/replay.ts";
import { dog, recording } from "../../../support/runner/fixtures.ts";
import { context, only, reportsOf } from "../../records.ts";

const HEAD = ["DATE;21/11/2026", "TIME;11:32:05", "MODE;NORMAL", "UNIT;1", "SID;S-1", "PID;4711"];
const WBC = "WBC;9.4 ;;;5.0;6.0;17.0;26.0";

function readLines(...lines: readonly string[]): Reading {
  const text = ["MYTHIC 18;VT1", "RESULT", ...lines].map((line) => `${line}\r`).join("");
  return read(Buffer.from(text), mythic, context);
}

function reportOf(...lines: readonly string[]): Report {
  return only(reportsOf(readLines(...lines)));
}

/** The head with another line of the same name. */
function headWith(line: string): string[] {
  const [name = ""] = line.split(";");
  return [...HEAD.filter((each) => !each.startsWith(`${name};`)), line];
}

describe("a row", () => {
  test.each([
    [WBC, { code: "WBC", text: "9.4", unit: "10*3/uL", device_range: { text: "6.0-17.0" }, device_flag: null }],
    ["WBC;9.4;;H;5.0;6.0", { device_flag: "H", device_range: { text: "5.0-6.0" } }],
    ["HGB;14.6;*;;11;12.0;18.0;19", { unit: "g/dL", comment: "the device suspects the value (*)" }],
    ["PCT;0.177;;L;0.220;0.220;0.240;0.240", { unit: "%", device_flag: "L", device_range: { text: "0.220-0.240" } }],
    ["MON;0.5;;;0.2;0.2;0.8;0.8", { code: "MONO", unit: "10*3/uL" }],
    ["MID;0.5;;;0.2;0.2;0.8;0.8", { code: "MID", unit: "10*3/uL" }],
    ["GRA%;70.1;;;1;2;3;4", { code: "GRAP", unit: "%" }],
    ["PDW;14.6;;;10;10;18;18", { code: "PDW", unit: null }],
    ["XYZ;14.6;;;10;10;18;18", { code: "XYZ", codeSource: "device", unit: null, value: 14.6 }],
    ["RBC;6.1", { code: "RBC", value: 6.1, device_range: null }],
  ])("%s", (line, row) => {
    expect(only(reportOf(...HEAD, line).rows)).toMatchObject(row);
  });

  test.each([
    ["WBC;+++++;;D;2;4;11;15", "WBC has no final value: above the measuring range (+++++)"],
    ["WBC;-----;*;;2;4;11;15", "WBC has no final value: not measured (-----)"],
    ["WBC;.....;;;;;;", "WBC has no final value: not measured (.....)"],
    ["WBC;;;;2;4;11;15", "WBC has no value: no value"],
  ])("%s has no value", (line, reason) => {
    expect(reportOf(...HEAD, line, "RBC;6.1;;;1;2;9;9")).toMatchObject({ rows: [{ code: "RBC" }], leftOut: [reason] });
  });

  test.each(["0", "2", ""])("has no unit in the unit system %o, but a percentage has", (unit) => {
    const report = reportOf(...headWith(`UNIT;${unit}`), WBC, "LYM%;21.3;;;1;2;30;40");
    expect(report.rows.map((row) => row.unit)).toEqual([null, "%"]);
    expect(report.notes[0]).toMatch(/^the unit system is (?:0|2|not named), and only/);
  });
});

test.each(["QC", "CALIBRATION", "REPEATABILITY"])("MODE;%s is not for patients", (mode) => {
  expect(readLines(...headWith(`MODE;${mode}`), WBC)).toMatchObject({
    is: "not-for-patients",
    reason: `not a patient's run (MODE is ${mode})`,
  });
});

test("a run without MODE is not read", () => {
  const lines = HEAD.filter((line) => !line.startsWith("MODE"));
  expect(readLines(...lines, WBC)).toMatchObject({ is: "quarantined", reason: expect.stringMatching(/^no MODE/) });
});

describe("the head", () => {
  test.each([
    ["ID;Yılmaz^Şeker", { name: "Şeker", owner: "Yılmaz" }],
    ["ID;Zeytin", { name: "Zeytin", owner: null }],
    ["ID;^Zeytin", { name: "Zeytin", owner: null }],
    ["ID;", { name: null, owner: null }],
    ["SEX;1", { sex: "M" }],
    ["SEX;2", { sex: "F" }],
    ["SEX;0", { sex: null }],
    ["TYPE;CAT", { species: "CAT" }],
    ["TYPE;MALE", { species: null }],
    ["BIRTH;04/05/2019", { date_of_birth: "2019-05-04" }],
    ["PID;0", { identifier: null }],
  ])("%s", (line, hint) => {
    expect(reportOf(...headWith(line), WBC).patient_hint).toMatchObject(hint);
  });

  test.each([
    ["03/04/2026", "2026-04-03T08:32:05.000Z"],
    ["2026/04/03", "2026-04-03T08:32:05.000Z"],
  ])("DATE;%s is read with the year or the day first", (date, time) => {
    expect(reportOf(...headWith(`DATE;${date}`), WBC).acquired_at).toBe(time);
  });

  test("a date with the month first is noted, and not read as another day", () => {
    const report = reportOf(...headWith("DATE;11/21/2026"), WBC);
    expect(report.notes[0]).toBe('"20262111113205" is no time');
    expect(report.acquired_at).toBe("2026-11-21T13:00:00.000Z");
  });

  test("names its sample and model, in any order of the lines", () => {
    expect(reportOf(WBC, ...HEAD.toReversed())).toMatchObject({
      device_name: "MYTHIC 18",
      sampleIds: ["S-1"],
      identifier: "4711",
      acquired_at: "2026-11-21T08:32:05.000Z",
    });
  });
});

test.each(["2026-11-20", "20-11-2026", "20.11.2026", "2026/11/20"])("DATE;%s is the 20th of November", (date) => {
  expect(reportOf(...headWith(`DATE;${date}`), WBC).acquired_at).toBe("2026-11-20T08:32:05.000Z");
});

test("words of the device are comments; pictures and places of the tube are not", () => {
  const lines = [
    "RACK;1",
    "ALARMS;L1;N2;a;b;c;d;",
    "INTERPRETIVE_RBC;ANEMIA;",
    "PATIENT COMMENT;",
    "WBC CURVE;0;1;2;3;4;5;6",
  ];
  const report = reportOf(...HEAD, WBC, ...lines, "LMNE MATRIX;Z5;82;1;2;3;4;5", "NEW KEY;7");
  expect(report.comments).toEqual(["ALARMS: L1, N2, a, b, c, d", "INTERPRETIVE_RBC: ANEMIA", "NEW KEY: 7"]);
  expect(report.rows).toHaveLength(1);
});

test("every row is published or listed with its reason", () => {
  const text = fc.string({ unit: fc.constantFrom(...Array.from("ABCLYMGH#%-_.+*<> 0123456789")), maxLength: 8 });
  const code = fc.oneof(fc.constantFrom("WBC", "LYM%", "XYZ", "constructor"), text).map((name) => `R${name}`);
  const row = fc.record({ code, word: fc.constantFrom("", "+++++", "-----", "....."), suspicion: text, flag: text });
  const property = fc.property(fc.array(row, { minLength: 1, maxLength: 12 }), (sent) => {
    const lines = sent.map(({ code: name, word, suspicion, flag }, index) =>
      [name, word || `${1000 + index}.5`, suspicion, flag, "1", "2", "3", "4"].join(";"),
    );
    const reading = readLines(...HEAD, ...lines);
    const values = sent.flatMap(({ word }, index) => (word === "" ? [`${1000 + index}.5`] : []));
    if (reading.is !== "reports") return values.length === 0;
    const { rows, leftOut } = only(reading.reports);
    return (
      rows.length + leftOut.length === sent.length && values.every((value) => rows.some((each) => each.text === value))
    );
  });
  expect(fc.check(property, { numRuns: 400 }).counterexample).toBeNull();
});

test("a redacted recording has a right check number and no names", () => {
  const bytes = recording("mythic/dog.astm");
  const message = bytes.subarray(bytes.indexOf("MYTHIC 22;ADMIN\rRESULT\r"), bytes.indexOf("END_RESULT"));
  const redacted = redact(bytes, mythic, [message]);
  expect(Buffer.from(redacted).toString("latin1")).toContain("ID;XXXXXXX^XXXXXX\r");
  const { replies, warnings } = replay([redacted], mythic, context, dog);
  expect([replies.endsWith("ACK_RESULT;OK<CR>"), warnings]).toEqual([true, []]);
});

const capture = "/work/shared/captures/astm/abbott-emerald22al__mythic-text.txt";

test.skipIf(!existsSync(capture))("field capture: every row of an Emerald 22 AL is read as sent", () => {
  const sent = readFileSync(capture);
  const { replies, warnings, messages } = replay([sent], mythic, context, null);
  expect([replies, warnings]).toEqual(["ACK_RESULT;OK<CR>", []]);
  const { rows, leftOut, device_name, sampleIds, identifier, species } = only(reportsOf(only(messages).reading));
  const printed = sent
    .toString("latin1")
    .split("\r")
    .map((line) => line.split(";").map((field) => field.trim()))
    .filter((fields) => fields.length === 8 && /^\d/.test(fields[1] ?? ""));
  expect(printed).toHaveLength(22);
  expect(rows.map((row) => [row.device_code, row.text, row.device_flag ?? "", row.device_range?.text])).toEqual(
    printed.map(([name, value, , flag, , low, high]) => [name, value, flag, `${low}-${high}`]),
  );
  expect(rows.map(({ comment }) => comment !== undefined)).toEqual(printed.map(([, , suspicion]) => suspicion === "*"));
  expect(rows.filter(({ codeSource }) => codeSource !== undefined)).toEqual([]);
  expect({ leftOut, device_name, sampleIds, identifier, species }).toEqual({
    leftOut: [],
    device_name: "EMD22AL",
    sampleIds: ["2600009"],
    identifier: "P00000123",
    species: null,
  });
});
