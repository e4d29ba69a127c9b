import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { profileById } from "../../../agent/devices/index.ts";
import type { ControlDraft, Reading } from "../../../agent/report/report.ts";
import { replay, wireOf } from "../../../agent/tools/offline/replay.ts";
import { fixturesFolder } from "../../support/runner/fixtures.ts";
import { hl7Device } from "../../support/clinic/profiles.ts";
import { context, only, readGeneric } from "../records.ts";
import { readWith } from "../protocols/hl7/segments.ts";

// Where each device names its control material. The fixtures were made from documents and notes; see the profiles.

async function readingsOf(fixture: string): Promise<Reading[]> {
  const profile = profileById(path.dirname(fixture))!;
  const bytes = await wireOf(path.basename(fixture), readFileSync(`${fixturesFolder}${fixture}`), profile);
  return replay([bytes], profile, context, null).messages.map(({ reading }) => reading);
}

function controlsOf(reading: Reading): readonly ControlDraft[] {
  return reading.controls ?? [];
}

type Named = Pick<ControlDraft, "material" | "level" | "lot" | "expires" | "sample_ids">;

const NOTHING: Named = { material: null, level: null, lot: null, expires: null, sample_ids: [] };

/** The fixture, its run, the names that differ from none, and its first result. */
const DEVICES: readonly (readonly [string, number, Partial<Named>, Partial<ControlDraft["results"][number]>])[] = [
  [
    "mindray-bs/calibration-and-control.hl7",
    0,
    { material: "CTRL-Normal", level: "M", lot: "LOT-2026-001" },
    { analyte: "GLU", value: 98.2, unit: "mg/dL", target: { mean: 100, sd: 3.5 } },
  ],
  [
    "abaxis-vetscan-vs2/qc-only.astm",
    0,
    { material: "QUALITY CONTROL REPORT", level: "1", lot: "9999A" },
    { analyte: "LEVEL 1: IQC 1", code_source: "device", value: 98, unit: null, target: { low: 90, high: 110 } },
  ],
  [
    "abaxis-vetscan-vs2/qc-cartridge.astm",
    0,
    { level: "1", sample_ids: ["QC1"] },
    { analyte: "ALB", value: 2.7, unit: "g/dL", target: { low: 2.4, high: 3.2 }, device_flag: "N" },
  ],
  ["abaxis-vetscan-vs2-csv/two-runs.csv", 0, { level: "2", sample_ids: ["QC-2"] }, { analyte: "ALB", value: 3.9 }],
  [
    "siemens-clinitek/control-strip.hl7",
    0,
    { material: "Negative", level: "1", lot: "7A2", expires: "2027-12-31" },
    { analyte: "UGLU", value: null, text: "Negative", device_flag: "P" },
  ],
  ["siemens-dca/control.astm", 0, { level: "N", sample_ids: ["NORMAL 0042"] }, { analyte: "UALB" }],
  [
    "generic-poct1a/quality-control.poct1",
    0,
    { material: "Level 2", level: "2", lot: "4711" },
    { analyte: "PH", value: 7.31, target: { low: 7.35, high: 7.46 }, device_flag: "L" },
  ],
  [
    "mythic/not-for-patients.astm",
    0,
    { level: "H", lot: "K-88", sample_ids: ["S-20261"] },
    { analyte: "WBC", value: 18.4, unit: "10*3/uL", target: { low: 6, high: 17 }, device_flag: "H" },
  ],
  [
    "mythic/not-for-patients.astm",
    1,
    { level: "N", sample_ids: ["QC NORMAL"] },
    { analyte: "WBC", target: { low: 6, high: 17 } },
  ],
  ["fuji-dri-chem-nx/control.astm", 0, { material: "QP-L", level: "L" }, { analyte: "CHOL" }],
  ["fuji-dri-chem-nx-hl7/control.hl7", 0, { level: "1", sample_ids: ["QC-1", "000471199"] }, { analyte: "GLU" }],
  ["biosystems-ba/control.hl7", 0, { sample_ids: ["Serum I"] }, { analyte: "ALT", value: 41.1, unit: "U/L" }],
  [
    "urit-5160/control.hl7",
    0,
    { lot: "LOT20260901", expires: "2027-03-01" },
    { analyte: "WBC", value: 7.4, target: { mean: 7.5, sd: 0.6 } },
  ],
  [
    "zybio-z/control-run.hl7",
    0,
    { lot: "L-1", sample_ids: ["L-1"] },
    { analyte: "WBC", value: 7.2, target: { mean: 7.1, sd: 0.4 } },
  ],
  ["sysmex-xn/control.astm", 0, { sample_ids: ["QC-60990801"] }, { analyte: "WBC", value: 9.81 }],
  ["generic-astm/cobas-c111-control.astm", 0, { sample_ids: ["BMM 399 CONTROLE"] }, { analyte: "687", value: 28.6 }],
  ["wondfo-finecare-csv/history.csv", 0, { sample_ids: ["NC1"] }, { analyte: "CRP", value: 0.4 }],
];

test.each(DEVICES)("the control %s, run %i, has its names and its target", async (fixture, at, named, result) => {
  const run = (await readingsOf(fixture)).flatMap(controlsOf)[at]!;
  const { material, level, lot, expires, sample_ids } = run;
  expect({ material, level, lot, expires, sample_ids }).toEqual({ ...NOTHING, ...named });
  expect(run.results[0]).toMatchObject(result);
  expect(run.results[0]?.target).toEqual(result.target);
});

