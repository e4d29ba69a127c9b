import * as fc from "fast-check";
import { expect, test } from "vitest";
import { analyteByCode } from "../../../shared/clinical/analytes/analytes.ts";
import { readData } from "../../../shared/clinical/analytes/data.ts";
import { type ClinicRange, clinicRangeById, intervalsInForce } from "../../../shared/clinical/clinic-ranges.ts";
import { assess } from "../../../shared/clinical/flag.ts";
import { animalWord } from "../../../shared/clinical/passport/animal-words.ts";
import { whyContext, whyRow, type WhyCode } from "../../../shared/clinical/passport/why-interval.ts";
import { whyText } from "../../../shared/clinical/passport/why-words.ts";
import { catalogueVersion, publishedRow } from "../../../shared/clinical/reference.ts";
import { signalmentAt } from "../../../shared/clinical/signalment.ts";
import { subgroupsOf } from "../../../shared/clinical/species.ts";
import { Type } from "typebox";

// The reason of an interval is read from the row that decided the flag, and from the animal of the flag.

const AT = "2026-06-01T00:00:00.000Z";

interface Animal {
  readonly species?: string;
  readonly breed?: string | null;
  readonly sex?: string | null;
  readonly born?: string | null;
  readonly device?: string;
  readonly rows?: readonly Partial<ClinicRange>[];
  readonly isSameCatalogue?: boolean;
}

/** Flags a value, and says why its interval applies. */
function why(code: string, given: Animal) {
  const { species = "dog", breed = null, sex = null, born = null, device = "Tester", rows = [] } = given;
  const analyte = analyteByCode(code);
  if (analyte === undefined) throw new Error(`no analyte ${code}`);
  const unit = analyte.canonical_unit ?? "";
  const animal = { species, breed, sex, date_of_birth: born } as const;
  const about = { species: "dog", analyte: code, low: "1", high: "2", effective_from: "2026-01-01" } as const;
  const ranges = {
    ...{ version: "v1", low_quality: false },
    rows: rows.map((row, index): ClinicRange => ({ ...about, id: `row-${index}`, unit, ...row })),
  };
  const sent = { value: 5, unit, comparator: null, ordinal: false, device_flag: null };
  const { interval_id: id } = assess({ analyte, ...sent, device_range: null }, signalmentAt(animal, AT), device, {
    interval: intervalsInForce(ranges, AT),
  });
  if (id === null) return null;
  const context = whyContext({ animal, catalogue: given.isSameCatalogue === false ? "earlier" : catalogueVersion }, AT);
  const own = clinicRangeById(ranges, id);
  const row = own ?? publishedRow(id)?.row;
  if (row == null) throw new Error(`no row ${id}`);
  const reasons = whyRow(own === undefined ? "catalogue" : "clinic", row, context);
  return { id, row, codes: reasons.map((reason) => [reason.code, ...reason.values].join(" ")), reasons };
}

const adult = "2020-01-01";

test.each<[string, string, Animal, string[]]>([
  ["a greyhound", "HCT", { breed: "Greyhound", born: adult }, ["CATALOGUE.ROW dog", "BREED.OWN greyhound dog"]],
  [
    "an English greyhound of a Turkish clinic",
    "HCT",
    { breed: "İngiliz Tazısı" },
    [...["CATALOGUE.ROW dog", "BREED.OWN greyhound dog", "AGE.UNKNOWN"]],
  ],
  [
    "a Maine Coon",
    "WBC",
    { species: "cat", breed: "Main Coon", born: adult },
    [...["CATALOGUE.ROW cat", "BREED.OWN maine_coon cat", "AGE.ADULT"]],
  ],
  [
    "a greyhound without a row",
    "ALT",
    { breed: "Greyhound", born: adult },
    [...["CATALOGUE.ROW dog", "BREED.NO_ROW greyhound dog"]],
  ],
  ["another breed", "HCT", { breed: "Kangal", born: adult }, ["CATALOGUE.ROW dog", "BREED.NO_GROUP Kangal"]],
  [
    "a cross",
    "ALT",
    { breed: "Greyhound x Whippet", born: adult },
    [...["CATALOGUE.ROW dog", "BREED.CROSS greyhound whippet"]],
  ],
  ["a dog without a breed", "HCT", { born: adult }, ["CATALOGUE.ROW dog", "BREED.UNSTATED"]],
  [
    "a cow, whose breeds share one interval",
    "ALB",
    { species: "cow", breed: "Jersey", born: adult },
    ["CATALOGUE.ROW cow"],
  ],
  [
    "a puppy with a row of its age",
    "SDMA",
    { born: "2026-03-01" },
    ["CATALOGUE.ROW dog", "BREED.UNSTATED", "AGE.YOUNG"],
  ],
  ["a puppy without one", "WBC", { born: "2026-03-01" }, ["CATALOGUE.ROW dog", "BREED.UNSTATED", "AGE.NO_ROW 92"]],
  ["a dog of unknown age", "SDMA", {}, ["CATALOGUE.ROW dog", "BREED.UNSTATED", "AGE.ADULT", "AGE.UNKNOWN"]],
  ["the clinic's row", "ALT", { rows: [{}], born: adult }, ["CLINIC.ROW", "BREED.UNSTATED"]],
  [
    "the clinic's general row of a breed that has a published one",
    "HCT",
    { rows: [{}], breed: "Greyhound", born: adult },
    ["CLINIC.ROW", "BREED.NO_CLINIC_ROW greyhound dog"],
  ],
  [
    "the clinic's row of all ages for a puppy that has a published one",
    "SDMA",
    { rows: [{}], born: "2026-03-01" },
    ["CLINIC.ROW", "BREED.UNSTATED", "AGE.NO_CLINIC_ROW 92"],
  ],
  [
    "the clinic's row of sighthounds",
    "ALT",
    { rows: [{}, { subgroup: "sighthound" }], breed: "Whippet", born: adult },
    [...["CLINIC.ROW", "BREED.GROUP sighthound whippet"]],
  ],
  [
    "the clinic's row of a sex, an age and a device",
    "ALT",
    {
      rows: [{ sex: "M", neutered: true, age_max_days: 400, device: "VS2" }, {}],
      ...{ sex: "male_neutered", born: "2026-01-01", device: "VetScan VS2" },
    },
    ["CLINIC.ROW", "BREED.UNSTATED", "AGE.OWN  400", "SEX.OWN M", "SEX.NEUTERED", "DEVICE.OWN VS2"],
  ],
])("%s: %s", (_, code, animal, codes) => {
  expect(why(code, animal)?.codes).toEqual(codes);
});

