import { expect, test } from "vitest";
import { wasAnswered, writeId } from "../../server/web/write-ids.ts";

test("a write keeps its id until its response, and another one has an id of its own", () => {
  const [take, other] = ["POST /consume 1", "POST /consume 2"];
  const first = writeId(take, 0);
  expect(first).toMatch(/^[0-9a-f]{32}$/);
  expect(writeId(take, 60_000)).toBe(first);
  expect(writeId(other, 60_000)).not.toBe(first);
  wasAnswered(take);
  expect(writeId(take, 60_001)).not.toBe(first);
});

test("a write without a response is another one five minutes after its first try", () => {
  const first = writeId("POST /amend", 0);
  expect(writeId("POST /amend", 300_000)).toBe(first);
  expect(writeId("POST /amend", 300_001)).not.toBe(first);
});
