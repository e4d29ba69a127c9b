import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Profile } from "../../../agent/devices/profile.ts";
import type { Reading } from "../../../agent/report/report.ts";
import { read } from "../../../agent/study/read.ts";
import { context, only, reportsOf } from "../records.ts";
import { astmDevice, textDevice } from "../../support/clinic/profiles.ts";

const radiometerAbl9 = astmDevice("radiometer-abl9");
const arkraySpotchemEl = textDevice("arkray-spotchem-el");
const arkraySpotchemEz = textDevice("arkray-spotchem-ez");
const diruiH100 = textDevice("dirui-h100");

// Facts that the fixtures of these devices do not state in a sentence: the rows that stay, and the lines that stop a text.

function readText(text: string, profile: Profile): Reading {
  return read(Buffer.from(text, "latin1"), profile, context);
}

/** Returns code, text, unit and flag of each row. */
function rowsOf(reading: Reading): (string | null | undefined)[][] {
  return only(reportsOf(reading)).rows.map(({ code, text, unit, device_flag }) => [code, text, unit, device_flag]);
}

const ezHead = "26/11/21     11:30  \nID# 4711            \n";
const bun = "BUN      7.4 mmol/L \n";
const ldh = "LDH     4.10 ukat/L \n";

test.each([
  ["after ETB", `${ezHead} MULTI:PANEL-Z      \n${bun}\x17SINGLE:             \n${ldh}`],
  ["with the name of its slide", `${ezHead} MULTI:PANEL-Z      \n${bun}\x17\nSINGLE:LDH          \n${ldh}`],
  ["with a head of its own for the same sample", `${ezHead}${bun}\x17${ezHead}SINGLE:             \n${ldh}`],
])("SPOTCHEM EZ: a SINGLE slide %s belongs to the sample of the block before", (_, text) => {
  expect(rowsOf(readText(text, arkraySpotchemEz))).toEqual([
    ["BUN", "7.4", "mmol/L", null],
    ["LDH", "4.10", "ukat/L", null],
  ]);
});

test("SPOTCHEM EZ: a SINGLE slide of another sample stops the text", () => {
  const text = `${ezHead}${bun}\x17${ezHead.replace("4711", "4712")}SINGLE:             \n${ldh}`;
  expect(readText(text, arkraySpotchemEz)).toEqual({
    is: "quarantined",
    reason: "two ids in one text: 4711 and 4712",
  });
});

test.each(["SINGLE:", "SINGLE:              "])("SPOTCHEM EZ: %o has not 20 characters and stops the text", (line) => {
  expect(readText(`${ezHead}${bun}\x17${line}\n${ldh}`, arkraySpotchemEz)).toEqual({
    is: "quarantined",
    reason: `line 4 has ${line.length} characters, expected 20`,
  });
});

test("SPOTCHEM EZ: a word in place of a value leaves the other rows", () => {
  const report = only(reportsOf(readText(`${ezHead}${bun}Cre    ERROR        \n`, arkraySpotchemEz)));
  expect(report.rows.map(({ code }) => code)).toEqual(["BUN"]);
  expect(report.leftOut).toEqual(['CREA has no value: "ERROR" is not a number']);
});

/** A result of the second format: a line of 37 columns about the run, and one of the result. */
function twoLines(row: string, { id = "4711", error = "0", temperature = "0" } = {}): string {
  return `${id.padEnd(10)} 11 4/ 2 26/11/21 11:30 ${error} ${temperature}\r\nPANEL-V    ${row.padEnd(38)}\r\n`;
}

const bunRow = "BUN      7.9 mmol/L 0";

test("SPOTCHEM EZ: a result of the second format has identifier, time, value and unit", () => {
  const report = only(reportsOf(readText(twoLines(bunRow), arkraySpotchemEz)));
  expect(report).toMatchObject({ identifier: "4711", acquired_at: "2026-11-21T08:30:00.000Z", leftOut: [], notes: [] });
  expect(report.rows).toMatchObject([{ code: "BUN", value: 7.9, unit: "mmol/L", device_flag: null }]);
  expect(report.rows[0]?.comment).toBeUndefined();
});

test("SPOTCHEM EZ: the results of a run are one study, and the counters of two runs make two", () => {
  const keyOf = (row: string, id?: string) =>
    only(reportsOf(readText(twoLines(row, id === undefined ? {} : { id }), arkraySpotchemEz))).dedupe_key;
  const glu = "Glu\x20\x20\x20   5.1 mmol/L 0";
  expect(keyOf(bunRow)).toBe(keyOf(glu));
  expect(keyOf(bunRow, "0021******")).toBe(keyOf(glu, "0021******"));
  expect(keyOf(bunRow, "0021******")).not.toBe(keyOf(bunRow, "0022******"));
  const counted = only(reportsOf(readText(twoLines(bunRow, { id: "0021******" }), arkraySpotchemEz)));
  expect(counted).toMatchObject({ identifier: null, sampleIds: ["0021"] });
});

