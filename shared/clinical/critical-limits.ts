import { type Static, Type } from "typebox";
import { type Analyte, analyteByCode } from "./analytes/analytes.ts";
import { readData } from "./analytes/data.ts";
import { convert, factorOf } from "./analytes/units.ts";
import { textForm } from "../schema/text-form.ts";
import type { Signalment } from "./signalment.ts";
import { hasBreeds, subgroupsOf } from "./species.ts";

// Critical limits. No list of a veterinary laboratory is published, so that none applies before a vet of the clinic accepts it by name.

const Bound = Type.String({ pattern: textForm("^-?\\d+(\\.\\d+)?$", "a number with a decimal point such as 6.0") });

/** A value strictly below `low` or above `high` is critical. An absent age matches every age. */
const limitFields = {
  id: Type.String({ minLength: 1, maxLength: 64 }),
  species: Type.Enum(["dog", "cat", "rabbit", "horse"]),
  /** A subgroup of species-map.json. Absent: all animals of the species, without those of its subgroups that are not breeds. */
  subgroup: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  age_min_days: Type.Optional(Type.Integer({ minimum: 0 })),
  age_max_days: Type.Optional(Type.Integer({ minimum: 0 })),
  analyte: Type.String(),
  unit: Type.String(),
  low: Type.Optional(Bound),
  high: Type.Optional(Bound),
  /** The publication. */
  source: Type.String({ minLength: 1, maxLength: 300 }),
};

/** A limit as the clinic accepted it. It keeps its bounds, whatever a later catalogue offers. */
export const AcceptedLimit = Type.Object(
  {
    ...limitFields,
    /** The vet who accepted it. */
    accepted_by: Type.String({ minLength: 1, maxLength: 100 }),
    accepted_at: Type.String(),
  },
  { additionalProperties: false },
);
export type AcceptedLimit = Static<typeof AcceptedLimit>;

const OfferedLimit = Type.Object({
  ...limitFields,
  /** The subject of the publication; the page has its words. */
  basis: Type.Enum([
    ...([
      "vcog_4",
      "bleeding",
      "iris_5",
      "obstruction",
      "hyperosmolar",
      "treated",
      "rule_of_20",
      "extreme_crp",
    ] as const),
    ...(["rabbit_survival", "rabbit_stress", "colic", "foal_survival", "donkey_lipids"] as const),
  ]),
  text: Type.String({ minLength: 1 }),
  source_url: Type.String({ pattern: "^https?://" }),
  /** Absent: nobody graded the publication. */
  grade: Type.Optional(Type.Enum(["A", "B", "C"])),
  note: Type.Optional(Type.String()),
});
export type OfferedLimit = Static<typeof OfferedLimit>;

/** Animals and samples in which no accepted limit of an analyte applies. */
const LimitException = Type.Object({
  id: Type.Enum([
    ...(["cavalier_platelets", "clumped_platelets", "young_red_cells"] as const),
    ...(["leaking_potassium", "hemolysed_potassium"] as const),
  ]),
  species: Type.Array(limitFields.species, { minItems: 1 }),
  analyte: Type.String(),
  /** Subgroups of species-map.json. */
  breeds: Type.Optional(Type.Array(Type.String(), { minItems: 1 })),
  /** Age in days, from which limits apply. */
  age_below_days: Type.Optional(Type.Integer({ minimum: 1 })),
  /** The condition of the sample that the device names. */
  sample: Type.Optional(Type.Enum(["clumped", "hemolysed"])),
  source: Type.String({ minLength: 1 }),
});
export type LimitException = Static<typeof LimitException>;

const FILE = "critical-limits.json";
const data = readData(FILE, Type.Object({ limits: Type.Array(OfferedLimit), exceptions: Type.Array(LimitException) }));
const ids = new Set<string>();
for (const limit of data.limits) check(limit.id, limitProblem(limit));
for (const exception of data.exceptions) check(exception.id, exceptionProblem(exception));

/** The published limits that a clinic may accept. */
export const offeredLimits: readonly OfferedLimit[] = data.limits;

/** Returns the exceptions that hold for a limit, in some animals or samples. */
export function exceptionsOf({ species, analyte }: Pick<AcceptedLimit, "species" | "analyte">): LimitException[] {
  return data.exceptions.filter((each) => each.analyte === analyte && each.species.includes(species));
}

