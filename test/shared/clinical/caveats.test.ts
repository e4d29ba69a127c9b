import { expect, test } from "vitest";
import { analyteByCode } from "../../../shared/clinical/analytes/analytes.ts";
import { assess, type ClinicChoices, type DeviceRange } from "../../../shared/clinical/flag.ts";
import { signalmentAt } from "../../../shared/clinical/signalment.ts";

interface Given {
  readonly species?: string;
  readonly born?: string;
  readonly range?: DeviceRange;
  readonly device_flag?: string;
  readonly device?: string;
  readonly clinic?: ClinicChoices;
}

function assessed(breed: string | null, code: string, value: number, unit: string, given: Given = {}) {
  const analyte = analyteByCode(code);
  if (analyte === undefined) throw new Error(`no analyte ${code}`);
  const { species = "dog", born = null, range = null, device_flag = null, device = null, clinic } = given;
  const signalment = signalmentAt({ species, breed, sex: null, date_of_birth: born }, "2026-01-01T00:00:00.000Z");
  const result = { analyte, value, unit, comparator: null, ordinal: false, device_range: range, device_flag };
  return assess(result, signalment, device, clinic);
}

const none = { reference_range: null, flag: null, interval_id: null };

test("a general dog of the study of total T4 is flagged by it", () => {
  expect(assessed("Labrador Retriever", "TT4", 10, "nmol/L")).toMatchObject({ flag: "low", reference_range: "15-63" });
  expect(assessed("Border Collie", "TT4", 10, "nmol/L")).toMatchObject({ flag: "low", reason: null });
});

test.each([
  ["Greyhound", "TT4", 10, "nmol/L"],
  ["Italian Greyhound", "TT4", 10, "nmol/L"],
  ["Whippet", "TT4", 10, "nmol/L"],
  ["Greyhound x Labrador", "TT4", 10, "nmol/L"],
  ["Greyhound / Whippet", "TT4", 10, "nmol/L"],
  ["Maltese", "TT4", 10, "nmol/L"],
  ["Lurcher", "HCT", 62, "%"],
  ["Galgo Español", "RBC", 9, "10*6/uL"],
  ["Greyhound", "PLT", 120, "10*3/uL"],
  ["Greyhound", "GLOB", 1.5, "g/dL"],
  ["Greyhound", "CREA", 1.9, "mg/dL"],
] as const)("a %s gets no general interval of %s, with the reason", (breed, code, value, unit) => {
  expect(assessed(breed, code, value, unit)).toEqual({
    ...none,
    reason: { code: "INTERVAL.NOT_FOR_BREED", values: [code, expect.stringMatching(/^[a-z ]+$/), expect.any(String)] },
  });
});

test("a cross of a Birman gets no general interval of SDMA, and a Birman its own", () => {
  const cat = { species: "cat" };
  expect(assessed("Birman x DSH", "SDMA", 16, "ug/dL", cat)).toMatchObject(none);
  expect(assessed("Birman", "SDMA", 16, "ug/dL", cat)).toMatchObject({ reference_range: "3.5-18.7", flag: "normal" });
});

test("a breed with rows of its own is flagged by them, and an Italian Greyhound is not a greyhound", () => {
  expect(assessed("Greyhound", "HCT", 60, "%")).toMatchObject({ reference_range: "49.0-65.0", flag: "normal" });
  expect(assessed("Italian Greyhound", "HCT", 60, "%")).toMatchObject({ flag: "high" });
  expect(assessed("Saluki", "TT4", 10, "nmol/L")).toMatchObject({ reference_range: "2.8-40.0", flag: "normal" });
  expect(assessed("Birman", "CREA", 1.9, "mg/dL", { species: "cat" })).toMatchObject({ flag: "normal" });
  expect(assessed("Siamese", "CREA", 1.9, "mg/dL", { species: "cat" })).toMatchObject(none);
});

test("the device's range for the species is a general one, and its LL does not decide", () => {
  const range = { low: 37, high: 55, text: "37-55", species: "dog" };
  expect(assessed("Beagle", "HCT", 62, "%", { range })).toMatchObject({ flag: "high", interval_id: "device" });
  expect(assessed("Lurcher", "HCT", 62, "%", { range })).toMatchObject(none);
  expect(assessed("Greyhound", "HCT", 62, "%", { range })).toMatchObject({
    flag: "normal",
    reference_range: "49.0-65.0",
  });
});

test("a device's range for one exotic animal, bird or reptile is not one for another", () => {
  for (const [species, breed] of [
    ["exotic", "Chinchilla"],
    ["bird", "Canary"],
    ["reptile", "Gecko"],
  ] as const) {
    const range = { low: 37, high: 55, text: "37-55", species };
    expect(assessed(breed, "HCT", 62, "%", { species, range })).toMatchObject(none);
  }
});

test("the clinic's own interval is its own decision", () => {
  const interval = {
    id: "clinic:t4",
    low: 5,
    high: 40,
    critical_low: null,
    critical_high: null,
    unit: "nmol/L",
  } as const;
  const clinic = { interval: () => ({ ...interval, source_id: "clinic", quality: null, text: "5-40" }) };
  expect(assessed("Greyhound", "TT4", 3, "nmol/L", { clinic })).toEqual({
    reference_range: "5-40",
    flag: "low",
    interval_id: "clinic:t4",
    reason: null,
  });
});

test("the platelets of a Cavalier are low and never critical, with a remark", () => {
  expect(assessed("Beagle", "PLT", 10, "10*9/L").flag).toBe("critical");
  const cavalier = assessed("Cavalier King Charles Spaniel", "PLT", 10, "10*9/L");
  expect(cavalier).toMatchObject({ flag: "low", reason: { code: "BREED.REMARK", values: ["large_platelets"] } });
  const range = { low: 117, high: 460, text: "117-460", species: "dog" };
  const sent = { range, device_flag: "LL" };
  expect(assessed("Beagle", "PLT", 10, "10*9/L", sent).flag).toBe("critical");
  expect(assessed("CKCS", "PLT", 10, "10*9/L", sent)).toMatchObject({ flag: "low", interval_id: "device" });
});

const LEAK = { code: "BREED.REMARK", values: ["leaking_potassium"] };

test("a remark leaves range and flag", () => {
  expect(assessed("Akita", "K", 6.6, "mmol/L")).toMatchObject({
    flag: "high",
    reason: LEAK,
  });
  expect(assessed("Shiba Inu", "K", 6.6, "mmol/L").reason).toEqual(LEAK);
  expect(assessed("Samoyed", "TT4", 20, "nmol/L")).toMatchObject({
    flag: "normal",
    reason: { code: "BREED.REMARK", values: ["other_thyroid_values"] },
  });
});

test.each([
  ["dog", "HCT", 30, "%"],
  ["dog", "ALP", 400, "U/L"],
  ["dog", "CREA", 0.2, "mg/dL"],
  ["cat", "HCT", 27, "%"],
  ["cat", "ALP", 400, "U/L"],
] as const)("a young %s gets no interval of adults for %s, and a year later it does", (species, code, value, unit) => {
  expect(assessed(null, code, value, unit, { species, born: "2025-11-01" })).toEqual({
    ...none,
    reason: { code: "INTERVAL.NOT_FOR_AGE", values: [code, "61", expect.any(String)] },
  });
  expect(assessed(null, code, value, unit, { species, born: "2024-11-01" }).reference_range).not.toBeNull();
  expect(assessed(null, "WBC", 10, "10*9/L", { species, born: "2025-11-01" }).reference_range).not.toBeNull();
});