test("a counter with three levels sends a run of each, by the row of the level and the lot in place of the patient", async () => {
  const runs = (await readingsOf("mindray-bc/three-levels.hl7")).flatMap(controlsOf);
  expect(runs.map(({ level, lot, expires }) => [level, lot, expires])).toEqual([
    ["L", "LOT-26L", "2027-02-28"],
    ["N", "LOT-26N", "2027-02-28"],
    ["H", "LOT-26H", "2027-02-28"],
  ]);
  expect(runs.map(({ results }) => results.map(({ analyte, value }) => `${analyte} ${value}`).join())).toEqual([
    "WBC 3.2,RBC 2.41,HGB 6.1,HCT 17.9,PLT 62",
    "WBC 7.3,RBC 4.52,HGB 13.4,HCT 38.6,PLT 224",
    "WBC 17.8,RBC 5.39,HGB 17.2,HCT 48.1,PLT 471",
  ]);
});

test("a VetScan's check of the rotor leaves the patient's results of the same message as they are", async () => {
  const reading = only(await readingsOf("abaxis-vetscan-vs2/dog.astm"));
  expect(reading.is === "reports" && reading.reports.map(({ rows }) => rows.length)).toEqual([7]);
  expect(controlsOf(reading).map(({ material, results }) => [material, results.length])).toEqual([
    ["QUALITY CONTROL REPORT", 8],
  ]);
});

test("a Zybio names the solution, its lot and the target of each row, and prints the patients' range beside it", () => {
  const reading = readWith(
    hl7Device("zybio-z"),
    "MSH|^~\\&|Q3|Zybio|||20261121093000||ORU^R01|7|Q|2.3.1||||2||UNICODE",
    "PID|1||^^^^MR||^||20271030|0",
    "OBR|1|QC solution 1|Z-881|02001^QCR^99MRC||20261121093015",
    "OBX|1|IS|03006^Qc Level^99MRC||M||||||F",
    "OBX|2|NM|6806-1^SAA^LN|20^2|21.5|mg/L|<10|A~H|||F",
    "OBX|3|NM|6690-2^WBC^LN||7.2|10*9/L|6.0-17.0||||F",
  );
  const run = only(controlsOf(reading));
  expect([run.material, run.level, run.lot, run.expires]).toEqual(["QC solution 1", "M", "Z-881", "2027-10-30"]);
  expect(run.results.map(({ analyte, value, target }) => [analyte, value, target])).toEqual([
    ["SAA", 21.5, { mean: 20, sd: 2 }],
    ["WBC", 7.2, undefined],
  ]);
});

test("a URIT's target and SD are limits, and the patients' range in their place is none", () => {
  const target = (range: string) => {
    const reading = readWith(
      hl7Device("urit-5160"),
      "MSH|^~\\&|URIT|UT-5160|LIS|PC|20261121113100||ORU^R01|0001|P|2.3.1||||||UNICODE",
      "PID|1||LOT20260901||||20270301",
      "OBR|1||1|URIT^UT-5160||||20261121080015",
      `OBX|1|NM|WBC||7.4|10^9/L|${range}||||F`,
    );
    return only(controlsOf(reading)).results.map((result) => result.target);
  };
  expect(target("7.5-0.6")).toEqual([{ mean: 7.5, sd: 0.6 }]);
  expect(["6.0-17.0", "6.0--17.0", "0.0-0.2"].map(target)).toEqual([[undefined], [undefined], [undefined]]);
});

test("a HemoScreen's order LQC is a control", () => {
  const header = "MSH|^~\\&|HemoScreen|PixCell|||20261121093000||ORU^R01|1|P|2.4";
  const row = "OBX|1|NM|6690-2^WBC^LN||7.1|10*9/L|6.5-7.9||||F";
  const reading = readWith(hl7Device("generic-hl7"), header, "PID|1||4711", "OBR|1||LEVEL 2|LQC|||20261121093015", row);
  expect(only(controlsOf(reading))).toMatchObject({
    ...{ level: "2", sample_ids: ["LEVEL 2"] },
    results: [{ analyte: "WBC", value: 7.1, target: { low: 6.5, high: 7.9 } }],
  });
});

describe("what is not measured on control material is no run", () => {
  const header = (fields: string) =>
    `MSH|^~\\&|BC-5380|Mindray|||20261121093000||ORU^R01|1|${fields}|2.3.1||||||UNICODE`;
  const wbc = "OBX|1|NM|6690-2^WBC^LN||7.1|10*9/L|||||F";
  const bc = hl7Device("mindray-bc");

  test.each(["00008^XR QCR Mean^99MRC", "00007^XB QCR^99MRC", "PRF", "Calibration"])("OBR-4 %s", (service) => {
    const order = `OBR|1||6|${service}|||20261121093015`;
    for (const processing of ["Q", "P"]) {
      const reading = readWith(bc, header(processing), "PID|1||LOT-1", order, wbc);
      expect([reading.is, controlsOf(reading)]).toEqual(["not-for-patients", []]);
    }
  });

  test.each(["B", "C", "F", "O", "V"])("a specimen with the role %s", (role) => {
    const order = `OBR|1||6|X|||20261121093015||||||||SER^^^^^^${role}`;
    expect(readWith(bc, header("P"), "PID|1||4711", order, wbc)).not.toHaveProperty("controls");
  });

  test.each(["T", "D"])("a message with the purpose %s", (processing) => {
    expect(readWith(bc, header(processing), "PID|1||4711", "OBR|1||QC1", wbc)).not.toHaveProperty("controls");
  });

  test("a calibrator in any order of ASTM", () => {
    const alt = "R|1|^^^ALT|52|U/L||N||F||||20261121113015";
    for (const order of ["O|1|Calibrator 1||^^^ALT|||||||Q", "O|1|17||Calibration|||||||Q"]) {
      expect(readGeneric(["P|1", order, alt])).not.toHaveProperty("controls");
    }
  });
});
