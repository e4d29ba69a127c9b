import { expect, test } from "vitest";
import { observationsOfStudy } from "../../../../server/records/destinations/hl7/results.ts";
import type { Modality, NotReported, Result, RowSnapshot } from "../../../../shared/api/study.ts";

// The table of the guide for OBX-2, 3, 5, 6, 7 and 8: a result as stored, and its observation.

const acquired_at = "2026-11-21T07:00:30.000Z";

const plain: Result = { analyte: "ALT", value: 143, unit: "U/L", reference_range: null, flag: null };

const row = (changes: Partial<RowSnapshot>): RowSnapshot => ({
  ...{ analyte: "ALT", code: "ALT", interval_id: null, reason: null, text: "143" },
  ...{ device_range: null, device_species: null, device_flag: null, ...changes },
});

/** The one observation of a result that a person typed, or of one with what its device printed. */
function observed(changes: Partial<Result>, printed?: Partial<RowSnapshot>, modality: Modality = "BIOCHEMISTRY") {
  const result = { ...plain, ...changes };
  const rows = printed === undefined ? null : [row({ analyte: result.analyte, code: result.analyte, ...printed })];
  return observations([result], rows, { modality })[0];
}

function observations(
  results: Result[],
  rows: RowSnapshot[] | null,
  { modality = "BIOCHEMISTRY", missing = [] }: { modality?: Modality; missing?: NotReported[] } = {},
) {
  const facts = { catalogue: "1", ranges: null, instrument: null, notes: [], not_reported: missing };
  const snapshot = rows && { ...facts, rows, animal: null };
  return observationsOfStudy({ study: { acquired_at, modality, results }, snapshot, device: "chem-1", language: "en" });
}

test("a number keeps the printed digits, and never has an exponent", () => {
  const numbers: [value: number, text: string | undefined, number: string][] = [
    [1.4, "1.40", "1.40"],
    [1.4, "1,40", "1.40"],
    [7, " 7 ", "7"],
    [-3.5, "-3.5", "-3.5"],
    [1200, "1.2E3", "1200"],
    [0.0000001, "1e-7", "0.0000001"],
    [143, undefined, "143"],
    // The printed number is another one, such as that of a message which a person corrected.
    [5, "6", "5"],
    [5, "5 *", "5"],
  ];
  for (const [value, text, number] of numbers)
    expect([text, observed({ value }, text === undefined ? undefined : { text })?.value]).toEqual([
      text,
      { type: "NM", number },
    ]);
});

test("a bound and a ratio are structured numbers, a finding is a code, and other words are text", () => {
  const values: [changes: Partial<Result>, value: object][] = [
    [
      { value: 0.2, comparator: "<" },
      { type: "SN", parts: ["<", "0.2"] },
    ],
    [
      { value: null, value_text: "1:128" },
      { type: "SN", parts: ["", "1", ":", "128"] },
    ],
    [
      { value: null, value_text: "5-10" },
      { type: "SN", parts: ["", "5", "-", "10"] },
    ],
    [
      { value: null, value_text: "Pozitif" },
      { type: "CWE", code: "10828004", name: "Positive", printed: "Pozitif" },
    ],
    [
      { value: null, value_text: "not detected" },
      { type: "CWE", code: "260385009", name: "Negative", printed: "not detected" },
    ],
    // Normal is a pad's word, and no finding.
    [
      { value: null, value_text: "Normal" },
      { type: "ST", text: "Normal" },
    ],
    [
      { value: null, value_text: "Clumped" },
      { type: "ST", text: "Clumped" },
    ],
    // Ranks of urine pads.
    [
      { value: 2, value_text: "2+" },
      { type: "ST", text: "2+" },
    ],
    [
      { value: 0, value_text: "neg" },
      { type: "ST", text: "neg" },
    ],
    [{ value: null }, { type: "none", isPending: false }],
  ];
  for (const [changes, value] of values) expect([changes, observed(changes)?.value]).toEqual([changes, value]);
});

