import { expect, test } from "vitest";
import { ActionQueue } from "../../../agent/protocols/action-queue.ts";

test("the queue returns actions in order, then the last timer request, and is empty afterwards", () => {
  const queue = new ActionQueue();
  queue.startTimer(100);
  queue.warn("noise");
  queue.startTimer(200);
  queue.push(null);
  queue.reply(Uint8Array.of(6));
  queue.deliver(Uint8Array.of(65), "cut short");
  expect(queue.drain()).toEqual([
    { do: "warn", reason: "noise" },
    { do: "reply", bytes: Uint8Array.of(6) },
    { do: "deliver", message: Uint8Array.of(65), incomplete: "cut short" },
    { do: "timer", ms: 200 },
  ]);
  expect(queue.drain()).toEqual([]);
});

test("the queue stops the timer with null, and leaves it alone without a request", () => {
  const queue = new ActionQueue();
  queue.startTimer(100);
  queue.stopTimer();
  expect(queue.isEmpty).toBe(false);
  expect(queue.drain()).toEqual([{ do: "timer", ms: null }]);
  queue.warn("noise");
  expect(queue.drain()).toEqual([{ do: "warn", reason: "noise" }]);
});
