import { describe, expect, test } from "vitest";
import { match } from "../../agent/match.ts";
import { cat, dog } from "../make-fixtures.ts";
import { reportOf, resultRecord, vetscanReport } from "./records.ts";

const ALT = resultRecord("^^^ALT", "52", "U/L");
const report = reportOf(["P|1|4711", "O|1|S-1", ALT]);

test("an identifier that names one patient matches", () => {
  expect(match(report, [dog])).toEqual({ patient: dog, reason: null, candidates: [] });
});

test("an identifier that nobody has matches nobody, and the reason says which", () => {
  expect(match(report, [])).toEqual({ patient: null, reason: 'no patient has the identifier "4711"', candidates: [] });
});

test("a report without an identifier matches nobody", () => {
  const reason = "the device sent no patient identifier";
  expect(match(reportOf(["P|1", "O|1|S-1", ALT]), [])).toEqual({ patient: null, reason, candidates: [] });
});

test("an fp in the specimen field matches though no patient identifier was sent", () => {
  expect(match(reportOf(["P|1", `O|1|${dog.fp}`, ALT]), [dog]).patient).toEqual(dog);
});

test("identifiers that name two patients match neither, and both are candidates", () => {
  expect(match(report, [dog, cat])).toEqual({
    patient: null,
    reason: "the identifiers sent name 2 patients",
    candidates: [dog.fp, cat.fp],
  });
});

test("the device's species against the patient's is a contradiction, the patient first among the candidates", () => {
  const ofCat = vetscanReport("Cat", resultRecord("1742-6", "52", "U/L"));
  expect(match(ofCat, [dog])).toEqual({
    patient: null,
    reason: "species contradiction: the device says cat, the patient is a dog",
    candidates: [dog.fp],
  });
  expect(match(ofCat, [cat]).patient).toEqual(cat);
});

test.each(["", "General", "Child", "Dog or Cat"])("the label %j says no species and contradicts none", (label) => {
  expect(match(vetscanReport(label, resultRecord("1742-6", "52", "U/L")), [dog]).patient).toEqual(dog);
});

test("a name matches nobody", () => {
  const named = reportOf(["P|1||||Yilmaz^Zeytin", "O|1|S-1", ALT]);
  expect(match(named, []).patient).toBeNull();
});

describe("an accession of ours", () => {
  const order = { accession: "V34679AC", device: "chem-1", patientFp: dog.fp, tests: ["ALT"], createdAt: 0 };
  const ofDog = { ...order, state: "sent" as const };
  const scanned = reportOf(["P|1", "O|1|V34679AC", ALT]);

  test("matches the patient it was issued for, alone or beside the patient's own number", () => {
    expect(match(scanned, [dog], [ofDog])).toEqual({ patient: dog, reason: null, candidates: [] });
    expect(match(reportOf(["P|1|4711", "O|1|V34679AC", ALT]), [dog], [ofDog]).patient).toEqual(dog);
  });

  test("beside another patient's number is a contradiction, the patient it was issued for first among the candidates", () => {
    expect(match(report, [dog, cat], [ofDog])).toEqual({
      patient: null,
      reason: "accession V34679AC was issued for another patient than the one the identifiers sent name",
      candidates: [dog.fp, cat.fp],
    });
  });

  test("with another species than its patient's is a contradiction", () => {
    expect(match(vetscanReport("Cat", resultRecord("1742-6", "52", "U/L")), [dog], [ofDog])).toMatchObject({
      patient: null,
      reason: "species contradiction: the device says cat, the patient is a dog",
    });
  });

  test("of a patient whom the clinic has no more matches nobody, another patient's number beside it neither", () => {
    const reason = "accession V34679AC was issued for a patient whom the clinic has no more";
    expect(match(scanned, [], [ofDog])).toEqual({ patient: null, reason, candidates: [] });
    expect(match(report, [cat], [ofDog])).toEqual({ patient: null, reason, candidates: [cat.fp] });
  });
});
