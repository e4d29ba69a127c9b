import fs from "node:fs";
import path from "node:path";
import { crc32, inflateSync } from "node:zlib";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DatasetWalker, type Encoding, encodingOf } from "../../../agent/protocols/dicom/dataset.ts";
import { type Dataset, encodeDataset } from "../../../agent/protocols/dicom/encode.ts";
import { readEncapsulatedFrame, readNativeFrame } from "../../../agent/protocols/dicom/pixels/frames.ts";
import { encodeFileHead } from "../../../agent/protocols/dicom/part10.ts";
import { type Picture, readPixelFormat, shrink } from "../../../agent/protocols/dicom/pixels/pixels.ts";
import { decodeRle } from "../../../agent/protocols/dicom/pixels/rle.ts";
import { decoderOf } from "../../../agent/imaging/files/decode-frame.ts";
import { drawFile, type Preview } from "../../../agent/imaging/files/render-frame.ts";
import { ConfinedFiles } from "../../../agent/imaging/files/confined-files.ts";
import { drawPreview } from "../../../agent/imaging/preview.ts";
import { dcmtk, gdcm, run } from "../../support/protocols/dcmtk.ts";
import { CR_STORAGE, EXPLICIT, IMPLICIT } from "../../support/protocols/dicom.ts";
import { temporaryFolder } from "../../support/machine/processes.ts";

// Method: the agent and DCMTK's dcmj2pnm draw images of every kind, compressed by DCMTK's encoders. The pictures are compared
// pixel by pixel.

const BIG_ENDIAN = "1.2.840.10008.1.2.2";
const EXPLICIT_ENCODING = encodingOf(EXPLICIT)!;
const [WIDTH, HEIGHT] = [62, 45];
let folder: string;

beforeAll(() => {
  folder = temporaryFolder();
});
afterAll(() => fs.rmSync(folder, { recursive: true }));

interface Look {
  readonly photometric: string;
  readonly bits?: readonly [allocated: number, stored: number, high: number];
  readonly others?: Dataset;
  readonly frames?: number;
}

/** Writes a file with these values as bytes or words of its pixels. */
function imageFile(look: Look, values: readonly number[], transferSyntax = EXPLICIT): string {
  const { photometric, bits: [allocated, stored, high] = [8, 8, 7], others = [], frames = 1 } = look;
  const { littleEndian } = encodingOf(transferSyntax)!;
  const bytes = new Uint8Array((values.length * allocated) / 8);
  const view = new DataView(bytes.buffer);
  for (const [index, value] of values.entries()) {
    if (allocated === 8) bytes[index] = value;
    else view.setUint16(index * 2, value & 0xffff, littleEndian);
  }
  const elements: Dataset = [
    [0x0008_0016, "UI", CR_STORAGE],
    [0x0008_0018, "UI", "1.2.3.1"],
    [0x0020_000d, "UI", "1.2.3"],
    [0x0028_0002, "US", photometric.startsWith("MONO") ? 1 : 3],
    [0x0028_0004, "CS", photometric],
    [0x0028_0008, "IS", String(frames)],
    [0x0028_0010, "US", HEIGHT],
    [0x0028_0011, "US", WIDTH],
    [0x0028_0100, "US", allocated],
    [0x0028_0101, "US", stored],
    [0x0028_0102, "US", high],
    [0x0028_0103, "US", 0],
    ...others,
    [0x7fe0_0010, "OW", bytes],
  ];
  const byTag = new Map(elements.map((element) => [element[0], element]));
  const dataset = encodeDataset(
    [...byTag.values()].toSorted(([one], [other]) => one - other),
    encodingOf(transferSyntax) as Encoding,
  );
  return written(Buffer.concat([headOf(transferSyntax), dataset]));
}

const headOf = (transferSyntax: string) =>
  encodeFileHead({ sopClass: CR_STORAGE, sopInstance: "1.2.3.1", transferSyntax, sourceAe: "DX1" });

