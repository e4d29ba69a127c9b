import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Element, encodeDataset } from "../../../agent/protocols/dicom/encode.ts";
import { encodeFileHead } from "../../../agent/protocols/dicom/part10.ts";
import { Headers } from "../../../agent/imaging/header-reader.ts";
import { CR_STORAGE, dataset, EXPLICIT } from "../../support/dicom.ts";
import { temporaryFolder } from "../../support/processes.ts";

let folder: string;
let headers: Headers;

beforeAll(() => {
  folder = temporaryFolder();
  headers = new Headers();
});

afterAll(async () => {
  await headers.close();
  fs.rmSync(folder, { recursive: true });
});

let files = 0;

function read(bytes: Uint8Array, by = headers, transferSyntax = EXPLICIT) {
  const file = path.join(folder, `${++files}.dcm`);
  const head = encodeFileHead({ sopClass: CR_STORAGE, sopInstance: "1.2.3.1", transferSyntax, sourceAe: "DX1" });
  const whole = Buffer.concat([head, bytes]);
  fs.writeFileSync(file, whole);
  return by.read({ file, headerBytes: whole.length, transferSyntax });
}

test("one header after the other is read", async () => {
  const answers = await Promise.all(["1", "2", "3"].map((number) => read(dataset(number))));
  expect(answers).toEqual(
    answers.map(() => ({ header: expect.objectContaining({ study: "1.2.3", patientName: "Rex", cutShort: null }) })),
  );
});

test("text in the header's own charset is understood", async () => {
  const bytes = encodeDataset([
    [0x0008_0005, "CS", "ISO_IR 100"],
    [0x0010_0010, "PN", "Müller^Bello"],
  ]);
  expect(await read(bytes)).toMatchObject({ header: { patientName: "Müller^Bello" } });
});

test("an unknown charset costs the rest nothing", async () => {
  const bytes = encodeDataset([
    [0x0008_0005, "CS", "ISO_IR 999"],
    [0x0010_0020, "LO", "4711"],
  ]);
  expect(await read(bytes)).toEqual({
    header: expect.objectContaining({
      patientId: "4711",
      cutShort: expect.stringContaining("Unsupported character set"),
    }),
  });
});

/** Sequences of one item each, all of them with their lengths. */
function nested(levels: number): Uint8Array {
  const LEVEL_BYTES = 20;
  const bytes = Buffer.alloc(levels * LEVEL_BYTES);
  for (let level = 0; level < levels; level++) {
    const inside = (levels - level - 1) * LEVEL_BYTES;
    bytes.write("400075025351000000000000feff00e000000000", level * LEVEL_BYTES, "hex");
    bytes.writeUInt32LE(inside + 8, level * LEVEL_BYTES + 8);
    bytes.writeUInt32LE(inside, level * LEVEL_BYTES + 16);
  }
  return bytes;
}

test("sequences 20 000 deep run into the time limit, and the next header has a thread of its own", async () => {
  const impatient = new Headers(1_000);
  expect(await read(Buffer.concat([dataset(), nested(20_000)]), impatient)).toEqual({ problem: "not read within 1 s" });
  expect(await read(dataset(), impatient)).toMatchObject({ header: { cutShort: null } });
  await impatient.close();
});

test("a length beyond the end is answered", async () => {
  const beyond = Buffer.from("e07f10004f570000f0ffffff00", "hex");
  expect(await read(Buffer.concat([dataset(), beyond]))).toMatchObject({ header: { study: "1.2.3" } });
});

test("a header of 9 MB is not read", async () => {
  const long: Element = [0x0009_1010, "OB", new Uint8Array(9 * 1024 * 1024)];
  expect(await read(encodeDataset([long]))).toEqual({
    problem: expect.stringMatching(/^9\d+ bytes, at most 8388608$/),
  });
});
