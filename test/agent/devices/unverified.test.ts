import { expect, test } from "vitest";
import { reportOf, rowsOf } from "./fixture.ts";

// Devices known by other programs' parsers only.

test("a Seamaty value may be in OBX-7, and the species in PID-10", () => {
  const report = reportOf("seamaty-smt/panel");
  expect(rowsOf(report)).toEqual([
    ["Crea", 88, expect.any(String)],
    ["CHE", 2300, "U/L"],
  ]);
  expect(report.rows.map(({ device_range }) => device_range?.text)).toEqual(["27-124", undefined]);
  expect(report.patient_hint).toMatchObject({
    name: "Zeytin",
    owner: "Aydin",
    species: "Dog",
    date_of_birth: "2019-05-04",
  });
});

test("a Celercare has species, animal and owner in PID-5 to PID-7", () => {
  const report = reportOf("celercare/panel");
  expect(rowsOf(report)).toEqual([
    ["ALB", 31, "g/L"],
    ["ALT", 61, "U/L"],
  ]);
  expect(report.patient_hint).toEqual({
    identifier: "4711",
    name: "Zeytin",
    species: "Canine",
    breed: null,
    sex: "F",
    owner: "Aydin",
    date_of_birth: "2019-05-04",
    weight_kg: null,
  });
});

test("a Genrui has its patient in PID-4 to PID-6", () => {
  const report = reportOf("genrui-vh30/blood-count");
  expect(rowsOf(report).map(([code, value]) => [code, value])).toEqual([
    ["WBC", 9.81],
    ["RBC", 6.72],
  ]);
  expect(report).toMatchObject({
    identifier: "4711",
    species: "dog",
    patient_hint: { identifier: "4711", name: "Zeytin", owner: null },
  });
});
