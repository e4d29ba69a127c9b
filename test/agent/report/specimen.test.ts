import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { DeviceResult, Reading } from "../../../agent/report/report.ts";
import type { Sample, SampleProfile } from "../../../agent/report/sample.ts";
import { readSamples } from "../../../agent/report/specimen.ts";
import { RESULTS_MAX } from "../../../shared/api/study.ts";
import { foldName } from "../../../shared/clinical/analytes/analytes.ts";
import { context, only, reportsOf } from "../records.ts";

const BARE = { unit: "", range: "", flag: "", notFinal: null } as const;

function sampleOf(results: readonly DeviceResult[], changes: Partial<Sample> = {}): Sample {
  return {
    device_name: "Analyzer",
    identifier: "4711",
    otherIdentifiers: [],
    patient_hint: {
      identifier: "4711",
      name: null,
      species: null,
      breed: null,
      sex: null,
      owner: null,
      date_of_birth: null,
      weight_kg: null,
    },
    patient: ["4711"],
    specimen: [""],
    times: { results: [], order: [], sent: "" },
    urine: false,
    results,
    notes: [],
    comments: [],
    ...changes,
  };
}

const ANY: SampleProfile = { modality: null };

const nothing = (): Reading => ({ is: "not-for-patients", reason: "no results" });

function readOne(results: readonly DeviceResult[], profile = ANY, codes: ReadonlyMap<string, string> = new Map()) {
  return reportsOf(readSamples([sampleOf(results)], [], profile, { ...context, codes }, nothing));
}

const alt = (value = "52"): DeviceResult => ({ ...BARE, names: ["ALT"], value, unit: "U/L" });
const wbc: DeviceResult = { ...BARE, names: ["WBC"], value: "9.8", unit: "10*9/L" };
const unknown = (value = "1"): DeviceResult => ({ ...BARE, names: ["413"], value });

test("a row has the device's own code and name, not the names for the lookup", () => {
  const [report] = readOne([{ ...BARE, names: ["9999-9", "X-new^99MRC"], code: "15001", label: "X new", value: "1" }]);
  expect(only(report!.rows)).toMatchObject({ code: "15001", device_code: "15001", device_label: "X new" });
});

test("rows of unknown codes join the modality of most other rows", () => {
  const ofModality = (results: readonly DeviceResult[]) =>
    readOne(results).map(({ modality, rows }) => [modality, rows.map(({ code }) => code)]);
  expect(ofModality([unknown(), wbc])).toEqual([["HEMATOLOGY", ["413", "WBC"]]]);
  expect(ofModality([wbc, alt(), alt(), unknown()])).toEqual([
    ["HEMATOLOGY", ["WBC"]],
    ["BIOCHEMISTRY", ["ALT", "ALT", "413"]],
  ]);
  expect(ofModality([unknown()])).toEqual([["BIOCHEMISTRY", ["413"]]]);
  const urine = readSamples([sampleOf([unknown()], { urine: true })], [], ANY, context, nothing);
  expect(only(reportsOf(urine)).modality).toBe("URINALYSIS");
});

test("a doubt of the device is the comment of the row", () => {
  const [report] = readOne([{ ...alt(), doubt: "the slide has expired" }]);
  expect(report!.rows).toMatchObject([{ code: "ALT", value: 52, comment: "the slide has expired" }]);
});

test("a withdrawn unknown code is withdrawn under the device's code", () => {
  const [report] = readOne([alt(), { ...unknown(), value: "", notFinal: "deleted (OBX-11 is D)", withdraws: true }]);
  expect(report).toMatchObject({ withdrawn: ["413"], leftOut: ["413 has no final value: deleted (OBX-11 is D)"] });
});

test("a withdrawn value may be under the device's code, if it was a word of a numeric analyte", () => {
  const alanine = { ...alt(), code: "1742-6" };
  const [word] = readOne([{ ...alanine, value: "Positive" }]);
  expect(only(word!.rows)).toMatchObject({ code: "1742-6", codeSource: "device" });
  const [report] = readOne([wbc, { ...alanine, notFinal: "deleted (OBX-11 is D)", withdraws: true }]).filter(
    ({ modality }) => modality === "BIOCHEMISTRY",
  );
  expect(report?.withdrawn).toEqual(["1742-6", "ALT"]);
});

test("neither the clinic's codes nor rows of unknown codes change the key of an anonymous sample", () => {
  const keyOf = (results: readonly DeviceResult[], codes?: ReadonlyMap<string, string>) =>
    readOne(results, { modality: "BIOCHEMISTRY" }, codes)[0]!.dedupe_key;
  const mapped = new Map([["413", "ALB"]]);
  expect(keyOf([alt(), unknown()])).toBe(keyOf([alt()]));
  expect(keyOf([alt(), unknown()], mapped)).toBe(keyOf([alt()]));
  expect(keyOf([unknown()], mapped)).toBe(keyOf([unknown()]));
  expect(keyOf([unknown("2")])).not.toBe(keyOf([unknown()]));
  expect(keyOf([alt("53"), unknown()])).not.toBe(keyOf([alt(), unknown()]));
});

