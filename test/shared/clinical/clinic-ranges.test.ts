import { describe, expect, test } from "vitest";
import {
  type ClinicRange,
  clinicRangeById,
  clinicRangeProblem,
  type ClinicRanges,
} from "../../../shared/clinical/clinic-ranges.ts";
import { type Measurement, resultsOf } from "../../../shared/clinical/results.ts";
import { type Signalment, signalmentAt } from "../../../shared/clinical/signalment.ts";

// The effect of a clinic's own intervals, through resultsOf(), with which both programs flag.

const dog: Signalment = { species: "dog", subgroup: null, ageDays: 1000, sex: "M", neutered: null };

function row(changes: Partial<ClinicRange> = {}): ClinicRange {
  const about = { species: "dog", analyte: "ALT", unit: "U/L", low: "20", high: "90" } as const;
  return { id: "alt-dog", ...about, effective_from: "2026-01-01", ...changes };
}

function clinic(...rows: ClinicRange[]): ClinicRanges {
  return { version: "v1", low_quality: false, rows };
}

function alt(value: number, more: Partial<Measurement> = {}): Measurement {
  const sent = { comparator: null, ordinal: false, text: String(value), unit: "U/L" };
  return { code: "ALT", value, ...sent, device_range: null, device_flag: null, ...more };
}

interface Case {
  ranges?: ClinicRanges | null;
  signalment?: Signalment;
  acquired_at?: string;
  instrument?: string;
}

function assessed(measurement: Measurement, given: Case = {}) {
  const {
    ranges = clinic(row()),
    signalment = dog,
    instrument = "Tester",
    acquired_at = "2026-06-01T00:00:00.000Z",
  } = given;
  const { results, snapshot } = resultsOf([measurement], { ranges, signalment, instrument, acquired_at });
  return { ...results[0], id: snapshot.rows[0]?.interval_id, version: snapshot.ranges };
}

test("the clinic's own row precedes the device's range and the catalogue, and its version is in the snapshot", () => {
  const device_range = { low: 10, high: 118, text: "10-118", species: "dog" };
  expect(assessed(alt(95, { device_range }))).toEqual({
    analyte: "ALT",
    value: 95,
    unit: "U/L",
    reference_range: "20-90",
    flag: "high",
    id: "clinic:alt-dog",
    version: "v1",
  });
  expect(assessed(alt(95, { device_range }), { ranges: null })).toMatchObject({ id: "device", version: null });
  expect(assessed(alt(95), { ranges: null }).id).toBe("dog-any-any-alt-cornell_cobas_2017");
});

test("the device's range and the catalogue decide if no row of the clinic applies", () => {
  const device_range = { low: 10, high: 118, text: "10-118", species: "dog" };
  const ranges = clinic(row({ species: "cat" }), row({ id: "ast", analyte: "AST" }));
  expect(assessed(alt(95, { device_range }), { ranges })).toMatchObject({ id: "device", version: "v1" });
  expect(assessed(alt(95), { ranges }).id).toBe("dog-any-any-alt-cornell_cobas_2017");
});

describe("the row in force at the time of the sample decides", () => {
  const ranges = clinic(
    row({ id: "old", high: "90", effective_from: "2026-01-01" }),
    row({ id: "new", high: "100", effective_from: "2026-06-01T12:00:00.000Z" }),
    row({ id: "ast", analyte: "AST", effective_from: "2026-01-01", effective_until: "2026-07-01" }),
  );
  test.each([
    ["2025-12-31T23:59:59.999Z", "dog-any-any-alt-cornell_cobas_2017"],
    ["2026-01-01T00:00:00.000Z", "clinic:old"],
    ["2026-06-01T11:59:59.999Z", "clinic:old"],
    ["2026-06-01T12:00:00.000Z", "clinic:new"],
    ["2030-01-01T00:00:00.000Z", "clinic:new"],
  ])("ALT of %s is flagged by %s", (acquired_at, id) => {
    expect(assessed(alt(50), { ranges, acquired_at }).id).toBe(id);
  });

  test.each([
    ["2026-06-30T23:59:59.999Z", "clinic:ast"],
    ["2026-07-01T00:00:00.000Z", "dog-any-any-ast-cornell_cobas_2017"],
  ])("AST of %s is flagged by %s after the end of the clinic's row", (acquired_at, id) => {
    expect(assessed(alt(50, { code: "AST" }), { ranges, acquired_at }).id).toBe(id);
  });
});

