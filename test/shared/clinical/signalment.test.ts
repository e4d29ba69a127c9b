import { expect, test } from "vitest";
import { signalmentAt } from "../../../shared/clinical/signalment.ts";

const rex = { species: "dog", breed: null, sex: "Male (neutered)", date_of_birth: "2024-02-29" };

test("the age of a patient is that at the time of the sample", () => {
  expect(signalmentAt(rex, "2025-02-28T23:59:59.999Z")).toEqual({
    species: "dog",
    subgroup: null,
    ageDays: 365,
    sex: "M",
    neutered: true,
  });
  expect(signalmentAt(rex, "2025-03-01T00:00:00.000Z").ageDays).toBe(366);
  expect(signalmentAt(rex, "2024-02-29T12:00:00.000Z").ageDays).toBe(0);
});

test("a date of birth of today in Istanbul is valid, and one in the future or on no day is null", () => {
  expect(signalmentAt(rex, "2024-02-28T21:30:00.000Z").ageDays).toBe(0);
  expect(signalmentAt(rex, "2024-02-27T21:30:00.000Z").ageDays).toBeNull();
  expect(signalmentAt(rex, "yesterday").ageDays).toBeNull();
  for (const date_of_birth of ["2023-02-30", "2023-13-01", "3Y", "", null]) {
    expect(signalmentAt({ ...rex, date_of_birth }, "2025-01-01T00:00:00.000Z").ageDays).toBeNull();
  }
});

function sexOf(sex: string | null): "M" | "F" | null {
  return signalmentAt({ ...rex, sex }, "2025-01-01T00:00:00.000Z").sex;
}

test("a clinic's words for the sex are read, and ambiguous words are null", () => {
  for (const sex of ["M", "male", "MN", "Neutered male", "ERKEK", "NM"]) expect([sex, sexOf(sex)]).toEqual([sex, "M"]);
  for (const sex of ["F", "Female", "FS", "DİŞİ", "spayed female"]) expect([sex, sexOf(sex)]).toEqual([sex, "F"]);
  for (const sex of [null, "", "neutered", "unknown", "M/F"]) expect([sex, sexOf(sex)]).toEqual([sex, null]);
});

test("the breed gives the subgroup", () => {
  expect(signalmentAt({ ...rex, species: "cat", breed: "Maine Coon" }, "2025-01-01T00:00:00.000Z").subgroup).toBe(
    "maine_coon",
  );
});
