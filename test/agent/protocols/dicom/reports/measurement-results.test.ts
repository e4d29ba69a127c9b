import { describe, expect, test } from "vitest";
import type { Code } from "../../../../../agent/protocols/dicom/reports/elements.ts";
import { measurementResults } from "../../../../../agent/protocols/dicom/reports/measurement-results.ts";
import type { Measurement } from "../../../../../agent/protocols/dicom/reports/structured-report.ts";

function code(text: string, meaning = ""): Code {
  const [scheme = "", value = ""] = text.split(" ");
  return { scheme, value, meaning };
}

function measured(concept: string, meaning: string, value: string, unit: string | null): Measurement {
  return { concept: code(concept, meaning), modifiers: [], value, unit };
}

const codesOf = (...measurements: Measurement[]) =>
  measurementResults(measurements).results.map(({ analyte }) => analyte);

test("a measurement gives a result and a row without interval and flag", () => {
  expect(measurementResults([measured("LN 18043-0", "Ejection Fraction", "64", "%")])).toEqual({
    results: [{ analyte: "EF", value: 64, unit: "%", reference_range: null, flag: null }],
    rows: [
      {
        analyte: "EF",
        code: "LN 18043-0",
        interval_id: null,
        reason: { code: "INTERVAL.NOT_FOR_IMAGES", values: [] },
        text: "64",
        device_range: null,
        device_species: null,
        device_flag: null,
        meaning: "Ejection Fraction",
      },
    ],
    leftOut: [],
  });
});

test.each(["", "high", "1e999"])("a measurement with the value %j is left out", (value) => {
  expect(measurementResults([measured("LN 18043-0", "Ejection Fraction", value, "%")])).toEqual({
    results: [],
    rows: [],
    leftOut: ["Ejection Fraction has no value"],
  });
});

describe("codes of measurements", () => {
  test("two concepts never share a code", () => {
    const aortic = { name: code("SCT 363698007"), value: code("SCT 34202007", "Aortic Valve") };
    expect(
      codesOf(
        { ...measured("LN 11726-7", "Peak Velocity", "1.2", "m/s"), modifiers: [aortic] },
        measured("LN 79964-3", "Aortic valve Vmax", "1.3", "m/s"),
        measured("LN 18043-0", "EF", "64", "%"),
      ),
    ).toEqual(["AV Vmax LN:11726-7", "AV Vmax LN:79964-3", "EF"]);
  });

  test("the SNOMED CT and SNOMED RT codes of a concept share a code", () => {
    expect(codesOf(measured("SCT 399266005", "MPI", "0.4", null), measured("SRT G-037F", "MPI", "0.5", null))).toEqual([
      "LV MPI",
      "LV MPI",
    ]);
  });

  test("a concept without a usable code gets a distinct digest code", () => {
    const sentence = "Left ventricle internal dimension at the end of diastole, by the leading edge method";
    const uncoded = (value: string, meaning: string) => ({
      ...measured("", meaning, "1", null),
      concept: { scheme: "99ACME", value, meaning },
    });
    const codes = codesOf(
      uncoded(sentence, sentence),
      uncoded("x".repeat(70), sentence),
      uncoded("", sentence),
      uncoded("", "Another"),
    );
    expect(codes).toEqual(codes.map(() => expect.stringMatching(/^99ACME:[0-9a-f]{12}$/)));
    expect(new Set(codes).size).toBe(4);
    expect(codesOf(measured("", sentence, "1", null))).toEqual([expect.stringMatching(/^UNCODED:[0-9a-f]{12}$/)]);
  });
});
