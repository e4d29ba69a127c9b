import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Turns } from "../../../../agent/page/routes/turns.ts";

// Goal: for any number of requests, two pictures are drawn simultaneously, and a request waits for a bounded time.

const BUSY = "the agent draws other pictures: try it again in a moment";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Work that the test ends. */
function bench() {
  const turns = new Turns();
  const begun: number[] = [];
  const end = new Map<number, (problem?: Error) => void>();
  const ask = (number: number, signal = new AbortController().signal) =>
    turns.take(signal, () => {
      begun.push(number);
      return new Promise<number>((resolve, reject) =>
        end.set(number, (problem) => (problem === undefined ? resolve(number) : reject(problem))),
      );
    });
  return { ask, begun, end };
}

test("two run simultaneously, and the others in their order, also after a failure", async () => {
  const { ask, begun, end } = bench();
  const asked = [1, 2, 3, 4].map((number) => ask(number).catch((problem: Error) => problem.message));
  await vi.advanceTimersByTimeAsync(0);
  expect(begun).toEqual([1, 2]);
  end.get(2)!(new Error("damaged"));
  await vi.advanceTimersByTimeAsync(0);
  expect(begun).toEqual([1, 2, 3]);
  end.get(1)!();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(begun).toEqual([1, 2, 3, 4]);
  for (const number of [3, 4]) end.get(number)!();
  expect(await Promise.all(asked)).toEqual([1, "damaged", 3, 4]);
});

test("a request beyond the queue is refused immediately, and one that waits too long later", async () => {
  const { ask, begun } = bench();
  const asked = Array.from({ length: 22 }, (_, number) => ask(number));
  const outcomes = Promise.allSettled(asked.slice(2));
  await expect(ask(22)).rejects.toMatchObject({ status: 503, message: BUSY });
  await vi.advanceTimersByTimeAsync(30_000);
  expect(new Set((await outcomes).map(({ status }) => status))).toEqual(new Set(["rejected"]));
  expect(begun).toEqual([0, 1]);
});

test("a browser that goes away leaves its place to the next", async () => {
  const { ask, begun, end } = bench();
  void ask(1);
  void ask(2);
  const gone = new AbortController();
  const left = ask(3, gone.signal);
  void ask(4);
  gone.abort();
  await expect(left).rejects.toMatchObject({ status: 503 });
  end.get(1)!();
  await vi.advanceTimersByTimeAsync(0);
  expect(begun).toEqual([1, 2, 4]);
});
