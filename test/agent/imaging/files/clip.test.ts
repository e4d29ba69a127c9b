import { expect, test } from "vitest";
import { clipFrames } from "../../../../agent/imaging/files/clip.ts";

/** Draws frames of `bytes` each, at the larger side; a quarter at the smaller one. @returns the frames that were kept */
async function framesOf(total: number, bytes: number, bytesMax: number, broken: readonly number[] = []) {
  const frames = await clipFrames(total, bytesMax, async (frame, side) =>
    broken.includes(frame) ? null : new Uint8Array(side === 512 ? bytes : bytes / 4).fill(frame),
  );
  return frames.map((frame) => `${frame[0]}:${frame.length}`);
}

test("a short clip is kept frame by frame, a long one at even distances", async () => {
  expect(await framesOf(3, 100, 10_000)).toEqual(["1:100", "2:100", "3:100"]);
  const long = await framesOf(240, 100, 10_000);
  expect([long.length, long[0], long[1], long.at(-1)]).toEqual([24, "1:100", "11:100", "231:100"]);
});

test("frames that do not fit are smaller, then fewer", async () => {
  const smaller = await framesOf(24, 1000, 7000);
  expect([smaller.length, smaller[0]]).toEqual([24, "1:250"]);
  expect(await framesOf(24, 4000, 3100)).toEqual(["1:1000", "9:1000", "17:1000"]);
  expect(await framesOf(24, 4000, 1100)).toEqual([]);
});

test("a frame without a picture is left out, and one frame alone makes no clip", async () => {
  expect(await framesOf(3, 100, 10_000, [2])).toEqual(["1:100", "3:100"]);
  expect(await framesOf(2, 100, 10_000, [2])).toEqual([]);
});

test("a header that claims billions of frames costs no more than 24 drawings at each side", async () => {
  let drawings = 0;
  const frames = await clipFrames(4_800_000_000, 10_000, async (frame) => {
    drawings++;
    return frame === 1 || frame === 200_000_001 ? new Uint8Array(100) : null;
  });
  expect([frames.length, drawings]).toEqual([2, 24]);
});
