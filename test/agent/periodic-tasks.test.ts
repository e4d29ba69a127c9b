import { pino } from "pino";
import { expect, test } from "vitest";
import { makeRoom, pruneTask, removeImagesTask } from "../../agent/periodic-tasks.ts";
import { MESSAGES_KEPT_MS } from "../../agent/spool/queries/retention.ts";
import type { Spool } from "../../agent/spool/spool.ts";

const NOON = Date.parse("2026-11-21T12:00:00.000Z");

/** @returns the times before which rows were removed */
function pruning() {
  const before: number[] = [];
  const spool = {
    call: async (_: "prune", at: number) => {
      before.push(at + MESSAGES_KEPT_MS);
      return false;
    },
  } as unknown as Pick<Spool, "call">;
  return { before, spool };
}

test("old rows are removed by the agreed time alone, and as soon as there is one", async () => {
  const { before, spool } = pruning();
  let agreed: number | null = null;
  const prune = pruneTask(spool, { now: () => agreed });
  await prune();
  expect(before).toEqual([]);
  agreed = NOON;
  await prune();
  await prune();
  expect(before).toEqual([NOON]);
});

test("a spool that is short of space removes settled rows without a time, until there is enough", async () => {
  const calls: unknown[] = [];
  const spool = {
    shortDevices: ["chem-1"],
    call: async (...call: readonly unknown[]) => {
      if (calls.push(call) === 3) spool.shortDevices = [];
      return true;
    },
  };
  await makeRoom(spool as unknown as Pick<Spool, "call" | "shortDevices">);
  expect(calls).toEqual(Array.from({ length: 3 }, () => ["makeRoom", ["chem-1"], expect.any(Number)]));
});

test("old images are removed at the start, and again as soon as there is an agreed time", async () => {
  const times: (number | null)[] = [];
  const imaging = {
    removeOld: async (agreed: number | null) => {
      times.push(agreed);
      return { count: 0, bytes: 0, isEnough: true };
    },
  };
  let agreed: number | null = null;
  const remove = removeImagesTask({ imaging, time: { now: () => agreed }, log: pino({ enabled: false }) });
  await remove();
  await remove();
  expect(times).toEqual([null]);
  agreed = NOON;
  await remove();
  await remove();
  expect(times).toEqual([null, NOON]);
});
