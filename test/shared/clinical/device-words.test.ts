import { expect, test } from "vitest";
import { doubtText, remarkText } from "../../../shared/clinical/device-words/device-words.ts";

// The words for what a device says of its results.

test.each([
  ["the device found a clog", "the device found a clog", "cihaz tıkanma buldu"],
  [
    "the device marks the value with ? at place 11",
    "the device marks the value with ? at place 11",
    "cihaz değeri 11. yerde ? ile işaretliyor",
  ],
  [
    "below the measuring range (ML); trouble while measuring (TU)",
    "below the measuring range (ML); trouble while measuring (TU)",
    "ölçüm aralığının altında (ML); ölçüm sırasında sorun (TU)",
  ],
  [
    "the device suspects the value (R-9 is W)",
    "the device suspects the value (R-9 is W)",
    "cihaz değeri şüpheli buluyor (R-9: W)",
  ],
])("the doubt %s has its words in both languages", (stored, english, turkish) => {
  expect([doubtText(stored, "en"), doubtText(stored, "tr")]).toEqual([english, turkish]);
});

test("units in a doubt are written as people write them", () => {
  const stored = "RBC 0 10*6/uL cannot be: expected 0.05 to 60 10*12/L";
  expect(doubtText(stored, "en")).toBe("RBC 0 ×10⁶/µL cannot be: expected 0.05 to 60 ×10¹²/L");
  expect(doubtText(stored, "tr")).toBe("RBC 0 ×10⁶/µL olamaz: 0.05 ile 60 ×10¹²/L arası beklenir");
});

test("a reason within a doubt is translated too", () => {
  expect(doubtText("101 % is above 100 %: the end of the scale", "tr")).toBe(
    "101 %, en yüksek 100 % değerini aşıyor: ölçeğin sonu",
  );
});

test("words of a device, or of a clinic's own profile, stay as they are next to known ones", () => {
  expect(doubtText("the device found bubbles; PLT aggregates?", "tr")).toBe("cihaz kabarcık buldu; PLT aggregates?");
  expect(doubtText("kontrol et (X)", "en")).toBe("kontrol et (X)");
});

test("a remark that the agent words for a device is in the language", () => {
  expect(remarkText("HIV: grade -1", "tr")).toBe("HIV: derece -1");
  expect(remarkText("Sample repeated by operator", "tr")).toBe("Sample repeated by operator");
});
