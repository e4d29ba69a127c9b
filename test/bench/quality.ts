import { judge } from "../../shared/clinical/control/rules.ts";
import type { RuleChoice, Run } from "../../shared/clinical/control/types.ts";
import { diceOf } from "../support/runner/dice.ts";
import { type Figure, median } from "./figure.ts";

const RUNS = 10_000;
/** Nine tenths of the smallest ratio of November 29. */
const RATIO_MIN = 0.4;

const ALL: RuleChoice = {
  "1-2s": "warn",
  "1-3s": "reject",
  "2-2s": "reject",
  "R-4s": "reject",
  "4-1s": "reject",
  "10x": "reject",
};

/** Measures how fast runs of two levels are judged by all rules, next to reading the same runs from their text. */
export async function* quality(quick: boolean): AsyncGenerator<Figure> {
  const dice = diceOf(45);
  const runs: Run[] = Array.from({ length: RUNS }, (_, at) => ({
    at,
    points: ["1", "2"].map((level) => ({ id: `${level}.${at}`, level, z: (dice(6_001) - 3_000) / 1_000 })),
  }));
  const text = JSON.stringify(runs);
  const [reading, judging]: [number[], number[]] = [[], []];
  // The first rounds compile the functions.
  for (let round = -5; round < (quick ? 20 : 100); round += 1) {
    const from = performance.now();
    const read = JSON.parse(text) as Run[];
    const between = performance.now();
    judge(read, ALL);
    if (round < 0) continue;
    reading.push(between - from);
    judging.push(performance.now() - between);
  }
  const ratio = median(reading) / median(judging);
  const milliseconds = (values: readonly number[]) => `${median(values).toFixed(1)} ms`;
  yield {
    name: "10 000 runs of two levels judged by all rules",
    ours: milliseconds(judging),
    baseline: `JSON.parse of the runs ${milliseconds(reading)}`,
    ratio,
    bar: `at least ${RATIO_MIN}`,
    met: ratio >= RATIO_MIN,
  };
}
