import { expect, test } from "vitest";
import type { Flag, Result } from "../../../../../shared/api/study.ts";
import { valueText } from "../../../../../shared/clinical/units/value-text.ts";
import { sideOf } from "../../../../../server/dashboard/types/results/result-value.ts";

type Value = Pick<Result, "flag" | "value" | "comparator" | "value_text">;

const of = (flag: Flag | null, value: number | null, more: Partial<Value> = {}): Value => ({ flag, value, ...more });

const values: [Value, { low: number | null; high: number | null }, string | null, string][] = [
  [of("normal", 4), { low: 3, high: 6 }, null, "4"],
  [of("high", 7.5), { low: 3, high: 6 }, "high", "7.5"],
  [of("critical", 8.9), { low: 3, high: 6 }, "high", "8.9"],
  [of("critical", 1), { low: 3, high: 6 }, "low", "1"],
  // Without a flag the value decides, as far as its comparator lets it.
  [of(null, 1), { low: 3, high: 6 }, "low", "1"],
  [of(null, 3, { comparator: "<" }), { low: 3, high: 6 }, "low", "<3"],
  [of(null, 3, { comparator: "<=" }), { low: 3, high: 6 }, null, "<=3"],
  [of(null, 12, { comparator: "<" }), { low: 3, high: 6 }, null, "<12"],
  [of(null, 6, { comparator: ">" }), { low: 3, high: 6 }, "high", ">6"],
  [of(null, 1, { comparator: ">" }), { low: 3, high: 6 }, null, ">1"],
  // The printed bounds are rounded, so the flag comes first.
  [of("high", 6), { low: 3, high: 6 }, "high", "6"],
  [of("normal", 6.04), { low: 3, high: 6 }, null, "6.04"],
  [of(null, null, { value_text: "Negative" }), { low: null, high: null }, null, "Negative"],
  [of(null, 2, { value_text: "2+" }), { low: null, high: 1 }, "high", "2+"],
  [of(null, 5), { low: null, high: null }, null, "5"],
];

test.each(values)("value %# has its side and its text", (value, bounds, side, text) => {
  expect([sideOf({ ...value, ...bounds }), valueText(value)]).toEqual([side, text]);
});
