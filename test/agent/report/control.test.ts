import { expect, test } from "vitest";
import { foldNumber } from "../../../agent/report/control.ts";
import type { ControlDraft, DeviceResult, ReadContext, Reading } from "../../../agent/report/report.ts";
import type { Sample } from "../../../agent/report/sample.ts";
import { readSamples } from "../../../agent/report/specimen.ts";
import { context, only } from "../records.ts";

// Samples of control material, as any protocol finds them.

const ALT: DeviceResult = { names: ["ALT"], value: "52", unit: "U/L", range: "40-60", flag: "H", notFinal: null };

function sample(changes: Partial<Sample> = {}): Sample {
  return {
    device_name: "Analyzer",
    identifier: null,
    otherIdentifiers: [],
    patient_hint: {
      ...{ identifier: null, name: "Zeytin", species: "Dog", breed: null, sex: null },
      ...{ owner: "Yilmaz", date_of_birth: null, weight_kg: null },
    },
    patient: ["4711"],
    specimen: [],
    times: { results: ["20261121113015"], order: [], sent: "" },
    control: {},
    urine: false,
    results: [ALT],
    notes: [],
    comments: [],
    ...changes,
  };
}

function reading(changes: Partial<Sample>, more: Partial<ReadContext> = {}): Reading {
  return readSamples([sample(changes)], [], { modality: null }, { ...context, ...more }, (_, notes) => {
    return { is: "not-for-patients", reason: notes.join("; ") };
  });
}

function controlOf(changes: Partial<Sample>, more: Partial<ReadContext> = {}): ControlDraft {
  const read = reading(changes, more);
  return only(read.controls ?? []);
}

test("a sample of control material is a run with the rows of the reader of patients, and no field of an animal", () => {
  const control = { material: " Serum I ", level: "1", lot: "L-7", expires: "20271231", verdict: "PASS" };
  const units: DeviceResult = { ...ALT, names: ["HCT"], value: "<0,42", unit: "L/L", range: "", flag: "" };
  const unknown: DeviceResult = { ...ALT, names: ["X9"], value: "POS", unit: "", range: "", flag: "" };
  const target: DeviceResult = { ...ALT, names: ["GLU"], unit: "mg/dL", target: { mean: 100, sd: 3.5 } };
  const gone: DeviceResult = { ...ALT, names: ["PLT"], value: "", flag: "", notFinal: "clogged" };
  const results = [ALT, units, unknown, target, { ...ALT, names: ["AST"], doubt: "hemolysis" }, gone];
  const run = controlOf({ control, results, sampleIds: ["S-1"], comments: ["again"] });
  expect(run).toEqual({
    kind: "control",
    dedupe_key: run.dedupe_key,
    device_name: "Analyzer",
    measured_at: "2026-11-21T08:30:15.000Z",
    ...{ material: "Serum I", level: "1", lot: "L-7", expires: "2027-12-31", sample_ids: ["S-1"] },
    results: [
      { analyte: "ALT", value: 52, text: "52", unit: "U/L", target: { low: 40, high: 60 }, device_flag: "H" },
      { analyte: "HCT", value: 0.42, comparator: "<", text: "<0,42", unit: "L/L", device_flag: "PASS" },
      { analyte: "X9", code_source: "device", value: null, text: "POS", unit: null, device_flag: "PASS" },
      { analyte: "GLU", value: 52, text: "52", unit: "mg/dL", target: { mean: 100, sd: 3.5 }, device_flag: "H" },
      { analyte: "AST", value: 52, text: "52", unit: "U/L", target: { low: 40, high: 60 }, device_flag: "H" },
    ],
    comments: ["again", "AST: hemolysis", "PLT has no final value: clogged"],
  });
});

test("a run without a readable result is none", () => {
  expect(reading({ results: [{ ...ALT, value: "---" }] })).toEqual({ is: "not-for-patients", reason: "" });
});

test.each([
  [{ sampleIds: ["QC1"] }, "1"],
  [{ sampleIds: ["CTRL 2"] }, "2"],
  [{ sampleIds: ["Control High"] }, "H"],
  [{ sampleIds: ["control-high"] }, "H"],
  [{ sampleIds: ["QC-L"] }, "L"],
  [{ sampleIds: ["LEVEL 1"] }, "1"],
  [{ identifier: "NORMAL 0042" }, "N"],
  [{ sampleIds: ["QC-60990801"] }, null],
  [{ sampleIds: ["S-1"] }, null],
  [{ control: { material: "QP-L" } }, "L"],
  [{ control: { material: "Serum 2", level: "M" } }, "M"],
  [{ results: [{ ...ALT, names: ["LEVEL 2: IQC 1"] }] }, "2"],
  [{ results: ["LEVEL 1: IQC 1", "LEVEL 2: IQC 1"].map((name) => ({ ...ALT, names: [name] })) }, null],
] satisfies [Partial<Sample>, string | null][])("the level of %j is %s", (changes, level) => {
  expect(controlOf(changes).level).toBe(level);
});

