import { expect, test } from "vitest";
import { ChangeSync } from "../../../agent/study/change-sync.ts";
import { TestClock } from "../../support/wire.ts";

// The directory is synced soon after a change of practice software, and not for each of an import's changes.

function changeSync() {
  const clock = new TestClock();
  const ends: ((failed?: Error) => void)[] = [];
  const directory = {
    syncAfterChange: () =>
      new Promise<{ whole: boolean; changed: number }>((resolve, reject) => {
        ends.push((failed) => (failed === undefined ? resolve({ whole: false, changed: 1 }) : reject(failed)));
      }),
  };
  return { clock, ends, sync: new ChangeSync(directory, clock.setTimer) };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test("the first change syncs now, and later ones after a pause, together", async () => {
  const { clock, ends, sync } = changeSync();
  sync.syncSoon();
  expect(ends).toHaveLength(1);
  sync.syncSoon();
  sync.syncSoon();
  ends[0]?.();
  await turn();
  expect([ends.length, clock.pending]).toEqual([1, [5_000]]);
  clock.advance(5_000);
  expect(ends).toHaveLength(2);
  ends[1]?.(new Error("the server is away"));
  await turn();
  clock.advance(5_000);
  expect(ends).toHaveLength(2);
  sync.syncSoon();
  expect(ends).toHaveLength(3);
});

test("a stop waits for the sync under way, and starts none", async () => {
  const { clock, ends, sync } = changeSync();
  sync.syncSoon();
  sync.syncSoon();
  const stopped = sync.stop();
  ends[0]?.();
  await stopped;
  expect(clock.pending).toEqual([]);
  sync.syncSoon();
  expect(ends).toHaveLength(1);
});
