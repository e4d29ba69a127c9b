import { expect, test } from "vitest";
import { analyteByCode } from "../../../shared/clinical/analytes/analytes.ts";
import { convert } from "../../../shared/clinical/analytes/units.ts";
import {
  type AcceptedLimit,
  exceptionProblem,
  exceptionsOf,
  limitProblem,
  offeredLimits,
} from "../../../shared/clinical/critical-limits.ts";
import { assess, type ClinicChoices } from "../../../shared/clinical/flag.ts";
import type { Interval } from "../../../shared/clinical/reference.ts";
import { type Signalment, signalmentAt } from "../../../shared/clinical/signalment.ts";
import { resultsOf } from "../../../shared/clinical/results.ts";
import { flagLines } from "../../../shared/platform/cli/flag-text.ts";
import { diceOf } from "../../support/runner/dice.ts";

const vet = { accepted_by: "Dr. Ada", accepted_at: "2026-11-29T05:00:00.000Z" };
const accepted: AcceptedLimit[] = offeredLimits.map(
  ({ basis: _basis, text: _text, note: _note, source_url: _url, grade: _grade, ...fields }) => ({ ...fields, ...vet }),
);

function adult(species: string, breed: string | null = null): Signalment {
  return signalmentAt({ species, breed, sex: null, date_of_birth: "2020-01-01" }, "2026-11-29T00:00:00.000Z");
}

function assessed(
  code: string,
  value: number,
  unit: string,
  given: {
    animal?: Signalment;
    limits?: readonly AcceptedLimit[];
    comparator?: "<" | ">" | null;
    device_flag?: string;
    range?: { low: number; high: number };
    interval?: Interval;
  } = {},
) {
  const { animal = adult("dog"), limits = accepted, comparator = null, device_flag = null, range, interval } = given;
  const device_range = range ? { ...range, text: `${range.low}-${range.high}`, species: animal.species } : null;
  const clinic: ClinicChoices = { limits, ...(interval ? { interval: () => interval } : {}) };
  const result = { analyte: analyteByCode(code)!, value, unit, comparator, ordinal: false, device_range, device_flag };
  return assess(result, animal, null, clinic);
}

const ids = (...wanted: string[]) => accepted.filter(({ id }) => wanted.includes(id));

test("a refuted limit and an ungraded sentence of memory are not offered, and every limit names its publication", () => {
  expect(offeredLimits.filter(({ species, analyte }) => species === "dog" && analyte === "LAC")).toEqual([]);
  expect(offeredLimits).toHaveLength(20);
  for (const { source, source_url } of offeredLimits)
    expect([source, source_url].every((text) => text !== "")).toBe(true);
});

test("a limit decides strictly beyond its bound, in the unit of the value, with every kind of interval and without one", () => {
  for (const limit of accepted) {
    const analyte = analyteByCode(limit.analyte)!;
    const animal = {
      ...adult(limit.species, limit.subgroup),
      ...(limit.age_max_days === undefined ? {} : { ageDays: limit.age_max_days }),
    };
    for (const { unit } of analyte.units) {
      for (const [bound, out] of [
        [limit.low, -1],
        [limit.high, 1],
      ] as const) {
        const at = bound === undefined ? null : convert(analyte, Number(bound), limit.unit, unit);
        if (at === null) continue;
        const without = assessed(limit.analyte, at, unit, { animal, limits: [] });
        expect(assessed(limit.analyte, at, unit, { animal, limits: [limit] })).toEqual(without);
        const beyond = assessed(limit.analyte, at * (1 + out * 1e-6), unit, { animal, limits: [limit] });
        expect(beyond).toMatchObject({ flag: "critical", limit_id: limit.id });
      }
    }
  }
});

test("a donkey has its own limit of triglycerides, a horse, a mule and an equine of unknown kind have none", () => {
  const flagOf = (breed: string | null) => assessed("TRIG", 3, "mmol/L", { animal: adult("horse", breed) }).limit_id;
  expect([flagOf("Donkey"), flagOf("Eşek")]).toEqual(["donkey-trig-lipids", "donkey-trig-lipids"]);
  expect([flagOf(null), flagOf("Katır"), flagOf("Arabian")]).toEqual([undefined, undefined, undefined]);
});

