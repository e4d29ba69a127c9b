import fs from "node:fs";
import path from "node:path";
import iconv from "iconv-lite";
import { expect, onTestFinished, test } from "vitest";
import { readProfileText } from "../../../../agent/devices/table/load.ts";
import { fileHeader } from "../../../../agent/protocols/file/file-message.ts";
import type { ResultFiles } from "../../../../agent/protocols/file/profile.ts";
import { isWholeFile } from "../../../../agent/protocols/file/whole-file.ts";
import type { Reading } from "../../../../agent/report/report.ts";
import { read, readable } from "../../../../agent/study/read.ts";
import { sniffFolder } from "../../../../agent/tools/offline/sniff-folder.ts";
import { fixturesFolder } from "../../../support/runner/fixtures.ts";
import { temporaryFolder } from "../../../support/machine/processes.ts";
import { sheetFile } from "../../../support/clinic/sheet-file.ts";
import { context, reportsOf } from "../../records.ts";

// Files of results by profiles that the tests write.

const HEAD = "schema: 1\nprofile: acme\nrevision: 1\nprotocol: file\ndevice: { name: Acme, modality: BIOCHEMISTRY }\n";
const ROWS = `${HEAD}file: { kind: csv, header: { find: [Sample ID, Result], within: 20 } }
sample: { number: Sample ID, time: { at: Date, format: 'dd/MM/yyyy HH:mm' } }
patient: { name: Animal }
results: { per: row, names: [Test], value: Result, unit: Unit }
`;
const HEADER = "Sample ID;Animal;Test;Result;Unit;Date\n";

function profileOf(text: string): ResultFiles {
  const found = readProfileText(text, "acme.yaml");
  if ("problems" in found) throw new Error(found.problems.map(({ message }) => message).join("; "));
  return found.profile as ResultFiles;
}

async function readingOf(content: string | Uint8Array, profile = ROWS, name = "run.csv"): Promise<Reading> {
  const bytes = Buffer.from(content);
  const message = Buffer.concat([fileHeader({ name, bytes: bytes.length }), bytes]);
  return read(await readable(message, profileOf(profile)), profileOf(profile), context);
}

/** Returns the rows of each report: its sample or animal, then code, value and unit. */
async function rowsOf(...args: Parameters<typeof readingOf>): Promise<unknown[]> {
  return reportsOf(await readingOf(...args)).map(({ sampleIds, patient_hint, rows }) => [
    sampleIds?.[0] ?? patient_hint.identifier ?? patient_hint.name,
    ...rows.map(({ code, value, text, unit }) => `${code} ${value ?? text} ${unit}`),
  ]);
}

async function reasonOf(...args: Parameters<typeof readingOf>): Promise<string> {
  const reading = await readingOf(...args);
  return reading.is === "reports" ? "read" : `${reading.is}: ${reading.reason}`;
}

const line = (value: string, name = "ALT", sample = "S-1", time = "20/11/2026 09:30") =>
  `${sample};Zeytin;${name};${value};U/L;${time}\n`;

test("rows of one sample and time are one study, by the header's names in any order, below other lines", async () => {
  const table = `Acme 2.1\n\n result;TEST;unit;sample_id;date;animal\n41;ALT;U/L;S-1;20/11/2026 09:30;Zeytin\n88;ALP;U/L;S-1;20/11/2026 09:30;Zeytin\n1,2;CREA;mg/dL;S-2;20/11/2026 10:00;Lokum\n`;
  expect(await rowsOf(table)).toEqual([
    ["S-1", "ALT 41 U/L", "ALP 88 U/L"],
    ["S-2", "CREA 1.2 mg/dL"],
  ]);
  const [first] = reportsOf(await readingOf(table));
  expect([first?.acquired_at, first?.patient_hint.name]).toEqual(["2026-11-20T06:30:00.000Z", "Zeytin"]);
});

