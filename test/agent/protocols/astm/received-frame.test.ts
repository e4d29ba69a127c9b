import { expect, test } from "vitest";
import { FRAME_BYTES_MAX, ReceivedFrame } from "../../../../agent/protocols/astm/received-frame.ts";
import { bytes } from "./wire.ts";

const DIGIT_1 = 0x31;

/** Reads the text of frame 1 in chunks of `size` bytes. */
function read(text: string, size = 1): ReceivedFrame {
  const frame = new ReceivedFrame();
  frame.begin(DIGIT_1);
  const wire = bytes(text);
  for (let at = 0; at < wire.length && frame.textEnd === null; at += size) {
    frame.readText(wire.subarray(at, at + size), 0);
  }
  return frame;
}

test.each([1, 2, 100])("text in chunks of %i bytes ends at ETX, and its checksum covers number and ETX", (size) => {
  const frame = read("A<CR><ETX>", size);
  expect(frame).toMatchObject({ number: 1, length: 2, terminator: 3, textEnd: "terminator" });
  expect(Buffer.from(frame.text.subarray(0, frame.length))).toEqual(bytes("A<CR>"));
  // 1 A CR ETX: 0x31 + 0x41 + 0x0D + 0x03 = 0x82
  frame.readChecksumHigh(0x38);
  frame.readChecksumLow(0x32);
  expect(frame.checksumProblem()).toBe(null);
});

test("a wrong checksum is named with the computed one, and digits that are not hex are named", () => {
  const frame = read("A<ETX>");
  frame.readChecksumHigh(0x30);
  frame.readChecksumLow(0x30);
  expect(frame.checksumProblem()).toBe("checksum 00, computed 75");
  frame.readChecksumHigh(0x78);
  expect(frame.checksumProblem()).toBe("checksum is not two hex digits, computed 75");
});

test("the offset after the read bytes leaves the checksum to the caller", () => {
  const frame = new ReceivedFrame();
  frame.begin(DIGIT_1);
  expect(frame.readText(bytes("AB<ETB>75"), 0)).toBe(3);
});

test("EOT ENQ within text starts a new session", () => {
  expect(read("A<EOT><ENQ>").textEnd).toBe("new session");
});

test("NUL is dropped from the text", () => {
  expect(read("A<NUL>B").length).toBe(2);
});

test("text that reaches the limit is too long", () => {
  expect(read("x".repeat(FRAME_BYTES_MAX - 1), 4096).textEnd).toBe(null);
  expect(read("x".repeat(FRAME_BYTES_MAX), 4096).textEnd).toBe("too long");
});

test("frames are equal if number, text and terminator are", () => {
  const frame = read("AB<ETX>");
  expect(frame.equals(read("AB<ETX>"))).toBe(true);
  for (const other of ["AC<ETX>", "AB<ETB>", "A<ETX>"]) expect(frame.equals(read(other))).toBe(false);
  const next = read("AB<ETX>");
  next.number = 2;
  expect(frame.equals(next)).toBe(false);
});
