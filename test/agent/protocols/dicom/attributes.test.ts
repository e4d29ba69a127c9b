import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type Attributes,
  isSequence,
  type Keyword,
  KEYWORDS,
  type SequenceKeyword,
  vrOf,
} from "../../../../agent/protocols/dicom/attribute-table.ts";
import { encodeAttributes, readAttributes } from "../../../../agent/protocols/dicom/attributes.ts";
import { encodingOf } from "../../../../agent/protocols/dicom/dataset.ts";
import { type Dataset, encodeDataset } from "../../../../agent/protocols/dicom/encode.ts";
import { EXPLICIT, IMPLICIT } from "../../../support/protocols/dicom.ts";

const explicit = encodingOf(EXPLICIT)!;
const implicit = encodingOf(IMPLICIT)!;

function read(bytes: Uint8Array, encoding = explicit): Attributes {
  const result = readAttributes(bytes, encoding);
  if (typeof result === "string") throw new Error(result);
  return result.attributes;
}

const hex = (text: string) => Buffer.from(text.replaceAll(" ", ""), "hex");

describe("values", () => {
  test.each<[string, Dataset, Attributes]>([
    ["padding of a value is removed", [[0x0008_0050, "SH", " A1 "]], { AccessionNumber: ["A1"] }],
    ["NUL padding is removed", [[0x0020_000d, "UI", "1.2.3"]], { StudyInstanceUID: ["1.2.3"] }],
    ["several values are separated", [[0x0020_000d, "UI", "1.2\\1.3"]], { StudyInstanceUID: ["1.2", "1.3"] }],
    ["an empty value among several is kept", [[0x0040_0009, "SH", "\\B"]], { ScheduledProcedureStepID: ["", "B"] }],
    ["blanks alone are not a value", [[0x0010_0010, "PN", "  "]], { PatientName: [] }],
    ["an empty value is not a value", [[0x0010_0010, "PN", ""]], { PatientName: [] }],
    ["a number of 16 bits is read", [[0x0008_1197, "US", 0xfe01]], { FailureReason: ["65025"] }],
    [
      "an unlisted attribute is skipped",
      [
        [0x0009_0010, "LO", "x"],
        [0x0010_0020, "LO", "7"],
      ],
      { PatientID: ["7"] },
    ],
    ["an empty sequence is read", [[0x0040_0100, "SQ", []]], { ScheduledProcedureStepSequence: [] }],
    ["an empty item is read", [[0x0040_0100, "SQ", [[]]]], { ScheduledProcedureStepSequence: [{}] }],
    [
      "a sequence within an item is read",
      [[0x0040_0100, "SQ", [[[0x0040_0008, "SQ", [[[0x0008_0100, "SH", "X"]]]]]]]],
      { ScheduledProcedureStepSequence: [{ ScheduledProtocolCodeSequence: [{ CodeValue: ["X"] }] }] },
    ],
  ])("%s", (_, dataset, attributes) => {
    expect(read(encodeDataset(dataset))).toEqual(attributes);
    expect(read(encodeDataset(dataset, implicit), implicit)).toEqual(attributes);
  });

  test.each([
    ["ISO_IR 100", "e9", "é"],
    ["ISO_IR 101", "b3", "ł"],
    ["ISO_IR 144", "bf", "П"],
    ["ISO_IR 148", "fe", "ş"],
    ["ISO 2022 IR 148", "fe", "ş"],
    ["ISO_IR 192", "c59f", "ş"],
    ["GB18030", "c4e3", "你"],
    ["ISO_IR 13\\ISO 2022 IR 87", "cf", "ﾏ"],
    ["ISO_IR 999", "e9", "é"],
  ])("text in %s is decoded", (charset, bytes, character) => {
    const name = hex(bytes.length % 4 === 0 ? bytes : `${bytes}20`);
    const declared: Dataset = [
      [0x0008_0005, "CS", charset],
      [0x0010_0010, "PN", name],
      [0x0040_0100, "SQ", [[[0x0040_0006, "PN", name]]]],
    ];
    expect(read(encodeDataset(declared))).toMatchObject({
      PatientName: [character],
      ScheduledProcedureStepSequence: [{ ScheduledPerformingPhysicianName: [character] }],
    });
  });

  test("a sequence with a length reads like one without", () => {
    const step = "40000900 5348 0200 4120";
    const withLength = hex(`40000001 5351 0000 12000000 feff00e0 0a000000 ${step}`);
    const without = hex(`40000001 5351 0000 ffffffff feff00e0 ffffffff ${step} feff0de000000000 feffdde000000000`);
    const expected = { ScheduledProcedureStepSequence: [{ ScheduledProcedureStepID: ["A"] }] };
    expect(read(withLength)).toEqual(expected);
    expect(read(without)).toEqual(expected);
  });

  test("unknown attributes are reported", () => {
    const known = encodeDataset([[0x0010_0020, "LO", "7"]]);
    expect(readAttributes(known, explicit)).toMatchObject({ someUnknown: false });
    const unknown = encodeDataset([[0x0018_1000, "LO", "7"]]);
    expect(readAttributes(unknown, explicit)).toMatchObject({ someUnknown: true });
  });
});

