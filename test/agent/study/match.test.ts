import type { Patient } from "../../../shared/api/patient.ts";
import type { Report } from "../../../agent/report/report.ts";
import type { TestOrder } from "../../../agent/spool/queries/orders/orders.ts";
import type { Reason } from "../../../shared/api/reason.ts";
import { describe, expect, test } from "vitest";
import { describeMatch, match, type Namesakes } from "../../../agent/study/match.ts";
import { cat, dog } from "../../support/runner/fixtures.ts";
import {
  only,
  readWith,
  record,
  reportOf,
  reportsOf,
  resultRecord,
  VETSCAN_HEADER,
  vetscanReport,
} from "../records.ts";
import { astmDevice } from "../../support/clinic/profiles.ts";

const abaxisVetscanVs2 = astmDevice("abaxis-vetscan-vs2");

const matched = (
  report: Report,
  patients: readonly Patient[],
  orders: readonly TestOrder[] = [],
  namesakes: Namesakes | null = null,
) => match(report, { patients, orders, namesakes, isFetched: true, sampleNumbers: [] });

const ALT = resultRecord("^^^ALT", "52", "U/L");
const report = reportOf(["P|1|4711", "O|1|S-1", ALT]);

test("an identifier that names one patient matches", () => {
  expect(matched(report, [dog])).toEqual({ patient: dog, reason: null, candidates: [] });
});

test("an unknown identifier matches no patient, and the reason names it", () => {
  expect(matched(report, [])).toEqual({
    patient: null,
    reason: { code: "MATCH.UNKNOWN_IDENTIFIER", values: ["4711"] },
    candidates: [],
  });
});

test("a Report without an identifier matches no patient", () => {
  const reason = { code: "MATCH.NO_IDENTIFIER", values: [] };
  expect(matched(reportOf(["P|1", "O|1|S-1", ALT]), [])).toEqual({ patient: null, reason, candidates: [] });
});

test("an fp in the specimen field matches without a patient identifier", () => {
  expect(matched(reportOf(["P|1", `O|1|${dog.fp}`, ALT]), [dog]).patient).toEqual(dog);
});

test("identifiers of two patients match neither, and both are candidates", () => {
  expect(matched(report, [dog, cat])).toEqual({
    patient: null,
    reason: { code: "MATCH.SEVERAL_PATIENTS", values: ["2"] },
    candidates: [dog.fp, cat.fp],
  });
});

test("images of several animals match none, with a known identifier or without", () => {
  const reason = { code: "MATCH.SEVERAL_PATIENTS", values: ["2"] };
  for (const patients of [[], [dog]]) {
    expect(matched({ ...report, animals: 2 }, patients)).toEqual({ patient: null, reason, candidates: [] });
  }
});

test("another species than the patient's is a contradiction with the patient as first candidate", () => {
  const ofCat = vetscanReport("Cat", resultRecord("1742-6", "52", "U/L"));
  expect(matched(ofCat, [dog])).toEqual({
    patient: null,
    reason: { code: "MATCH.SPECIES", values: ["cat", "dog"] },
    candidates: [dog.fp],
  });
  expect(matched(ofCat, [cat]).patient).toEqual(cat);
});

test("a horse matches a patient that the API serves as exotic, and a dog does not", () => {
  const exotic = { ...dog, species: "exotic" };
  const ofSpecies = (species: string) => matched(vetscanReport(species, resultRecord("1742-6", "52", "U/L")), [exotic]);
  expect(ofSpecies("Equine").patient).toEqual(exotic);
  expect(ofSpecies("Dog").patient).toBeNull();
});

test.each(["", "General", "Child", "Dog or Cat"])("the label %j states no species and contradicts none", (label) => {
  expect(matched(vetscanReport(label, resultRecord("1742-6", "52", "U/L")), [dog]).patient).toEqual(dog);
});

test("a name alone matches no patient", () => {
  const named = reportOf(["P|1||||Yilmaz^Zeytin", "O|1|S-1", ALT]);
  expect(matched(named, []).patient).toBeNull();
});

