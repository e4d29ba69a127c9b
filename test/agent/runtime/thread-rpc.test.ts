import { MessageChannel } from "node:worker_threads";
import { expect, onTestFinished, test } from "vitest";
import { ThreadRpc } from "../../../agent/runtime/thread-rpc.ts";

interface Ours {
  heard(word: string): void;
}
interface Theirs {
  twice(number: number): number;
  late(word: string): Promise<string>;
  fail(): never;
  note(word: string): void;
}

test("calls arrive in order, and each gets its own result or error", async () => {
  const { port1, port2 } = new MessageChannel();
  onTestFinished(() => port1.close());
  const order: string[] = [];
  const here = new ThreadRpc<Ours, Theirs>(port1, { heard: (word) => order.push(`heard ${word}`) });
  let release: (word: string) => void;
  const there = new ThreadRpc<Theirs, Ours>(port2, {
    twice: (number) => number * 2,
    late: () => new Promise((resolve) => (release = resolve)),
    fail() {
      throw new RangeError("out of it");
    },
    note(word) {
      order.push(`noted ${word}`);
      there.notify("heard", word);
      release("at last");
    },
  });
  const late = here.call("late", "now");
  const answers = Promise.all([here.call("twice", 1), here.call("twice", 2)]);
  await expect(here.call("fail")).rejects.toThrow(new RangeError("out of it"));
  expect(await answers).toEqual([2, 4]);
  for (const word of ["a", "b"]) here.notify("note", word);
  expect(await late).toBe("at last");
  await here.call("twice", 0);
  expect(order).toEqual(["noted a", "noted b", "heard a", "heard b"]);
});
