import * as fc from "fast-check";
import { expect, test } from "vitest";
import { type Analyte, analytes } from "../../../shared/clinical/analytes/analytes.ts";
import type { ClinicRanges } from "../../../shared/clinical/clinic-ranges.ts";
import { chooseInterval } from "../../../shared/clinical/reference.ts";
import { type Measurement, resultsOf } from "../../../shared/clinical/results.ts";
import type { Comparator, Result } from "../../../shared/api/study.ts";
import type { Signalment } from "../../../shared/clinical/signalment.ts";
import { studyProblems } from "../../../shared/clinical/study-checks.ts";
import { convert } from "../../../shared/clinical/analytes/units.ts";
import { readRange } from "../../../shared/clinical/analytes/value.ts";
import { soakCount } from "../../support/runner/soak.ts";

// Checks that refuse a contradictory study, and no study that an agent can send.

const now = Date.parse("2026-11-21T12:00:00.000Z");
const acquired_at = "2026-11-20T10:00:00.000Z";

test.each<[string, string | null, string | undefined, string, string[]]>([
  ["without a range", null, "glu", "GLU", []],
  ["within a range", "10-100", "glu", "GLU", []],
  ["by no limit", null, undefined, "GLU", ["results/0/flag is critical without a reference_range, expected null"]],
  [
    "by the limit of another row",
    "10-100",
    "glu",
    "ALT",
    ["results/0/flag is critical for 50 of 10-100, expected normal or null"],
  ],
])(
  "critical by an accepted limit %s is no contradiction, and nothing else is",
  (_, reference_range, limit, of, found) => {
    const result: Result = { analyte: "GLU", value: 50, unit: "mg/dL", reference_range, flag: "critical" };
    const row = { code: of, analyte: of, interval_id: null, reason: null, text: "50", device_range: null };
    const snapshot = {
      ...{ catalogue: "1", ranges: "1", instrument: null, notes: [] },
      rows: [{ ...row, device_species: null, device_flag: null, ...(limit && { limit_id: limit }) }],
    };
    expect(studyProblems({ acquired_at, results: [result], snapshot }, now)).toEqual(found);
    const low: Result = { ...result, flag: "low" };
    expect(studyProblems({ acquired_at, results: [low], snapshot }, now)).toHaveLength(1);
  },
);

function problemsOf(result: Partial<Result>): string[] {
  const whole = { analyte: "ALT", value: 50, unit: "U/L", reference_range: null, flag: null, ...result };
  return studyProblems({ acquired_at, results: [whole] }, now);
}

const ordinals = [0, 0.5, 1, 2, 3, 4];
const comparators = fc.constantFrom<(Comparator | null)[]>(null, null, null, "<", "<=", ">", ">=");

const signalments = fc.record<Signalment>({
  // The species of the clinic's rows are drawn more often, so that each run sees critical values.
  species: fc.constantFrom(
    "dog",
    "dog",
    "dog",
    "cat",
    "cat",
    "cat",
    "rabbit",
    "bird",
    "reptile",
    "exotic",
    "horse",
    "cow",
  ),
  subgroup: fc.constantFrom(
    null,
    null,
    null,
    null,
    null,
    "ferret",
    "guinea_pig",
    "parrotlet",
    "desert_tortoise",
    "chicken",
  ),
  ageDays: fc.constantFrom(null, 0, 100, 366, 5000),
  sex: fc.constantFrom(null, "M", "F"),
  neutered: fc.constantFrom(null, true, false),
});

/** A clinic's own rows with critical bounds, some of them on the bounds of the range. */
const OWN = ["ALT", "WBC", "BE"];
const ranges: ClinicRanges = {
  version: "v1",
  low_quality: true,
  rows: OWN.flatMap((code) => {
    const unit = analytes.find((analyte) => analyte.code === code)?.canonical_unit ?? "";
    return (["dog", "cat"] as const).map((species) => ({
      id: `${code}-${species}`,
      species,
      analyte: code,
      unit,
      low: "-5.25",
      high: "10",
      critical_low: "-5.25",
      critical_high: species === "dog" ? "10" : "20",
      effective_from: "2026-01-01",
    }));
  }),
};

