import { grownInput, SUBJECTS } from "../faults/growth/grown-input.ts";
import { diceOf } from "../support/dice.ts";
import { type Figure, median, milliseconds } from "./figure.ts";

/** Longest input of the fuzzers, in bytes. */
const BYTES_MAX = 3_400;
/** Max time of a single input, also of the first one of its kind. */
const MS_MAX = 250;

/** Measures the slowest single input of each protocol, from random seeds. The first inputs run code that is not compiled yet. */
export function* growth(quick: boolean): Generator<Figure> {
  const rounds = quick ? 20 : 200;
  const dice = diceOf(1);
  const taken = new Map<string, { ms: number; name: string; again: () => number }[]>();
  for (let seed = 0; seed < rounds * SUBJECTS.length; seed += 1) {
    const { protocol, name, wire, run } = grownInput(seed);
    const input = wire(dice(BYTES_MAX));
    const time = () => {
      const from = performance.now();
      run(input);
      return performance.now() - from;
    };
    const times = taken.get(protocol) ?? [];
    times.push({ ms: time(), name, again: time });
    taken.set(protocol, times);
  }
  for (const [protocol, times] of taken) {
    const slowest = times.reduce((a, b) => (a.ms > b.ms ? a : b));
    const usual = median(times.map(({ ms }) => ms));
    yield {
      name: `${protocol}: slowest of ${times.length} inputs up to ${BYTES_MAX} bytes`,
      ours: `${milliseconds(slowest.ms)} (${slowest.name}), ${milliseconds(slowest.again())} again`,
      baseline: `the median input ${milliseconds(usual)}`,
      ratio: slowest.ms / usual,
      bar: `under ${MS_MAX} ms`,
      met: slowest.ms < MS_MAX,
    };
  }
}