test.each([
  ["commas", `${HEADER}${line("41")}`.replaceAll(";", ",")],
  ["tabs", `${HEADER}${line("41")}`.replaceAll(";", "\t")],
  ["bars", `${HEADER}${line("41")}`.replaceAll(";", "|")],
  ["a device line with commas above", `A,c,m,e,2\n${HEADER}${line("41")}`],
  ["the line of Excel", `sep=;\n${HEADER}${line("41")}`],
  ["a byte order mark", `\u{feff}${HEADER}${line("41")}`],
  ["UTF-16 with a mark", iconv.encode(`${HEADER}${line("41")}`, "utf-16le", { addBOM: true })],
  ["old line ends", `${HEADER}${line("41")}`.replaceAll("\n", "\r")],
])("the separator and the encoding are found: %s", async (_name, table) => {
  expect(await rowsOf(table)).toEqual([["S-1", "ALT 41 U/L"]]);
});

test("a name in windows-1254 is Turkish, and a declared charset counts unless the file has a mark", async () => {
  const table = `${HEADER}${line("41")}`.replace("Zeytin", "Şımarık");
  const nameIn = async (bytes: Uint8Array, profile = ROWS) =>
    reportsOf(await readingOf(bytes, profile)).map(({ patient_hint }) => patient_hint.name);
  expect(await nameIn(iconv.encode(table, "windows-1254"))).toEqual(["Şımarık"]);
  const cyrillic = ROWS.replace("within: 20 }", "within: 20 }, charset: windows-1251");
  expect(await nameIn(iconv.encode(table.replace("Şımarık", "Барсик"), "windows-1251"), cyrillic)).toEqual(["Барсик"]);
  expect(await nameIn(Buffer.from(`\u{feff}${table}`), cyrillic)).toEqual(["Şımarık"]);
});

test("a decimal comma counts only beside ; or TAB, and 1,234 alone is refused", async () => {
  const leftOut = async (table: string, profile = ROWS) => {
    const reading = await readingOf(table, profile);
    return reading.is === "reports" ? reading.reports.flatMap((report) => report.leftOut) : [reading.reason];
  };
  expect(await rowsOf(`${HEADER}${line("1,2", "CREA")}`)).toEqual([["S-1", "CREA 1.2 U/L"]]);
  expect((await leftOut(`${HEADER}${line("1,234", "CREA")}`))[0]).toContain("1,234 may be a decimal or thousands");
  // Another value shows that commas are decimals. The test has no third decimal: the text stays a word.
  expect(await rowsOf(`${HEADER}${line("1,234", "CREA")}${line("41,5")}`)).toEqual([
    ["S-1", "CREA 1,234 U/L", "ALT 41.5 U/L"],
  ]);
  const commas = `${HEADER}${line("X", "CREA")}`.replaceAll(";", ",").replace("X", '"1,2"');
  expect((await leftOut(commas))[0]).toContain("1,2: a comma is not the decimal sign of this file");
  const declared = ROWS.replace("within: 20 }", 'within: 20 }, decimal: ","');
  expect(await rowsOf(commas, declared)).toEqual([["S-1", "CREA 1.2 U/L"]]);
  expect((await leftOut(`${HEADER}${line("1.234", "PLT")}${line("41,5")}`))[0]).toContain("1.234 may be a decimal");
});

test("a table without a column waits with its reason, and so does one without its header", async () => {
  expect(await reasonOf(`${HEADER.replace("Unit", "Einheit")}${line("41")}`)).toBe(
    "quarantined: run.csv: no column Unit: the header in line 1 has Sample ID, Animal, Test, Result, Einheit, Date",
  );
  expect(await reasonOf("Name;Species\nPamuk;cat\n")).toContain(
    "no header with Sample ID, Result in the first 20 lines",
  );
  expect(await reasonOf(`${HEADER.replace("Date", "Test")}${line("41")}`)).toContain("no column Date");
  expect(await reasonOf(`${HEADER.replace("\n", ";Test\n")}${line("41")}`)).toContain("two columns Test in the header");
  expect(await reasonOf(`${HEADER}S-1;"Zeytin;ALT;41;U/L;20/11/2026 09:30\n`)).toContain("line 2: a quote opens");
});

