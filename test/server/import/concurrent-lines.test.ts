import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { ConcurrentLines } from "../../../server/import/concurrent-lines.ts";

test("lines of different subjects run concurrently, lines of one subject in order", async () => {
  const events: string[] = [];
  const lines = new ConcurrentLines();
  let endB = () => undefined as void;
  const bEnded = new Promise<void>((resolve) => (endB = resolve));
  const work = (name: string, until?: Promise<void>) => async () => {
    events.push(`start ${name}`);
    await until;
    events.push(`end ${name}`);
    if (name === "b1") endB();
  };
  await lines.run("a", work("a1", bEnded));
  await lines.run("b", work("b1"));
  await lines.run("a", work("a2"));
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
