import { expect, test } from "vitest";
import { analyteByCode, analytes } from "../../../shared/clinical/analytes/analytes.ts";
import { isAbnormalWord, meaningOf } from "../../../shared/clinical/result-words.ts";
import { resultsOf, withAbnormalWords } from "../../../shared/clinical/results.ts";
import type { Result } from "../../../shared/api/study.ts";

test.each([
  "POSITIVE",
  "Positive",
  "pos",
  "Pos.",
  "+",
  "(+)",
  "++",
  "Pozitif",
  "POZİTİF",
  "positif",
  "Detected",
  "Positive (1:160)",
  "Reactive",
])("%s is positive", (text) => {
  expect(meaningOf(text)).toBe("present");
});

test.each([
  "Negative",
  "NEG",
  "neg.",
  "-",
  "(-)",
  "Negatif",
  "NEGATİF",
  "Négatif",
  "Not detected",
  "NOT DETECTED",
  "not  Detected",
  "Non-reactive",
  "Nonreactive",
  "Normal",
  "None seen",
  "Negative (0.12)",
  "nicht nachweisbar",
  "Tespit edilmedi",
])("%s is negative", (text) => {
  expect(meaningOf(text)).toBe("absent");
});

test.each(["Weak", "Borderline", "not negative", "Negative / Positive", "Indeterminate", "şüpheli", "", "?"])(
  "%j has a meaning of its own",
  (text) => {
    expect(["absent", "present"]).not.toContain(meaningOf(text));
  },
);

test("every test for an infection and every pad has an expected word, and any other word is abnormal", () => {
  const without = analytes.filter(
    ({ value_type, expected_word }) => value_type === "word" && expected_word === undefined,
  );
  expect(without.map(({ code }) => code)).toEqual(["CAVAB", "COLOR", "CLARITY"]);
  const qualitative = analytes.filter(({ expected_word }) => expected_word !== undefined);
  expect(qualitative.length).toBe(20);
  for (const analyte of qualitative) {
    const abnormal = ["Negative", "Not detected", "POSITIVE", "+", "Borderline"].map((text) =>
      isAbnormalWord(analyte, text),
    );
    expect([analyte.code, ...abnormal]).toEqual([analyte.code, false, false, true, true, true]);
  }
  expect(isAbnormalWord(analyteByCode("COLOR") ?? { expected_word: "?" }, "Red")).toBe(false);
});

const sent = { comparator: null, ordinal: false, unit: null, device_range: null, device_flag: null };

test("a positive word is abnormal without a patient, keeps a null flag, and a negative one has no mark", () => {
  const words = ["Pozitif", "neg", "Red"].map((text, index) => ({
    ...{ ...sent, code: ["CPV", "FELV", "COLOR"][index] ?? "", text, value: null },
  }));
  const context = { signalment: null, instrument: null, acquired_at: "2026-01-01T00:00:00.000Z", ranges: null };
  const none = { value: null, unit: null, reference_range: null, flag: null };
  expect(resultsOf(words, context).results).toEqual([
    { ...none, analyte: "CPV", value_text: "Pozitif", abnormal: true },
    { ...none, analyte: "FELV", value_text: "neg" },
    { ...none, analyte: "COLOR", value_text: "Red" },
  ]);
});

test("the words of an older agent or a file are marked, and the device's own code never is", () => {
  const row = (changes: Partial<Result>): Result => ({
    ...{ analyte: "HW", value: null, unit: null, reference_range: null, flag: null, value_text: "Positive" },
    ...changes,
  });
  const of = (results: Result[], modality = "BIOCHEMISTRY" as const) => withAbnormalWords({ modality, results });
  expect(of([row({})])).toEqual([row({ abnormal: true })]);
  expect(of([row({ analyte: "NIT" })], "URINALYSIS" as never)).toEqual([row({ analyte: "NIT", abnormal: true })]);
  for (const same of [row({ value_text: "Negatif" }), row({ code_source: "device" }), row({ analyte: "CAVAB" })]) {
    expect(of([same])).toEqual([same]);
  }
});