test("the day and the month are where the format says, and a line with another time is named and left out", async () => {
  const times = async (...args: Parameters<typeof readingOf>) => {
    const reading = await readingOf(...args);
    return reading.is === "reports" ? [...reading.reports.map((each) => each.acquired_at), ...reading.notes] : reading;
  };
  const table = `${HEADER}${line("41", "ALT", "S-1", "03/04/2026 09:30")}${line("41", "ALT", "S-2", "11/20/2026 09:30")}`;
  expect(await times(table)).toEqual([
    "2026-04-03T06:30:00.000Z",
    'line 3: "11/20/2026 09:30" is not a time in the format dd/MM/yyyy HH:mm',
  ]);
  const american = ROWS.replace("dd/MM/yyyy HH:mm", "M/d/yyyy h:mm:ss a");
  const noon = `${HEADER}${line("41", "ALT", "S-1", "3/4/2026 12:05:09 p.m.")}${line("41", "ALT", "S-2", "3/4/2026 12:05:09 ÖÖ")}`;
  expect(await times(noon, american)).toEqual(["2026-03-04T09:05:09.000Z", "2026-03-03T21:05:09.000Z"]);
  const day = ROWS.replace("dd/MM/yyyy HH:mm", "yyyyMMdd");
  expect(await times(`${HEADER}${line("41", "ALT", "S-1", "20261120")}`, day)).toEqual(["2026-11-19T21:00:00.000Z"]);
});

test("a file that grows gives each result once, a rewritten one as the same study, and an unended line waits", async () => {
  const keys = async (table: string) => reportsOf(await readingOf(table)).map(({ dedupe_key }) => dedupe_key);
  const short = `${HEADER}${line("41")}${line("50", "ALT", "S-2")}`;
  const [first, second] = await keys(short);
  expect(await keys(short + line("60", "ALT", "S-3"))).toEqual([first, second, expect.any(String)]);
  expect(await keys(short.replace("50", "51") + line("7", "ALP", "S-2"))).toEqual([first, second]);
  expect(await keys(short + line("60", "ALT", "S-2", "20/11/2026 09:31"))).toHaveLength(3);
  const growing = ROWS.replace("within: 20 }", "within: 20 }, grows: true");
  const reading = await readingOf(short + line("6", "ALT", "S-3").slice(0, 14), growing);
  expect(reading).toMatchObject({ notes: ["the last line has no end yet, and waits"] });
  expect(reportsOf(reading)).toHaveLength(2);
});

const RUNS = `${HEAD}file: { kind: csv, header: { find: [Date] } }
sample: { time: { at: Date, format: 'dd/MM/yyyy HH:mm' } }
patient: { identifier: No }
results: { per: column, from: ALT, except: [Operator], unit: next }
`;

test("a run per line: columns are tests, the unnamed one behind has the unit, an empty cell was not measured", async () => {
  const table =
    "Date;No;ALT;;Operator;ALP;\n20/11/2026 09:30;4711;41;U/L;Ece;;U/L\n20/11/2026 09:40;4712;50;U/L;;88;U/L\n";
  expect(await rowsOf(table, RUNS)).toEqual([
    ["4711", "ALT 41 U/L"],
    ["4712", "ALT 50 U/L", "ALP 88 U/L"],
  ]);
});

test("runs of nobody in one minute stay apart, and keep their studies when the file grows", async () => {
  const head = "Date;No;ALT;\n";
  const [one, other] = ["20/11/2026 09:30;;41;U/L\n", "20/11/2026 09:30;;50;U/L\n"];
  const keys = async (table: string) => reportsOf(await readingOf(table, RUNS)).map(({ dedupe_key }) => dedupe_key);
  const [first] = await keys(head + one);
  expect(await keys(head + one + other)).toEqual([first, expect.not.stringMatching(first ?? "")]);
});

test("controls are nobody's, by the profile's rows and by their names", async () => {
  const controls = `${ROWS}rows: [{ as: control, when: { Animal: '^Task' } }, { as: no-result, when: { Result: '^E' }, reason: an error }]\n`;
  const table = `${HEADER}${line("1", "ALT", "QC-1").replace("Zeytin", "")}${line("2").replace("Zeytin", "Task 7")}`;
  expect(await reasonOf(table, controls)).toBe("not-for-patients: line 2 is a control (QC-1); line 3 is a control");
  const failed = await readingOf(`${HEADER}${line("41")}${line("E12", "ALP")}`, controls);
  expect(reportsOf(failed)[0]?.leftOut).toEqual(["ALP has no final value: an error"]);
});

