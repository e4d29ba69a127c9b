import { expect, test } from "vitest";
import { RecentChunks } from "../../../../../agent/spool/queries/events/event-log.ts";

function chunksOf(...lengths: number[]): RecentChunks {
  const chunks = new RecentChunks();
  for (const [index, length] of lengths.entries()) chunks.add(10 + index, length);
  return chunks;
}

test("a range within one chunk names that chunk alone", () => {
  expect(chunksOf(5, 5, 5).find(6, 3)).toEqual({ firstEvent: 11, lastEvent: 11, start: 1, length: 3 });
});

test("a range across chunks names the first and the last of them", () => {
  expect(chunksOf(5, 5, 5).find(4, 7)).toEqual({ firstEvent: 10, lastEvent: 12, start: 4, length: 7 });
});

test("a range that ends with a chunk does not name the next one", () => {
  expect(chunksOf(5, 5, 5).find(5, 5)).toEqual({ firstEvent: 11, lastEvent: 11, start: 0, length: 5 });
});

test("a range that started more than 2000 chunks ago is not found", () => {
  const chunks = chunksOf(...Array.from({ length: 2_001 }, () => 1));
  expect(chunks.find(999, 1)).toBe(null);
  expect(chunks.find(1_000, 1)).toEqual({ firstEvent: 1_010, lastEvent: 1_010, start: 0, length: 1 });
});
