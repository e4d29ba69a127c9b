import { describe, expect, test } from "vitest";
import { read } from "../../../agent/study/read.ts";
import { hl7Device } from "../../support/clinic/profiles.ts";
import { context, message, only, reportsOf } from "../records.ts";
import { doubtsOf, playFixture, readingOf, reportOf, rowsOf } from "./fixture.ts";

const mindrayBc = hl7Device("mindray-bc");

describe("Mindray BC without a sender", () => {
  const report = reportOf("mindray-bc/no-sender");

  test("every measured row is read, at the time of the run", () => {
    expect(rowsOf(report).map(([, value]) => value)).toEqual([
      21.3, 4.1, 19.2, 1.3, 6.1, 15.9, 74.7, 5.1, 36.8, 318, 15.8, 0.27,
    ]);
    expect(report).toMatchObject({
      device_name: "Mindray BC",
      identifier: "4711",
      acquired_at: "2026-11-21T08:30:15.000Z",
      modality: "HEMATOLOGY",
    });
    expect(report.leftOut).toEqual([expect.stringMatching(/^HGB has no value/)]);
  });

  test("the reference group 01001 is the species, and suspicions are comments", () => {
    expect(report).toMatchObject({ species: "dog", patient_hint: { name: "Zeytin", owner: "Aydin", species: "Dog" } });
    expect(report.comments).toEqual(["Anemia", "Leukocytosis"]);
    expect(report.notes).toContain("of the run: Take Mode: O");
  });
});

describe("Mindray BC-30Vet", () => {
  const of = (visit: string, name = "Zeytin^Aydin") =>
    only(
      reportsOf(
        read(
          message(
            "MSH|^~\\&|||||20261121120000||ORU^R01|1|P|2.3.1||||||UNICODE",
            `PID|1||4711^^^^MR||${name}`,
            `PV1|1|${visit}`,
            "OBR|1||S-1|00001^Automated Count^99MRC|||20261121113015",
            "OBX|1|IS|01002^Ref Group^99MRC||General||||||F",
            "OBX|2|NM|6690-2^WBC^LN||9.8|10*9/L|6.0-17.0||||F",
          ),
          mindrayBc,
          context,
        ),
      ),
    );

  test("PV1-2 is the species, and the animal stands before its owner", () => {
    expect(of("Dog")).toMatchObject({
      species: "dog",
      patient_hint: { name: "Zeytin", owner: "Aydin", species: "Dog" },
    });
    expect(of("Feline", "Boncuk").patient_hint).toMatchObject({ name: "Boncuk", owner: null, species: "Feline" });
  });

  test.each(["O", "Outpatient^O", "", "Catheter ward"])("PV1-2 %o is a class of a person's visit", (visit) => {
    expect(of(visit)).toMatchObject({
      species: null,
      patient_hint: { name: "Aydin", owner: "Zeytin", species: "General" },
    });
  });
});

test("a value that a BC doubts keeps its value, gets the device's words and no flag", () => {
  const sent = only(playFixture("mindray-bc/dog").messages);
  expect(doubtsOf(only(reportsOf(sent.reading))).map(([code]) => code)).toEqual(["704-7", "751-8", "*LIC#"]);
  const results = sent.studies.flatMap((study) => study.results);
  expect(results.find(({ analyte }) => analyte === "NEU")).toMatchObject({ value: 7.04, flag: null });
  expect(results.find(({ analyte }) => analyte === "PLT")).toMatchObject({ value: 118, flag: "low" });
});

test("a BS-240 names its tests in OBX-3, and one sample is one study", () => {
  const reports = playFixture("mindray-bs/tests-of-a-sample").messages.flatMap(({ reading }) => reportsOf(reading));
  expect(reports.map((report) => rowsOf(report))).toEqual([
    [
      ["ALT", 61, "U/L"],
      ["GLU", 5.41, "mmol/L"],
    ],
    [["XCK", 210, "U/L"]],
  ]);
  expect(new Set(reports.map(({ collect }) => collect?.prefix)).size).toBe(1);
});

describe("Dymind", () => {
  test("a comma is a decimal point in values and intervals", () => {
    const report = reportOf("dymind-df/decimal-comma");
    expect(rowsOf(report).map(([, value]) => value)).toEqual([
      18.61, 22.4, 73.9, 3.7, 13.75, 0.69, 14.2, 0.241, 71, 71.2,
    ]);
    expect(report.rows[0]?.device_range).toMatchObject({ low: 6, high: 17 });
    expect(report.rows[0]?.device_flag).toBe("H A");
    expect(doubtsOf(report)).toEqual([["787-2", "the device suspects it"]]);
    expect(report.leftOut).toEqual([]);
  });

  test("a device without sender and codes has its names as codes, and its settings as comments", () => {
    const report = reportOf("dymind-df/names-only");
    expect(rowsOf(report).map(([name, value]) => [name, value])).toEqual([
      ["WBC", 9.81],
      ["Neu#", 7.04],
      ["Neu%", 71.8],
      ["NLR", 2.94],
      ["RBC", 6.72],
      ["PDW-CV", 12.9],
      ["PDW-SD", 10.1],
      ["P-LCC", 61],
    ]);
    expect(report).toMatchObject({ species: "dog", leftOut: [], otherIdentifiers: ["S-4003"] });
    expect(report.comments).toEqual([]);
    expect(report.notes).toEqual([
      "of the run: Take Mode: O",
      "of the run: Low Mode: L-WBC/PLT",
      "of the run: Ref Group: Dog",
      "of the run: Recheck flag: Y",
      "of the run: Print_BMP: C",
    ]);
  });
});

describe("Zybio", () => {
  test("the modality of a row is its analyte's: SAA is chemistry", () => {
    const reports = reportsOf(readingOf("zybio-z/saa-and-blood-count"));
    expect(reports.map(({ modality, rows }) => [modality, rows.map(({ code }) => code)])).toEqual(
      expect.arrayContaining([
        ["HEMATOLOGY", expect.arrayContaining(["WBC"])],
        ["BIOCHEMISTRY", expect.arrayContaining(["SAA"])],
      ]),
    );
    expect(reports.flatMap(({ rows }) => rows)).toHaveLength(3);
  });

  test("a control is not for patients", () => {
    expect(readingOf("zybio-z/control-run").is).toBe("not-for-patients");
  });
});