describe("invalid datasets", () => {
  const open = "40000001 5351 0000 ffffffff feff00e0 ffffffff";
  test.each([
    ["a tag cut short", "100020", "1 bytes missing at the end"],
    ["a length beyond the end", "10002000 4c4f 0900 3700", "7 bytes missing at the end"],
    ["an item beyond the end", "40000001 5351 0000 ffffffff feff00e0 00000001", "16777216 bytes missing at the end"],
    [
      "no item in a sequence",
      "40000001 5351 0000 ffffffff 10002000 00000000",
      "expected an item in a sequence, got another element",
    ],
    ["nine levels", open.repeat(9), "sequences nested deeper than 8 levels"],
    ["an item without end", open, "2 bytes missing at the end"],
  ])("%s is invalid", (_, bytes, problem) => {
    expect(readAttributes(hex(bytes), explicit)).toBe(problem);
  });
});

/** Values of a VR that survive the removal of padding. */
function valuesOf(keyword: Keyword): fc.Arbitrary<readonly string[]> {
  const vr = vrOf(keyword);
  if (vr === "US") return fc.array(fc.nat({ max: 0xffff }).map(String), { maxLength: 3 });
  const character = ["SH", "LO", "PN", "LT"].includes(vr)
    ? fc.constantFrom(...Array.from("AZaz09 ^=-üşİłПé你"))
    : fc.constantFrom(...Array.from("AZ09.-"));
  const value = fc
    .array(character, { minLength: 1, maxLength: 12 })
    .map((characters) => characters.join("").trim() || "x");
  return fc.array(value, { maxLength: vr === "LT" ? 1 : 3 });
}

const texts = KEYWORDS.filter((keyword) => !isSequence(keyword) && keyword !== "SpecificCharacterSet");
const sequences = KEYWORDS.filter((keyword): keyword is SequenceKeyword => isSequence(keyword));
const text = fc.constantFrom(...texts).chain((keyword) => valuesOf(keyword).map((values) => ({ [keyword]: values })));
const { attributes } = fc.letrec<{ attributes: Attributes; sequence: Attributes }>((tie) => ({
  sequence: fc
    .tuple(fc.constantFrom(...sequences), fc.array(tie("attributes"), { maxLength: 2 }))
    .map(([keyword, items]) => ({ [keyword]: items })),
  attributes: fc
    .array(fc.oneof({ depthSize: "small", withCrossShrink: true }, text, tie("sequence")), { maxLength: 5 })
    .map((parts) => Object.assign({}, ...parts) as Attributes),
}));
/** Attributes within the max depth. */
const shallow = attributes.filter((value) => JSON.stringify(value).split("[{").length <= 8);

describe("any dataset", () => {
  test.each([
    ["explicit", explicit],
    ["implicit", implicit],
  ])("a dataset written in %s VR reads back unchanged", (_, encoding) => {
    fc.assert(
      fc.property(
        shallow,
        fc.constantFrom("", "ISO_IR 100", "ISO_IR 148", "ISO_IR 192", "ISO_IR 999"),
        (value, charset) => {
          const { SpecificCharacterSet = [], ...others } = read(encodeAttributes(value, encoding, charset), encoding);
          expect(others).toEqual(value);
          expect(SpecificCharacterSet.length).toBeLessThanOrEqual(1);
        },
      ),
      { numRuns: 400 },
    );
  });

  test("a cut or changed dataset is read in part or refused with a reason", () => {
    const faults = fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.nat({ max: 255 })), {
      maxLength: 4,
    });
    fc.assert(
      fc.property(
        shallow,
        faults,
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.boolean(),
        (value, wrong, cut, isExplicit) => {
          const encoding = isExplicit ? explicit : implicit;
          const bytes = encodeAttributes(value, encoding, "");
          for (const [at, byte] of wrong) if (bytes.length > 0) bytes[Math.floor(at * (bytes.length - 1))] = byte;
          const answer = readAttributes(bytes.subarray(0, Math.ceil(cut * bytes.length)), encoding);
          expect(typeof answer === "string" ? answer : Object.keys(answer.attributes)).not.toBe("");
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test("any bytes are read or refused with a reason", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), fc.boolean(), (bytes, isExplicit) => {
        const answer = readAttributes(bytes, isExplicit ? explicit : implicit);
        const isRight =
          typeof answer === "string"
            ? /^(\d+ bytes missing at the end|expected an item|sequences nested deeper)/.test(answer)
            : Object.keys(answer.attributes).every((name) => KEYWORDS.includes(name as Keyword));
        expect(isRight).toBe(true);
      }),
      { numRuns: 3_000 },
    );
  });
});