/** A range as a device prints it, in the unit of the result. */
const printedRanges = fc.oneof(
  fc.constant("20 to 100"),
  fc
    .tuple(fc.integer({ min: -99, max: 200 }), fc.integer({ min: 1, max: 500 }), fc.nat(2))
    .map(([from, wide, decimals]) => {
      const [low, high] = [from / 10 ** decimals, (from + wide) / 10 ** decimals];
      return `${low.toFixed(decimals)} - ${high.toFixed(decimals)}`;
    }),
  fc.constantFrom("<10", "<= 7.5", ">3", ".5-1.2", "+1-+5", "\u22125.2^3.8", "[10.00;200.00]", "10,0 - 15,0"),
);

/** Position of a value between its bounds: 0 is the lower one, 1 the upper one. */
const positions = fc.oneof(
  fc.constantFrom(0, 1, 1e-9, -1e-9, 1 + 1e-9, 1 - 1e-9, 0.0004, 0.9996, -0.0004, 1.0004),
  fc.double({ min: -1, max: 3, noNaN: true }),
);

interface Drawn {
  readonly analyte: Analyte;
  readonly unitIndex: number;
  readonly position: number;
  readonly comparator: Comparator | null;
  readonly signalment: Signalment;
  readonly own: ClinicRanges | null;
  readonly printed: string | null;
  readonly device_flag: string | null;
}

const drawn = fc.record<Drawn>({
  analyte: fc.oneof(
    { weight: 2, arbitrary: fc.constantFrom(...analytes) },
    { weight: 1, arbitrary: fc.constantFrom(...analytes.filter(({ code }) => OWN.includes(code))) },
  ),
  unitIndex: fc.nat(10),
  position: positions,
  comparator: comparators,
  signalment: signalments,
  own: fc.constantFrom(null, ranges),
  printed: fc.option(printedRanges),
  device_flag: fc.constantFrom(null, "H", "HH", "LL", "N"),
});

function measurementOf({
  analyte,
  unitIndex,
  position,
  comparator,
  signalment,
  printed,
  device_flag,
}: Drawn): Measurement {
  if (analyte.value_type === "ordinal") {
    const value = ordinals[unitIndex % ordinals.length] ?? 0;
    const own = { comparator: null, ordinal: true, text: `${value}`, unit: null, device_range: null, device_flag };
    return { code: analyte.code, value, ...own };
  }
  const unit = analyte.units[unitIndex % analyte.units.length]?.unit ?? "";
  const range = printed === null ? null : readRange(printed);
  const interval = chooseInterval(analyte, signalment, null, { includeLowQuality: true });
  const inUnit = (bound: number) =>
    interval === null ? bound : (convert(analyte, bound, interval.unit, unit) ?? bound);
  const [low, high] =
    range === null ? [inUnit(interval?.low ?? 0), inUnit(interval?.high ?? 10)] : [range.low ?? 0, range.high ?? 10];
  const device_range = range === null ? null : { ...range, species: signalment.species };
  const value = low + position * (high - low);
  return { code: analyte.code, value, comparator, ordinal: false, text: "", unit, device_range, device_flag };
}

test("the checks accept every result of resultsOf(), for any analyte, unit, species, device and clinic", () => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(drawn, (each) => {
      const { signalment, own } = each;
      const given = { signalment, instrument: null, acquired_at, ranges: own };
      const { results } = resultsOf([measurementOf(each)], given);
      for (const { flag, reference_range, comparator } of results) {
        seen.add(
          `${flag} ${reference_range === null ? "no range" : "range"} ${comparator === undefined ? "value" : "bound"}`,
        );
      }
      expect([studyProblems({ acquired_at, results }, now), results]).toEqual([[], results]);
    }),
    { numRuns: soakCount(20_000) },
  );
  expect([...seen].toSorted()).toEqual([
    "critical range bound",
    "critical range value",
    "high range bound",
    "high range value",
    "low range bound",
    "low range value",
    "normal range bound",
    "normal range value",
    "null no range bound",
    "null no range value",
    "null range bound",
  ]);
});

