import { Type } from "typebox";
import { expect, test } from "vitest";
import { analyteByCode } from "../../../shared/clinical/analytes/analytes.ts";
import { dataFile, readData } from "../../../shared/clinical/analytes/data.ts";
import { convert } from "../../../shared/clinical/analytes/units.ts";
import { chooseInterval, intervalFields } from "../../../shared/clinical/reference.ts";
import { fold, hasBreeds, readSpecies, subgroupOf, subgroupsOf } from "../../../shared/clinical/species.ts";

// Rules over all rows of shared/data that no single row shows. The loaders check each row by itself.

const rows = readData(
  "reference-intervals.json",
  Type.Array(
    Type.Object({ ...intervalFields, source_id: Type.String(), quality: Type.String(), rank: Type.Integer() }),
  ),
);

test("of rows for the same animals and device, one comes first", () => {
  const keys = new Map<string, number[]>();
  for (const {
    species,
    subgroup,
    life_stage,
    age_min_days,
    age_max_days,
    sex,
    neutered,
    device,
    analyte,
    rank,
  } of rows) {
    const key = JSON.stringify([
      species,
      subgroup,
      life_stage,
      age_min_days,
      age_max_days,
      sex,
      neutered,
      device,
      analyte,
    ]);
    keys.set(key, [...(keys.get(key) ?? []), rank]);
  }
  const tied = [...keys].filter(([, ranks]) => new Set(ranks).size < ranks.length);
  expect(tied).toEqual([]);
});

test("each row is chosen where it is the best, or another row precedes it", () => {
  let best = 0;
  for (const row of rows) {
    const { species, subgroup = null, sex = null, neutered = null, device = null } = row;
    const ageDays = row.age_max_days ?? row.age_min_days ?? (row.life_stage === "juvenile" ? 100 : 1000);
    const animal = { species, subgroup, ageDays, sex, neutered };
    const chosen = chooseInterval(analyteByCode(row.analyte)!, animal, device, { includeLowQuality: true });
    // A caveat may leave an analyte without any interval: a greyhound's FT4.
    expect([row.id, chosen === null]).toEqual([row.id, false]);
    if (chosen?.id === row.id) best += 1;
  }
  expect(best).toBeGreaterThan(600);
});

test("each interval converts to each unit of its analyte and back", () => {
  for (const { id, analyte: code, unit, low, high } of rows) {
    const analyte = analyteByCode(code)!;
    for (const { unit: other } of analyte.units) {
      for (const bound of [Number(low), Number(high)]) {
        const there = convert(analyte, bound, unit, other);
        const back = there === null ? null : convert(analyte, there, other, unit);
        expect([id, other, back === null]).toEqual([id, other, false]);
        expect(Math.abs((back ?? 0) - bound)).toBeLessThanOrEqual(1e-9 * Math.max(1, Math.abs(bound)));
      }
    }
  }
});

test("a base excess alone has a negative bound", () => {
  const negative = rows.filter(({ low, high }) => Number(low) < 0 || Number(high) < 0);
  expect(negative.filter(({ analyte }) => analyteByCode(analyte)?.signed !== true)).toEqual([]);
  expect([...new Set(negative.map(({ analyte }) => analyte))]).toEqual(["BE"]);
});

test("each subgroup of a row is one of the species map, and birds and reptiles have rows of subgroups alone", () => {
  const strange = rows.filter(
    ({ species, subgroup }) => subgroup !== undefined && !subgroupsOf(species).includes(subgroup),
  );
  expect(strange.map(({ id }) => id)).toEqual([]);
  const general = rows.filter(({ species, subgroup }) => ["bird", "reptile", "exotic"].includes(species) && !subgroup);
  expect(general.map(({ id }) => id)).toEqual([]);
});

interface MapEntry {
  readonly device_words?: string[];
  readonly subgroups?: Record<string, string[]>;
}

test("each word of the species map is in one list, and a word of a species names no subgroup", () => {
  const { other, ...map } = JSON.parse(dataFile("species-map.json").toString("utf8")) as Record<string, MapEntry> & {
    other: Record<string, MapEntry>;
  };
  const owners = new Map<string, Set<string>>();
  for (const [species, { device_words = [], subgroups = {} }] of Object.entries({ ...map, ...other })) {
    const lists = { "": device_words, ...subgroups };
    for (const [subgroup, words] of Object.entries(lists)) {
      for (const word of words.filter((each) => !/^\d+$/.test(each))) {
        const found = owners.get(fold(word)) ?? new Set();
        owners.set(fold(word), found.add(`${species} ${subgroup}`));
        if (subgroup === "")
          expect([word, readSpecies(word), subgroupOf(species, word)]).toEqual([word, species, null]);
        else if (!hasBreeds(species)) expect([word, readSpecies(word)]).toEqual([word, species]);
      }
    }
  }
  expect([...owners].filter(([, found]) => found.size > 1)).toEqual([]);
  expect(owners.size).toBeGreaterThan(300);
});

test("each row of every other table names its source, by an id of sources.json or in words", () => {
  const files = [
    "breed-caveats",
    "biological-variation",
    "not-comparable",
    "excluded-rows",
    "possible-values",
    "loinc-names",
  ];
  const tables = files.map((file) => [file, readData(`${file}.json`, Type.Array(Sourced))] as const);
  const known = new Set(readData("sources.json", Type.Array(Type.Object({ id: Type.String() }))).map(({ id }) => id));
  for (const [file, all] of tables) {
    const bare = all.filter(({ source, source_id }) => (source_id === undefined ? !source : !known.has(source_id)));
    expect([file, bare]).toEqual([file, []]);
  }
});

const Sourced = Type.Object({ source: Type.Optional(Type.String()), source_id: Type.Optional(Type.String()) });
