import { expect, test } from "vitest";
import { worseAnalytes } from "../../../../server/records/studies/worse-values.ts";
import type { Flag, Result } from "../../../../shared/api/study.ts";
import { diceOf } from "../../../support/runner/dice.ts";

const flags: readonly (Flag | null)[] = [null, "normal", "low", "high", "critical"];

test("a revision is worse only by values that are, and equal values never are", () => {
  const dice = diceOf(11);
  const drawn = (): Result[] =>
    ["K", "NA", "GLU"].slice(0, dice(4)).map((analyte) => ({
      ...{ analyte, value: 1, unit: "mmol/L", reference_range: null },
      flag: flags[dice(flags.length)]!,
    }));
  for (let round = 0; round < 500; round++) {
    const [before, after] = [drawn(), drawn()];
    expect(worseAnalytes(after, after)).toEqual([]);
    const worse = worseAnalytes(before, after);
    const flagOf = (results: Result[], analyte: string) =>
      results.find((each) => each.analyte === analyte)?.flag ?? null;
    for (const { analyte, flag } of after) {
      const old = flagOf(before, analyte);
      const isAbnormal = flag === "low" || flag === "high" || flag === "critical";
      const expected = isAbnormal && flag !== old && old !== "critical";
      expect([analyte, worse.includes(analyte)]).toEqual([analyte, expected]);
    }
    // A value that is gone or normal is not worse.
    expect(worse.every((analyte) => flagOf(after, analyte) !== null)).toBe(true);
  }
});

test("an abnormal word, and the second row of an analyte, count as worse", () => {
  const word = { analyte: "FELV", value: null, unit: null, reference_range: null, flag: null, value_text: "Positive" };
  expect(worseAnalytes([], [{ ...word, abnormal: true }])).toEqual(["FELV"]);
  expect(worseAnalytes([{ ...word, abnormal: true }], [word])).toEqual([]);
  const k = (flag: Flag): Result => ({ analyte: "K", value: 1, unit: "mmol/L", reference_range: null, flag });
  expect(worseAnalytes([k("low"), k("normal")], [k("normal"), k("low")])).toEqual([]);
  expect(worseAnalytes([k("low"), k("normal")], [k("low"), k("critical")])).toEqual(["K"]);
});
