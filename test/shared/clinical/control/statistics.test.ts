import { expect, test } from "vitest";
import {
  biasOf,
  outliersOf,
  sdRange,
  sigmaOf,
  statisticsOf,
  targetOfRange,
} from "../../../../shared/clinical/control/statistics.ts";
import { diceOf } from "../../../support/runner/dice.ts";
import { normalOf } from "./normal.ts";

test("mean, SD by n - 1 and CV are those of the worked example", () => {
  // Squared distances from 50: 8 in all, divided by 2.
  expect(statisticsOf([48, 50, 52])).toEqual({ runs: 3, mean: 50, sd: 2, cv: 4 });
  expect(statisticsOf([7])).toBeNull();
  expect(statisticsOf([])).toBeNull();
});

test("values around 0 have no CV, and neither bias nor sigma by it", () => {
  expect(statisticsOf([-1, 0, 1])).toMatchObject({ mean: 0, cv: null });
  expect(biasOf(1, 0)).toBeNull();
  expect(sigmaOf({ allowable: 10, bias: 1, cv: null })).toBeNull();
});

test("sigma is the allowable error without the bias, in CVs, and needs all three", () => {
  expect(biasOf(97, 100)).toBe(-3);
  expect(sigmaOf({ allowable: 15, bias: -3, cv: 2 })).toBe(6);
  expect(sigmaOf({ allowable: 2, bias: -3, cv: 2 })).toBe(-0.5);
  expect(sigmaOf({ allowable: null, bias: 0, cv: 2 })).toBeNull();
  expect(sigmaOf({ allowable: 15, bias: null, cv: 2 })).toBeNull();
  expect(sigmaOf({ allowable: 15, bias: 0, cv: 0 })).toBeNull();
});

test("the SD of few runs is weak, and of under five has no range", () => {
  expect([4, 5, 9, 10, 20, 39, 40, 400].map(sdRange)).toEqual([
    null,
    { low: 0.6, high: 2.87 },
    { low: 0.6, high: 2.87 },
    { low: 0.69, high: 1.83 },
    { low: 0.76, high: 1.46 },
    { low: 0.76, high: 1.46 },
    { low: 0.82, high: 1.28 },
    { low: 0.82, high: 1.28 },
  ]);
});

test.each([5, 10, 20, 40])("the true SD lies in the range of %i runs in 95 of 100 series", (runs) => {
  const dice = diceOf(runs);
  const series = 5_000;
  let inside = 0;
  for (let index = 0; index < series; index += 1) {
    const sd = statisticsOf(Array.from({ length: runs }, () => normalOf(dice)))?.sd ?? Number.NaN;
    const { low, high } = sdRange(runs) ?? { low: Number.NaN, high: Number.NaN };
    if (sd * low < 1 && sd * high > 1) inside += 1;
  }
  // Three standard errors are 0.009, and the multiples have two decimals.
  expect(Math.abs(inside / series - 0.95)).toBeLessThan(0.012);
});

test("an outlier is proposed even where two hide each other from mean and SD", () => {
  const first = [100, 101, 99, 100.5, 99.5, 100.2, 99.8, 101.2, 98.9, 100.1];
  expect(outliersOf(first)).toEqual([]);
  expect(outliersOf([...first, 110, 111])).toEqual([10, 11]);
  expect(outliersOf([89, ...first])).toEqual([0]);
});

test("an outlier among equal values is proposed, and equal values are not outliers", () => {
  expect(outliersOf([7.4, 7.4, 7.4, 7.4, 7.4, 7.4, 7.4, 7.9])).toEqual([7]);
  expect(outliersOf([5, 5, 5])).toEqual([]);
  expect(outliersOf([])).toEqual([]);
});

test("the target of a printed range is its middle, and the SD depends on what the sheet means", () => {
  expect(targetOfRange({ low: 88, high: 100 }, 2)).toEqual({ mean: 94, sd: 3 });
  expect(targetOfRange({ low: 88, high: 100 }, 3)).toEqual({ mean: 94, sd: 2 });
});