let files = 0;
function written(bytes: Uint8Array): string {
  const file = path.join(folder, `${++files}.dcm`);
  fs.writeFileSync(file, bytes);
  return file;
}

/** Returns the location of a header as the spool describes it. */
function locationOf(file: string) {
  const bytes = fs.readFileSync(file);
  const dataset = 144 + bytes.readUInt32LE(140);
  const [, transferSyntax = ""] = /UI..(1\.2\.840\.10008\.1\.2[0-9.]*)/s.exec(bytes.toString("latin1", 144, dataset))!;
  const walker = new DatasetWalker(encodingOf(transferSyntax) ?? EXPLICIT_ENCODING);
  walker.receive(bytes.subarray(dataset));
  return { file, headerBytes: dataset + walker.end().headerBytes, transferSyntax };
}

async function draw(file: string, frame = 1, sideMax = 1024): Promise<Preview> {
  const result = await drawFile({ ...locationOf(file), frame, sideMax });
  if ("problem" in result) throw new Error(result.problem);
  return result;
}

/** Reads a PNG without filters and verifies its checksums. */
function readPng(png: Uint8Array): Picture {
  const bytes = Buffer.from(png);
  expect(bytes.subarray(0, 8).toString("hex")).toBe("89504e470d0a1a0a");
  const chunks = new Map<string, Buffer>();
  for (let at = 8; at < bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    const content = bytes.subarray(at + 4, at + 8 + length);
    expect(bytes.readUInt32BE(at + 8 + length)).toBe(crc32(content));
    chunks.set(content.toString("latin1", 0, 4), content.subarray(4));
    at += 12 + length;
  }
  expect([...chunks.keys()]).toEqual(["IHDR", "IDAT", "IEND"]);
  const header = chunks.get("IHDR")!;
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const channels = header[9] === 2 ? 3 : 1;
  const rows = inflateSync(chunks.get("IDAT")!);
  const rowBytes = width * channels + 1;
  expect(rows).toHaveLength(rowBytes * height);
  return { width, height, channels, pixels: rows.filter((_, index) => index % rowBytes !== 0) };
}

