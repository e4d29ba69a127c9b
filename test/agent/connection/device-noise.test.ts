import { expect, test } from "vitest";
import { noiseLines } from "../../../agent/cli/noise-lines.ts";
import { DeviceNoise } from "../../../agent/connection/device-noise.ts";
import { isForeign } from "../../../agent/states/noise-state.ts";

const ADVICE = 'compare profile, port and baud rate, or run "agent sniff"';
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

test("messages --bytes has lines of hexadecimal with their text", () => {
  const at = "2026-11-21T09:30:00.000Z";
  const text = "\vMSH|^~\\&|Analyzer|Lab";
  const noise = { bytes: 22, runs: 1, since: at, last_at: at, sample: hex(text), protocol: "HL7 over MLLP" };
  expect(noiseLines({ device: "chem-1", ...noise })).toEqual([
    `chem-1: 22 bytes in 1 run belong to no message (they look like HL7 over MLLP): ${ADVICE}; last at ${new Date(at).toLocaleString("sv-SE")}`,
    "  0B 4D 53 48 7C 5E 7E 5C 26 7C 41 6E 61 6C 79 7A  .MSH|^~\\&|Analyz",
    "  65 72 7C 4C 61 62                                er|Lab",
  ]);
});
