import { describe, expect, test } from "vitest";
import type { Reading } from "../../../../agent/report/report.ts";
import { astmDevice } from "../../../support/clinic/profiles.ts";
import { only, readWith, record, reportsOf, resultRecord } from "../../records.ts";

// Models of veterinary clinics that send LIS02-A2 records, each as a document or another program's parser has it. The animals are made
// up. Unverified where no capture is public.

const END = "L|1|N";
const P = "P|1||7001||Karabas||20210304^5^Y|M";

function header(sender: string, processing = "P"): string {
  return `H|\\^&|||${sender}|||||||${processing}|1394-97|20261121093015`;
}

function read(profile: string, ...records: readonly string[]): Reading {
  return readWith(astmDevice(profile), ...records, END);
}

/** Returns the device's code, analyte, value or words, and unit of each row. */
function rowsOf(reading: Reading): (string | number | null)[][] {
  return reportsOf(reading).flatMap(({ rows }) =>
    rows.map(({ device_code = "", code, value, text, unit }) => [device_code, code, value ?? text, unit]),
  );
}

describe("Mindray BS-240Vet (host interface manual of the family)", () => {
  const order = "O|1|7001^1^2|7001|501^Test X^^\\2^ALT^^|R|20261121080000||||||||Serum";
  const results = [
    "R|1|2^ALT^^F|48.563341^^^^|U/L|^|N||F|48.5^^^^|0|20261121092815||Mindray^",
    "R|2|501^Test X^^F|2.100000^^^^|umol/L|^|N||F|2.1^^^^|0|20261121092815||Mindray^",
    "R|3|502^Test Y^^I|1.2^Positive(+)^^^|COI|^|N||F|1.2^^^^|0|20261121092815||Mindray^",
  ];

  test("the kind of a result is not its code, and an index may precede its grade", () => {
    const reading = read("generic-astm", header("Mindray^BS-240Vet", "PR"), P, order, ...results);
    expect(rowsOf(reading)).toEqual([
      ["ALT", "ALT", 48.563341, "U/L"],
      ["Test X", "Test X", 2.1, "umol/L"],
      ["Test Y", "Test Y", 1.2, "COI"],
    ]);
    expect(only(reportsOf(reading))).toMatchObject({
      device_name: "BS-240Vet",
      acquired_at: "2026-11-21T06:28:15.000Z",
      comments: ["Test Y: grade Positive(+)"],
      patient_hint: { date_of_birth: "2021-03-04" },
    });
  });

  test("a letter after number and name may be the code itself", () => {
    const reading = read(
      "generic-astm",
      header("Analyzer^1"),
      P,
      "O|1|7001",
      resultRecord("12^Serum K+^^K", "4.1", "mmol/L"),
    );
    expect(rowsOf(reading)).toEqual([["K", "K", 4.1, "mmol/L"]]);
  });

  test("QR in the header is a control, and CR a calibration", () => {
    const control = read("generic-astm", header("Mindray^BS-240Vet", "QR"), "P|1", "O|1|Level 1", ...results);
    expect(control).toMatchObject({ is: "not-for-patients", reason: "quality control (H-12 is QR)" });
    expect(control.controls).toHaveLength(1);
    const calibration = read("generic-astm", header("Mindray^BS-240Vet", "CR"), "P|1", "O|1|Cal 1", ...results);
    expect(calibration).toEqual({ is: "not-for-patients", reason: "calibration (H-12 is CR)" });
  });
});

test("Mindray BC-60R Vet (another program's parser of the BC-700): settings and pictures are no results, and the group is the species", () => {
  const reading = read(
    "generic-astm",
    header("Mindray^BC-60R Vet", "PR"),
    P,
    "O|1|7002||^Automated Count|R|20261121080000",
    "R|1|08001^Take Mode^99MRC|O",
    "R|2|01002^Ref Group^99MRC|Dog",
    "R|3|01010^Shelf No^99MRC|3",
    "R|4|6690-2^WBC^LN|12.31|10&S&9/L|6.00^17.00|N||F||||20261121092815",
    "R|5|789-8^RBC^LN|6.91|10*12/L|5.10^8.50|N||F||||20261121092815",
    "R|6|15008^WBC Histogram. BMP^99MRC|Qk0AAAA=||||||F",
  );
  expect(rowsOf(reading)).toEqual([
    ["WBC", "WBC", 12.31, "10*9/L"],
    ["RBC", "RBC", 6.91, "10*12/L"],
  ]);
  expect(only(reportsOf(reading))).toMatchObject({
    species: "dog",
    device_name: "BC-60R Vet",
    notes: expect.arrayContaining(["kept in the message, not read: WBC Histogram. BMP"]) as string[],
  });
});