const BLOCKS = `${HEAD}file:
  kind: txt
  split: '^={4,}$'
  lines:
    - { as: sample, pattern: '^Sample: (?<number>\\S+) +(?<time>\\d.*)$' }
    - { as: result, pattern: '^(?<name>[A-Z]+) +(?<value>[<>\\d.,]+) *(?<flag>[HL*]?) *(?<unit>\\S*)$' }
    - { as: filler, pattern: '^-+$' }
sample: { number: number, time: { at: time, format: 'dd.MM.yyyy HH:mm' } }
results: { per: row, names: [name], value: value, unit: unit, flag: flag }
doubts: { flags: { '*': the device doubts it } }
`;

test("blocks of lines: each is a sample, and one with a line that the layout lacks is not read", async () => {
  const block = (number: string, rows: string) => `Sample: ${number} 20.11.2026 09:30\r\n-----\r\n${rows}\r\n`;
  const text = `${block("S-1", "ALT 41 U/L\r\nALP 300 * U/L")}=====\r\n${block("S-2", "ALT 41 U/L\r\nLipemic!")}=====\r\n${block("S-3", "ALT <5 U/L")}`;
  const reading = await readingOf(text, BLOCKS, "run.txt");
  expect(await rowsOf(text, BLOCKS)).toEqual([
    ["S-1", "ALT 41 U/L", "ALP 300 U/L"],
    ["S-3", "ALT 5 U/L"],
  ]);
  expect(reading).toMatchObject({ notes: ["line 9 is none that the layout has: Lipemic!"] });
  const [first] = reportsOf(reading);
  expect(first?.rows.map(({ comment }) => comment)).toEqual([undefined, "the device doubts it"]);
});

const XML = `${HEAD}file: { kind: xml, records: Result }
sample: { number: 'Run/@id', time: { at: Run/At, format: 'yyyy-MM-dd HH:mm' } }
results: { per: row, names: ['@code'], value: Value, unit: 'Value/@unit', range: { low: Low, high: High } }
`;
const document = (rows: string, before = "") =>
  `<?xml version="1.0"?>${before}<Runs><Run id="S-1"><At>2026-11-20 09:30</At>${rows}</Run></Runs>`;
const ALT = '<Result code="ALT"><Value unit="U/L">41</Value><Low>10</Low><High>80</High></Result>';

test("XML: records with what is around them; declarations, depth and an end that is missing are refused", async () => {
  expect(await rowsOf(document(ALT), XML)).toEqual([["S-1", "ALT 41 U/L"]]);
  const [report] = reportsOf(await readingOf(document(ALT, '<!DOCTYPE Runs SYSTEM "runs.dtd">'), XML));
  expect(report?.rows[0]?.device_range?.text).toBe("10-80");
  const evil = document(ALT, '<!DOCTYPE Runs [<!ENTITY a SYSTEM "file:///etc/passwd">]>');
  expect(await reasonOf(evil, XML)).toContain("DOCTYPE is refused");
  expect(await reasonOf(document(`${"<a>".repeat(31)}${"</a>".repeat(31)}${ALT}`), XML)).toContain("more than 32 deep");
  expect(await reasonOf(document(ALT).slice(0, -8), XML)).toContain("no complete XML");
  expect(await reasonOf(document(""), XML)).toContain("no element Result in Runs");
});

test("a spreadsheet is read by its cells, with the times of its dates", async () => {
  const sheet = sheetFile([
    ["Acme"],
    ["Sample ID", "Animal", "Test", "Result", "Unit", "Date"],
    ["S-1", "Zeytin", "ALT", 41.5, "U/L", "20/11/2026 09:30"],
    ["S-2", "Lokum", "ALT", 50, "U/L", { serial: 46346.4 }],
  ]);
  const profile = ROWS.replace("kind: csv", "kind: xlsx");
  expect(await rowsOf(sheet, profile, "run.xlsx")).toEqual([
    ["S-1", "ALT 41.5 U/L"],
    ["S-2", "ALT 50 U/L"],
  ]);
  const times = reportsOf(await readingOf(sheet, profile, "run.xlsx")).map(({ acquired_at }) => acquired_at);
  expect(times).toEqual(["2026-11-20T06:30:00.000Z", "2026-11-20T06:36:00.000Z"]);
  expect(await reasonOf(Buffer.from("PK"), profile, "run.xlsx")).toContain("a damaged spreadsheet");
});

