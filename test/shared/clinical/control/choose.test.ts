import * as fc from "fast-check";
import { expect, test } from "vitest";
import { allowableErrorOf } from "../../../../shared/clinical/control/allowable-error.ts";
import { chooseRules } from "../../../../shared/clinical/control/choose.ts";

const base = { "1-2s": "warn", "1-3s": "reject" };

test("one level, or under 20 runs, has 1-3s and the warning alone, whatever its sigma", () => {
  expect(chooseRules({ levels: 1, runs: 200, sigma: 2 })).toEqual({ choice: base, why: "default" });
  expect(chooseRules({ levels: 3, runs: 19, sigma: 2 })).toEqual({ choice: base, why: "default" });
});

test("two levels with 20 runs reject by 2-2s and R-4s too, and warn of a drift", () => {
  expect(chooseRules({ levels: 2, runs: 20, sigma: null })).toEqual({
    choice: { ...base, "2-2s": "reject", "R-4s": "reject", "4-1s": "warn", "10x": "warn" },
    why: "default",
  });
});

test("the smaller sigma is, the more rules reject", () => {
  const rejecting = (sigma: number) =>
    Object.entries(chooseRules({ levels: 2, runs: 20, sigma }).choice).flatMap(([rule, verdict]) =>
      verdict === "reject" ? [rule] : [],
    );
  expect(rejecting(6)).toEqual(["1-3s"]);
  expect(rejecting(5.9)).toEqual(["1-3s", "2-2s", "R-4s"]);
  expect(rejecting(5)).toEqual(["1-3s", "2-2s", "R-4s"]);
  expect(rejecting(4.9)).toEqual(["1-3s", "2-2s", "R-4s", "4-1s"]);
  expect(rejecting(4)).toEqual(["1-3s", "2-2s", "R-4s", "4-1s"]);
  expect(rejecting(3.9)).toEqual(["1-3s", "2-2s", "R-4s", "4-1s", "10x"]);
});

test("sigma turns no rule off, and 1-2s never rejects", () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true }), (sigma) => {
      const { choice, why } = chooseRules({ levels: 2, runs: 20, sigma });
      expect({ rules: Object.keys(choice).length, warning: choice["1-2s"], why }).toEqual({
        rules: 6,
        warning: "warn",
        why: "sigma",
      });
    }),
  );
});

test("a glucose meter has the published allowable error, which is 15 mg/dL below 100 mg/dL", () => {
  const at = (mean: number, unit: string | null) => allowableErrorOf("GLU", "meter", { mean, unit });
  expect(at(250, "mg/dL")).toEqual({ percent: 15, source: expect.stringContaining("jvim.12397") });
  expect(at(50, "mg/dL")?.percent).toBe(30);
  expect(at(50 * 0.05551, "mmol/L")?.percent).toBeCloseTo(30, 2);
  expect(at(50, null)).toBeNull();
  expect(at(50, "U/L")).toBeNull();
});

test("an analyzer has no allowable error as long as nobody has read the tables of the ASVCP", () => {
  const target = { mean: 100, unit: "mg/dL" };
  expect(allowableErrorOf("GLU", "analyzer", target)).toBeNull();
  expect(allowableErrorOf("CREA", "analyzer", target)).toBeNull();
  expect(allowableErrorOf("CREA", "meter", target)).toBeNull();
});
