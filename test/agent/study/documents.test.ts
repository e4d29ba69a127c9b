import { zlibSync } from "fflate";
import { beforeEach, expect, test } from "vitest";
import { profileById } from "../../../agent/devices/index.ts";
import { pdfText } from "../../../agent/protocols/file/pdf-text.ts";
import { readSpool, searchSpool, writeSpool } from "../../../agent/spool/access.ts";
import { documentOf, listDocuments } from "../../../agent/spool/queries/studies/document-list.ts";
import { messageDetail } from "../../../agent/tools/offline/message-detail.ts";
import { latin1, pdfOf } from "../../support/clinic/pdf-file.ts";
import { dog } from "../../support/runner/fixtures.ts";
import { type FilingClinic, useFilingClinic } from "../../support/clinic/filing-clinic.ts";
import { only } from "../records.ts";
import { patiently } from "../../support/runner/patience.ts";

// The documents that an analyzer puts beside its results.

let clinic: FilingClinic;
useFilingClinic((made) => {
  clinic = made;
});

beforeEach(async () => {
  for (const [device, profile] of [
    ["chem-1", "abaxis-vetscan-vs2-csv"],
    ["crp-1", "wondfo-finecare-csv"],
  ] as const) {
    clinic.devices.set(device, { profile: profileById(profile)!, timeZone: "Europe/Istanbul", model: null });
  }
  await clinic.know(dog, "4711");
});

const HEAD = "Date;Patient no.;Customer no.;ALT;\n";
const RUN = "20/11/2026 9:30 a.m.;4711;;41;U/L\n";
const OTHER_RUN = "20/11/2026 9:40 a.m.;4712;;55;U/L\n";
const documents = (wanted = {}) => readSpool(clinic.folder, (db) => listDocuments(db, wanted));
const stateOf = (id: string) => clinic.listed().find((message) => message.id === id);

test("a PDF with the name of its results is kept with their study, whichever comes first, and no value is read from it", async () => {
  const before = await clinic.receiveFile("chem-1", "Run-1.pdf", pdfOf("Zeytin ALT 999 U/L lipemic"));
  expect(stateOf(before)).toMatchObject({ state: "unmatched", code: "MESSAGE.DOCUMENT_ALONE", study_fps: [] });
  await clinic.receiveFile("chem-1", "run-1.csv", HEAD + RUN);
  const after = await clinic.receiveFile("chem-1", "run-1.PDF", pdfOf("Sayfa ışığı"));
  const { fp, body } = only(await clinic.push());
  expect(body.results.map(({ value }) => value)).toEqual([41]);
  expect([stateOf(before), stateOf(after)]).toMatchObject([
    { state: "filed", reason: null, study_fps: [fp] },
    { state: "filed", reason: null, study_fps: [fp] },
  ]);
  expect(documents({ study: fp }).map(({ name }) => name)).toEqual(["run-1.PDF", "Run-1.pdf"]);
  expect([
    documents({ search: "LIPE mic" }),
    documents({ search: "isigi" }),
    documents({ search: "QQ" }),
  ]).toMatchObject([[{ id: before, study_fps: [fp] }], [{ id: after }], []]);
  const detail = await searchSpool(clinic.folder, (db) => messageDetail(db, before, (id) => clinic.devices.get(id)));
  expect(detail).toMatchObject({
    document: { name: "Run-1.pdf", text: "Zeytin ALT 999 U/L lipemic" },
    report: { reports: [] },
  });
  expect(readSpool(clinic.folder, (db) => documentOf(db, before))?.bytes).toEqual(pdfOf("Zeytin ALT 999 U/L lipemic"));
});

test("a PDF is known by the patient's number or the sample's in its name, as a word of its own", async () => {
  await clinic.receiveFile("chem-1", "export.csv", HEAD + RUN + OTHER_RUN);
  const rows = "Finecare\nSample Number;Test Name;Result;Unit;Reference Range;Date/Time\n";
  await clinic.receiveFile("crp-1", "history.csv", `${rows}S-1001;CRP;12,4;mg/L;;2026-11-20 09:12:05\n`);
  const [first, second, third] = await clinic.push();
  const named = async (device: string, name: string) => {
    const id = await clinic.receiveFile(device, name, pdfOf("x"));
    return stateOf(id)?.study_fps;
  };
  expect(await named("chem-1", "report 4711 20-11-2026.pdf")).toEqual([first?.fp]);
  expect(await named("chem-1", "Report_4712.pdf")).toEqual([second?.fp]);
  expect(await named("crp-1", "s-1001.pdf")).toEqual([third?.fp]);
  // A part of a longer number, another device's study, and a file of two animals name nobody.
  expect(await named("chem-1", "20264711.pdf")).toEqual([]);
  expect(await named("crp-1", "4711.pdf")).toEqual([]);
  expect(await named("chem-1", "export.pdf")).toEqual([]);
});

