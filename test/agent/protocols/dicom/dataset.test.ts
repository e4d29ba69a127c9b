import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DatasetWalker, encodingOf } from "../../../../agent/protocols/dicom/dataset.ts";
import { type Dataset, type Element, encodeDataset } from "../../../../agent/protocols/dicom/encode.ts";
import { CR_STORAGE, dataset, EXPLICIT, IMPLICIT, JPEG } from "../../../support/protocols/dicom.ts";

const BIG_ENDIAN = "1.2.840.10008.1.2.2";

function walk(bytes: Uint8Array, transferSyntax = EXPLICIT, pieces: readonly number[] = [bytes.length]) {
  const walker = new DatasetWalker(encodingOf(transferSyntax)!);
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const end = at + pieces[turn % pieces.length]!;
    walker.receive(bytes.subarray(at, end));
    at = end;
  }
  return walker.end();
}

const hex = (text: string) => Uint8Array.from(Buffer.from(text.replace(/\s/g, ""), "hex"));
const joined = (...parts: readonly Uint8Array[]) => Uint8Array.from(Buffer.concat(parts));
const identity = { sopClass: CR_STORAGE, sopInstance: "1.2.3.1", study: "1.2.3" };

const sequence: Element = [
  0x0040_0275,
  "SQ",
  [[[0x0008_0016, "UI", "9.9.9"]], [[0x0040_0008, "SQ", [[[0x0020_000d, "UI", "9.9.9"]]]]]],
];
const pixels: Dataset = [[0x7fe0_0010, "OW", new Uint8Array(1_000)]];

describe("identity and pixel offset of a complete dataset", () => {
  test.each([EXPLICIT, IMPLICIT, BIG_ENDIAN, JPEG])(
    "both are found in transfer syntax %s, in any segmentation",
    (transferSyntax) => {
      const header = dataset("1.2.3.1", [sequence], transferSyntax);
      const whole = joined(header, encodeDataset(pixels, encodingOf(transferSyntax)!));
      fc.assert(
        fc.property(fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 9 }), (pieces) => {
          expect(walk(whole, transferSyntax, pieces)).toEqual({
            ...identity,
            headerBytes: header.length,
            problem: null,
            oddVrs: [],
          });
        }),
      );
    },
  );

  test("a dataset without pixels is all header", () => {
    const whole = dataset();
    expect(walk(whole)).toEqual({ ...identity, headerBytes: whole.length, problem: null, oddVrs: [] });
  });

  test("encapsulated pixels are skipped by fragments", () => {
    const fragments = hex(
      `e07f 1000 4f42 0000 ffffffff feff 00e0 00000000 feff 00e0 04000000 ffd8ffd9 feff dde0 00000000`,
    );
    expect(walk(joined(dataset(), fragments), JPEG).problem).toBeNull();
    expect(walk(joined(dataset(), fragments.subarray(0, -8)), JPEG).problem).toBe("the dataset ends within a sequence");
  });

  test("a sequence of VR UN and undefined length is in Implicit VR (PS3.5 §6.2.2)", () => {
    const unknown = hex(
      `0900 0110 554e 0000 ffffffff feff 00e0 ffffffff 0900 0210 04000000 41424344 feff 0de0 00000000 feff dde0 00000000`,
    );
    const header = joined(dataset(), unknown);
    const whole = joined(header, encodeDataset(pixels));
    expect(walk(whole)).toEqual({ ...identity, headerBytes: header.length, problem: null, oddVrs: [] });
  });

  test("an unknown VR ends the check, not the instance", () => {
    const odd = hex("0900 0110 5a5a 0400 41424344");
    expect(walk(joined(dataset(), odd))).toMatchObject({ ...identity, problem: null });
  });

  test.each([
    ["question marks", "3f3f 0400", true],
    ["blanks", "2020 0400", true],
    ["NUL", "0000 0400", true],
    ["letters with a length of 16 bits", "4f58 0400", true],
    ["letters with a length of 32 bits", "5a5a 0000 04000000", false],
  ])("identity and pixels are found behind a VR of %s", (_, vr, isOdd) => {
    const odd = hex(`0300 0110 ${vr} 41424344`);
    const header = joined(odd, dataset());
    expect(walk(joined(header, encodeDataset(pixels)))).toEqual({
      ...identity,
      headerBytes: header.length,
      problem: null,
      oddVrs: isOdd ? [4] : [],
    });
  });

  test("zeros after the pixels are padding, whatever their number", () => {
    const whole = joined(dataset(), encodeDataset(pixels));
    for (let zeros = 1; zeros <= 17; zeros++) expect(walk(joined(whole, new Uint8Array(zeros))).problem).toBeNull();
    expect(walk(joined(dataset(), new Uint8Array(1))).problem).toBe("the dataset ends within an element");
  });
});

describe("incomplete datasets", () => {
  test.each([
    [
      "cut within a value",
      (bytes: Uint8Array) => bytes.subarray(0, -3),
      "the dataset ends 3 bytes before the end of (0020,000D)",
    ],
    [
      "cut within an element",
      (bytes: Uint8Array) => joined(bytes, hex("e07f 10")),
      "the dataset ends within an element",
    ],
    [
      "with a length of 4 GB",
      (bytes: Uint8Array) => joined(bytes, hex("e07f 1000 4f57 0000 f0ffffff 00")),
      "the dataset ends 4294967279 bytes before the end of (7FE0,0010)",
    ],
    [
      "with a sequence without end",
      (bytes: Uint8Array) => joined(bytes, hex("4000 7502 5351 0000 ffffffff")),
      "the dataset ends within a sequence",
    ],
  ])("a dataset %s is incomplete", (_, damage, problem) => {
    expect(walk(damage(dataset())).problem).toBe(problem);
  });

  test("sequences 20 000 deep are counted without recursion", () => {
    const level = hex("4000 7502 5351 0000 ffffffff feff 00e0 ffffffff");
    const deep = joined(dataset(), ...Array.from({ length: 20_000 }, () => level));
    expect(walk(deep).problem).toBe("sequences nested deeper than 32 levels");
  });

  test("any bytes are handled quickly and without an exception", () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 500 }),
        fc.constantFrom(EXPLICIT, IMPLICIT, BIG_ENDIAN),
        (bytes, syntax) => {
          expect(walk(bytes, syntax).headerBytes).toBeLessThanOrEqual(bytes.length);
        },
      ),
      { numRuns: 2_000 },
    );
  });
});
