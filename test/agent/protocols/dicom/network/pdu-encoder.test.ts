import { expect, test } from "vitest";
import {
  encodeAbort,
  encodeAssociateReject,
  encodeData,
  encodeReleaseRequest,
  encodeReleaseResponse,
} from "../../../../../agent/protocols/dicom/network/pdu-encoder.ts";

test.each<[string, Uint8Array, string]>([
  ["a rejection", encodeAssociateReject({ result: 1, source: 2, reason: 3 }), "03 00 00000004 00 01 02 03"],
  ["a release request", encodeReleaseRequest(), "05 00 00000004 00000000"],
  ["a release response", encodeReleaseResponse(), "06 00 00000004 00000000"],
  ["an abort", encodeAbort(2, 6), "07 00 00000004 00 00 02 06"],
  [
    "a last command fragment",
    encodeData({ context: 3, part: "command", bytes: Uint8Array.of(0x0a, 0x0b), last: true }, 0),
    "04 00 00000008 00000004 03 03 0a0b",
  ],
  [
    "an empty dataset fragment",
    encodeData({ context: 1, part: "dataset", bytes: new Uint8Array(0), last: false }, 0),
    "04 00 00000006 00000002 01 00",
  ],
])("%s is encoded by PS3.8 section 9.3", (_, encoded, expected) => {
  expect(Buffer.from(encoded).toString("hex")).toBe(expected.replaceAll(" ", ""));
});

test("PDUs never exceed the peer's max length", () => {
  const sent = encodeData({ context: 1, part: "dataset", bytes: new Uint8Array(1_000), last: true }, 100);
  for (let at = 0; at < sent.length; ) {
    const length = Buffer.from(sent).readUInt32BE(at + 2);
    expect(length).toBeLessThanOrEqual(100);
    at += 6 + length;
  }
});
