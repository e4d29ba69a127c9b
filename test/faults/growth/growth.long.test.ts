import { expect, test } from "vitest";
import { soakCount } from "../../support/runner/soak.ts";
import { grownInput, SUBJECTS } from "./grown-input.ts";

// Goal: the time of link and parser grows linearly with the input, for each profile and for DICOM. Method: inputs of n and 16n bytes
// from one seed. `GROWTH_SEED=7` repeats one.

const BYTES = 8_000;
const FACTOR = 16;
/** A quadratic scan takes 256 times as long for 16 times the bytes, a linear one 16 times. */
const RATIO_MAX = 64;
/** A quadratic scan takes 16 times as long for four times the bytes, a linear one four times. */
const QUADRUPLING_MIN = 9;
/** Below it the garbage collector decides, in ms. */
const MS_MIN = 40;
const CASES = SUBJECTS.length * soakCount(10);
const SEED = process.env["GROWTH_SEED"];

/** @returns processor time in ms */
function timeOf(work: () => void): number {
  const from = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(from);
  return (user + system) / 1_000;
}

/** @returns the least time of several runs in ms, which has the least interference from other processes */
const least = (rounds: number, work: () => void) => Math.min(...Array.from({ length: rounds }, () => timeOf(work)));

/** @returns how the time grows faster than the input; null if it does not */
function fault(work: (bytes: number) => void): string | null {
  const readLong = () => work(BYTES * FACTOR);
  const readLonger = () => work(4 * BYTES * FACTOR);
  if (timeOf(readLong) < MS_MIN) return null;
  const short = least(5, () => work(BYTES));
  let long = least(3, readLong);
  if (long < MS_MIN || long / short <= RATIO_MAX) return null;
  // A message that is over a bound, or that is read at all, costs more once.
  let longer = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 3; round++) {
    long = Math.min(long, timeOf(readLong));
    longer = Math.min(longer, timeOf(readLonger));
    if (longer < long * QUADRUPLING_MIN) return null;
  }
  return `${short.toFixed(1)} ms for ${BYTES} bytes, ${long.toFixed(0)} ms for ${FACTOR} times, ${longer.toFixed(0)} ms for ${4 * FACTOR} times as many`;
}

test("the time of link and parser grows linearly for each profile and for DICOM", () => {
  const faults: string[] = [];
  const seeds = SEED === undefined ? Array.from({ length: CASES }, (_, seed) => seed) : [Number(SEED)];
  for (const seed of seeds) {
    const { name, wire, run } = grownInput(seed);
    const found = fault((bytes) => run(wire(bytes)));
    if (found !== null) faults.push(`GROWTH_SEED=${seed}, ${name}: ${found}`);
  }
  expect(faults).toEqual([]);
}, 3_600_000);

test("the DIRUI H-100's pattern of a result once backtracked over a line of spaces, and grows linearly now", () => {
  const { start, run } = SUBJECTS.find(({ name }) => name === "dirui-h100")!;
  const at = Buffer.from(start).indexOf("BIL");
  const line = (bytes: number) => Buffer.from(`BIL${" ".repeat(bytes / 8)}?\r\n`);
  const work = (bytes: number) => run(Buffer.concat([start.subarray(0, at), line(bytes), start.subarray(at)]));
  expect(fault(work)).toBe(null);
});

test("control: a quadratic scan is found", () => {
  const scan = (bytes: number) => {
    let sum = 0;
    const text = Buffer.alloc(bytes, 1);
    for (let at = 0; at < text.length; at += 64) for (let from = 0; from < at; from++) sum += text[from]!;
    return sum;
  };
  expect(fault(scan)).toMatch(/times as many/);
});
