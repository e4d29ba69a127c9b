import { type Static, Type } from "typebox";
import { type Analyte, analyteByCode } from "./analytes/analytes.ts";
import { readData } from "./analytes/data.ts";
import { type ReasonOf, reasonOf } from "../api/reason.ts";
import type { Signalment } from "./signalment.ts";
import { subgroupsOf } from "./species.ts";

// Breeds and ages whose values differ from those of their species, so that a general interval misleads: data/breed-caveats.json.

const Caveat = Type.Object({
  id: Type.String({ minLength: 1 }),
  species: Type.Enum(["dog", "cat"]),
  /** Subgroups of species-map.json. */
  breeds: Type.Optional(Type.Array(Type.String(), { minItems: 1 })),
  /** Age in days, from which the caveat no longer applies. */
  age_below_days: Type.Optional(Type.Integer({ minimum: 1 })),
  analytes: Type.Array(Type.String(), { minItems: 1 }),
  /**
   * no_general_interval: only an interval of the breed, or of the age, applies. not_critical: no value is critical. remark: the
   * interval stays. The last two show the words of `remark`.
   */
  action: Type.Enum(["no_general_interval", "not_critical", "remark"]),
  remark: Type.Optional(Type.Enum(["large_platelets", "leaking_potassium", "small_red_cells", "other_thyroid_values"])),
  text: Type.String({ minLength: 1 }),
  source: Type.String({ minLength: 1 }),
});
export type Caveat = Static<typeof Caveat>;

const caveats = readData("breed-caveats.json", Type.Array(Caveat));
for (const caveat of caveats) {
  const problem = problemOf(caveat);
  if (problem !== null) throw new Error(`shared/data/breed-caveats.json: ${caveat.id} ${problem}`);
}

/** Returns the caveats of an analyte for a patient. A cross has those of every breed that it names. */
export function caveatsOf(analyte: Analyte, signalment: Signalment): Caveat[] {
  const { species, ageDays } = signalment;
  const names = breedsOf(signalment);
  return caveats.filter(
    (caveat) =>
      caveat.species === species &&
      caveat.analytes.includes(analyte.code) &&
      (caveat.breeds === undefined || caveat.breeds.some((breed) => names.includes(breed))) &&
      (caveat.age_below_days === undefined || (ageDays !== null && ageDays < caveat.age_below_days)),
  );
}

/** Whether the caveats leave an interval: a general one needs to be of the breed, or of a young age. */
export function permits(
  found: readonly Caveat[],
  row: { readonly subgroup: string | null; readonly ageMax: number | null; readonly stage: string | null },
): boolean {
  return found.every(
    ({ action, breeds }) =>
      action !== "no_general_interval" ||
      (breeds === undefined ? row.ageMax !== null || row.stage === "juvenile" : row.subgroup !== null),
  );
}

/** Returns the reason of a missing interval if a caveat excluded the general one, otherwise null. */
export function exclusion(
  { code }: Analyte,
  signalment: Signalment,
  found: readonly Caveat[],
): ReasonOf<"INTERVAL.NOT_FOR_BREED" | "INTERVAL.NOT_FOR_AGE"> | null {
  const caveat = found.find(({ action }) => action === "no_general_interval");
  if (caveat === undefined) return null;
  const breed = caveat.breeds?.find((each) => breedsOf(signalment).includes(each))?.replaceAll("_", " ");
  return breed === undefined
    ? reasonOf("INTERVAL.NOT_FOR_AGE", code, String(signalment.ageDays), caveat.source)
    : reasonOf("INTERVAL.NOT_FOR_BREED", code, breed, caveat.source);
}

function breedsOf({ subgroup, crossOf = [] }: Signalment): readonly string[] {
  return subgroup === null ? crossOf : [subgroup];
}

function problemOf({ species, breeds = [], age_below_days, analytes, action, remark }: Caveat): string | null {
  const unknown = breeds.find((breed) => !subgroupsOf(species).includes(breed));
  if (unknown !== undefined) return `has the breed ${unknown}, which species-map.json lacks`;
  if ((breeds.length === 0) === (age_below_days === undefined)) return "has breeds and an age, or neither";
  if ((action === "no_general_interval") !== (remark === undefined)) return `has a wrong remark for ${action}`;
  const missing = analytes.find((code) => analyteByCode(code)?.value_type !== "numeric");
  return missing === undefined ? null : `is of ${missing}, which has no interval`;
}
