import { expect, test } from "vitest";
import { DeliveryLoop } from "../../../agent/runtime/delivery-loop.ts";
import { SendError } from "../../../agent/runtime/send-error.ts";
import { TestClock } from "../../support/protocols/wire.ts";

// Method: the test sends from an array. An error in the array fails its attempt.

function createLoop(items: (string | Error)[]) {
  const clock = new TestClock();
  const seen: string[] = [];
  const events = {
    failed: (kind: string, reason: string) => void seen.push(`failed ${kind}: ${reason}`),
    recovered: () => void seen.push("recovered"),
  };
  const sendNext = async () => {
    const item = items.shift();
    if (item === undefined) return false;
    if (item instanceof Error) throw item;
    seen.push(item);
    loop.succeeded();
    return items.length > 0;
  };
  const loop = new DeliveryLoop(sendNext, events, { setTimer: clock.setTimer, random: () => 1 });
  return { loop, clock, seen, pass: () => new Promise((resolve) => setImmediate(resolve)) };
}

test("all queued items are sent, and items queued later after a wake", async () => {
  const items = ["a", "b"];
  const { loop, seen, pass } = createLoop(items);
  loop.wake();
  await pass();
  items.push("c");
  loop.wake();
  await pass();
  expect(seen).toEqual(["a", "b", "c"]);
});

test("no wake is lost, however shortly before or after the end of a run it comes", async () => {
  for (let turns = 0; turns < 12; turns++) {
    const items: string[] = [];
    const { loop, seen, pass } = createLoop(items);
    loop.wake();
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    items.push("late");
    loop.wake();
    await pass();
    expect({ turns, seen }).toEqual({ turns, seen: ["late"] });
  }
});

test("a receiver that responds shortly before or after a failure leaves no item without a retry", async () => {
  for (let turns = 0; turns < 12; turns++) {
    const { loop, clock, seen, pass } = createLoop([new Error("away"), "a"]);
    loop.wake();
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    loop.responded();
    await pass();
    for (const ms of clock.pending) clock.advance(ms);
    await pass();
    expect({ turns, seen }).toEqual({ turns, seen: ["failed transient: away", "a", "recovered"] });
  }
});

test("a failure is reported once, retried with doubled delays, and followed by a recovery", async () => {
  const away = new Error("away");
  const { loop, clock, seen, pass } = createLoop([away, away, away, "a"]);
  const delays: (readonly number[])[] = [];
  loop.wake();
  for (let attempt = 0; attempt < 3; attempt++) {
    await pass();
    loop.wake(); // no effect before the retry
    delays.push(clock.pending);
    clock.advance(clock.pending[0]!);
  }
  await pass();
  expect(delays).toEqual([[1_000], [2_000], [4_000]]);
  expect(seen).toEqual(["failed transient: away", "a", "recovered"]);
});

test("a refused key is retried after a minute, and Retry-After replaces the backoff", async () => {
  const refused = createLoop([new SendError("unauthorized", "wrong key")]);
  const limited = createLoop([new SendError("transient", "limited", { status: 429, retryAfterMs: 7_000 })]);
  for (const { loop, pass } of [refused, limited]) {
    loop.wake();
    await pass();
  }
  expect([refused.clock.pending, limited.clock.pending]).toEqual([[60_000], [7_000]]);
});

test("a receiver that responds to another request ends the backoff, but no Retry-After and no wait for a key", async () => {
  const away = createLoop([new Error("away"), "a"]);
  const limited = createLoop([new SendError("transient", "limited", { status: 429, retryAfterMs: 7_000 }), "a"]);
  const refused = createLoop([new SendError("unauthorized", "wrong key"), "a"]);
  for (const { loop, pass } of [away, limited, refused]) {
    loop.wake();
    await pass();
    loop.responded();
    await pass();
  }
  expect(away.seen).toEqual(["failed transient: away", "a", "recovered"]);
  expect([away, limited, refused].map(({ clock }) => clock.pending)).toEqual([[], [7_000], [60_000]]);
});

test("a stopped loop neither retries nor wakes", async () => {
  const { loop, clock, seen, pass } = createLoop([new Error("away"), "a"]);
  loop.wake();
  await pass();
  await loop.stop();
  loop.wake();
  await pass();
  expect([clock.pending, seen]).toEqual([[], ["failed transient: away"]]);
});