describe("the most specific row of the clinic applies", () => {
  const ranges = clinic(
    row({ id: "any" }),
    row({ id: "vs2", device: "VetScan VS2" }),
    row({ id: "puppy", age_max_days: 180 }),
    row({ id: "juvenile", life_stage: "juvenile" }),
    row({ id: "male", sex: "M" }),
    row({ id: "castrated", sex: "M", neutered: true }),
    row({ id: "neutered", neutered: true }),
    row({ id: "vs2-female", device: "VetScan VS2", sex: "F" }),
  );
  test.each<[string, Partial<Signalment>, string]>([
    ["any", { sex: null }, "Tester"],
    ["male", { sex: "M" }, "Tester"],
    ["male", { sex: "M", neutered: false }, "Tester"],
    ["castrated", { sex: "M", neutered: true }, "Tester"],
    ["neutered", { sex: "F", neutered: true }, "Tester"],
    ["neutered", { sex: null, neutered: true }, "Tester"],
    ["any", { sex: "F", neutered: null }, "Tester"],
    ["juvenile", { sex: "M", ageDays: 100 }, "Tester"],
    ["juvenile", { sex: "M", ageDays: 200 }, "Tester"],
    ["male", { sex: "M", ageDays: 400 }, "Tester"],
    ["male", { sex: "M", ageDays: null }, "Tester"],
    ["vs2", { sex: "M" }, "Abaxis VetScan VS2"],
    ["vs2", { sex: "M", ageDays: 100 }, "Abaxis VetScan VS2"],
    ["vs2-female", { sex: "F", neutered: true }, "Abaxis VetScan VS2"],
  ])("row %s applies to %j on %s", (id, signalment, instrument) => {
    expect(assessed(alt(50), { ranges, signalment: { ...dog, ...signalment }, instrument }).id).toBe(`clinic:${id}`);
  });
});

describe("a row for a group of breeds applies to its breeds, after a row of the breed", () => {
  const ranges = clinic(
    row({ id: "any" }),
    row({ id: "sighthounds", subgroup: "sighthound" }),
    row({ id: "male-sighthound", subgroup: "sighthound", sex: "M", neutered: true }),
    row({ id: "whippet", subgroup: "whippet" }),
    row({ id: "young", life_stage: "juvenile" }),
  );
  test.each<[string, string | null, Partial<Signalment>]>([
    ["whippet", "whippet", { sex: "M", neutered: true }],
    ["male-sighthound", "greyhound", { sex: "M", neutered: true }],
    ["sighthounds", "greyhound", { ageDays: 100 }],
    ["sighthounds", "sighthound", {}],
    ["any", "akita", {}],
    ["any", null, { crossOf: ["greyhound", "whippet"] }],
    ["young", "akita", { ageDays: 100 }],
  ])("row %s applies to a %s with %j", (id, subgroup, signalment) => {
    expect(assessed(alt(50), { ranges, signalment: { ...dog, subgroup, ...signalment } }).id).toBe(`clinic:${id}`);
  });
  test("it never applies to another breed, nor does one for a breed of a later catalogue", () => {
    for (const [subgroup, only] of [
      ["akita", "sighthound"],
      ["akita", "later_breed"],
      [null, "later_breed"],
    ] as const) {
      const given = { ranges: clinic(row({ subgroup: only })), signalment: { ...dog, subgroup } };
      expect(assessed(alt(50), given).id).toBe("dog-any-any-alt-cornell_cobas_2017");
    }
  });
});

test("the clinic's interval is converted to the value's unit, critical bounds too", () => {
  const glucose = row({ id: "glu", analyte: "GLU", unit: "mmol/L", low: "3.3", high: "6.1", critical_low: "2.0" });
  const glu = (value: number, unit: string) => assessed(alt(value, { code: "GLU", unit }), { ranges: clinic(glucose) });
  expect(glu(3.3, "mmol/L")).toMatchObject({ reference_range: "3.3-6.1", flag: "normal" });
  expect(glu(40, "mg/dL")).toMatchObject({ reference_range: "59.5-110", flag: "low" });
  expect(glu(36, "mg/dL").flag).toBe("critical");
});

test("published rows of quality C and D apply if the clinic turns them on, in agent and server", () => {
  const rabbit: Signalment = { ...dog, species: "rabbit" };
  const glu = (low_quality: boolean) =>
    assessed(alt(100, { code: "GLU", unit: "mg/dL" }), {
      signalment: rabbit,
      ranges: { version: "v2", low_quality, rows: [] },
    });
  expect(glu(false)).toMatchObject({ id: null, flag: null });
  expect(glu(true).id).toBe("rabbit-any-any-glu-wabbitwiki");
});

