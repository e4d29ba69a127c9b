import * as fc from "fast-check";
import { expect, test } from "vitest";
import { type Analyte, analyteByCode, analytes } from "../../../shared/clinical/analytes/analytes.ts";
import type { ClinicRanges } from "../../../shared/clinical/clinic-ranges.ts";
import { chooseInterval, ordinalNormal } from "../../../shared/clinical/reference.ts";
import { type Measurement, measurementsOf, resultsOf } from "../../../shared/clinical/results.ts";
import type { Comparator, Flag, Result } from "../../../shared/api/study.ts";
import type { Signalment } from "../../../shared/clinical/signalment.ts";
import { convert } from "../../../shared/clinical/analytes/units.ts";

// Properties of resultsOf(), with which both programs flag, over every analyte, unit, species and age.

const species = ["dog", "cat", "rabbit", "bird", "reptile", "exotic", "horse", "cow", "unicorn"];
const subgroups = [null, "ferret", "guinea_pig", "maine_coon", "parrotlet", "desert_tortoise"];

const signalments = fc.record<Signalment>({
  species: fc.constantFrom(...species),
  subgroup: fc.constantFrom(...subgroups),
  ageDays: fc.constantFrom(null, 0, 100, 365, 366, 900, 5000),
  sex: fc.constantFrom(null, "M", "F"),
  neutered: fc.constantFrom(null, true, false),
});

const instruments = fc.constantFrom(null, "Tester", "Abaxis VetScan VS2", "Skyla Solution", "Start 4");
const comparators = fc.constantFrom<(Comparator | null)[]>(null, null, null, "<", "<=", ">", ">=");
const at = "2026-06-01T00:00:00.000Z";

/** A clinic's own rows, with critical bounds. */
const ranges: ClinicRanges = {
  version: "v1",
  low_quality: false,
  rows: ["ALT", "WBC", "GLU", "CREA"].flatMap((code) =>
    (["dog", "cat"] as const).map((of) => ({
      id: `${code}-${of}`,
      species: of,
      analyte: code,
      unit: analyte(code).canonical_unit ?? "",
      low: "5",
      high: "10",
      critical_low: "2",
      critical_high: "20",
      effective_from: "2026-01-01",
    })),
  ),
};
const clinics = fc.constantFrom(null, ranges, { ...ranges, low_quality: true });

function analyte(code: string): Analyte {
  const known = analyteByCode(code);
  if (known === undefined) throw new Error(`no analyte ${code}`);
  return known;
}

interface Given {
  signalment: Signalment | null;
  instrument: string | null;
  ranges: ClinicRanges | null;
}

function one(measurement: Partial<Measurement> & { code: string; value: number }, given: Given) {
  const unsaid = { comparator: null, ordinal: false, text: "", unit: null, device_range: null, device_flag: null };
  const { results, snapshot } = resultsOf([{ ...unsaid, ...measurement }], { ...given, acquired_at: at });
  const [result] = results;
  const [row] = snapshot.rows;
  if (result === undefined || row === undefined) throw new Error("no result");
  return { ...result, ...row };
}

/** A value near the bounds of the interval, in a unit of the analyte. */
const measurements = fc.tuple(
  fc.constantFrom(...analytes.filter((each) => each.value_type === "numeric")),
  fc.nat(),
  // Excludes values whose conversion underflows to zero, such as -5e-324.
  fc.double({ min: -1, max: 4, noNaN: true }).map((times) => (Math.abs(times) < 1e-100 ? 0 : times)),
);

function valueOf([of, unitIndex, times]: [Analyte, number, number], signalment: Signalment, given: Given) {
  const unit = of.units[unitIndex % of.units.length]?.unit ?? "";
  const interval = chooseInterval(of, signalment, given.instrument, { includeLowQuality: true });
  const high = interval === null ? 10 : (convert(of, interval.high, interval.unit, unit) ?? 10);
  return { unit, value: times * high };
}

test("scaling a value and its unit together never changes the flag of any patient, device and clinic", () => {
  fc.assert(
    fc.property(
      measurements,
      fc.nat(),
      signalments,
      instruments,
      clinics,
      comparators,
      (drawn, other, signalment, instrument, own, comparator) => {
        const given = { signalment, instrument, ranges: own };
        const { unit, value } = valueOf(drawn, signalment, given);
        const [of] = drawn;
        const to = of.units[other % of.units.length]?.unit ?? "";
        const scaled = convert(of, value, unit, to) ?? Number.NaN;
        const [before, after] = [
          one({ code: of.code, value, unit, comparator }, given),
          one({ code: of.code, value: scaled, unit: to, comparator }, given),
        ];
        expect([after.flag, after.interval_id]).toEqual([before.flag, before.interval_id]);
      },
    ),
    { numRuns: 1000 },
  );
});

/** Order: critical below, low, normal, high, critical above. The side of the value distinguishes the critical flags. */
function step(flag: Flag | null, value: number, range: string): number {
  const middle = middleOf(range);
  if (flag === "critical") return value > middle ? 4 : 0;
  return ["low", "normal", "high"].indexOf(flag ?? "") + 1;
}

function middleOf(range: string): number {
  const dash = range.indexOf("-", 1);
  return (Number(range.slice(0, dash)) + Number(range.slice(dash + 1))) / 2;
}