test("a code of the clinic is found in any case and with any separator of its words", () => {
  const codes = new Map([[foldName("Gluc_new"), "GLU"]]);
  const [report] = readOne([{ ...BARE, names: ["GLUC_NEW"], value: "5.1", unit: "mmol/L" }], ANY, codes);
  expect(report!.rows).toMatchObject([{ code: "GLU", codeSource: "clinic", device_code: "GLUC_NEW" }]);
});

/** Names, values and units as devices print them, and noise. */
const printed = {
  name: fc.oneof(
    fc.constantFrom("ALT", "GLU", "WBC", "LYM%", "LYM", "KET", "UPRO", "2345-7", "413", "", "pH", "HCT"),
    fc.string({ maxLength: 80 }),
  ),
  value: fc.oneof(
    fc.constantFrom("5", "5,5", "<0.2", "1+", "neg", "Positive", "----", "", "1,234", "HEM", "0x1", "1^2", "1:64"),
    fc.float({ noNaN: true }).map(String),
    fc.string({ maxLength: 250 }),
  ),
  unit: fc.oneof(fc.constantFrom("", "mg/dL", "%", "1", "L/L", "10*9/L", "U/L"), fc.string({ maxLength: 40 })),
};
const anyResult: fc.Arbitrary<DeviceResult> = fc.record({
  names: fc.array(printed.name, { maxLength: 3 }),
  value: printed.value,
  unit: printed.unit,
  range: fc.constantFrom("", "1-2", "<5", "x"),
  flag: fc.constantFrom("", "H", "LL", "A"),
  notFinal: fc.constantFrom(null, null, null, "preliminary"),
  doubt: fc.constantFrom(null, null, "hemolysis"),
});
const anyProfile: fc.Arbitrary<SampleProfile> = fc.record({
  modality: fc.constantFrom(null, "HEMATOLOGY" as const, "BIOCHEMISTRY" as const, "URINALYSIS" as const),
  decimalComma: fc.boolean(),
});

test("every result is a row or is listed with its reason, and no value changes", () => {
  const property = fc.property(
    fc.array(anyResult, { minLength: 1, maxLength: 20 }),
    anyProfile,
    fc.boolean(),
    fc.boolean(),
    (results, profile, urine, blood) => {
      const reading = readSamples(
        [sampleOf(results, { urine, blood })],
        [],
        profile,
        {
          ...context,
          codes: new Map([["413", "ALB"]]),
        },
        nothing,
      );
      const reports = reading.is === "reports" ? reading.reports : [];
      const rows = reports.flatMap((report) => report.rows);
      const leftOut =
        reading.is === "reports" ? reports.reduce((sum, report) => sum + report.leftOut.length, 0) : results.length; // quarantined: each result is listed in the reason
      expect(rows.length + leftOut).toBe(results.length);
      // The unit and the flag beside a number leave its text.
      const sent = results.map(({ value }) => value);
      const isSent = (text: string) => sent.some((value) => value.includes(text));
      expect(rows.map(({ text }) => text.replace(/\^+$/, "").trim()).filter((text) => !isSent(text))).toEqual([]);
      for (const row of rows) expect(row.value === null || Number.isFinite(row.value)).toBe(true);
    },
  );
  fc.assert(property, { numRuns: 500 });
});

test("results beyond the limit of a study are counted, and do not cost the others", () => {
  const results = Array.from({ length: RESULTS_MAX + 3 }, (_, index) => ({ ...unknown(), names: [`X${index}`] }));
  const { rows, leftOut } = only(readOne(results));
  expect(rows).toHaveLength(RESULTS_MAX);
  expect(leftOut).toEqual(["3 results after the first 1000 stay in the message alone"]);
});

test("a result without a value is named with what stands in its place", () => {
  const crea: DeviceResult = { ...BARE, names: ["CREA"], value: "HEM", unit: "mg/dL" };
  const pending: DeviceResult = { ...BARE, names: ["PHBR"], value: "0.2", notFinal: "preliminary" };
  const [report] = readOne([alt(), crea, pending, { ...BARE, names: ["GLU"], value: "" }]);
  expect(report?.rows.map(({ code }) => code)).toEqual(["ALT"]);
  expect(report?.notReported).toEqual([
    { analyte: "CREA", code: "no_value", text: "HEM" },
    { analyte: "PHBR", code: "not_final", text: "0.2" },
  ]);
});

test("a result without a value belongs to the study of its modality, under the code of its row", () => {
  const glu: DeviceResult = { ...BARE, names: ["GLU"], value: "HEM", unit: "mg/dL" };
  const own: DeviceResult = { ...BARE, names: ["ZX12", "Zeta index"], value: "---" };
  const reports = readOne([wbc, glu, alt(), own]);
  expect(reports.map(({ modality, notReported }) => [modality, notReported?.map(({ analyte }) => analyte)])).toEqual([
    ["HEMATOLOGY", ["ZX12"]],
    ["BIOCHEMISTRY", ["GLU"]],
  ]);
  const deleted = { ...glu, value: '""', withdraws: true, notFinal: "deleted" };
  expect(readOne([alt(), deleted])[0]?.notReported).toBeUndefined();
});
