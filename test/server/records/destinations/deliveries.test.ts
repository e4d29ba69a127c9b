import { expect, test } from "vitest";
import { study } from "../../harness.ts";
import { startDestination } from "../../destinations.ts";

test("a filed study waits for the agent of a destination, which gets the same bytes until it acknowledges them", async () => {
  const { push, key, pamuk, receiver } = await startDestination();
  const filed = study({ patient_fp: pamuk.fp });
  await push(key, filed);
  const first = await receiver.next();
  const again = await receiver.next();
  expect(first.segments.map((segment) => segment.slice(0, 3)).slice(0, 4)).toEqual(["MSH", "PID", "ORC", "OBR"]);
  expect(again.answer).toEqual({ ...first.answer, delivery: { ...first.answer.delivery, attempt: 2 } });
  expect(await receiver.report({})).toBe(200);
  expect((await receiver.next()).answer.delivery).toBeNull();
});
