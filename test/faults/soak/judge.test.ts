import { expect, test } from "vitest";
import { figuresOf, type Limits, medianSlope, problemsOf, type Sample } from "./judge.ts";

const LIMITS: Limits = {
  heapBytesPerHour: 1e6,
  heapBytesPerMessage: 58,
  residentBytesPerHour: 1e6,
  moreDescriptors: 3,
  p99Ms: 50,
  logBytes: 1e7,
  warmUpMessages: 18_000,
  samplesMin: 10,
};
const MESSAGES_PER_HOUR = 18_000;

const calm = { residentBytes: 2e8, descriptors: 40, p99Ms: 12, maxMs: 80, logBytes: 4e6 };

/** Samples of a life of ten hours, one each ten minutes. Garbage of 2 MB comes and goes. */
function life(name: string, from: number, change: (hours: number) => Partial<Sample> = () => ({})): Sample[] {
  return Array.from({ length: 60 }, (_, index) => {
    const hours = from + index / 6;
    const heapBytes = 5e7 + (index % 3) * 1e6;
    return { life: name, hours, messages: hours * MESSAGES_PER_HOUR, heapBytes, ...calm, ...change(hours) };
  });
}

const problems = (...samples: Sample[]) => problemsOf(figuresOf(samples, LIMITS), LIMITS);

test("lives with different heaps, outliers and a warm-up are within the limits", () => {
  const first = life("agent 1", 0, (hours) => (hours < 1 ? { heapBytes: 2e7 + hours * 3e7 } : {}));
  const second = life("agent 2", 10, (hours) => ({ heapBytes: hours === 15 ? 9e8 : 7e7 }));
  expect(problems(...first, ...second)).toEqual([]);
});

test("a leak of 120 bytes a message is found by the hour and by the message, also beside a life without it", () => {
  const leak = (hours: number) => ({ heapBytes: 5e7 + hours * MESSAGES_PER_HOUR * 120 });
  const found = ["expected heap bytes an hour <= 1000000, got 2160000", "expected heap bytes a message <= 58, got 120"];
  expect(problems(...life("agent 1", 0, leak))).toEqual(found);
  expect(problems(...life("agent 1", 0, leak), ...life("agent 2", 10, leak))).toEqual(found);
});

test("a slow clock does not hide a leak: at a hundredth of the messages an hour, each message counts", () => {
  const rare = (hours: number) => ({ messages: 18_000 + hours * 180, heapBytes: 5e7 + hours * 180 * 5_000 });
  const limits = { ...LIMITS, warmUpMessages: 180 };
  expect(problemsOf(figuresOf(life("agent 1", 0, rare), limits), limits)).toEqual([
    "expected heap bytes a message <= 58, got 5000",
  ]);
});

test("an open file that stays each hour is found, and one that is open at a moment is not", () => {
  expect(problems(...life("agent 1", 0, (hours) => ({ descriptors: 40 + Math.floor(hours) })))).toEqual([
    "expected further open files <= 3, got 6",
  ]);
  expect(problems(...life("agent 1", 0, (hours) => ({ descriptors: hours === 9 ? 60 : 40 })))).toEqual([]);
});

test("a slow event loop, a long log and growing resident memory are found", () => {
  expect(problems(...life("agent 1", 0, (hours) => ({ p99Ms: hours > 9 ? 51 : 12 })))).toHaveLength(1);
  expect(problems(...life("agent 1", 0, (hours) => ({ logBytes: hours === 9 ? 2e7 : 1e6 })))).toHaveLength(1);
  expect(problems(...life("agent 1", 0, (hours) => ({ residentBytes: hours * 2e6 })))).toHaveLength(1);
});

test("the event loop is judged over the whole of each life", () => {
  const starting = (hours: number) => ({ p99Ms: hours === 0 ? 150 : 37 });
  expect(problems(...life("agent 1", 0, starting))).toEqual([]);
  expect(problems(...life("agent 1", 0, () => ({ p99Ms: 51 })), ...life("agent 2", 10))).toHaveLength(1);
});

test("lives that are too short for a slope are not taken as flat", () => {
  expect(problems(...life("agent 1", 0).slice(0, 10))).toEqual([
    "expected heap bytes an hour <= 1000000, got too few samples",
    "expected heap bytes a message <= 58, got too few samples",
    "expected resident bytes an hour <= 1000000, got too few samples",
    "expected further open files <= 3, got too few samples",
  ]);
});

test("the median slope is that of the pairs of one group", () => {
  const line = (x: number, y: number) => ({ x, y });
  expect(
    medianSlope([
      [line(0, 0), line(1, 2), line(2, 4)],
      [line(0, 90), line(1, 92)],
    ]),
  ).toBe(2);
  expect(medianSlope([[line(0, 0)]])).toBeNull();
});