test("limits that are not accepted change nothing", () => {
  const dice = diceOf(7);
  for (let round = 0; round < 300; round++) {
    const limit = accepted[dice(accepted.length)]!;
    const value = dice(2000) / 10;
    const animal = adult(limit.species, limit.subgroup);
    const { flag, limit_id } = assessed(limit.analyte, value, limit.unit, { animal, limits: [] });
    const others = accepted.filter(({ species, analyte }) => species !== limit.species || analyte !== limit.analyte);
    expect(assessed(limit.analyte, value, limit.unit, { animal, limits: others })).toMatchObject({ flag });
    expect(limit_id).toBeUndefined();
    // More limits never make a value less than critical.
    const all = assessed(limit.analyte, value, limit.unit, { animal }).flag;
    expect(flag !== "critical" || all === "critical").toBe(true);
  }
});

test("a printed bound decides only if every value that it allows is beyond", () => {
  const limits = ids("dog-plt-vcog");
  expect(assessed("PLT", 25, "10*3/uL", { limits, comparator: "<" })).toMatchObject({ flag: "critical", reason: null });
  expect(assessed("PLT", 26, "10*3/uL", { limits, comparator: "<" }).flag).not.toBe("critical");
  expect(assessed("PLT", 10, "10*3/uL", { limits, comparator: ">" }).flag).not.toBe("critical");
});

test("a limit decides over the device's own range, and where no interval exists", () => {
  const limits = ids("dog-glu-hyperosmolar", "dog-ica-treated");
  const range = { low: 60, high: 110 };
  expect(assessed("GLU", 601, "mg/dL", { limits, range })).toEqual({
    reference_range: "60-110",
    flag: "critical",
    interval_id: "device",
    reason: null,
    limit_id: "dog-glu-hyperosmolar",
  });
  expect(assessed("ICA", 0.9, "mmol/L", { limits })).toMatchObject({
    reference_range: null,
    flag: "critical",
    reason: { code: "INTERVAL.NONE" },
    limit_id: "dog-ica-treated",
  });
  expect(assessed("ICA", 1.2, "mmol/L", { limits }).flag).toBeNull();
});

test("the critical bound of the clinic's own interval precedes an accepted limit", () => {
  const own: Interval = {
    ...{ id: "clinic:plt", low: 150, high: 500, critical_low: 10, critical_high: null, unit: "10*3/uL" },
    ...{ source_id: "clinic", quality: null, text: "150-500" },
  };
  const limits = ids("dog-plt-vcog");
  expect(assessed("PLT", 15, "10*3/uL", { limits, interval: own }).flag).toBe("low");
  expect(assessed("PLT", 15, "10*3/uL", { limits, interval: { ...own, critical_low: null } }).flag).toBe("critical");
});

test("of two limits for one animal that which a value passes first decides, and a foal has a limit of its own", () => {
  const both = ids("dog-plt-vcog", "dog-plt-bleeding");
  expect(assessed("PLT", 22, "10*3/uL", { limits: both }).limit_id).toBe("dog-plt-vcog");
  const lactate = ids("horse-lac-colic", "foal-lac-survival");
  const at = (ageDays: number | null) =>
    assessed("LAC", 6, "mmol/L", { limits: lactate, animal: { ...adult("horse"), ageDays } }).limit_id;
  expect([at(10), at(30), at(31), at(null)]).toEqual([undefined, undefined, "horse-lac-colic", "horse-lac-colic"]);
  expect(assessed("LAC", 7, "mmol/L", { limits: lactate, animal: { ...adult("horse"), ageDays: 10 } }).limit_id).toBe(
    "foal-lac-survival",
  );
});

test("no limit applies to the platelets of a Cavalier, or to clumped platelets", () => {
  const limits = ids("dog-plt-vcog", "cat-plt-vcog");
  const cavalier = adult("dog", "Cavalier King Charles Spaniel");
  expect(assessed("PLT", 22, "10*3/uL", { limits, animal: cavalier })).toMatchObject({
    flag: "low",
    reason: { code: "BREED.REMARK", values: ["large_platelets"] },
  });
  const clumped = assessed("PLT", 22, "10*3/uL", { limits, animal: adult("cat"), device_flag: "PLT Clumps?" });
  expect(clumped).toMatchObject({ flag: "low", reason: { code: "LIMIT.EXCEPTED", values: ["clumped_platelets"] } });
});

