import { expect, test } from "vitest";
import { DeviceNoise } from "../../../../agent/connection/device/device-noise.ts";
import { isForeign } from "../../../../agent/states/noise-state.ts";

const hex = (text: string) => Buffer.from(text, "latin1").toString("hex").toUpperCase().replaceAll(/..\B/g, "$& ");

const run = (bytes: string) => ({ bytes: bytes.length, head: Buffer.from(bytes, "latin1") });

test("runs add up until a message comes", () => {
  const noise = new DeviceNoise();
  noise.add(run("\xff"), 1_000, null, "10.0.0.9");
  expect(noise.add(run("\xfe\x80"), 2_000, null, "10.0.0.9")).toEqual({
    bytes: 3,
    runs: 2,
    since: 1_000,
    at: 2_000,
    sample: "FF FE 80",
    protocol: null,
    address: "10.0.0.9",
  });
  expect(noise.add(run("\x80"), 4_000, 3_000, "10.0.0.9")).toMatchObject({
    bytes: 1,
    runs: 1,
    since: 4_000,
    sample: "80",
  });
});

test("the sample has at most 64 bytes, the first of the last long run", () => {
  const noise = new DeviceNoise();
  noise.add(run("x".repeat(600)), 1_000, null, "10.0.0.9");
  const { sample } = noise.add({ bytes: 9_000, head: Buffer.alloc(512, "y") }, 2_000, null, "10.0.0.9");
  expect(sample).toBe(hex("y".repeat(64)));
});

test.each([
  ["one stray byte", { bytes: 1, runs: 1, at: 9 }, null, false],
  ["two stray bytes", { bytes: 2, runs: 2, at: 9 }, null, false],
  ["three runs", { bytes: 3, runs: 3, at: 9 }, null, true],
  ["eight bytes", { bytes: 8, runs: 1, at: 9 }, null, true],
  ["eight bytes before a message", { bytes: 8, runs: 1, at: 9 }, 10, false],
  ["eight bytes after a message", { bytes: 8, runs: 1, at: 9 }, 8, true],
])("%s: advice is %s", (_, noise, lastMessageAt, expected) => {
  expect(isForeign(noise, lastMessageAt)).toBe(expected);
});
