import { expect, test } from "vitest";
import { previewStudy } from "../../../../server/records/manual/manual-preview.ts";
import { readManualStudy } from "../../../../server/records/manual/manual-study.ts";
import { analytes } from "../../../../shared/clinical/analytes/analytes.ts";
import type { TypedRow, TypedStudy } from "../../../../server/dashboard/types/results/manual-study.ts";
import { noon, patient, published } from "../../harness.ts";
import { intervalsByAge } from "../../records.ts";

const dog = published(patient({ date_of_birth: "2020-01-01" }));
const facts = { patient: dog, ranges: null, now: noon };

function typed(results: TypedRow[], changes: Partial<TypedStudy> = {}): TypedStudy {
  return {
    patient_fp: dog.fp,
    modality: "BIOCHEMISTRY",
    acquired_at: "2026-11-21T09:00:00.000Z",
    results,
    ...changes,
  };
}

const nothing = { flag: null, value: null, number: null, side: null, source: null, fault: null };
const blank = { ...nothing, reference_range: null, low: null, high: null };

test("a row without a value has its range, and a typed one its flag", () => {
  const rows = [
    { analyte: "ALT", value: "", unit: "U/L" },
    { analyte: "CREA", value: "<0,2", unit: "mg/dL" },
    { analyte: "CPV", value: "", unit: null },
  ];
  const preview = previewStudy(typed(rows), facts);
  expect(preview.rows).toEqual([
    { ...blank, reference_range: "17-95", low: 17, high: 95, source: "catalogue" },
    // A bound has no place on a scale.
    {
      ...blank,
      reference_range: "0.6-1.4",
      flag: "low",
      value: 0.2,
      low: 0.6,
      high: 1.4,
      side: "low",
      source: "catalogue",
    },
    blank,
  ]);
  expect(preview.study.results).toEqual([
    { analyte: "CREA", value: 0.2, unit: "mg/dL", reference_range: "0.6-1.4", flag: "low", comparator: "<" },
  ]);
});

test("the clinic's own interval for the age of the animal decides first", () => {
  const ranges = { version: "1", ...intervalsByAge };
  const { rows } = previewStudy(typed([{ analyte: "ALT", value: "", unit: "U/L" }]), { ...facts, ranges });
  expect(rows[0]).toMatchObject({ source: "clinic" });
});

test("each fault is at its row and field, and leaves the other rows alone", () => {
  const rows = [
    { analyte: "ALT", value: "HEM", unit: "U/L" },
    { analyte: "GLU", value: "2+", unit: "mmol/L" },
    { analyte: "CPV", value: "1", unit: null },
    { analyte: "BUN", value: "5", unit: "mg/dL" },
    { analyte: "BUN", value: "6", unit: "mg/dL" },
    { analyte: "K", value: "4", unit: "kg" },
    { analyte: "HBA1C", value: "120", unit: "%" },
  ];
  const preview = previewStudy(typed(rows), facts);
  expect(preview.rows.map(({ fault }) => fault && [fault.field, fault.kind])).toEqual([
    ["value", "unreadable"],
    ["value", "not a number"],
    ["value", "not a word"],
    null,
    ["analyte", "repeated"],
    ["unit", "unit unknown"],
    ["value", "impossible"],
  ]);
  expect(preview.study.results.map(({ analyte }) => analyte)).toEqual(["BUN"]);
  // A wrong value keeps its range in view, without a flag.
  expect(preview.rows[0]).toMatchObject({ reference_range: "17-95", flag: null, value: null });
});

test("a time that does not exist or is over five minutes ahead is a fault of the study, and the ranges still show", () => {
  const rows = [{ analyte: "ALT", value: "", unit: "U/L" }];
  const faultAt = (acquired_at: string) => {
    const preview = previewStudy(typed(rows, { acquired_at }), facts);
    return [preview.time_fault, preview.rows[0]?.reference_range];
  };
  expect([faultAt(""), faultAt("2026-11-21T12:05:00.001Z"), faultAt("2026-11-21T12:05:00.000Z")]).toEqual([
    ["no time", "17-95"],
    ["future", "17-95"],
    [null, "17-95"],
  ]);
});

test("measurements in images have a free name, and neither range nor flag", () => {
  const rows = [
    { analyte: " LVIDd ", value: "31,5", unit: "mm" },
    { analyte: "", value: "2", unit: "" },
    { analyte: "EF", value: "normal", unit: "" },
    { analyte: "EF", value: "", unit: "" },
    { analyte: "", value: "", unit: "" },
  ];
  const preview = previewStudy(typed(rows, { modality: "ULTRASOUND" }), facts);
  const faults = preview.rows.map(({ fault }) => fault?.kind ?? null);
  expect(faults).toEqual([null, "name missing", "not a number", "value missing", null]);
  expect(preview.study.results).toEqual([
    { analyte: "LVIDd", value: 31.5, unit: "mm", reference_range: null, flag: null },
  ]);
});

test("an imaging study needs no results, a lab study does", () => {
  const bare = { acquired_at: "2026-11-21T09:00:00.000Z", results: [] };
  expect(readManualStudy({ ...bare, modality: "RADIOLOGY" }, noon)).toHaveProperty("entry");
  expect(readManualStudy({ ...bare, modality: "HEMATOLOGY" }, noon)).toEqual({
    problems: ["results has no items, expected at least 1"],
  });
});

// The page sends catalogue codes, which the reader takes like any name.
test("each analyte of the catalogue is typed under its own code, in each of its units", () => {
  const words = { numeric: "1", ordinal: "neg", word: "Positive" };
  for (const { code, modality, value_type, units } of analytes) {
    for (const unit of units.length === 0 ? [null] : units.map((each) => each.unit)) {
      const results = [{ analyte: code, value: words[value_type], unit }];
      const read = readManualStudy({ modality, acquired_at: "2026-11-21T09:00:00.000Z", results }, noon);
      if ("problems" in read) throw new Error(read.problems.join());
      expect(read.entry.measurements[0]).toMatchObject({ code, unit });
    }
  }
});
