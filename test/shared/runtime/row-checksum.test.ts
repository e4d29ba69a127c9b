import { expect, test } from "vitest";
import { type CheckedValue, isWhole, rowChecksum } from "../../../shared/runtime/row-checksum.ts";

const [text, bytes] = ["dog", Buffer.from("dog")];

test("a checksum does not hold for the same bytes as another type, since one bit of SQLite's row tells them apart", () => {
  expect(isWhole(rowChecksum([text]), [text])).toBe(true);
  expect(isWhole(rowChecksum([text]), [bytes as unknown as CheckedValue])).toBe(false);
  expect(isWhole(rowChecksum([1], bytes), [1], bytes)).toBe(true);
  expect(isWhole(rowChecksum([1], bytes), [1], text as unknown as Uint8Array)).toBe(false);
});
