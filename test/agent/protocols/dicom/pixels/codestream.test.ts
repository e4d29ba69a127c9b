import { describe, expect, test } from "vitest";
import { decoderOf } from "../../../../../agent/imaging/files/decode-frame.ts";
import { jpeg2000Size, jpegSize } from "../../../../../agent/protocols/dicom/pixels/codestream.ts";
import { JPEG_2000, JPEG_BASELINE, JPEG_LOSSLESS, JPEG_LS } from "../../../../../agent/protocols/dicom/uids.ts";

const word = (value: number) => [value >> 8, value & 0xff];
const long = (value: number) => [...word(value >>> 16), ...word(value & 0xffff)];

/** SOI, a comment, and a frame header: of JPEG-LS with `marker` F7, of baseline JPEG with C0. */
const jpeg = (marker: number, width: number, height: number, components = 1) =>
  Uint8Array.from([
    ...[0xff, 0xd8, 0xff, 0xfe, 0, 4, 1, 2, 0xff, 0xff],
    ...[marker, 0, 8 + 3 * components, 8, ...word(height), ...word(width), components],
    ...Array.from({ length: components }, (_, index) => [index + 1, 0x11, 0]).flat(),
    ...[0xff, 0xda, 0, 8, 1, 1, 0, 0, 0, 0],
  ]);

/** SOC and SIZ, with an offset of the image. */
const jpeg2000 = (width: number, height: number, components = 1) =>
  Uint8Array.from([
    ...[0xff, 0x4f, 0xff, 0x51, ...word(38 + 3 * components), 0, 0, ...long(width + 3), ...long(height + 2)],
    ...[...long(3), ...long(2), ...long(width), ...long(height), ...long(0), ...long(0), ...word(components)],
    ...Array.from({ length: components }, () => [7, 1, 1]).flat(),
  ]);

describe("a codestream", () => {
  test("states its size in its frame header, after other segments and fill bytes", () => {
    expect(jpegSize(jpeg(0xf7, 640, 480))).toEqual({ width: 640, height: 480, components: 1 });
    expect(jpegSize(jpeg(0xc0, 30_000, 2, 3))).toEqual({ width: 30_000, height: 2, components: 3 });
    expect(jpeg2000Size(jpeg2000(640, 480, 3))).toEqual({ width: 640, height: 480, components: 3 });
  });

  test("without a frame header states no size, for any bytes", () => {
    const whole = [jpeg(0xc3, 640, 480), jpeg2000(640, 480)];
    for (const bytes of whole) {
      for (let end = 0; end < bytes.length; end++) {
        const cut = bytes.subarray(0, end);
        expect([null, 640]).toContain(jpegSize(cut)?.width ?? null);
        expect([null, 640]).toContain(jpeg2000Size(cut)?.width ?? null);
      }
    }
    expect(jpegSize(Uint8Array.of(0xff, 0xd8, 0xff, 0xda, 0, 2, 0xff, 0xf7, 0, 11, 8, 1, 1, 1, 1, 1))).toBe(null);
    expect(jpegSize(Uint8Array.of(0xff, 0xd8, 0xff, 0xfe, 0, 0, 0, 0))).toBe(null);
  });

  test.each([
    ["JPEG-LS", JPEG_LS, jpeg(0xf7, 30_000, 30_000)],
    ["JPEG", JPEG_BASELINE, jpeg(0xc0, 30_000, 30_000)],
    ["lossless JPEG", JPEG_LOSSLESS, jpeg(0xc3, 30_000, 30_000)],
    ["JPEG 2000", JPEG_2000, jpeg2000(30_000, 30_000)],
  ])("of %s that needs another size than its header never reaches the decoder", async (_, uid, frame) => {
    const format = {
      ...{ rows: 8, columns: 8, frames: 1, bitsAllocated: 8, bitsStored: 8, highBit: 7 },
      ...{ photometric: "MONOCHROME2", planar: false, signed: false },
    };
    const answer = await decoderOf(uid)!.decode(frame, format as never);
    expect(answer).toBe("the compressed frame has 30000 x 30000 pixels, its header has 8 x 8");
  });
});