test("a file has its end: XML that parses, a spreadsheet with its list of parts, a table whose last line is as wide as its header", () => {
  const isWhole = (content: string | Uint8Array, profile: string, name = "run.csv") =>
    isWholeFile(name, Buffer.from(content), profileOf(profile));
  expect([isWhole(document(ALT), XML), isWhole(document(ALT).slice(0, -3), XML)]).toEqual([true, false]);
  const sheet = sheetFile([["a"]]);
  const xlsx = ROWS.replace("kind: csv", "kind: xlsx");
  expect([isWhole(sheet, xlsx), isWhole(sheet.subarray(0, -30), xlsx)]).toEqual([true, false]);
  const table = `${HEADER}${line("41")}${line("50")}`;
  expect([table, table.trimEnd(), table.slice(0, -24), `${HEADER}S-1;"Zey`].map((each) => isWhole(each, ROWS))).toEqual(
    [true, true, false, false],
  );
  expect(isWhole("%PDF-1.7\n%%EOF\n", ROWS, "a.pdf")).toBe(true);
  expect(isWhole("%PDF-1.7\n", ROWS, "a.pdf")).toBe(false);
});

test.each([
  ["dd/MM", "the format dd/MM has not one yyyy"],
  ["dd/MM/yyyy h:mm", "the format dd/MM/yyyy h:mm has h without a"],
  ["dd/MM/yyyy dd", "has not one dd"],
  ["MMM d yyyy", "has not one MM"],
])("the format %s is refused", (format, problem) => {
  expect(() => profileOf(ROWS.replace("dd/MM/yyyy HH:mm", format))).toThrow(problem);
});

test("a profile of files names unknown keys, a missing identity and columns in XML", () => {
  expect(() => profileOf(ROWS.replace("within", "with"))).toThrow("file");
  const look = `${ROWS}rows: [{ as: remark, when: { Test: 'a(?=b)' } }]\n`;
  expect(() => profileOf(look)).toThrow("acme.yaml:10 rows[0].when.Test uses (?=, expected unless or notSender");
  expect(() => profileOf(ROWS.replace("number: Sample ID, ", "").replace("patient: { name: Animal }\n", ""))).toThrow(
    "nothing names the sample",
  );
  expect(() => profileOf(XML.replace(/results.*\n/, "results: { per: column, from: a }\n"))).toThrow(
    "results.per is column",
  );
});

test("sniff names the profile that reads the files of a folder, and why others do not", async () => {
  const folder = temporaryFolder();
  onTestFinished(() => fs.rmSync(folder, { recursive: true }));
  for (const name of ["idexx-interlink/catalyst.xml", "wondfo-finecare-csv/history.csv"]) {
    fs.copyFileSync(path.join(fixturesFolder, name), path.join(folder, path.basename(name)));
  }
  fs.writeFileSync(path.join(folder, "report.pdf"), "%PDF-1.7");
  const found = await sniffFolder(folder);
  expect(found.map(({ profiles: [profile], score }) => [profile, score > 50])).toEqual([
    ["wondfo-finecare-csv", true],
    ["idexx-interlink", true],
    ["abaxis-vetscan-vs2-csv", false],
    ["scil-vet-abc-csv", false],
  ]);
  expect(found.at(-1)?.reasons).toEqual([
    "reads 0 of 1 files, with 0 results of the catalogue",
    expect.stringContaining("no header with Date, Patient no., Customer no."),
  ]);
});

const COLUMNS = ROWS.replace("per: row, names: [Test], value: Result, unit: Unit", "per: column, from: ALT")
  .replace("Sample ID, Result", "Sample ID, ALT")
  .replace("patient: { name: Animal }\n", "");

test("a row with more cells than the header is not read: a comma within a number moves the cells after it", async () => {
  const [head, row] = ["Sample ID,Date,ALT,CREA", "S-1,20/11/2026 09:30,41"];
  expect(await rowsOf(`${head}\n${row},1\n`, COLUMNS)).toHaveLength(1);
  expect(await rowsOf(`${head}\n${row},1,,\n`, COLUMNS)).toHaveLength(1);
  expect(await reasonOf(`${head}\n${row},5,1,2\n`, COLUMNS)).toContain("line 2 has 6 cells, the header 4");
  const moved = `${HEADER}${line("41")}${line("1,2", "CREA")}`.replaceAll(";", ",");
  expect(await rowsOf(moved)).toEqual([["S-1", "ALT 41 U/L"]]);
});

