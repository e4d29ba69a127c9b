import { expect, test } from "vitest";
import { type CheckedValue, rowChecksum } from "../../../shared/runtime/row-checksum.ts";

const [text, bytes] = ["dog", Buffer.from("dog")];

test("a checksum differs for the same bytes as another type, which one bit of SQLite's row distinguishes", () => {
  expect(rowChecksum([text])).not.toBe(rowChecksum([bytes as unknown as CheckedValue]));
  expect(rowChecksum([1], bytes)).not.toBe(rowChecksum([1], text as unknown as Uint8Array));
});
