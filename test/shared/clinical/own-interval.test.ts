import { expect, test } from "vitest";
import {
  type OwnInterval,
  ownInterval,
  robustLimits,
  studentT,
} from "../../../shared/clinical/compare/own-interval.ts";
import { diceOf } from "../../support/runner/dice.ts";

function times(value: number, count: number): number[] {
  return Array<number>(count).fill(value);
}

/** Values of a nearly normal distribution with mean 100 and standard deviation 10: each is the sum of twelve even ones. */
function normal(n: number): number[] {
  const dice = diceOf(7);
  return Array.from({ length: n }, () => {
    let sum = 0;
    for (let draw = 0; draw < 12; draw += 1) sum += dice(10_001) / 10_000;
    return 100 + 10 * (sum - 6);
  });
}

function intervalOf(values: readonly number[]): Extract<OwnInterval, { state: "interval" }> {
  const result = ownInterval(values);
  if (result.state !== "interval") throw new Error(`expected an interval, got ${result.state}`);
  return result;
}

// The calcium values (mg/dL) of CLSI EP28-A3c, appendix B, with the limits that robustRI of the R package mcradds computes for them.
test("the robust method has the limits of the example in EP28-A3c", () => {
  const calcium = [
    ...[8.9, 9.2, ...times(9.4, 2), ...times(9.5, 3), ...times(9.6, 4), ...times(9.7, 5)],
    ...[9.8, ...times(9.9, 2), 10.2],
  ];
  const [low, high] = robustLimits(calcium) ?? [];
  expect(low).toBeCloseTo(9.049545, 5);
  expect(high).toBeCloseTo(10.199396, 5);
});

// From printed tables of Student's t distribution.
test.each([
  [19, 2.093024],
  [39, 2.022691],
  [60, 2.000298],
  [120, 1.97993],
])("Student's t with %i degrees of freedom is %f", (degrees, t) => {
  expect(studentT(degrees)).toBeCloseTo(t, 5);
});

test("fewer than 40 animals have no interval, and the missing ones are counted", () => {
  expect(ownInterval(normal(39))).toEqual({ state: "too few", n: 39, missing: 1 });
  expect(ownInterval([])).toEqual({ state: "too few", n: 0, missing: 40 });
  expect(ownInterval(normal(40))).toMatchObject({ state: "interval", n: 40, method: "robust" });
});

test("ranks replace the robust method from 120 animals on", () => {
  const values = Array.from({ length: 120 }, (_, index) => 120 - index);
  const { method, low, high } = intervalOf(values);
  // Ranks 0.025 x 121 and 0.975 x 121 of the values 1 to 120.
  expect({ method, low: low.value, high: high.value }).toEqual({
    method: "nonparametric",
    low: expect.closeTo(3.025, 9),
    high: 117.975,
  });
  expect(intervalOf(values.slice(1)).method).toBe("robust");
});

test("a limit is between the ends of its confidence interval, which more animals narrow", () => {
  const few = intervalOf(normal(40));
  const many = intervalOf(normal(400));
  for (const { low, high } of [few, many]) {
    for (const limit of [low, high]) expect(limit.from < limit.value && limit.value < limit.to).toBe(true);
  }
  expect(few.high.to - few.high.from).toBeGreaterThan(2 * (many.high.to - many.high.from));
  expect([few.low.isWide, few.high.isWide, many.low.isWide, many.high.isWide]).toEqual([true, true, false, false]);
});

test("the same values in another order have the same interval", () => {
  const { outliers: _outliers, ...interval } = intervalOf(normal(60));
  expect(ownInterval(normal(60).toReversed())).toMatchObject(interval);
});

test("outliers are named with their tests and take part", () => {
  const values = [...normal(59), 400];
  const { n, outliers, scale } = intervalOf(values);
  // It does not choose the scale.
  expect({ n, outliers, scale }).toEqual({
    n: 60,
    scale: "linear",
    outliers: [{ index: 59, side: "high", tests: ["tukey", "dixon"] }],
  });
  expect(intervalOf([-200, ...normal(59)]).outliers[0]).toEqual({ index: 0, side: "low", tests: ["tukey", "dixon"] });
});

test("values with a long upper tail are computed on logarithms", () => {
  const values = normal(80).map((value) => Math.exp(value / 16));
  const { scale, isSkewed, low, high } = intervalOf(values);
  const [low_log, high_log] = robustLimits(values.map(Math.log).toSorted((a, b) => a - b)) ?? [];
  expect({ scale, isSkewed, low: Math.log(low.value), high: Math.log(high.value) }).toEqual({
    scale: "log",
    isSkewed: false,
    low: expect.closeTo(low_log ?? Number.NaN, 9),
    high: expect.closeTo(high_log ?? Number.NaN, 9),
  });
});

test("no limit is negative where no value is", () => {
  const counts = [...times(0, 20), ...times(1, 15), ...times(2, 10), 5, 9, 14];
  const { scale, isSkewed, low } = intervalOf(counts);
  expect({ scale, isSkewed, low: low.value, from: low.from }).toEqual({
    scale: "linear",
    isSkewed: true,
    low: 0,
    from: 0,
  });
});

test("values of which more than half are equal have no interval", () => {
  expect(ownInterval([...times(7, 30), ...normal(20)])).toEqual({ state: "too equal", n: 50 });
  expect(ownInterval(times(7, 200))).toEqual({ state: "too equal", n: 200 });
});

test("a value that is not a number is refused", () => {
  expect(() => ownInterval([...normal(50), Number.NaN])).toThrow("expected a finite value, got NaN");
});