test.each(["1", "2", "E"])("SPOTCHEM EZ: a run with the error digit %s has zeros that are not results", (error) => {
  expect(readText(twoLines("BUN      0.0 mmol/L 0", { error }), arkraySpotchemEz)).toEqual({
    is: "quarantined",
    reason: `no result could be read: BUN has no final value: the device reports error ${error}`,
  });
});

test.each([
  [bunRow, "1", "the device reports temperature 1"],
  ["BUN      7.9 mmol/L 2", "0", "the device marks the value with 2"],
])("SPOTCHEM EZ: %o with the temperature digit %s keeps its value with a doubt", (row, temperature, comment) => {
  const report = only(reportsOf(readText(twoLines(row, { temperature }), arkraySpotchemEz)));
  expect(report.rows).toMatchObject([{ value: 7.9, comment }]);
});

test.each([
  ["a lost character", twoLines(bunRow).replace("  7.9", " 7.9")],
  ["a lost character of the head", twoLines(bunRow).replace("4/ 2", "4/2")],
  ["a third line", `${twoLines(bunRow)}x\r\n`],
  ["no second line", twoLines(bunRow).slice(0, 39)],
])("SPOTCHEM EZ: %s stops a text of the second format", (_, text) => {
  expect(readText(text, arkraySpotchemEz).is).toBe("quarantined");
});

const elLine = (specimen: string, results: string) => `26/11/21 11:30 ID# 4711       [${specimen}] ${results}`;

test("SPOTCHEM EL: electrolytes of urine are separate from blood", () => {
  const results = "Na   148 mmol/L K    3.1 mmol/L";
  expect(rowsOf(readText(elLine("B. Plasma", results), arkraySpotchemEl)).map(([code]) => code)).toEqual(["NA", "K"]);
  const urine = only(reportsOf(readText(elLine("Urine", results), arkraySpotchemEl)));
  expect(urine.rows.map(({ codeSource }) => codeSource)).toEqual(["device", "device"]);
});

test.each(["Na   148 mmol/L K", "Na   148 mmol/L ?    3.1 mmol/L", "Na   1 48 mmol/L", "Na   148"])(
  "SPOTCHEM EL: no part of %o is read",
  (results) => {
    expect(readText(elLine("B. Plasma", results), arkraySpotchemEl).is).toBe("quarantined");
  },
);

const strip = (...lines: readonly string[]) => lines.map((line) => `${line}\r\n`).join("");
const h100Head = ["2026-11-21 11:30", "No. 0070", "ID:4711"];

test.each([
  ["UBG  Normal  3.2umol/L", ["UUBG", "Normal", null, null], "UBG Normal: 3.2 umol/L"],
  ["*BLD  2+  80Ery/uL", ["UBLD", "2+", null, "*"], "BLD 2+: 80 Ery/uL"],
  ["BLD  *+2  >=80 Ery/uL", ["UBLD", "+2", null, "*"], "BLD +2: >=80 Ery/uL"],
  ["BIL  -", ["UBIL", "neg", null, null], undefined],
  ["KET  +-", ["UKET", "+-", null, null], undefined],
  ["SG   <=1.005", ["USG", "<=1.005", "{SG}", null], undefined],
  ["pH   7", ["UPH", "7", "[pH]", null], undefined],
])("DIRUI H-100: %s is a row, and its amount a comment", (line, row, comment) => {
  const reading = readText(strip(...h100Head, line), diruiH100);
  expect(rowsOf(reading)).toEqual([row]);
  expect(only(reportsOf(reading)).comments).toEqual(comment === undefined ? [] : [comment]);
});

test("DIRUI H-100: two strips with one counter and no date are two studies", () => {
  const keyOf = (...lines: readonly string[]) => only(reportsOf(readText(strip(...lines), diruiH100))).dedupe_key;
  const undated = h100Head.slice(1);
  expect(keyOf(...undated, "PRO  1+")).not.toBe(keyOf(...undated, "PRO  2+"));
  expect(keyOf(...h100Head, "PRO  1+")).toBe(keyOf(...h100Head, "PRO  2+"));
});

