import { expect, test } from "vitest";
import { pruneTask } from "../../agent/periodic-tasks.ts";
import { MESSAGES_KEPT_MS } from "../../agent/spool/queries/retention.ts";
import type { Spool } from "../../agent/spool/spool.ts";

const NOON = Date.parse("2026-11-21T12:00:00.000Z");
const YEARS = 3 * 365 * 24 * 60 * 60_000;

/** @returns the times before which rows were removed */
function pruning(isShort = false) {
  const before: number[] = [];
  const spool = {
    isShort,
    call: async (_: "prune", at: number) => {
      before.push(at + MESSAGES_KEPT_MS);
      return false;
    },
  } as unknown as Pick<Spool, "call" | "isShort">;
  return { before, spool };
}

test("old rows are removed by the agreed time alone, and as soon as there is one", async () => {
  const { before, spool } = pruning();
  let agreed: number | null = null;
  const prune = pruneTask(spool, { now: () => agreed, best: () => NOON + YEARS });
  await prune();
  expect(before).toEqual([]);
  agreed = NOON;
  await prune();
  await prune();
  expect(before).toEqual([NOON]);
});

test("a spool that is short of space does not wait for an agreed time", async () => {
  const { before, spool } = pruning(true);
  await pruneTask(spool, { now: () => null, best: () => NOON })();
  expect(before).toEqual([NOON]);
});