test("processing a document again changes nothing", async () => {
  await clinic.receiveFile("chem-1", "run-1.csv", HEAD + RUN);
  await clinic.receiveFile("chem-1", "run-1.pdf", pdfOf("x"));
  await clinic.push();
  expect(await clinic.reprocess()).toEqual([]);
  // Mapping a code makes a revision of the study, which keeps its document.
  await clinic.learn([{ device_id: "chem-1", code: "ALT", analyte: "AST" }]);
  expect(await clinic.reprocess()).toHaveLength(1);
  expect(only(await clinic.push()).revision).toBe(2);
  expect(documents()).toHaveLength(1);
  expect(clinic.listed().map(({ state }) => state)).toEqual(["filed", "filed"]);
});

const page = (entries: string) => `1 0 obj <</Type /Page ${entries}>> endobj\n`;
const letter = (text: string) => `beginbfchar <41> <${text}> endbfchar`;
const packed = (content: Uint8Array) =>
  Buffer.concat([latin1(" /Filter /FlateDecode>> stream\n"), zlibSync(content), latin1("\nendstream endobj\n")]);

/** A page with the font of a map, and an object in a packed stream. */
function pageWith(object: string, content: string, map: string): Uint8Array {
  return Buffer.concat([
    latin1(
      `%PDF-1.4\n${page("/Contents 2 0 R /Resources <</Font <</F1 3 0 R>>>>")}2 0 obj <<>> stream\n${content}\nendstream endobj\n`,
    ),
    latin1(`3 0 obj <</ToUnicode 4 0 R>> endobj\n4 0 obj <<`),
    packed(latin1(map)),
    latin1("5 0 obj <</Type /ObjStm /First 4"),
    packed(latin1(`6 0 ${object}`)),
  ]);
}

function manyTimes(): Uint8Array {
  const contents = page(`/Contents[${"2 0 R ".repeat(3_000)}]`);
  return Buffer.concat([latin1(`%PDF-1.4\n${contents}2 0 obj <<`), packed(Buffer.alloc(1_000_000, "q "))]);
}

function manyStreams(): Uint8Array {
  const first = Buffer.concat([latin1("1 0 obj <<"), packed(new Uint8Array(33_550_000))]);
  const other = Buffer.concat([latin1("2 0 obj <<"), packed(new Uint8Array(4_000_000))]);
  return Buffer.concat([latin1("%PDF-1.4\n"), first, ...Array.from({ length: 2_000 }, () => other)]);
}

test.each([
  ["other bytes", latin1("no PDF")],
  ["an encrypted document", latin1("%PDF-1.4\n1 0 obj << /Type /Page >> endobj trailer << /Encrypt 5 0 R >>")],
  ["half a document", pdfOf("whole").subarray(0, 150)],
  [
    "a stream that unpacks to gigabytes",
    Buffer.concat([
      latin1("%PDF-1.4\n1 0 obj << /Filter /FlateDecode >>\nstream\n"),
      zlibSync(new Uint8Array(100_000_000)),
    ]),
  ],
  [
    "brackets that never close",
    latin1(
      `%PDF-1.4\n1 0 obj << >>\nstream\n${"(".repeat(100_000)}endstream\n2 0 obj << /Type /Page /Contents 1 0 R >> endobj`,
    ),
  ],
  ["keys without an end in a packed object", pageWith(`<</Type/Page ${"/Contents[".repeat(1_000_000)}`, "", "")],
  ["digits that are no reference", latin1(`%PDF-1.4\n${page(`/Contents[${"1".repeat(19_000)}]`).repeat(30)}`)],
  ["a page that shows its contents many times", manyTimes()],
  [
    "a letter that is a long text",
    pageWith("", `/F1 12 Tf (${"A".repeat(7_000_000)}) Tj`, letter("0041".repeat(125_000))),
  ],
  ["a range without letters", pageWith("", "", "beginbfrange <00> <ffffffffffff> [] endbfrange")],
  ["the same range many times", pageWith("", "", "beginbfrange <0000> <ffff> <0000> endbfrange ".repeat(10_000))],
  ["many streams that unpack to megabytes", manyStreams()],
])("a text is found in bounds: %s", (_name, bytes) => {
  const started = performance.now();
  expect(typeof pdfText(bytes)).toBe("string");
  expect(performance.now() - started).toBeLessThan(patiently(5_000));
});

test("a document is found by its study after its message was removed because of its age", async () => {
  await clinic.receiveFile("chem-1", "run-1.csv", HEAD + RUN);
  const document = await clinic.receiveFile("chem-1", "run-1.pdf", pdfOf("Zeytin"));
  const { fp } = only(await clinic.push());
  writeSpool(clinic.folder, (operations) => {
    operations.prune(Date.now() + 1, 100);
  });
  expect(stateOf(document)).toBeUndefined();
  expect(documents({ study: fp })).toMatchObject([{ id: document, study_fps: [fp] }]);
  writeSpool(clinic.folder, (operations) => operations.prune(Date.now() + 400 * 86_400_000, 100));
  expect(documents()).toEqual([]);
  expect(readSpool(clinic.folder, (db) => db.prepare("SELECT COUNT(*) FROM message_study").pluck().get())).toBe(0);
});
