import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Element, encodeDataset } from "../../../../agent/protocols/dicom/encode.ts";
import type { Header } from "../../../../agent/protocols/dicom/reports/header.ts";
import { encodeFileHead } from "../../../../agent/protocols/dicom/part10.ts";
import { HeaderReader } from "../../../../agent/imaging/files/header-reader.ts";
import { CR_STORAGE, dataset, EXPLICIT, hostileDataset } from "../../../support/protocols/dicom.ts";
import { temporaryFolder } from "../../../support/machine/processes.ts";
import { patiently } from "../../../support/runner/patience.ts";

let folder: string;
let headers: HeaderReader;

beforeAll(() => {
  folder = temporaryFolder();
  headers = new HeaderReader();
});

afterAll(() => {
  headers.close();
  fs.rmSync(folder, { recursive: true });
});

let files = 0;

/** UTF-8 with an even number of bytes. */
function evenUtf8(text: string): Uint8Array {
  const bytes = Buffer.from(text);
  return bytes.length % 2 === 0 ? bytes : Buffer.from(`${text} `);
}

function read(bytes: Uint8Array, by = headers, transferSyntax = EXPLICIT) {
  const file = path.join(folder, `${++files}.dcm`);
  const head = encodeFileHead({ sopClass: CR_STORAGE, sopInstance: "1.2.3.1", transferSyntax, sourceAe: "DX1" });
  const whole = Buffer.concat([head, bytes]);
  fs.writeFileSync(file, whole);
  return by.read({ file, headerBytes: whole.length, transferSyntax });
}

test("headers are read one after the other", async () => {
  const results = await Promise.all(["1", "2", "3"].map((number) => read(dataset(number))));
  expect(results).toEqual(
    results.map(() => ({ header: expect.objectContaining({ study: "1.2.3", patientName: "Rex", cutShort: null }) })),
  );
});

test("the patient is read behind a VR that the device made up, in a header of its own length", async () => {
  const odd = Buffer.from("090001103f3f040041424344", "hex");
  const start = encodeDataset([[0x0008_0060, "CS", "DX"]]);
  const rest = encodeDataset([[0x0010_0020, "LO", "4711"]]);
  expect(await read(Buffer.concat([start, odd, rest]))).toMatchObject({
    header: { modality: "DX", patientId: "4711", cutShort: null },
  });
});

test("text is decoded in the header's character set", async () => {
  const bytes = encodeDataset([
    [0x0008_0005, "CS", "ISO_IR 100"],
    [0x0010_0010, "PN", "Müller^Bello"],
  ]);
  expect(await read(bytes)).toMatchObject({ header: { patientName: "Müller^Bello" } });
});

test.each([
  ["ISO_IR 100", "Özgür^Şeker", "ISO_IR 100"],
  [null, "Özgür^Şeker", ""],
  ["ISO_IR 192", "Özgür^Şeker", undefined],
  ["ISO_IR 100", "Rex", "ISO_IR 100"],
])("text that is UTF-8 under %j is read as UTF-8, and noted", async (charset, name, utf8Under) => {
  const bytes = encodeDataset([
    ...(charset === null ? [] : [[0x0008_0005, "CS", charset] as const]),
    [0x0010_0010, "PN", evenUtf8(name)],
    [0x0010_1002, "SQ", [[[0x0010_0020, "LO", evenUtf8("Kafes ş")]]]],
  ]);
  const { header } = (await read(bytes)) as { header: Header };
  expect(header).toMatchObject({ patientName: name, otherPatientIds: ["Kafes ş"] });
  expect(header.utf8Under).toBe(utf8Under);
});

test("texts of a sequence are decoded in the character set around it", async () => {
  const bytes = encodeDataset([
    [0x0008_0005, "CS", "ISO_IR 148"],
    [0x0010_1002, "SQ", [[[0x0010_0020, "LO", Uint8Array.of(0xde, 0x31)]]]],
  ]);
  expect(await read(bytes)).toMatchObject({ header: { otherPatientIds: ["Ş1"] } });
});

test("a date with dashes is read as one without", async () => {
  const bytes = encodeDataset([
    [0x0008_0020, "DA", "2026-11-20"],
    [0x0008_0022, "DA", "2026.11.20"],
    [0x0008_002a, "DT", "2026-11-20 10:12:30"],
    [0x0008_0030, "TM", "10:15:00"],
    [0x0010_0030, "DA", "2019-05-04"],
  ]);
  const times = ["2026112010:12:30", "20261120", "20261120101500"];
  expect(await read(bytes)).toMatchObject({ header: { birthDate: "20190504", times } });
});

test("a header with an unknown character set is read in part", async () => {
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

test("sequences 6 000 deep exceed the time limit, and the next header is read", async () => {
  const impatient = new HeaderReader({ quickMs: 100, longMs: 2_000 });
  expect(await read(hostileDataset(6_000), impatient)).toEqual({ problem: "not read within 2 s" });
  expect(await read(dataset(), impatient)).toMatchObject({ header: { cutShort: null } });
  impatient.close();
});

test("a slow header is read in the second attempt", async () => {
  const patient = new HeaderReader({ quickMs: 1, longMs: patiently(60_000) });
  const long = encodeDataset(Array.from({ length: 30_000 }, (_, index) => [0x0011_1000 + index, "LO", "x"]));
  expect(await read(long, patient)).toMatchObject({ header: { cutShort: null } });
  patient.close();
});

test.each([6, 60])("a usual header and close() wait for none of %i hostile headers", async (count) => {
  const patient = new HeaderReader({ quickMs: patiently(3_000), longMs: 600_000 });
  let resolved = 0;
  const hostile = Array.from({ length: count }, () =>
    read(hostileDataset(6_000), patient).finally(() => (resolved += 1)),
  );
  expect(await read(dataset(), patient)).toMatchObject({ header: { cutShort: null } });
  expect(resolved).toBe(0);
  patient.close();
  expect(await Promise.all(hostile)).toEqual(hostile.map(() => ({ problem: "the agent stops" })));
});

test("a header with a length beyond the end is read", async () => {
  const beyond = Buffer.from("e07f10004f570000f0ffffff00", "hex");
  expect(await read(Buffer.concat([dataset(), beyond]))).toMatchObject({ header: { study: "1.2.3" } });
});

test("a header of 9 MB is refused", async () => {
  const long: Element = [0x0009_1010, "OB", new Uint8Array(9 * 1024 * 1024)];
  expect(await read(encodeDataset([long]))).toEqual({
    problem: expect.stringMatching(/^a header of 9\d+ bytes, at most 8388608$/),
  });
});