test("no limit applies to potassium of a hemolysed sample or of an Akita, or to the hematocrit of a puppy", () => {
  const limits = ids("cat-k-obstruction");
  for (const device_flag of ["HEM", "hemolyzed", "H haemolysed"]) {
    const { flag, reason } = assessed("K", 9, "mmol/L", { limits, animal: adult("cat"), device_flag });
    expect([flag, reason]).toEqual(["high", { code: "LIMIT.EXCEPTED", values: ["hemolysed_potassium"] }]);
  }
  expect(assessed("K", 9, "mmol/L", { limits, animal: adult("cat") }).flag).toBe("critical");
  const dogs = limits.map((limit) => ({ ...limit, species: "dog" as const }));
  const akita = assessed("K", 9, "mmol/L", { limits: dogs, animal: adult("dog", "Akita") });
  expect(akita).toMatchObject({ flag: "high", reason: { code: "BREED.REMARK" } });
  const hct: AcceptedLimit = { id: "hct", species: "dog", analyte: "HCT", unit: "%", low: "15", source: "own", ...vet };
  const puppy = { ...adult("dog"), ageDays: 30 };
  expect(assessed("HCT", 14, "%", { limits: [hct], animal: puppy }).flag).toBeNull();
  expect(assessed("HCT", 14, "%", { limits: [hct] }).flag).toBe("critical");
  expect(exceptionsOf(hct).map(({ id }) => id)).toEqual(["young_red_cells"]);
});

test("a row of the data with an unknown analyte, unit, breed or condition is refused with its fault", () => {
  const [limit] = accepted;
  const faults = [
    { analyte: "XYZ" },
    { analyte: "UGLU" },
    { unit: "mmol/L" },
    { low: undefined, high: undefined },
    { low: "5", high: "4" },
    { age_min_days: 40, age_max_days: 30 },
    { subgroup: "donkey" },
  ].map((changes) => limitProblem({ ...limit!, ...changes } as AcceptedLimit));
  expect(faults).toEqual([
    "is of XYZ, expected a numeric analyte of the catalogue",
    "is of UGLU, expected a numeric analyte of the catalogue",
    "has the unit mmol/L, expected a unit of NEU",
    "has neither a low nor a high",
    "has the low 5, not below the high",
    "ends before the age at which it starts",
    "has the subgroup donkey, which species-map.json lacks",
  ]);
  const exception = { id: "leaking_potassium", species: ["dog"], analyte: "K", source: "x" } as const;
  const problem = (changes: object) => exceptionProblem({ ...exception, species: ["dog"], ...changes });
  expect([problem({ breeds: ["akita"] }), problem({ breeds: ["akitta"] }), problem({})]).toEqual([
    null,
    "has the breed akitta, which species-map.json lacks",
    "expected one of breeds, age_below_days and sample",
  ]);
});

test("the explanation of a flag names the limit, who accepted it, when and its source", () => {
  const ranges = { version: "v1", low_quality: false, rows: [], limits: ids("dog-plt-vcog") };
  const sent = { comparator: null, ordinal: false, device_range: null, device_flag: null };
  const platelets = { code: "PLT", value: 22, text: "22", unit: "10*3/uL", ...sent };
  const acquired_at = "2026-11-29T06:00:00.000Z";
  const { results, snapshot } = resultsOf([platelets], {
    signalment: adult("dog"),
    instrument: null,
    acquired_at,
    ranges,
  });
  expect(snapshot.rows[0]).toMatchObject({ limit_id: "dog-plt-vcog" });
  const [, line] = flagLines({ results, acquired_at }, snapshot, ranges);
  expect(line).toContain("; a published interval for the dog, since neither clinic nor device has one that applies");
  expect(line).toMatch(
    /critical by the limit 25\.\. 10\*9\/L that Dr\. Ada accepted at 2026-11-29T05:00:00\.000Z \(VCOG-CTCAE/,
  );
});
