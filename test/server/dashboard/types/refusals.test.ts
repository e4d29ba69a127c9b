import { expect, test } from "vitest";
import { isRefusal, refusal, refusalText, refusalWords } from "../../../../server/dashboard/types/refusals.ts";

test("a refusal is a sentence in both languages, with the values that it names", () => {
  const refused = refusal("STOCK.EXPIRED", 13, 12);
  expect(refused).toEqual({ code: "STOCK.EXPIRED", values: ["13", "12"] });
  expect(refusalText(refused)).toBe(
    "Quantity is 13, at most 12 on hand that are not expired: choose an expired batch by itself.",
  );
  expect(refusalText(refused, "tr")).toBe(
    "Miktar 13, elde süresi geçmemiş en çok 12 var: süresi geçmiş partiyi ayrıca seçin.",
  );
});

test("a Turkish refusal names states, fields and species in Turkish", () => {
  const turkish = [
    refusal("EVENT.STATUS", "CLOSED", "SCHEDULED", "CHECKED_IN"),
    refusal("EVENT.FINAL", "CLOSED", "CANCELLED"),
    refusal("SOAP.STATUS", "LOCKED", "IN_PROGRESS", "SIGNED"),
    refusal("SOAP.FINAL", "DRAFT", "LOCKED"),
    refusal("SOAP.SIGNED", "SIGNED", "plan", "objective"),
    refusal("SOAP.OPEN", "DRAFT"),
    refusal("SOAP.AMENDS_OPEN", "soap_1", "IN_PROGRESS"),
    refusal("MATCH.OTHER_SPECIES", "guinea_pig", "dog"),
  ].map((refused) => refusalText(refused, "tr"));
  expect(turkish.filter((sentence) => /[A-Z]{3}|_pig|\b(?:dog|plan|objective)\b/.test(sentence))).toEqual([]);
  expect(turkish[0]).toBe("Yeni durum “Kapandı”, “Planlandı” ardından “Geldi” ya da “İptal edildi” bekleniyordu.");
  expect(refusalText(refusal("MATCH.OTHER_SPECIES", "guinea_pig", "dog"))).toContain("The device says guinea pig,");
});

test("a name at the start of a sentence stays as it is written", () => {
  expect(refusalText(refusal("CODE.MAPPED", "ibrahim", "ALT"))).toBe("ibrahim mapped this code to ALT meanwhile.");
});

test("a problem of an import has the same words, as a part of its line", () => {
  expect(refusalWords(refusal("SOAP.STATUS", "SIGNED", "DRAFT", "IN_PROGRESS"))).toBe(
    "status is SIGNED, expected IN_PROGRESS after DRAFT",
  );
});

test("a code of another version is not a refusal of this one", () => {
  expect([isRefusal({ code: "STOCK.NEW", values: [] }), isRefusal(refusal("UPDATE.NONE"))]).toEqual([false, true]);
});