describe("an accession of the agent", () => {
  const order = { accession: "V34679AC", device: "chem-1", patientFp: dog.fp, tests: ["ALT"], createdAt: 0 };
  const ofDog = { ...order, state: "sent" as const };
  const scanned = reportOf(["P|1", "O|1|V34679AC", ALT]);

  test("an accession matches the patient of its order, alone or with the patient's own number", () => {
    expect(matched(scanned, [dog], [ofDog])).toEqual({ patient: dog, reason: null, candidates: [] });
    expect(matched(reportOf(["P|1|4711", "O|1|V34679AC", ALT]), [dog], [ofDog]).patient).toEqual(dog);
  });

  test("an accession with another patient's number is a contradiction", () => {
    expect(matched(report, [dog, cat], [ofDog])).toEqual({
      patient: null,
      reason: { code: "MATCH.ACCESSION_OF_OTHER", values: ["V34679AC"] },
      candidates: [dog.fp, cat.fp],
    });
  });

  test("an accession with another species than its patient's is a contradiction", () => {
    expect(matched(vetscanReport("Cat", resultRecord("1742-6", "52", "U/L")), [dog], [ofDog])).toMatchObject({
      patient: null,
      reason: { code: "MATCH.SPECIES", values: ["cat", "dog"] },
    });
  });

  test("an accession of a removed patient matches no patient, also with another patient's number", () => {
    const reason = { code: "MATCH.ACCESSION_OF_REMOVED", values: ["V34679AC"] };
    expect(matched(scanned, [], [ofDog])).toEqual({ patient: null, reason, candidates: [] });
    expect(matched(report, [cat], [ofDog])).toEqual({ patient: null, reason, candidates: [cat.fp] });
  });
});

describe("a match by name, if the clinic allows it", () => {
  const nameless = (records: readonly string[], ...results: string[]) =>
    only(reportsOf(readWith(abaxisVetscanVs2, VETSCAN_HEADER, ...records, "O|1|||^^^Panel", ...results, "L|1|N")));
  const said = (fields: Readonly<Record<number, string>>) =>
    nameless([record("P", { 2: "1", 6: "Yilmaz^ZEYTİN", 16: "Dog", ...fields })], resultRecord("1742-6", "52", "U/L"));
  const today = new Set([dog.fp]);

  test("the only patient of the species with the name matches, if it has an event that day", () => {
    const namesakes = { all: [dog], appointed: today };
    expect(matched(said({}), [], [], namesakes)).toEqual({ patient: dog, reason: null, candidates: [] });
    expect(describeMatch(said({}), dog, { orders: [], sampleNumbers: [] })).toBe(
      `matched ${dog.fp} by its name: the only dog with it, and with an event on that day`,
    );
  });

  test.each<[string, Readonly<Record<number, string>>, Namesakes, Reason]>([
    [
      "an event on another day",
      {},
      { all: [dog], appointed: new Set() },
      { code: "MATCH.NAME_NO_EVENT", values: ["ZEYTİN"] },
    ],
    ["an unknown name", {}, { all: [], appointed: today }, { code: "MATCH.NAME_UNKNOWN", values: ["dog", "ZEYTİN"] }],
    [
      "a name that is similar to another patient's",
      {},
      { all: [dog, { ...dog, fp: cat.fp, name: "Zeytinn" }], appointed: today },
      { code: "MATCH.NAME_SEVERAL", values: ["2", "ZEYTİN"] },
    ],
    [
      "a similar name",
      {},
      { all: [{ ...dog, name: "Zeytinn" }], appointed: today },
      { code: "MATCH.NAME_UNKNOWN", values: ["dog", "ZEYTİN"] },
    ],
    [
      "no species",
      { 16: "General" },
      { all: [], appointed: today },
      { code: "MATCH.NO_IDENTIFIER_OR_NAME", values: [] },
    ],
    [
      "another sex",
      { 9: "M" },
      { all: [dog], appointed: today },
      { code: "MATCH.NAME_OTHER_SEX", values: ["ZEYTİN", "M", "FS"] },
    ],
    [
      "another date of birth",
      { 8: "20200504" },
      { all: [dog], appointed: today },
      { code: "MATCH.NAME_OTHER_BIRTH", values: ["ZEYTİN", "2020-05-04", "2019-05-04"] },
    ],
    [
      "a weight of another patient",
      { 18: "4^kg" },
      { all: [dog], appointed: today },
      { code: "MATCH.NAME_OTHER_WEIGHT", values: ["ZEYTİN", "4", "17.4"] },
    ],
    [
      "an unknown identifier",
      { 3: "999" },
      { all: [dog], appointed: today },
      { code: "MATCH.UNKNOWN_IDENTIFIER", values: ["999"] },
    ],
  ])("%s matches no patient by name", (_, fields, namesakes, reason) => {
    expect(matched(said(fields), [], [], namesakes)).toMatchObject({ patient: null, reason });
  });
});

test("the description of a match names the identifier that found the patient", () => {
  const order = { accession: "V34679AC", device: "chem-1", patientFp: dog.fp, tests: ["ALT"], createdAt: 0 };
  expect(describeMatch(report, dog, { orders: [], sampleNumbers: [] })).toBe(
    `matched ${dog.fp} by the identifier "4711"`,
  );
  expect(describeMatch(report, dog, { orders: [{ ...order, state: "sent" }], sampleNumbers: [] })).toBe(
    `matched ${dog.fp} by accession V34679AC`,
  );
  expect(describeMatch(reportOf(["P|1", `O|1|${dog.fp}`, ALT]), dog, { orders: [], sampleNumbers: [] })).toBe(
    `matched ${dog.fp} by its fp in another field`,
  );
});
