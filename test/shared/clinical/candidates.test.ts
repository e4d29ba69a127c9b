import { describe, expect, test } from "vitest";
import { type MatchEvidence, rankCandidates } from "../../../shared/clinical/candidates.ts";
import type { Patient } from "../../../shared/api/patient.ts";
import type { PatientHint } from "../../../shared/api/study.ts";
import { patient, published } from "../../server/harness.ts";

const nothing: PatientHint = {
  identifier: null,
  name: null,
  species: null,
  breed: null,
  sex: null,
  owner: null,
  date_of_birth: null,
  weight_kg: null,
};

function known(changes: Partial<Patient>, more: Partial<MatchEvidence> = {}): MatchEvidence {
  const bare = { sex: null, weight_kg: null, date_of_birth: null };
  return {
    patient: published(patient({ ...bare, ...changes })),
    precise: null,
    identifiers: [],
    appointed: false,
    owners: [],
    ...more,
  };
}

function ranked(hint: Partial<PatientHint>, ...all: MatchEvidence[]): [string, readonly string[]][] {
  return rankCandidates({ ...nothing, ...hint }, all, 5).map((each) => [each.patient.name, each.reasons]);
}

describe("a candidate has a similar name or number, or an event that day", () => {
  test.each([
    ["Karabaş", "Karabas"],
    ["KARABAS", "Karabaş"],
    ["Zeytin", "Zeytn"],
    ["Zeytin", "Zyetin"],
    ["Boncuk", "Boncuk 2"],
  ])("the patient %s is a candidate for %s", (name, said) => {
    expect(ranked({ name: said }, known({ name }))).toHaveLength(1);
  });

  test.each([
    ["Zeytin", "Karabaş"],
    ["Max", "Rex"],
    ["Zeytin", ""],
  ])("the patient %s is not a candidate for %j", (name, said) => {
    expect(
      ranked({ name: said, species: "dog", sex: "M", weight_kg: 12 }, known({ name, sex: "M", weight_kg: 12 })),
    ).toEqual([]);
  });

  test("a number with one typing error makes a candidate, and so does an event", () => {
    const identifiers = ["10021", "792090000124031"];
    expect(ranked({ identifier: "10201" }, known({ name: "One" }, { identifiers }))).toEqual([
      ["One", ["its number is 10021"]],
    ]);
    expect(ranked({ identifier: "792090000124031" }, known({ name: "One" }, { identifiers }))).toEqual([
      ["One", ["has the number 792090000124031"]],
    ]);
    expect(ranked({ identifier: "10999" }, known({ name: "One" }, { identifiers }))).toEqual([]);
    expect(ranked({}, known({ name: "One" }, { appointed: true }))).toEqual([["One", ["has an event that day"]]]);
  });
});

test("species, owner, date of birth, sex and weight rank namesakes, and contradictions are among the reasons", () => {
  const dog = known(
    { name: "Fındık", species: "dog", sex: "male", weight_kg: 10, date_of_birth: "2020-01-01" },
    { owners: ["Yılmaz"] },
  );
  const cat = known({ name: "Fındık", species: "cat", sex: "female", weight_kg: 4, date_of_birth: "2021-01-01" });
  const hint = {
    name: "Findik",
    species: "Canine",
    sex: "M",
    weight_kg: 10.8,
    owner: "YILMAZ",
    date_of_birth: "2020-01-01",
  };
  expect(ranked(hint, cat, dog)).toEqual([
    [
      "Fındık",
      [
        "is called Fındık",
        "is a dog",
        "earlier results name the owner YILMAZ",
        "was born on 2020-01-01",
        "is male",
        "weighs 10 kg",
      ],
    ],
    [
      "Fındık",
      [
        "is called Fındık",
        "is a cat, the device says dog",
        "was born on 2021-01-01, the device says 2020-01-01",
        "is female, the device says M",
        "weighs 4 kg, the device says 10.8",
      ],
    ],
  ]);
});

test("candidates are ranked, limited in number, and stable among equals", () => {
  const all = Array.from({ length: 10 }, (_, index) => known({ name: index === 7 ? "Zeytin" : "Zeytim" }));
  const hint = { ...nothing, name: "Zeytin" };
  const first = rankCandidates(hint, all, 3);
  expect(first.map(({ patient: { name } }) => name)).toEqual(["Zeytin", "Zeytim", "Zeytim"]);
  expect(rankCandidates(hint, all.toReversed(), 3)).toEqual(first);
});