test("the LOINC code is of the quantity that the unit measures, and of the specimen", () => {
  const codes: [analyte: string, unit: string | null, modality: Modality, loinc: string | null][] = [
    ["GLU", "mg/dL", "BIOCHEMISTRY", "2345-7"],
    ["GLU", "mmol/L", "BIOCHEMISTRY", "14749-6"],
    ["GLU", null, "BIOCHEMISTRY", null],
    ["CREA", "umol/L", "BIOCHEMISTRY", "14682-9"],
    ["HGB", "mmol/L", "HEMATOLOGY", null],
    ["GLU", null, "URINALYSIS", "25428-4"],
    ["SG", "{SG}", "URINALYSIS", "5811-5"],
    ["XYZ", "U/L", "BIOCHEMISTRY", null],
  ];
  for (const [analyte, unit, modality, loinc] of codes) {
    expect([analyte, unit, observed({ analyte, unit }, undefined, modality)?.loinc]).toEqual([analyte, unit, loinc]);
  }
});

test("a code of the device has its printed name, and no LOINC code though the catalogue has one of that spelling", () => {
  const own = observed({ code_source: "device" }, { device_label: "Alanine" });
  expect([own?.loinc, own?.code, own?.name]).toEqual([null, "ALT", "Alanine"]);
});

test("a unit has its UCUM code, another one its own words", () => {
  const units = ["U/L", "mIU/L", "furlong"].map((unit) => observed({ unit })?.unit);
  expect(units).toEqual([
    { text: "U/L", isUcum: true },
    { text: "m[IU]/L", isUcum: true },
    { text: "furlong", isUcum: false },
  ]);
});

test("a flag has its code, a critical one its side, and no interval has none", () => {
  const range = { reference_range: "12-130" };
  const flags: [changes: Partial<Result>, device: string | null, flag: string | null][] = [
    [{ flag: null }, null, null],
    [{ flag: null }, "H", null],
    [{ flag: null }, ">", ">"],
    [{ flag: "normal", ...range }, null, "N"],
    [{ flag: "low", ...range }, null, "L"],
    [{ flag: "high", ...range }, null, "H"],
    [{ flag: "critical", ...range }, null, "HH"],
    [{ flag: "critical", ...range, value: 3 }, null, "LL"],
    [{ flag: "critical" }, null, "AA"],
    [{ flag: null, value: null, value_text: "Positive", abnormal: true }, null, "A"],
  ];
  for (const [changes, device_flag, flag] of flags)
    expect([changes, observed(changes, { device_flag })?.flag]).toEqual([changes, flag]);
});

test("who set the interval and what the device doubts are one note", () => {
  const comment = "hemolysed";
  expect(observed({ reference_range: "12-130", comment }, { interval_id: "device" })?.notes).toEqual([
    "Interval: species unknown, of the device. hemolysed",
  ]);
  expect(observed({ reference_range: "12-130" }, { interval_id: "clinic:7" })?.notes).toEqual([
    "Interval: species unknown, of the clinic.",
  ]);
  expect(observed({ comment })?.notes).toEqual([comment]);
  expect(observed({})?.notes).toEqual([]);
});

test("a time of its own is of the row alone", () => {
  expect(observed({}, { measured_at: acquired_at })?.analysedAt).toBeNull();
  expect(observed({}, { measured_at: "2026-11-21T08:00:00.000Z" })?.analysedAt).toBe(
    Date.parse("2026-11-21T08:00:00.000Z"),
  );
});

test("what the device did not measure or finish follows the results, under the code that its value will have", () => {
  const missing: NotReported[] = [
    { analyte: "AST", code: "no_value", text: "HEM" },
    { analyte: "GLU", code: "not_final", text: "5" },
    { analyte: "Odd test", code: "no_value", text: "" },
  ];
  const found = observations([plain], [row({})], { missing });
  expect(found.map(({ code, loinc, value, notes }) => [code, loinc, value, notes])).toEqual([
    ["ALT", "1742-6", { type: "NM", number: "143" }, []],
    ["AST", "1920-8", { type: "none", isPending: false }, ["HEM"]],
    ["GLU", "2345-7", { type: "none", isPending: true }, []],
    ["Odd test", null, { type: "none", isPending: false }, []],
  ]);
  const pad = observations([], [], { modality: "URINALYSIS", missing: [{ ...missing[1]!, analyte: "GLU" }] });
  expect(pad[0]?.loinc).toBe("25428-4");
});

test("a study that a person typed and one of images have their observations, or none", () => {
  expect(observations([plain], null).map(({ code, device }) => [code, device])).toEqual([["ALT", "chem-1"]]);
  expect(observations([], null, { modality: "RADIOLOGY" })).toEqual([]);
});