/** Checks a row beyond its schema. @returns the problem, or null */
export function limitProblem(row: Pick<AcceptedLimit, keyof typeof limitFields>): string | null {
  const analyte = analyteByCode(row.analyte);
  if (analyte?.value_type !== "numeric") return `is of ${row.analyte}, expected a numeric analyte of the catalogue`;
  if (factorOf(analyte, row.unit) === null) return `has the unit ${row.unit}, expected a unit of ${row.analyte}`;
  if (row.subgroup !== undefined && !subgroupsOf(row.species).includes(row.subgroup)) {
    return `has the subgroup ${row.subgroup}, which species-map.json lacks`;
  }
  if (row.low === undefined && row.high === undefined) return "has neither a low nor a high";
  if (Number(row.low ?? -Infinity) >= Number(row.high ?? Infinity)) return `has the low ${row.low}, not below the high`;
  return (row.age_min_days ?? 0) > (row.age_max_days ?? Infinity) ? "ends before the age at which it starts" : null;
}

/** Checks an exception beyond its schema. @returns the problem, or null */
export function exceptionProblem({ species, analyte, breeds, age_below_days, sample }: LimitException): string | null {
  if (analyteByCode(analyte)?.value_type !== "numeric") return `is of ${analyte}, expected a numeric analyte`;
  const strange = breeds?.find((breed) => species.every((each) => !subgroupsOf(each).includes(breed)));
  if (strange !== undefined) return `has the breed ${strange}, which species-map.json lacks`;
  const conditions = [breeds, age_below_days, sample].filter((each) => each !== undefined);
  return conditions.length === 1 ? null : "expected one of breeds, age_below_days and sample";
}

function check(id: string, problem: string | null): void {
  const found = ids.has(id) ? "is duplicate" : problem;
  if (found !== null) throw new Error(`shared/data/${FILE}: ${id} ${found}`);
  ids.add(id);
}

/** Conditions of a sample that a device names: words of its flag, such as `HEM` or `PLT clump`. */
const samples: Record<NonNullable<LimitException["sample"]>, RegExp> = {
  clumped: /clump|aggregat/i,
  hemolysed: /h(a?e|ä)?moly[sz]|\bHEM\b/i,
};

/** The facts of a result on which a limit depends. */
interface LimitedResult {
  readonly analyte: Analyte;
  readonly unit: string;
  readonly device_flag: string | null;
}

/**
 * Finds the accepted limit that a value is beyond, whatever interval it has. `isBeyond` compares in the unit of the value. Of several
 * limits on one side that decides which comes first on the way out of the interval.
 */
export function crossedLimit(
  limits: readonly AcceptedLimit[],
  { analyte, unit }: Pick<LimitedResult, "analyte" | "unit">,
  signalment: Signalment,
  isBeyond: (side: "low" | "high", bound: number) => boolean,
): AcceptedLimit | null {
  const own = limits.filter((limit) => limit.analyte === analyte.code && isFor(limit, signalment));
  for (const side of ["low", "high"] as const) {
    const [first] = own
      .flatMap((limit) => {
        const bound = limit[side] === undefined ? null : convert(analyte, Number(limit[side]), limit.unit, unit);
        return bound === null ? [] : [{ limit, bound }];
      })
      .toSorted((one, other) => (side === "low" ? other.bound - one.bound : one.bound - other.bound));
    if (first !== undefined && isBeyond(side, first.bound)) return first.limit;
  }
  return null;
}

/** Returns the exception that keeps limits of an analyte away from an animal or a sample, otherwise null. */
export function exceptionOf(
  { analyte, device_flag }: Pick<LimitedResult, "analyte" | "device_flag">,
  { species, subgroup, crossOf = [], ageDays }: Signalment,
): LimitException | null {
  const ofBreeds = subgroup === null ? crossOf : [subgroup];
  const found = data.exceptions.find(
    (each) =>
      each.analyte === analyte.code &&
      each.species.some((one) => one === species) &&
      (each.breeds === undefined || each.breeds.some((breed) => ofBreeds.includes(breed))) &&
      (each.age_below_days === undefined || (ageDays !== null && ageDays < each.age_below_days)) &&
      (each.sample === undefined || samples[each.sample].test(device_flag ?? "")),
  );
  return found ?? null;
}

/** An animal of unknown age counts as an adult. */
function isFor(limit: AcceptedLimit, patient: Signalment): boolean {
  const { species, subgroup, age_min_days: from = 0, age_max_days: to } = limit;
  if (species !== patient.species) return false;
  const isOfKind =
    subgroup === undefined ? patient.subgroup === null || hasBreeds(species) : patient.subgroup === subgroup;
  if (!isOfKind) return false;
  if (patient.ageDays === null) return to === undefined;
  return from <= patient.ageDays && patient.ageDays <= (to ?? Infinity);
}