test.each<[string, Partial<Result>, string | null]>([
  [
    "text instead of a range",
    { reference_range: "whatever" },
    'reference_range is "whatever", expected the lower and the upper bound such as 6.0-17.0',
  ],
  [
    "an empty range",
    { reference_range: "" },
    'reference_range is "", expected the lower and the upper bound such as 6.0-17.0',
  ],
  [
    "an open range",
    { reference_range: "<10" },
    'reference_range is "<10", expected the lower and the upper bound such as 6.0-17.0',
  ],
  [
    "an en dash",
    { reference_range: "10\u201320" },
    'reference_range is "10\u201320", expected the lower and the upper bound such as 6.0-17.0',
  ],
  [
    "bounds in the wrong order",
    { reference_range: "20-10" },
    'reference_range is "20-10", expected the lower and the upper bound such as 6.0-17.0',
  ],
  [
    "a unit after the range",
    { reference_range: "10-20 U/L" },
    'reference_range is "10-20 U/L", expected the lower and the upper bound such as 6.0-17.0',
  ],
  ["a flag without range", { flag: "normal" }, "flag is normal without a reference_range, expected null"],
  [
    "normal above the range",
    { reference_range: "10-49", flag: "normal" },
    "flag is normal for 50 of 10-49, expected high or critical or null",
  ],
  [
    "high within the range",
    { reference_range: "10-100", flag: "high" },
    "flag is high for 50 of 10-100, expected normal or null",
  ],
  [
    "critical within the range",
    { reference_range: "10-100", flag: "critical" },
    "flag is critical for 50 of 10-100, expected normal or null",
  ],
  [
    "low above the range",
    { reference_range: "10-40", flag: "low" },
    "flag is low for 50 of 10-40, expected high or critical or null",
  ],
  [
    "high below a negative range",
    { reference_range: "-4.0--1.0", value: -9, flag: "high" },
    "flag is high for -9 of -4.0--1.0, expected low or critical or null",
  ],
  [
    "normal for an upper bound of a range that does not begin at 0",
    { comparator: "<", reference_range: "10-100", flag: "normal" },
    "flag is normal for <50 of 10-100, expected null",
  ],
  [
    "high for an upper bound",
    { comparator: "<", value: 500, reference_range: "10-100", flag: "high" },
    "flag is high for <500 of 10-100, expected null",
  ],
  [
    "normal for a lower bound",
    { comparator: ">", reference_range: "10-100", flag: "normal" },
    "flag is normal for >50 of 10-100, expected null",
  ],
  [
    "low for a lower bound",
    { comparator: ">=", value: 5, reference_range: "10-100", flag: "low" },
    "flag is low for >=5 of 10-100, expected null",
  ],
  ["no flag beside a range", { reference_range: "10-100" }, null],
  ["a pad's range of one rank", { reference_range: "0-0", value: 0, flag: "normal" }, null],
  ["a value on the bound", { reference_range: "10-50", flag: "normal" }, null],
  [
    "a value within the rounding of a converted bound",
    { reference_range: "10.1-49.9", value: 49.94, flag: "normal" },
    null,
  ],
  [
    "a value beyond the rounding of a bound",
    { reference_range: "10.1-49.9", value: 49.96, flag: "normal" },
    "flag is normal for 49.96 of 10.1-49.9, expected high or critical or null",
  ],
])("a result is checked: %s", (_, result, problem) => {
  expect(problemsOf(result)).toEqual(problem === null ? [] : [`results/0/${problem}`]);
});

test("a study is at most a day ahead of the clock, and not before 1990", () => {
  const at = (time: string) => studyProblems({ acquired_at: time, results: [] }, now);
  const ahead = "expected at most a day after the clock's 2026-11-21T12:00:00.000Z";
  expect(at("2026-11-22T12:00:00.000Z")).toEqual([]);
  expect(at("2026-11-22T12:00:00.001Z")).toEqual([`acquired_at is 2026-11-22T12:00:00.001Z, ${ahead}`]);
  expect(at("2099-01-01T00:00:00.000Z")).toEqual([`acquired_at is 2099-01-01T00:00:00.000Z, ${ahead}`]);
  expect(at("1990-01-01T00:00:00.000Z")).toEqual([]);
  expect(at("1989-12-31T23:59:59.999Z")).toEqual([
    "acquired_at is 1989-12-31T23:59:59.999Z, expected a time from 1990-01-01T00:00:00.000Z on",
  ]);
  expect(at("2026-02-30T10:00:00.000Z")).toEqual([
    "acquired_at is 2026-02-30T10:00:00.000Z, expected a time that exists",
  ]);
});