/** Draws a file by dcmj2pnm and reads its binary PGM or PPM. */
async function drawnByDcmtk(file: string, ...options: readonly string[]): Promise<Picture> {
  const out = `${file}.pnm`;
  const { ok, output } = await run("dcmj2pnm", "+op", ...options, file, out);
  expect(ok ? "" : output).toBe("");
  const bytes = fs.readFileSync(out);
  const [head, kind, width, height] = /^P([56])\s(?:#.*\n)?(\d+)\s(\d+)\s255\s/.exec(bytes.toString("latin1"))!;
  return {
    width: Number(width),
    height: Number(height),
    channels: kind === "6" ? 3 : 1,
    pixels: bytes.subarray(head.length),
  };
}

/** Returns the largest and the mean difference of two pictures of one size. */
function difference(one: Picture, other: Picture): { most: number; mean: number } {
  expect([one.width, one.height, one.channels]).toEqual([other.width, other.height, other.channels]);
  const differences = [...one.pixels].map((value, index) => Math.abs(value - other.pixels[index]!));
  const sum = differences.reduce((total, each) => total + each, 0);
  return { most: Math.max(...differences), mean: sum / differences.length };
}

const count = WIDTH * HEIGHT;
const slopes = (max: number, samples = 1, frames = 1) =>
  Array.from(
    { length: count * samples * frames },
    (_, index) => (index * 37 + Math.floor(index / 61) * 211) % (max + 1),
  );
/** Builds values without edges, so that compression changes little. */
const smooth = (samples: number, frames = 1) =>
  Array.from({ length: count * samples * frames }, (_, index) => {
    const pixel = Math.floor(index / samples);
    return Math.round(127 + 90 * Math.sin(pixel / (300 + 100 * (index % samples))) + 30 * Math.floor(pixel / count));
  });
const window = (center: string, width: string): Dataset => [
  [0x0028_1050, "DS", center],
  [0x0028_1051, "DS", width],
];
const CT: Dataset = [
  [0x0028_0103, "US", 1],
  [0x0028_1052, "DS", "-1024"],
  [0x0028_1053, "DS", "1.5"],
];

describe.skipIf(!dcmtk)("a picture equals that of DCMTK", () => {
  test.each<[string, Look, readonly number[], readonly string[]]>([
    ["8 bits", { photometric: "MONOCHROME2" }, slopes(255), []],
    ["8 bits of MONOCHROME1", { photometric: "MONOCHROME1" }, slopes(255), []],
    [
      "12 of 16 bits through its window",
      { photometric: "MONOCHROME2", bits: [16, 12, 11], others: window("1500", "2500") },
      slopes(4095),
      ["+Wi", "1"],
    ],
    [
      "12 bits through the first of two windows",
      { photometric: "MONOCHROME2", bits: [16, 12, 11], others: window("900\\2000", "300\\10") },
      slopes(4095),
      ["+Wi", "1"],
    ],
    [
      "12 bits of MONOCHROME1 through its window",
      { photometric: "MONOCHROME1", bits: [16, 12, 11], others: window("2048", "4096") },
      slopes(4095),
      ["+Wi", "1"],
    ],
    [
      "12 bits through a window of one value",
      { photometric: "MONOCHROME2", bits: [16, 12, 11], others: window("2000", "1") },
      slopes(4095),
      ["+Wi", "1"],
    ],
    [
      "12 bits through the exact window",
      {
        photometric: "MONOCHROME2",
        bits: [16, 12, 11],
        others: [...window("2000", "1000"), [0x0028_1056, "CS", "LINEAR_EXACT"]],
      },
      slopes(4095),
      ["+Wi", "1"],
    ],
    ["12 bits without a window", { photometric: "MONOCHROME2", bits: [16, 12, 11] }, slopes(3000), ["+Wm"]],
    [
      "signed and rescaled values through their window",
      { photometric: "MONOCHROME2", bits: [16, 16, 15], others: [...CT, ...window("40", "400")] },
      slopes(2000).map((value) => value - 500),
      ["+Wi", "1"],
    ],
    [
      "12 high bits of 16",
      { photometric: "MONOCHROME2", bits: [16, 12, 15], others: window("2000", "3000") },
      slopes(4095).map((value) => value << 4),
      ["+Wi", "1"],
    ],
    ["RGB by pixel", { photometric: "RGB", others: [[0x0028_0006, "US", 0]] }, slopes(255, 3), []],
    ["RGB by plane", { photometric: "RGB", others: [[0x0028_0006, "US", 1]] }, slopes(255, 3), []],
    ["YBR_FULL", { photometric: "YBR_FULL", others: [[0x0028_0006, "US", 0]] }, slopes(255, 3), []],
    ["YBR_FULL_422", { photometric: "YBR_FULL_422", others: [[0x0028_0006, "US", 0]] }, slopes(255, 2), []],
  ])("%s are drawn", async (_, look, values, options) => {
    const file = imageFile(look, values);
    const { png, frames } = await draw(file);
    expect(frames).toBe(1);
    const { most } = difference(readPng(png), await drawnByDcmtk(file, ...options));
    // DCMTK converts YBR to RGB with integers and truncates.
    expect(most).toBeLessThanOrEqual(look.photometric.startsWith("YBR") ? 2 : 1);
  });

  test.each([
    ["big endian", BIG_ENDIAN],
    ["implicit VR", IMPLICIT],
  ])("16 bits in %s are drawn", async (_, syntax) => {
    const look = { photometric: "MONOCHROME2", bits: [16, 12, 11], others: window("1500", "2500") } as const;
    const file = imageFile(look, slopes(4095), syntax);
    const { most } = difference(readPng((await draw(file)).png), await drawnByDcmtk(file, "+Wi", "1"));
    expect(most).toBeLessThanOrEqual(1);
  });

  test.each<[string, Look, readonly number[], readonly string[]]>([
    ["8 bits", { photometric: "MONOCHROME2" }, slopes(255), []],
    [
      "16 bits",
      { photometric: "MONOCHROME2", bits: [16, 12, 11], others: window("900", "700") },
      smooth(1),
      ["+Wi", "1"],
    ],
    ["RGB", { photometric: "RGB", others: [[0x0028_0006, "US", 0]] }, smooth(3), []],
    ["clip", { photometric: "MONOCHROME2", frames: 3 }, smooth(1, 3), []],
  ])("RLE of %s is drawn", async (_, look, values, options) => {
    const plain = imageFile(look, values);
    const file = `${plain}.rle`;
    expect(await run("dcmcrle", plain, file)).toEqual({ ok: true, output: "" });
    expect(locationOf(file).transferSyntax).toBe("1.2.840.10008.1.2.5");
    for (let frame = 1; frame <= (look.frames ?? 1); frame++) {
      const drawn = readPng((await draw(file, frame)).png);
      const { most } = difference(drawn, await drawnByDcmtk(plain, ...options, "+F", String(frame)));
      expect(most).toBeLessThanOrEqual(1);
    }
  });

  test.each<[string, Look, readonly number[], readonly string[]]>([
    ["8 bits", { photometric: "MONOCHROME2" }, smooth(1), []],
    [
      "8 bits of MONOCHROME1 through a window",
      { photometric: "MONOCHROME1", others: window("120", "100") },
      smooth(1),
      ["+Wi", "1"],
    ],
    ["RGB as YBR", { photometric: "RGB", others: [[0x0028_0006, "US", 0]] }, smooth(3), []],
    ["unconverted RGB", { photometric: "RGB", others: [[0x0028_0006, "US", 0]] }, smooth(3), []],
    ["clip", { photometric: "MONOCHROME2", frames: 3 }, smooth(1, 3), []],
  ])("JPEG of %s is drawn, in one fragment and in many", async (name, look, values, options) => {
    const plain = imageFile(look, values);
    for (const fragments of [[], ["+fs", "1"]]) {
      const file = `${plain}${fragments.length}.jpg`;
      const colour = name === "unconverted RGB" ? ["+cr"] : [];
      expect(await run("dcmcjpeg", "+eb", "+q", "95", ...colour, ...fragments, plain, file)).toMatchObject({
        ok: true,
      });
      expect(locationOf(file).transferSyntax).toBe("1.2.840.10008.1.2.4.50");
      for (let frame = 1; frame <= (look.frames ?? 1); frame++) {
        const drawn = readPng((await draw(file, frame)).png);
        const { most, mean } = difference(drawn, await drawnByDcmtk(file, ...options, "+F", String(frame)));
        expect([most <= 12, mean <= 1.5, most, mean]).toEqual([true, true, most, mean]);
      }
      await expect(draw(file, 4)).rejects.toThrow(/no frame 4: the file has \d frames/);
    }
  });

  const grey16: Look = { photometric: "MONOCHROME2", bits: [16, 12, 11], others: window("1500", "2500") };
  const lossless: [string, Look, readonly number[]][] = [
    ["8 bits", { photometric: "MONOCHROME2" }, slopes(255)],
    ["12 bits", grey16, slopes(4095)],
    [
      "signed 16 bits",
      { photometric: "MONOCHROME2", bits: [16, 16, 15], others: [...CT, ...window("40", "400")] },
      slopes(2000),
    ],
    ["RGB", { photometric: "RGB", others: [[0x0028_0006, "US", 0]] }, slopes(255, 3)],
    ["a clip", { photometric: "MONOCHROME2", frames: 3 }, slopes(255, 1, 3)],
  ];
  const encoders: [string, string, (plain: string, file: string) => ReturnType<typeof run>][] = [
    ["JPEG process 14", "1.2.840.10008.1.2.4.57", (plain, file) => run("dcmcjpeg", "+el", plain, file)],
    ["JPEG of first order", "1.2.840.10008.1.2.4.70", (plain, file) => run("dcmcjpeg", "+e1", plain, file)],
    ["JPEG-LS", "1.2.840.10008.1.2.4.80", (plain, file) => run("dcmcjpls", plain, file)],
    ["JPEG-LS by plane", "1.2.840.10008.1.2.4.80", (plain, file) => run("dcmcjpls", "+il", plain, file)],
    ["JPEG 2000", "1.2.840.10008.1.2.4.90", (plain, file) => run("gdcmconv", "--j2k", plain, file)],
  ];
  const installed = encoders.filter(([encoder]) => gdcm || encoder !== "JPEG 2000");
  const cases = installed.flatMap(([encoder, syntax, encode]) =>
    lossless.map(([name, look, values]) => ({ encoder, syntax, encode, name, look, values })),
  );

  test.each(cases)(
    "lossless $encoder of $name is drawn as the uncompressed one",
    async ({ syntax, encode, look, values }) => {
      const plain = imageFile(look, values);
      const file = `${plain}.lossless`;
      expect(await encode(plain, file)).toMatchObject({ ok: true });
      expect(locationOf(file).transferSyntax).toBe(syntax);
      for (let frame = 1; frame <= (look.frames ?? 1); frame++) {
        const [one, other] = [await draw(file, frame), await draw(plain, frame)];
        expect(Buffer.from(one.png).equals(Buffer.from(other.png))).toBe(true);
      }
    },
  );

  test.each([8, 16])("colours of a palette of %d bits are drawn", async (bits) => {
    const table = (step: number) =>
      Uint8Array.from({ length: (256 * bits) / 8 }, (_, index) =>
        bits === 8 ? index * step : index % 2 === 0 ? 0 : (index >> 1) * step,
      );
    const others: Dataset = [
      [0x0028_0002, "US", 1],
      ...[0x0028_1101, 0x0028_1102, 0x0028_1103].map(
        (tag) => [tag, "US", new Uint8Array(Uint16Array.of(256, 0, bits).buffer)] as const,
      ),
      [0x0028_1201, "OW", table(1)],
      [0x0028_1202, "OW", table(3)],
      [0x0028_1203, "OW", table(7)],
    ];
    const file = imageFile({ photometric: "PALETTE COLOR", others }, slopes(255));
    const { most } = difference(readPng((await draw(file)).png), await drawnByDcmtk(file));
    expect(most).toBe(0);
  });
});

describe("a picture", () => {
  test("a large picture is scaled down to the means of squares", async () => {
    const file = imageFile({ photometric: "MONOCHROME2" }, slopes(255));
    const { width, height, png } = await draw(file, 1, 16);
    expect([width, height]).toEqual([16, 12]);
    const whole = readPng((await draw(file)).png);
    const mean = (x: number, y: number) => {
      const values: number[] = [];
      for (let row = y * 4; row < Math.min(HEIGHT, y * 4 + 4); row++)
        for (let column = x * 4; column < Math.min(WIDTH, x * 4 + 4); column++)
          values.push(whole.pixels[row * WIDTH + column]!);
      return Math.round(values.reduce((sum, value) => sum + value, 0) / values.length);
    };
    const expected = Array.from({ length: 16 * 12 }, (_, index) => mean(index % 16, Math.floor(index / 16)));
    expect([...readPng(png).pixels]).toEqual(expected);
    const colours: Picture = { width: 2, height: 1, channels: 3, pixels: Uint8Array.of(0, 10, 20, 100, 30, 40) };
    expect(shrink(colours, 1)).toEqual({ width: 1, height: 1, channels: 3, pixels: Uint8Array.of(50, 20, 30) });
  });

  test.each<[string, Look, Dataset, string]>([
    ["without pixels", { photometric: "MONOCHROME2", others: [[0x0028_0010, "US", 0]] }, [], "no pixels"],
    [
      "of a palette without colours",
      { photometric: "PALETTE COLOR", others: [[0x0028_0002, "US", 1]] },
      [],
      "a palette that is segmented or incomplete is not drawn",
    ],
    [
      "of 32 bits",
      { photometric: "MONOCHROME2", others: [[0x0028_0100, "US", 32]] },
      [],
      "bits 32, 8, 7 (allocated, stored, high) are not drawn",
    ],
    [
      "of more stored than allocated bits",
      { photometric: "MONOCHROME2", others: [[0x0028_0101, "US", 12]] },
      [],
      "bits 8, 12, 7 (allocated, stored, high) are not drawn",
    ],
    [
      "of 4 billion pixels",
      {
        photometric: "MONOCHROME2",
        others: [
          [0x0028_0010, "US", 65_535],
          [0x0028_0011, "US", 65_535],
        ],
      },
      [],
      "65535 x 65535 pixels, at most 64000000 in all",
    ],
    [
      "with more pixels than bytes",
      { photometric: "MONOCHROME2", others: [[0x0028_0010, "US", 4_000]] },
      [],
      "frame 1 ends at byte 248000, but the pixels have 2790 bytes",
    ],
  ])("an image %s is not drawn", async (_, look, __, problem) => {
    await expect(draw(imageFile(look, slopes(255)))).rejects.toThrow(problem);
  });

  test("an unsupported transfer syntax and a missing file are reported", async () => {
    const plain = locationOf(imageFile({ photometric: "MONOCHROME2" }, slopes(255)));
    const as = (transferSyntax: string) => drawPreview({ ...plain, transferSyntax, frame: 1, sideMax: 64 });
    await expect(as("1.2.840.10008.1.2.4.100")).rejects.toThrow(
      "its transfer syntax 1.2.840.10008.1.2.4.100 is not drawn",
    );
    await expect(as("1.2.840.10008.1.2.1.99")).rejects.toThrow("its dataset is deflated");
    await expect(as("1.2.840.10008.1.2.5")).rejects.toThrow("expected encapsulated pixels, got native ones");
    await expect(drawPreview({ ...plain, file: `${plain.file}.no`, frame: 1, sideMax: 64 })).rejects.toThrow("ENOENT");
  });

  test("a picture is drawn in another process with a time limit", async () => {
    const plain = locationOf(imageFile({ photometric: "MONOCHROME2" }, slopes(255)));
    const drawn = await drawPreview({ ...plain, frame: 1, sideMax: 64 });
    expect(drawn).toEqual(await draw(plain.file, 1, 64));
    const hurried = new ConfinedFiles(1);
    const slow = locationOf(
      imageFile(
        { photometric: "MONOCHROME2", others: [[0x0028_0010, "US", 45 * 2_000]] },
        Array.from({ length: WIDTH * 45 * 2_000 }, () => 7),
      ),
    );
    await expect(drawPreview({ ...slow, frame: 1, sideMax: 64 }, undefined, hurried)).rejects.toThrow(
      "not read within 0.001 s",
    );
    hurried.close();
  });
});

describe("hostile bytes", () => {
  const bytes = fc.uint8Array({ maxLength: 600 });
  const syntaxes = ["57", "70", "80", "81", "90", "91"].map((end) => `1.2.840.10008.1.2.4.${end}`);

  test.each(syntaxes)("any frame of %s is refused with a reason", async (syntax) => {
    const format = readPixelFormat({
      ...{ "00280010": { Value: [45] }, "00280011": { Value: [62] }, "00280002": { Value: [1] } },
      ...{ "00280004": { Value: ["MONOCHROME2"] }, "00280100": { Value: [8] } },
    });
    if (typeof format === "string") throw new Error(format);
    const start = syntax.endsWith("90") || syntax.endsWith("91") ? [0xff, 0x4f, 0xff, 0x51] : [0xff, 0xd8, 0xff];
    await fc.assert(
      fc.asyncProperty(bytes, async (rest) => {
        const decode = async () => decoderOf(syntax)?.decode(Uint8Array.of(...start, ...rest), format);
        const outcome = await decode().catch(() => "thrown");
        expect(outcome).toBeTypeOf("string");
      }),
      { numRuns: 50 },
    );
  });

  const counts = fc.nat({ max: 300 });

  test("any RLE frame is decoded or refused with a reason", () => {
    fc.assert(
      fc.property(bytes, counts, fc.constantFrom(1, 3), fc.constantFrom(1, 2), (frame, pixels, samples, each) => {
        const decoded = decodeRle(frame, pixels, samples, each);
        expect(typeof decoded === "string" || decoded.length === pixels * samples * each).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  test("runs and literals of each byte plane are unpacked", () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 1, maxLength: 300 }),
        fc.array(fc.integer({ min: 1, max: 128 })),
        (words, cuts) => {
          const low = packed(words, cuts);
          const high = packed(
            words.map((word) => word ^ 0xff),
            [128],
          );
          const header = Buffer.alloc(64);
          header.writeUInt32LE(2, 0);
          header.writeUInt32LE(64, 4);
          header.writeUInt32LE(64 + high.length, 8);
          const expected = words.reduce<number[]>((all, word) => [...all, word, word ^ 0xff], []);
          const decoded = decodeRle(Buffer.concat([header, high, low]), words.length, 1, 2);
          expect(decoded).toEqual(Uint8Array.from(expected));
        },
      ),
    );
  });

  /** Packs literals of the given lengths, and runs of repeated bytes. */
  function packed(values: Uint8Array, cuts: readonly number[]): Buffer {
    const parts: Buffer[] = [];
    for (let at = 0, turn = 0; at < values.length; turn++) {
      let same = 1;
      while (same < 128 && values[at + same] === values[at]) same += 1;
      const length = Math.min(values.length - at, cuts[turn % Math.max(1, cuts.length)] ?? 128);
      if (same > 1) parts.push(Buffer.from([257 - same, values[at]!, 128]));
      else parts.push(Buffer.from([length - 1, ...values.subarray(at, at + length)]));
      at += same > 1 ? same : length;
    }
    return Buffer.concat(parts);
  }

  test("a frame of any bytes is found or refused with a reason", () => {
    const read = (from: Uint8Array) => (offset: number, length: number) => from.subarray(offset, offset + length);
    const begins = Buffer.from("e07f10004f420000ffffffff", "hex");
    fc.assert(
      fc.property(bytes, fc.boolean(), fc.integer({ min: 1, max: 5 }), counts, (rest, encapsulated, number, length) => {
        const file = encapsulated ? Buffer.concat([begins, rest]) : rest;
        const location = { offset: 0, encoding: EXPLICIT_ENCODING, number };
        for (const frame of [
          readEncapsulatedFrame(read(file), location, ([first = 0]) => first % 2 === 0),
          readNativeFrame(read(file), location, length),
        ]) {
          expect(typeof frame === "string" || frame.length <= file.length).toBe(true);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  test.each([
    ["a fragment of 4 GB", "feff00e000000000 feff00e0feffffff 0000", "a frame of more than 268435456 bytes"],
    ["a fragment beyond the end", "feff00e000000000 feff00e000010000 0000", "the file ends within the frame"],
    ["a missing end", "feff00e000000000", "the file ends before its last frame"],
    ["a missing fragment", "feff00e000000000 feffdde000000000", "no frame 1: the file has 0 frames"],
  ])("%s is reported", (_, rest, problem) => {
    const file = Buffer.from(`e07f10004f420000ffffffff${rest}`.replaceAll(" ", ""), "hex");
    const read = (offset: number, length: number) => file.subarray(offset, offset + length);
    expect(readEncapsulatedFrame(read, { offset: 0, encoding: EXPLICIT_ENCODING, number: 1 }, () => true)).toBe(
      problem,
    );
  });
});
