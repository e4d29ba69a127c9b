import { expect, test } from "vitest";
import { historyOf } from "../../../server/fhir/resources/history.ts";
import { analyteConcept, interpretation, quantity } from "../../../server/fhir/resources/terms.ts";
import type { Modality, Result } from "../../../shared/api/study.ts";
import { analytes } from "../../../shared/clinical/analytes/analytes.ts";

function result(changes: Partial<Result>): Result {
  return { analyte: "ALT", value: 1, unit: "U/L", reference_range: "10-20", flag: null, ...changes };
}

test("the LOINC code is of the quantity that the unit measures, and of none for another one", () => {
  const codes: [analyte: string, unit: string | null, modality: Modality, loinc: string | undefined][] = [
    ["GLU", "mg/dL", "BIOCHEMISTRY", "2345-7"],
    ["GLU", "mmol/L", "BIOCHEMISTRY", "14749-6"],
    ["GLU", null, "BIOCHEMISTRY", undefined],
    ["HGB", "g/dL", "HEMATOLOGY", "718-7"],
    ["HGB", "mmol/L", "HEMATOLOGY", undefined],
    ["NA", "mmol/L", "BIOCHEMISTRY", "2951-2"],
    ["NA", "mEq/L", "BIOCHEMISTRY", "2951-2"],
    ["CA", "mEq/L", "BIOCHEMISTRY", undefined],
    ["ALT", "U/L", "BIOCHEMISTRY", "1742-6"],
    ["ALT", "U/L", "URINALYSIS", undefined],
  ];
  for (const [analyte, unit, modality, loinc] of codes) {
    const { coding } = analyteConcept(result({ analyte, unit }), modality);
    expect([analyte, unit, coding?.[0]?.code]).toEqual([analyte, unit, loinc]);
  }
  expect(analyteConcept(result({ code_source: "device" }), "BIOCHEMISTRY")).toEqual({ text: "ALT" });
});

test("every LOINC code of the table is one of the catalogue for its analyte", () => {
  const foreign = analytes.flatMap(({ api_code: analyte, modality, units, loinc }) =>
    units.flatMap(({ unit }) => {
      const codes = (analyteConcept(result({ analyte, unit }), modality).coding ?? []).map(({ code }) => code ?? "");
      return codes.filter((code) => !loinc.includes(code)).map((code) => `${analyte} in ${unit}: ${code}`);
    }),
  );
  expect(foreign).toEqual([]);
});

test("a flag has its code, a critical one its side, and no flag has none", () => {
  const codes: [changes: Partial<Result>, code: string | undefined][] = [
    [{ flag: null }, undefined],
    [{ flag: "normal" }, "N"],
    [{ flag: "low" }, "L"],
    [{ flag: "high" }, "H"],
    [{ flag: "critical", value: 21 }, "HH"],
    [{ flag: "critical", value: 9 }, "LL"],
    [{ flag: "critical", value: -3, reference_range: "-2-3" }, "LL"],
    [{ flag: "critical", value: 15 }, "AA"],
    [{ flag: "critical", value: 0.1, reference_range: ".5-+2" }, "LL"],
    [{ flag: "critical", value: 9, reference_range: "<5" }, "AA"],
    [{ flag: "critical", reference_range: null }, "AA"],
    [{ flag: null, value: null, value_text: "Positive", abnormal: true }, "A"],
  ];
  for (const [changes, code] of codes)
    expect([changes, interpretation(result(changes))?.coding?.[0]?.code]).toEqual([changes, code]);
});

test("a unit has its UCUM code, another one only its text", () => {
  expect(quantity(1, "mIU/L")).toMatchObject({ unit: "mIU/L", code: "m[IU]/L" });
  expect(quantity(1, "odd", "<")).toEqual({ value: 1, unit: "odd", comparator: "<" });
  expect(quantity(1, null)).toEqual({ value: 1 });
});

test("a revision corrects, amends or appends to the ones before it", () => {
  const patientFp = "patient_1";
  const [alt, alb] = [result({}), result({ analyte: "ALB" })];
  const state = (now: Result[], before: Result[], of = patientFp) => {
    const { report, results } = historyOf({ patientFp, results: now }, [{ patientFp: of, results: before }]);
    return [report, ...results];
  };
  expect(historyOf({ patientFp, results: [alt] }, [])).toEqual({ report: "final", results: ["final"] });
  expect(state([alt], [alt])).toEqual(["final", "final"]);
  expect(state([alt, alb], [alt])).toEqual(["appended", "final", "final"]);
  expect(state([result({ value: 2 }), alb], [alt])).toEqual(["corrected", "corrected", "final"]);
  expect(state([result({ flag: "low" })], [alt])).toEqual(["amended", "amended"]);
  expect(state([alb], [alt, alb])).toEqual(["corrected", "final"]);
  expect(state([alt], [alt], "patient_2")).toEqual(["corrected", "final"]);
  // Two results of one analyte are told apart by their order.
  expect(state([alt, result({ value: 2 })], [alt, alt])).toEqual(["corrected", "final", "corrected"]);
});
