import { expect, test } from "vitest";
import {
  concat,
  equalBytes,
  hexDigit,
  isAlphanumeric,
  isDigit,
  withCapacity,
  xorOf,
} from "../../../agent/protocols/bytes.ts";

test("withCapacity keeps a large enough buffer, and at least doubles a smaller one with its content", () => {
  const buffer = Uint8Array.of(1, 2, 3, 4);
  expect(withCapacity(buffer, 4)).toBe(buffer);
  expect(withCapacity(buffer, 5)).toEqual(Uint8Array.of(1, 2, 3, 4, 0, 0, 0, 0));
  expect(withCapacity(buffer, 20)).toHaveLength(20);
});

test("xorOf is the XOR of all bytes, 0 for none", () => {
  expect(xorOf(Uint8Array.of(0x52, 0x2c, 0x31, 0x03))).toBe(0x4c);
  expect(xorOf(new Uint8Array(0))).toBe(0);
});

test("concat joins parts, and equalBytes compares length and content", () => {
  const whole = concat([Uint8Array.of(1), new Uint8Array(0), Uint8Array.of(2, 3)]);
  expect(equalBytes(whole, Uint8Array.of(1, 2, 3))).toBe(true);
  expect(equalBytes(whole, Uint8Array.of(1, 2))).toBe(false);
  expect(equalBytes(whole, Uint8Array.of(1, 2, 4))).toBe(false);
});

test("the character classes hold exactly their ASCII characters", () => {
  const inClass = (is: (byte: number) => boolean) =>
    Array.from({ length: 256 }, (_, byte) => byte)
      .filter(is)
      .map((byte) => String.fromCharCode(byte))
      .join("");
  expect(inClass(isDigit)).toBe("0123456789");
  expect(inClass(isAlphanumeric)).toBe("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
  expect(inClass((byte) => !Number.isNaN(hexDigit(byte)))).toBe("0123456789ABCDEFabcdef");
});