test("a bird without a subgroup gets no interval of the clinic", () => {
  const parrot = row({ id: "grey", species: "bird", subgroup: "african_grey" });
  const bird: Signalment = { ...dog, species: "bird", ageDays: null };
  expect(assessed(alt(50), { ranges: clinic(parrot), signalment: bird }).flag).toBeNull();
});

test("a clinic's words decide whether the patient is neutered, and ambiguous words are null", () => {
  const neutered = (sex: string | null) =>
    signalmentAt({ species: "dog", breed: null, date_of_birth: null, sex }, "2026-01-01T00:00:00.000Z").neutered;
  for (const sex of ["MN", "FS", "Neutered male", "spayed female", "castrated", "Kısır dişi"]) {
    expect([sex, neutered(sex)]).toEqual([sex, true]);
  }
  for (const sex of ["intact male", "FI", "entire", "unneutered"]) expect([sex, neutered(sex)]).toEqual([sex, false]);
  for (const sex of [null, "", "M", "female", "not neutered", "neutered?intact"]) {
    expect([sex, neutered(sex)]).toEqual([sex, null]);
  }
});

test.each<[Partial<ClinicRange>, string]>([
  [{ analyte: "ALX" }, "is of ALX, an unknown analyte"],
  [{ analyte: "UGLU" }, "is of UGLU, which is an ordinal"],
  [{ unit: "mg/dL" }, "has the unit mg/dL, expected a unit of ALT"],
  [{ low: "90", high: "20" }, "has the low 90, not below the high 20"],
  [{ critical_low: "30" }, "has the critical_low 30, above the low 20"],
  [{ critical_high: "30" }, "has the critical_high 30, below the high 90"],
  [{ age_min_days: 10, age_max_days: 9 }, "ends before the age at which it starts"],
  [{ effective_from: "2026-02-30" }, "has the day 2026-02-30, which does not exist"],
  [{ effective_until: "2026-01-01" }, "is in force until 2026-01-01, not after 2026-01-01"],
  [{ species: "cow", subgroup: "poodle" }, "has the subgroup poodle, expected one of buffalo, bison"],
  [{ subgroup: "poodle" }, "has the subgroup poodle, expected one of greyhound, "],
  [{ species: "cat", subgroup: "lion" }, "has the subgroup lion, expected one of "],
  [{ species: "bird" }, "has no subgroup, expected one of "],
])("a row with %j is refused: it %s", (changes, problem) => {
  expect(clinicRangeProblem(row(changes))).toContain(problem);
  expect(clinicRangeProblem(row())).toBeNull();
});

test("the id in a snapshot finds the clinic's row, and the id of a published row finds none", () => {
  expect(clinicRangeById(clinic(row()), "clinic:alt-dog")).toEqual(row());
  expect(clinicRangeById(clinic(row()), "alt-dog")).toBeUndefined();
  expect(clinicRangeById(clinic(row({ id: "device" })), "device")).toBeUndefined();
});

test.each([
  ["horse", "donkey"],
  ["horse", "mule"],
  ["horse", "zebra"],
  ["cow", "buffalo"],
  ["rabbit", "hare"],
  ["exotic", "goat"],
] as const)("no row, range or limit of a %s judges a %s, and a row of its own does", (species, subgroup) => {
  const general = row({ id: "general", species });
  const signalment: Signalment = { ...dog, species, subgroup };
  const device_range = { low: 10, high: 118, text: "10-118", species };
  expect(assessed(alt(200, { device_range }), { ranges: clinic(general), signalment })).toMatchObject({
    ...{ id: null, flag: null, reference_range: null },
  });
  const own = row({ id: "own", species, subgroup });
  expect(assessed(alt(95), { ranges: clinic(general, own), signalment }).id).toBe("clinic:own");
  if (species === "exotic" || species === "cow") return;
  const limit = { id: "alt", species, analyte: "ALT", unit: "U/L", high: "100", source: "a book" };
  const ranges = { ...clinic(), limits: [{ ...limit, accepted_by: "Ada", accepted_at: "2026-01-01" }] };
  expect(assessed(alt(200), { ranges, signalment }).flag).not.toBe("critical");
  expect(assessed(alt(200), { ranges, signalment: { ...signalment, subgroup: null } }).flag).toBe("critical");
});

test("a row of all exotic animals is refused, and a stored one judges none", () => {
  expect(clinicRangeProblem(row({ species: "exotic" }))).toContain("has no subgroup, expected one of ferret");
  const signalment: Signalment = { ...dog, species: "exotic", subgroup: null };
  expect(assessed(alt(95), { ranges: clinic(row({ species: "exotic" })), signalment }).id).toBeNull();
});