test.each([
  ["20271231", "2027-12-31"],
  ["2027-02", "2027-02-28"],
  ["202712", "2027-12-31"],
  ["20260101000000", "2026-01-01"],
  ["202713", null],
  ["soon", null],
])("material that expires at %j does so on %s", (expires, day) => {
  expect(controlOf({ control: { expires } }).expires).toBe(day);
});

test("the number of an animal does not travel with a control, and that of a control does", () => {
  expect(controlOf({ identifier: "4711", sampleIds: ["S-7"] }).sample_ids).toEqual(["S-7"]);
  // A device's counter names no material, unless the clinic says so.
  expect(controlOf({ sampleIds: ["7"] }).sample_ids).toEqual([]);
  expect(controlOf({ identifier: "QC1" }).sample_ids).toEqual(["QC1"]);
});

test("a resend has the key of its run, also after the clinic mapped a code; another time or level has another one", () => {
  const unknown = [{ ...ALT, names: ["413"] }];
  const key = (changes: Partial<Sample> = {}, more: Partial<ReadContext> = {}) =>
    controlOf({ results: unknown, ...changes }, more).dedupe_key;
  expect(key({}, { codes: new Map([["413", "ALT"]]), receivedAt: context.receivedAt + 60_000 })).toBe(key());
  const sent = (results: string) => ({ times: { results: [results], order: [], sent: "" } });
  const others = [key(), key(sent("20261121113016")), key({ control: { level: "2" } }), key({ sampleIds: ["QC1"] })];
  expect(new Set(others).size).toBe(4);
  // A device that corrects a value, or runs two controls in one minute, sends other values under the same names and time.
  for (const times of [{}, sent("")]) {
    const valued = (value: string) => key({ ...times, results: [{ ...ALT, value }] });
    expect(valued("52")).toBe(valued("52"));
    expect(valued("52")).not.toBe(valued("53"));
  }
});

test("a sample with a number of the clinic's controls is a control, whatever case and blanks it has", () => {
  const controls = new Set(["QC 1", "Ref", "7"].map(foldNumber));
  const { control: _, ...patient } = sample();
  const read = (changes: Partial<Sample>) =>
    readSamples(
      [{ ...patient, ...changes }],
      ["a note"],
      { modality: null },
      { ...context, controls },
      (_all, notes) => {
        return { is: "not-for-patients", reason: notes.join("; ") };
      },
    );
  for (const changes of [{ identifier: "qc1" }, { sampleIds: ["8", " Q C1 "] }, { identifier: "REF" }]) {
    const found = read(changes);
    expect(found).toMatchObject({ is: "not-for-patients", controls: [{ results: [{ analyte: "ALT" }] }] });
    expect(found).toMatchObject({
      reason: expect.stringMatching(/^a note; sample .* is a control of the clinic$/) as string,
    });
  }
  expect(read({ sampleIds: ["7"] })).toMatchObject({ controls: [{ sample_ids: ["7"] }] });
  expect(read({ identifier: "QC11" })).toMatchObject({ is: "reports" });
  // An order may have the control's number as its accession, and some devices have a field for a name alone.
  const named = { ...patient.patient_hint, name: "ref" };
  for (const changes of [{ identifier: "4711", otherIdentifiers: ["QC1"] }, { patient_hint: named }]) {
    const found = read(changes);
    expect(found.is).toBe("not-for-patients");
    expect(only(found.controls ?? []).sample_ids).toEqual([changes.patient_hint?.name ?? "QC1"]);
  }
  // The place of a rack and the name of an identified animal are no number of a control.
  expect(read({ identifier: "4711", otherIdentifiers: ["7"] })).toMatchObject({ is: "reports" });
  expect(read({ identifier: "4711", patient_hint: named })).toMatchObject({ is: "reports" });
});

test("a run of a sample that names an animal too has neither its number nor the remarks about it", () => {
  const controls = new Set(["QC1"]);
  const changes = { identifier: "4711", sampleIds: ["QC1"], comments: ["ZEYTIN bites", "of Yilmaz", "clotted"] };
  const run = controlOf(changes, { controls });
  expect([run.sample_ids, run.comments]).toEqual([["QC1"], ["clotted"]]);
  // The name of a control is none of an animal.
  const { patient_hint } = sample();
  const ofControl = { patient_hint: { ...patient_hint, name: "QC1" }, comments: ["QC1 is low"] };
  expect(controlOf(ofControl).comments).toEqual(["QC1 is low"]);
});

test("two runs of one message with the same names and time are two, and each is one again when it is read again", () => {
  const read = (...values: string[]) => {
    const samples = values.map((value) => sample({ results: [{ ...ALT, value }] }));
    const otherwise = () => ({ is: "not-for-patients", reason: "" }) as const;
    return readSamples(samples, [], { modality: null }, context, otherwise).controls ?? [];
  };
  const runs = read("52", "61", "52");
  expect(runs.map(({ results }) => results[0]?.text)).toEqual(["52", "61"]);
  expect(new Set(runs.map(({ dedupe_key }) => dedupe_key)).size).toBe(2);
  expect(read("52", "61", "52")).toEqual(runs);
  expect(read("52")[0]?.dedupe_key).toBe(runs[0]?.dedupe_key);
});