test("Diatron Abacus Junior Vet and Nihon Kohden Celltac (unverified): two letters for a cell, and counts in 10^4", () => {
  const rows: readonly (readonly [string, string, string])[] = [
    ["LY%", "18.9", "%"],
    ["MI%", "6.1", "%"],
    ["GR%", "75.0", "%"],
    ["LY", "2.3", "10^3/uL"],
    ["PDWc", "36.1", "%"],
    ["PLT", "25.4", "10^4/uL"],
    ["RBC", "691", "10^4/uL"],
    ["RET#", "0.0451", "10*6/uL"],
  ];
  const species = record("P", { 2: "1", 3: "7001", 16: "Dog" });
  const records = rows.map(([code, value, unit]) => resultRecord(`^^^${code}`, value, unit));
  const reading = read("generic-astm", header("Diatron^Abacus Junior Vet^2.7"), species, "O|1|7001", ...records);
  expect(rowsOf(reading).map(([, ...row]) => row)).toEqual([
    ["LYMP", 18.9, "%"],
    ["MIDP", 6.1, "%"],
    ["GRAP", 75, "%"],
    ["LYM", 2.3, "10*3/uL"],
    ["PDWCV", 36.1, "%"],
    ["PLT", 25.4, "10*4/uL"],
    ["RBC", 691, "10*4/uL"],
    ["RETIC", 0.0451, "10*6/uL"],
  ]);
  expect(only(reportsOf(reading))).toMatchObject({ device_name: "Abacus Junior Vet", species: "dog" });
});

const SENDERS = { "abaxis-vetscan-vs2": "ABAXIS, INC.^VetScan VS2", skyla: "skyla VB1", "generic-astm": "Analyzer^1" };

test.each([
  ["the owner of a VetScan without a label", "abaxis-vetscan-vs2", { 15: "Can Demir^5^" }, null],
  ["the owner before the label", "generic-astm", { 15: "Can Demir^5^", 16: "Cat" }, "cat"],
  ["an owner in P-16", "generic-astm", { 16: "Can Demir" }, null],
  ["an owner of the profile", "skyla", { 16: "Can" }, null],
  ["a race with its breed", "generic-astm", { 10: "Canine^Poodle" }, "dog"],
  ["two species", "generic-astm", { 10: "Dog", 16: "Cat" }, null],
] as const)("species: %s", (_, profile, fields, species) => {
  const patient = record("P", { 2: "1", 3: "7001", ...fields });
  const reading = read(profile, header(SENDERS[profile]), patient, "O|1|7001", resultRecord("^^^ALT", "48", "U/L"));
  expect(only(reportsOf(reading)).species).toBe(species);
});

test("Radiometer ABL80 and ABL90 (names of the maker's manual): concentrations with a c before the ion", () => {
  const names = ["cNa+", "cK+", "cCl-", "cCa++", "cCa2+", "cGlu", "cLac", "ctHb", "cHCO3-(P)", "sO2", "cBase(Ecf)"];
  const records = names.map((name) => resultRecord(`^^^${name}^M`, "4.1", ""));
  const reading = read("radiometer-abl", header("ABL80 FLEX"), P, "O|1|7001", ...records);
  const codes = ["NA", "K", "CL", "ICA", "ICA", "GLU", "LAC", "THB", "HCO3", "SO2", "BEECF"];
  expect(rowsOf(reading).map(([, code]) => code)).toEqual(codes);
});

test.each([
  ["abaxis-vetscan-vs2", "ZOETIS^VetScan VS2^3.2"],
  ["horiba-pentra", "scil Vet abc Plus+"],
])("%s reads %s, the same model under another maker's name (unverified)", (profile, sender) => {
  const reading = read(profile, header(sender), P, "O|1|7001", resultRecord("^^^ALT", "48", "U/L"));
  expect(reading.is).toBe("reports");
});
