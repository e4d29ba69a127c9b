import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { ConcurrentLines } from "../../../server/import/concurrent-lines.ts";

test("lines of different subjects run concurrently, lines of one subject in order", async () => {
  const events: string[] = [];
  const lines = new ConcurrentLines();
  const work = (name: string, ms: number) => async () => {
    events.push(`start ${name}`);
    await sleep(ms);
    events.push(`end ${name}`);
  };
  await lines.run("a", work("a1", 20));
  await lines.run("b", work("b1", 1));
  await lines.run("a", work("a2", 1));
  await lines.finish();
  expect(events).toEqual(["start a1", "start b1", "end b1", "end a1", "start a2", "end a2"]);
});

test("a failed line is reported after all pending lines have ended", async () => {
  let hasEnded = false;
  const lines = new ConcurrentLines();
  await lines.run("a", async () => {
    throw new Error("first");
  });
  await lines.run("b", async () => {
    await sleep(20);
    hasEnded = true;
  });
  await expect(lines.finish()).rejects.toThrow("first");
  expect(hasEnded).toBe(true);
});
