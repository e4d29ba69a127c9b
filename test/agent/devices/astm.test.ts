import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { profileById } from "../../../agent/devices/index.ts";
import { readAstm as readAstmMessage } from "../../../agent/protocols/astm/read.ts";
import type { Reading, Report } from "../../../agent/report/report.ts";
import { replay } from "../../../agent/tools/offline/replay.ts";
import { fixturesFolder } from "../../support/runner/fixtures.ts";
import { context, only, reportsOf } from "../records.ts";

// Profiles of ASTM devices, by their fixtures.

/** Returns the readings of `profile/case`. */
function readingsOf(fixture: string): Reading[] {
  const profile = profileById(fixture.split("/")[0]!);
  if (profile === undefined) throw new Error(`expected a profile, got ${fixture}`);
  const { messages, warnings } = replay(
    [readFileSync(join(fixturesFolder, `${fixture}.astm`))],
    profile,
    context,
    null,
  );
  expect(warnings).toEqual([]);
  return messages.map(({ reading }) => reading);
}

function reportOf(fixture: string): Report {
  return only(reportsOf(only(readingsOf(fixture))));
}

/** Returns code, value, unit and comment of each row, as the device wrote them. */
function printed({ rows }: Report): (string | null)[][] {
  return rows.map(({ device_code = "", text, unit, comment = null }) => [device_code, text, unit, comment]);
}

describe.each(["epoc/without-patient", "siemens-dca/control", "horiba-pentra/technician", "sysmex-xn/control"])(
  "%s",
  (fixture) => {
    test("is not for patients", () => {
      expect(only(readingsOf(fixture))).toMatchObject({ is: "not-for-patients" });
    });
  },
);

test("epoc: 14 of 15 results are rows, and the rows of run data are notes", () => {
  const report = reportOf("epoc/results-and-run-data");
  expect(report).toMatchObject({ device_name: "epoc", modality: "BIOCHEMISTRY", identifier: "4711" });
  expect(report.rows).toHaveLength(14);
  expect(report.rows.find(({ device_code }) => device_code === "Ca++")).toMatchObject({ code: "ICA" });
  expect(only(report.leftOut)).toMatch(/"-----"/);
  expect(report.comments).toEqual(["fasted", "Hemodilution: No"]);
  expect(report.notes.slice(0, 5)).toEqual([
    "of the run: Test duration: 231.4",
    "of the run: Department name: Clinic",
    "of the run: Sample type: Venous",
    "of the run: Ambient Temperature: 23.4 C",
    "of the run: Card Lot: 09-26001-10",
  ]);
});

describe("DCA Vantage", () => {
  test("the urine cartridge is urinalysis, and none of its rows is an analyte of blood", () => {
    const report = reportOf("siemens-dca/urine-cartridge");
    expect(report).toMatchObject({ modality: "URINALYSIS", identifier: "4711", leftOut: [] });
    expect(printed(report)).toEqual([
      ["Alb", "41.2", "mg/L", null],
      ["Crt", "105.4", "mg/dL", null],
      ["Ratio", "39.1", "mg/g", null],
    ]);
    expect(report.rows.map(({ code }) => code)).toEqual(["UALB", "UCREA", "ACR"]);
  });

  test("HbA1c is of blood, and its comment has the estimated glucose", () => {
    const report = reportOf("siemens-dca/hba1c");
    expect(report).toMatchObject({ modality: "BIOCHEMISTRY", patient_hint: { name: "Zeytin", owner: "Aydin" } });
    expect(only(report.rows)).toMatchObject({ value: 2.5, comparator: "<", unit: "%", device_flag: "<" });
    expect(only(report.comments)).toMatch(/29 mg\/dL$/);
  });
});

describe("Horiba Pentra", () => {
  test("system 1 gives each analyte its unit, and statuses W and M are doubts", () => {
    const report = reportOf("horiba-pentra/blood-count");
    expect(printed(report)).toEqual([
      ["WBC", "19.8", "10*3/uL", "the device suspects the value (R-9 is W); Alarm_WBC LMNE+"],
      ["NEU#", "14.1", "10*3/uL", null],
      ["NEU%", "71.2", "%", null],
      ["LIC#", "0.11", "10*3/uL", null],
      ["RBC", "6.72", "10*6/uL", null],
      ["HGB", "15.1", "g/dL", null],
      ["HCT", "45.0", "%", null],
      ["MCV", "67", "fL", null],
      ["PLT", "318", "10*3/uL", null],
      ["MPV", "8.4", "fL", "the value was typed in at the device (R-9 is M)"],
      ["PDW", "15.8", "1", null],
    ]);
    expect(report.leftOut.map((reason) => reason.replace(/^\S+ /, ""))).toEqual([
      "has no final value: over the capacity of the device (R-9 is X)",
      "has no final value: rejected by the device (R-9 is N)",
    ]);
    expect(report).not.toHaveProperty("withdrawn");
  });

  test("garbled units are dropped", () => {
    expect(printed(reportOf("horiba-pentra/garbled-units")).slice(0, 3)).toEqual([
      ["WBC", "10.4", null, null],
      ["RBC", "6.14", null, null],
      ["HGB", "14.8", "g/dL", null],
    ]);
  });

  test("unit codes of a chemistry analyzer are not units, and the laboratory's names are labels", () => {
    const report = reportOf("horiba-pentra/chemistry");
    expect(printed(report)).toEqual([
      ["211", "0.88", "15", null],
      ["5", "42", "26", "Flag NORM_RANGEH CALC_ERROR"],
    ]);
    expect(report.rows.map(({ device_label }) => device_label)).toEqual(["CREA3", "AST"]);
  });
});

