import { parse } from "csv-parse/sync";
import { expect, test } from "vitest";
import type { OruResult } from "../../../../server/records/destinations/hl7/oru.ts";
import { csvFileName, csvOfStudy, type CsvStudy } from "../../../../server/records/destinations/csv/study-file.ts";
import { startDestination } from "../../destinations.ts";
import { noon, study } from "../../harness.ts";
import { moveStudy } from "../../study-commands.ts";

const row: OruResult = {
  ...{ loinc: "1742-6", code: "ALT", name: "ALT", value: { type: "NM", number: "1.40" } },
  ...{
    unit: { text: "U/L", isUcum: true },
    range: "12-130",
    flag: "L",
    at: 0,
    analysedAt: null,
    device: "chem-1",
    notes: [],
  },
};
const CSV: CsvStudy = {
  ...{ fp: "cds_01", revision: 2, microchip: "040085000123456", modality: "BIOCHEMISTRY" },
  patient: {
    ...{
      fp: "pat_01",
      number: "00417",
      authority: "PIMS",
      family: "Örnek",
      name: "Pamuk",
      born: null,
      sex: "F",
      neutered: true,
    },
    species: {
      code: "448169003",
      name: "Domestic cat",
      system: "SCT",
      local: { code: "cat", name: "Cat", system: "99VW" },
    },
  },
  ...{ placer: ["10231", "PIMS"], panel: { code: "CHEM10", name: "Chemistry 10", system: "99VW" } },
  ...{ acquiredAt: Date.parse("2026-11-21T07:00:30Z"), results: [row] },
};
const HEADER = { at: Date.parse("2026-11-21T07:01:12Z"), zone: "Europe/Istanbul", isWithdrawn: false };
const rowsOf = (bytes: Buffer) => parse(bytes, { bom: true, columns: true }) as Record<string, string>[];
const rowOf = (result_: Partial<OruResult>, more: Partial<CsvStudy> = {}) =>
  rowsOf(csvOfStudy({ ...CSV, ...more, results: [{ ...row, ...result_ }] }, HEADER))[0];

test("a file is UTF-8 with BOM, CRLF and one result a row", () => {
  expect(csvOfStudy(CSV, HEADER).toString()).toBe(
    "\ufeffstudy,revision,status,issued_at,acquired_at,patient_number,patient_name,species,microchip,order,panel,modality,device," +
      "code,name,loinc,value,comparator,value_text,unit,low,high,flag,comment\r\n" +
      "cds_01,2,final,2026-11-21T10:01:12+03:00,2026-11-21T10:00:30+03:00,00417,Pamuk,cat,040085000123456,10231,CHEM10," +
      "BIOCHEMISTRY,chem-1,ALT,ALT,1742-6,1.40,,,U/L,12,130,L,\r\n",
  );
});

test.each<[OruResult["value"], object]>([
  [
    { type: "NM", number: "-1.5" },
    { value: "-1.5", comparator: "", value_text: "", status: "final" },
  ],
  [
    { type: "SN", parts: ["<", "0.2"] },
    { value: "0.2", comparator: "<", value_text: "" },
  ],
  [
    { type: "SN", parts: ["", "1", ":", "128"] },
    { value: "", value_text: "1:128" },
  ],
  [
    { type: "CWE", code: "10828004", name: "Positive", printed: "pozitif" },
    { value: "", value_text: "pozitif" },
  ],
  [
    { type: "ST", text: "2+" },
    { value: "", value_text: "2+" },
  ],
  [
    { type: "none", isPending: false },
    { value: "", value_text: "", status: "not measured" },
  ],
  [{ type: "none", isPending: true }, { status: "pending" }],
])("the value %j has its number and its text apart", (value, cells) => expect(rowOf({ value })).toMatchObject(cells));

test.each([
  ["6.0-17.0", "6.0", "17.0"],
  ["<15", "", "15"],
  [">10", "10", ""],
  ["-4--1.5", "-4", "-1.5"],
  [null, "", ""],
])("the range %j is two numbers", (range, low, high) => expect(rowOf({ range })).toMatchObject({ low, high }));

test.each([
  ["=1+1", "'=1+1"],
  ["+", "'+"],
  ["-", "'-"],
  ["@SUM(A1)", "'@SUM(A1)"],
  ["\t=1", "'\t=1"],
  ["a; =1+1", "a; '=1+1"],
  ["a\n=1+1", "a\n'=1+1"],
  ["a\r\n @SUM(A1)", "a\r\n '@SUM(A1)"],
  ["a-b", "a-b"],
  ['say "no", then\r\nmore', 'say "no", then\r\nmore'],
])("the text %j is no formula", (text, cell) => {
  expect(rowOf({ value: { type: "ST", text }, notes: [text] })).toMatchObject({ value_text: cell, comment: cell });
});

test("a name of a file has no character of another part", () => {
  expect(csvFileName("sheet", "cds_01K9", 3, false)).toBe("sheet_cds_01K9_r3.csv");
  expect(csvFileName("../a b.c", "cds_/..\\x", 1, true)).toBe("___a_b_c_cds_____x_r1_withdrawn.csv");
});

test("a folder gets a file of each state of a study, and the withdrawal for an animal that it left", async () => {
  const { push, key, store, pamuk, boncuk, receiver } = await startDestination({}, "csv");
  const next = async () => {
    const { delivery } = (await receiver.next()).answer;
    if (delivery === null) return null;
    await receiver.report({ code: "FILE.WRITTEN" });
    const [first] = rowsOf(Buffer.from(delivery.payload, "base64"));
    return [delivery.file_name, first?.["status"], first?.["patient_name"], first?.["revision"]];
  };
  const filed = study({ patient_fp: pamuk.fp });
  const nameOf = (end: string) => `pims_${filed.fp}_${end}.csv`;
  await push(key, filed);
  expect(await next()).toEqual([nameOf("r1"), "final", "Pamuk", "1"]);
  await push(key, filed);
  expect(await next()).toBeNull();
  const moved = { fp: filed.fp, patientFp: boncuk.fp, reason: "wrong animal", by: "test", now: noon };
  expect(await store.transaction(async (session) => moveStudy(session, moved))).toBeNull();
  expect(await next()).toEqual([nameOf("r2_withdrawn"), "withdrawn", "Pamuk", "2"]);
  expect(await next()).toEqual([nameOf("r2"), "final", "Boncuk", "2"]);
  expect(await next()).toBeNull();
});