test("a choice of another catalogue says so, and nothing about rows or breeds that it may have lacked", () => {
  expect(why("ALT", { breed: "Golden", born: adult, isSameCatalogue: false })?.codes).toEqual([
    ...["CATALOGUE.ROW dog", "BREED.OWN golden_retriever dog", "CATALOGUE.OTHER"],
  ]);
  expect(why("WBC", { breed: "Golden", born: adult, isSameCatalogue: false })?.codes).toEqual([
    ...["CATALOGUE.ROW dog", "CATALOGUE.OTHER"],
  ]);
});

test("a sender that names no animal leaves the conditions of the row", () => {
  const row = why("HCT", { breed: "Greyhound", born: adult })?.row;
  if (row === undefined) throw new Error("no row");
  const reasons = whyRow("catalogue", row, whyContext({ catalogue: catalogueVersion }, AT));
  expect(reasons.map(({ code }) => code)).toEqual(["CATALOGUE.ROW", "BREED.OWN"]);
});

const species = ["dog", "cat", "rabbit", "bird", "reptile", "exotic", "horse", "cow"];
const rowsOfData = readData(
  "reference-intervals.json",
  Type.Array(Type.Object({ analyte: Type.String(), unit: Type.String() })),
);

test("a reason names a species, breed, age or sex only if the animal has it", () => {
  const animals = fc.record({
    of: fc.constantFrom(...species).chain((name) => {
      const breeds = ["Kangal", "melez", ...subgroupsOf(name).map((each) => each.replaceAll("_", " "))];
      return fc.record({ name: fc.constant(name), breed: fc.option(fc.constantFrom(...breeds)) });
    }),
    sex: fc.constantFrom(null, "male", "female", "male_neutered", "female_spayed"),
    days: fc.option(fc.integer({ min: 0, max: 6000 })),
    row: fc.constantFrom(...rowsOfData),
  });
  let chosen = 0;
  fc.assert(
    fc.property(animals, ({ of: { name, breed }, sex, days, row }) => {
      const born = days === null ? null : new Date(Date.parse(AT) - days * 86_400_000).toISOString().slice(0, 10);
      const found = why(row.analyte, { species: name, breed, sex, born });
      if (found === null) return;
      chosen += 1;
      const has = (code: WhyCode) => found.reasons.find((reason) => reason.code === code)?.values;
      const [breedOfRow] = has("BREED.OWN") ?? [];
      const [sexOfRow] = has("SEX.OWN") ?? [];
      const wrong = [
        has("CATALOGUE.ROW")?.[0] !== name,
        breedOfRow !== undefined && breedOfRow.replaceAll("_", " ") !== breed,
        has("AGE.YOUNG") !== undefined && !(days !== null && days < 366),
        has("AGE.ADULT") !== undefined && !(days === null || days >= 366),
        sexOfRow !== undefined && sex?.startsWith(sexOfRow === "F" ? "female" : "male") !== true,
      ];
      expect(wrong).toEqual(wrong.map(() => false));
    }),
    { numRuns: 400 },
  );
  expect(chosen).toBeGreaterThan(80);
});

test("every species and subgroup of the catalogue has a name in both languages", () => {
  for (const name of species.flatMap((each) => [each, ...subgroupsOf(each)])) {
    expect([name, animalWord(name, "en")]).not.toEqual([name, expect.stringContaining("_")]);
    expect(animalWord(name, "tr")).not.toMatch(/_|hound$|\b(parrot|tortoise|cat|dog|bird|dragon)\b/i);
  }
  expect(animalWord("later_breed", "tr")).toBe("later breed");
});

test("the reasons are sentences of both languages", () => {
  const reasons = why("SDMA", { species: "dog", breed: "Whippet", born: "2026-03-01" })?.reasons ?? [];
  expect(whyText(reasons, "en")).toBe(
    "a published interval for the dog, since neither clinic nor device has one that applies; " +
      "no interval for the breed Whippet applies here, so the general one does; for animals under one year",
  );
  expect(whyText(reasons, "tr")).toBe(
    "yayımlanmış aralık (köpek), çünkü ne kliniğin ne cihazın bu hayvana uyan aralığı var; " +
      "Whippet ırkı için burada geçerli aralık yok, genel aralık geçerli; bir yaşından küçükler için",
  );
  expect(whyText([{ code: "LATER.CODE", values: ["1"] }], "tr")).toBe("LATER.CODE 1");
});