test("ABL80: typed values are comments, ? is a doubt, and a saturation without unit is not a percentage", () => {
  const report = reportOf("radiometer-abl/blood-gas");
  expect(printed(report)).toEqual([
    ["pH", "7.391", "[pH]", null],
    ["pH(T)", "7.371", null, null],
    ["pCO2", "41.2", "mm[Hg]", null],
    ["Na+", "147", "mmol/L", null],
    ["K+", "4.60", "mmol/L", "the device marks the value with ?; 377 Calibration Drift 2 out of range"],
    ["Ca++", "1.31", "mmol/L", null],
    ["sO2", "0.962", "1", null],
    ["SBE", "-0.4", "mmol/L", null],
  ]);
  expect(only(report.leftOut)).toMatch(/"\.\.\.\.\."/);
  expect(report.comments).toEqual([expect.stringMatching(/Calibration Drift/), "T: 38.4 Cel", "FIO2: 21 %"]);
});

test("Sysmex XN: reruns are final, W is a doubt, and suspicions, messages and pictures are comments", () => {
  const report = reportOf("sysmex-xn/suspicions-and-reruns");
  expect(report).toMatchObject({ device_name: "XN-350", identifier: "4711", otherIdentifiers: ["V36AAAA9", "B"] });
  expect(printed(report)).toEqual([
    ["WBC", "9.81", "10*3/uL", null],
    ["NEUT#", "7.04", "10*3/uL", "the device holds the value for unreliable (R-7 is W)"],
    ["PLT", "318", "10*3/uL", null],
    ["HGB", "15.1", "g/dL", null],
    ["IG%", "0.4", "%", null],
  ]);
  expect(report.leftOut).toEqual([expect.stringMatching(/"----"/)]);
  expect(report.comments).toEqual([
    "Lymphopenia: (A)",
    "Left_Shift?: 110 (A)",
    "DIST_RBC: PNG\\20261121\\2026_11_21_11_30_15_RBC.PNG",
  ]);
});

describe("VITROS", () => {
  test("verified results are rows by the number between the dilutions, and indices are comments", () => {
    const report = reportOf("vitros/thyroid-and-indices");
    expect(printed(report)).toEqual([
      ["001", "<0.015", "mIU/L", null],
      ["002", "28.4", "nmol/L", null],
      ["778", "3.1", "ng/mL", null],
    ]);
    expect(report.rows.map(({ code }) => code)).toEqual(["TSH", "TT4", "778"]);
    expect(only(report.leftOut)).toMatch(/"No Result"/);
    expect(report.comments).toEqual(["950: 51"]);
  });

  test("a dilution that looks like the number of an index is none", () => {
    const lines = ["H|\\^&|||12345678|||||||P|1", "P|1|4711", "O|1|S-1", "R|1|^^^950+001+1.0|2.5|mIU/L||N||V", "L|1"];
    const profile = profileById("vitros");
    if (profile?.protocol !== "astm") throw new Error("vitros is no profile of ASTM");
    const reading = readAstmMessage(Buffer.from(lines.map((line) => `${line}\r`).join("")), profile, context);
    expect(only(reportsOf(reading)).rows.map(({ code, value }) => [code, value])).toEqual([["TSH", 2.5]]);
  });

  test.each(["vitros/query", "vitros/withdrawn-query"])("%s is neither a result nor an alarm", (fixture) => {
    expect(only(readingsOf(fixture))).toEqual({ is: "not-for-patients", reason: "host query" });
  });
});

test("EM-200: one-test messages of a named sample are one study, and patient 0 names nobody", () => {
  const reports = readingsOf("transasia-em200/one-test-per-message").map((reading) => only(reportsOf(reading)));
  expect(reports.map(printed)).toEqual([[["GLU", "101.5", "mg/dL", null]], [["ALTT", "52.0", "mg/dl", null]]]);
  const [first, second] = reports;
  expect(first).toMatchObject({ identifier: null, patient_hint: { name: "Zeytin", identifier: null } });
  expect(first?.collect).toEqual(second?.collect);
  expect(first?.collect?.withinMs).toBe(2 * 60 * 60_000);
});

describe("generic-astm", () => {
  test("cobas c111: a control by its sample's name makes no study, a patient's sample does", () => {
    expect(only(readingsOf("generic-astm/cobas-c111-control"))).toMatchObject({ is: "not-for-patients" });
    const report = reportOf("generic-astm/cobas-c111");
    expect(report).toMatchObject({ device_name: "c111", otherIdentifiers: ["V36AAAA9", "3"] });
    expect(printed(report)).toEqual([["687", "28.6", "U/L", "111 ? QC"]]);
  });

  test("cobas e411: records cut in mid-field give every row, and the grade is a comment", () => {
    const report = reportOf("generic-astm/cobas-e411");
    expect(printed(report)).toEqual([
      ["8/1/not", "1.95", "uIU/ml", null],
      ["5/1/not", "0.412", "COI", null],
      ["3/1/not", "<3.00", "ng/ml", null],
    ]);
    expect(report.rows[2]).toMatchObject({ comparator: "<", device_flag: "LL" });
    expect(report.comments).toEqual(["3/1/not: 27", "5/1/not: grade -1"]);
  });

  test("Stago: seconds and INR are rows, and the warning about controls stays", () => {
    const report = reportOf("generic-astm/stago");
    expect(report.rows.map(({ text }) => text)).toEqual(["7.9", "1.02"]);
    expect(report.comments).toEqual(["SPT: controls are invalid"]);
  });
});