test("the tests of a run begin at a column's number, and leave out others by theirs", async () => {
  const profile = COLUMNS.replace("from: ALT", "from: col 3, except: [col 4]");
  const table = "Sample ID;Date;ALT;Dose;BUN\nS-1;20/11/2026 09:30;41;3;22\n";
  expect(await rowsOf(table, profile)).toEqual([["S-1", "ALT 41 null", "BUN 22 null"]]);
});

test("XML in which a path may mean one of two animals is not read", async () => {
  const profile = `${HEAD}file: { kind: xml, records: test }
sample: { time: { at: taken, format: 'dd/MM/yyyy HH:mm' } }
patient: { identifier: 'animal/@id' }
results: { per: row, names: ['@name'], value: value }
`;
  const result = (name: string) =>
    `<test name="${name}"><value>5</value><taken>20/11/2026 09:30</taken><note/><note/></test>`;
  const one = `<run><animal id="A-1"/>${result("ALT")}</run>`;
  expect(await rowsOf(one, profile, "run.xml")).toEqual([["A-1", "ALT 5 null"]]);
  const two = `<run><animal id="A-1"/>${result("ALT")}<animal id="A-2"/>${result("ALT")}</run>`;
  expect(await reasonOf(two, profile, "run.xml")).toBe(
    "quarantined: run.xml: run has 2 elements animal, and which is meant is unknown",
  );
});

test("two animals of one name on one day are two studies if their owners differ, and a control stays one", async () => {
  const profile = ROWS.replace("number: Sample ID, ", "")
    .replace("dd/MM/yyyy HH:mm", "dd/MM/yyyy")
    .replace("name: Animal", "name: Animal, owner: Sample ID");
  const day = (value: string, owner: string, name = "ALT") => line(value, name, owner, "20/11/2026");
  expect(await rowsOf(HEADER + day("41", "Ada") + day("88", "Ece", "ALP") + day("30", "Ada", "AST"), profile)).toEqual([
    ["Zeytin", "ALT 41 U/L", "AST 30 U/L"],
    ["Zeytin", "ALP 88 U/L"],
  ]);
  expect(await reasonOf(HEADER + day("41", "Ada").replace("Zeytin", "QC"), profile)).toBe(
    "not-for-patients: line 2 is a control (QC)",
  );
});

test("a block with two samples is not read, and a heading that is there again is no other sample", async () => {
  const [one, other] = ["Sample: S-1 20.11.2026 09:30\n", "Sample: S-2 20.11.2026 09:40\n"];
  expect(await rowsOf(`${one}ALT 41 U/L\n${one}ALP 88 U/L\n`, BLOCKS, "run.txt")).toEqual([
    ["S-1", "ALT 41 U/L", "ALP 88 U/L"],
  ]);
  expect(await reasonOf(`${one}ALT 41 U/L\n${other}ALP 88 U/L\n`, BLOCKS, "run.txt")).toBe(
    "quarantined: run.txt: line 3 begins another sample (number) without a line between",
  );
});

test("a value of VetLab Station under an unknown mark is not an exact one", async () => {
  const profile = fs.readFileSync(path.join("agent", "devices", "file", "idexx-interlink.yaml"), "utf8");
  const run = fs.readFileSync(path.join(fixturesFolder, "idexx-interlink", "catalyst.xml"), "utf8");
  const marked = (mark: string) => run.replace("<result_qualifier>&lt;<", `<result_qualifier>${mark}<`);
  const rowOf = async (mark: string) => reportsOf(await readingOf(marked(mark), profile, "run.xml"))[0];
  expect((await rowOf("="))?.rows.find(({ code }) => code === "TBIL")).toMatchObject({ value: 0.1, comparator: null });
  expect((await rowOf("&lt;"))?.rows.find(({ code }) => code === "TBIL")).toMatchObject({ comparator: "<" });
  for (const mark of ["&lt;=", "*"]) {
    const report = await rowOf(mark);
    expect(report?.rows.map(({ code }) => code)).toEqual(["GLU", "SDMA"]);
    expect(report?.leftOut).toContain("TBIL has no final value: the device marks it in a way that is not known");
  }
});