test("moving a value up never moves the flag down", () => {
  let moved = 0;
  fc.assert(
    fc.property(
      measurements,
      fc.double({ min: 0, max: 10, noNaN: true }),
      signalments,
      instruments,
      clinics,
      fc.constantFrom(null, "HH", "LL"),
      (drawn, more, signalment, instrument, own, device_flag) => {
        const given = { signalment, instrument, ranges: own };
        const { unit, value } = valueOf(drawn, signalment, given);
        const raised = value + more * Math.max(1, Math.abs(value));
        const [{ code }] = drawn;
        const [lower, upper] = [
          one({ code, value, unit, device_flag }, given),
          one({ code, value: raised, unit, device_flag }, given),
        ];
        const range = lower.reference_range;
        if (range === null) return;
        moved += 1;
        expect(step(upper.flag, raised, range)).toBeGreaterThanOrEqual(step(lower.flag, value, range));
      },
    ),
    { numRuns: 2000 },
  );
  expect(moved).toBeGreaterThan(100);
});

test("a flag is null exactly if no interval applies, or if a printed bound leaves it open and keeps its range", () => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(
      measurements,
      signalments,
      instruments,
      clinics,
      comparators,
      fc.boolean(),
      (drawn, signalment, instrument, own, comparator, known) => {
        const given = { signalment: known ? signalment : null, instrument, ranges: own };
        const { unit, value } = valueOf(drawn, signalment, given);
        const result = one({ code: drawn[0].code, value, unit, comparator }, given);
        const applies = result.interval_id !== null;
        const open = result.reason?.code === "VALUE.BOUND";
        seen.add(`${applies} ${open}`);
        expect(result.flag === null).toBe(!applies || open);
        expect(result.reference_range === null).toBe(!applies);
        expect(result.reason === null).toBe(result.flag !== null);
        // Only a printed bound can leave the flag open.
        expect(open && comparator === null).toBe(false);
      },
    ),
    { numRuns: 2000 },
  );
  expect([...seen].toSorted()).toEqual(["false false", "true false", "true true"]);
});

test("a pad's flag is null exactly if no normal of its species is published", () => {
  for (const each of analytes.filter(({ value_type }) => value_type === "ordinal")) {
    for (const of of species) {
      for (const value of [0, 0.5, 1, 2, 3, 4]) {
        const signalment = { species: of, subgroup: null, ageDays: null, sex: null, neutered: null };
        const result = one(
          { code: each.code, value, ordinal: true, text: `${value}+` },
          { signalment, instrument: null, ranges },
        );
        const normal = ordinalNormal(each, of);
        expect(result.flag).toBe(normal === null ? null : value > normal.high ? "high" : "normal");
        expect([result.value_text, result.unit]).toEqual([`${value}+`, null]);
      }
    }
  }
});

const dog: Signalment = { species: "dog", subgroup: null, ageDays: 1000, sex: "M", neutered: null };

test("measurements are read back from a stored study, and flagged for another patient like new ones", () => {
  const sent: Measurement[] = [
    {
      code: "ALT",
      value: 95,
      comparator: null,
      ordinal: false,
      text: "95",
      unit: "U/L",
      device_range: { low: 20, high: 100, text: "20-100", species: "cat" },
      device_flag: "HH",
    },
    {
      code: "CREA",
      value: 0.2,
      comparator: "<",
      ordinal: false,
      text: "<0.2*",
      unit: "mg/dL",
      device_range: { low: null, high: 1.4, text: "<1.4", species: null },
      device_flag: null,
    },
    {
      code: "WBC",
      value: 8,
      comparator: null,
      ordinal: false,
      text: "8",
      unit: "furlong",
      device_range: null,
      device_flag: "N",
    },
  ];
  const unknown = { signalment: null, instrument: "Tester", ranges: null, acquired_at: at };
  const held = resultsOf(sent, unknown, ["a note"]);
  expect(held.results.map(({ flag }) => flag)).toEqual([null, null, null]);
  expect(measurementsOf({ modality: "BIOCHEMISTRY", results: held.results }, held.snapshot)).toEqual(sent);
});

test("a urine pad is read back as a pad, although the API prints the code of the blood analyte", () => {
  const pad = { code: "UGLU", value: 2, comparator: null, ordinal: true, text: "2+", unit: null };
  const sent: Measurement[] = [{ ...pad, device_range: null, device_flag: null }];
  const { results, snapshot } = resultsOf(sent, { signalment: dog, instrument: null, ranges: null, acquired_at: at });
  expect(results[0]?.analyte).toBe("GLU");
  const study = { modality: "URINALYSIS" as const, results };
  expect(measurementsOf(study, snapshot)).toEqual(sent);
  expect(measurementsOf(study, null)).toEqual(sent);
});

test("measurements without a snapshot are read back by the API's codes and the modality", () => {
  const result: Result = {
    analyte: "GLU",
    value: 5,
    unit: "mmol/L",
    reference_range: null,
    flag: null,
    comparator: ">",
  };
  const [read] = measurementsOf({ modality: "BIOCHEMISTRY", results: [result] }, null) ?? [];
  expect(read).toEqual({
    code: "GLU",
    value: 5,
    comparator: ">",
    ordinal: false,
    text: ">5",
    unit: "mmol/L",
    device_range: null,
    device_flag: null,
  });
  expect(measurementsOf({ modality: "BIOCHEMISTRY", results: [{ ...result, analyte: "XYZ" }] }, null)).toBeNull();
});