test.each([
  "R|1|^^^ALB|5.0|g/dL|3.4^5.6|||N|F||||20261121113015",
  "R|1|^^^ALB|5.0|g/dL|3.4^5.6||N|F||||20261121113015",
])("general ASTM: %s has a final value and its time", (record) => {
  const message = ["H|\\^&|||Maker^3.6||||||||E-1394-97|20261121120000", "P|1||||Zeytin", "O|1|S-1", record, "L|1|N"];
  const report = only(reportsOf(readText(message.map((line) => `${line}\r`).join(""), astmDevice("generic-astm"))));
  expect(report.rows.map(({ code, value, device_flag }) => [code, value, device_flag])).toEqual([["ALB", 5, null]]);
  expect(report.acquired_at).toBe("2026-11-21T08:30:15.000Z");
});

const abl9 = (...results: readonly string[]) =>
  ["H|\\^&|||ABL9^SN1", "P|1||4711", "O|1||Sample #^41||||20261121113000", ...results, "L|1|N", ""].join("\r");

test.each([
  ["R|1|^^^pCO2^M|41.2|mmHg||N||F", ["PCO2", "41.2", "mm[Hg]", "N"]],
  ["R|1|^^^pCO2^M|41.2|mmHg|||F", ["PCO2", "41.2", "mm[Hg]", null]],
  ["R|1|^^^pH^M|7.53||N||F", ["PH", "7.53", "[pH]", "N"]],
  ["R|1|^^^pH^M|7.53||H||F", ["PH", "7.53", "[pH]", "H"]],
  ["R|1|^^^pH^M|7.53||H", ["PH", "7.53", "[pH]", "H"]],
  ["R|1|^^^Na+^M|148|mmol/L|135 to 145|H||F", ["NA", "148", "mmol/L", "H"]],
])("ABL9: %s has its unit and flag", (record, row) => {
  expect(rowsOf(readText(abl9(record), radiometerAbl9))).toEqual([row]);
});

test("ABL9: a status one place early means no final value", () => {
  const records = ["R|1|^^^pH^M|||||X", "C|1|I|1009^Value below reportable range|I", "R|2|^^^pCO2^M|41.2|mmHg||N||F"];
  const report = only(reportsOf(readText(abl9(...records), radiometerAbl9)));
  expect(report.rows.map(({ code }) => code)).toEqual(["PCO2"]);
  expect(report.leftOut).toEqual(["pH has no final value: cannot be done (R-9 is X)"]);
  expect(report.comments).toEqual(["pH: 1009 Value below reportable range"]);
});

test("ABL9: temperature, FIO2 and age that a user typed in are remarks", () => {
  const inputs = ["R|2|^^^T^I|38.1|Cel|||F", "R|3|^^^FIO2^I|21.0|%||F", "R|4|^^^Age^I|4|||F"];
  const report = only(reportsOf(readText(abl9("R|1|^^^pCO2^M|41.2|mmHg||N||F", ...inputs), radiometerAbl9)));
  expect(report.rows.map(({ code }) => code)).toEqual(["PCO2"]);
  expect(report.comments).toEqual(["T: 38.1 Cel", "FIO2: 21.0 %"]);
  expect(report.notes).toContain("of the run: Age: 4");
});

// Every row is published or listed with its reason, for any name and value.
const name = fc.stringMatching(/^[A-Z][A-Za-z]{1,3}$/).filter((text) => !/^(?:ID|No|TIME)/i.test(text));
const value = fc.oneof(
  fc.integer({ min: 0, max: 9_999 }).map(String),
  fc.constantFrom("0.83", "12.5", "-----", "****", "ERROR"),
);
const rows = fc.array(fc.tuple(name, value), { minLength: 1, maxLength: 12 });
type Row = readonly [string, string];

const LAYOUTS: readonly (readonly [Profile, (sent: readonly Row[]) => string])[] = [
  [
    arkraySpotchemEz,
    // A mark in place of the value has no unit.
    (sent) =>
      ezHead +
      sent
        .map(([code, text]) => `${code.padEnd(6)} ${text.padStart(5)} ${/\d/.test(text) ? "mmol/L " : "       "}\n`)
        .join(""),
  ],
  [arkraySpotchemEl, (sent) => elLine("B. Plasma", sent.map(([code, text]) => `${code} ${text} mmol/L`).join(" "))],
  [diruiH100, (sent) => strip(...h100Head, ...sent.map(([code, text]) => `${code}  ${text}`))],
];

test.each(LAYOUTS)("$id publishes a row or lists it, or keeps the complete text back", (profile, textOf) => {
  let published = 0;
  const property = fc.property(rows, (sent) => {
    const reading = readText(textOf(sent), profile);
    const kept =
      reading.is === "reports" ? reading.reports.flatMap((report) => [...report.rows, ...report.leftOut]) : [];
    published += kept.length;
    expect([reading.is === "quarantined", sent.length]).toContain(reading.is === "quarantined" || kept.length);
  });
  fc.assert(property, { numRuns: 200 });
  expect(published).toBeGreaterThan(100);
});
