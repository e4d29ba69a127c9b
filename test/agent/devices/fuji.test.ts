import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fujiAu } from "../../../agent/devices/text/fuji-au.ts";
import { fujiDriChemNx } from "../../../agent/devices/text/fuji-dri-chem-nx.ts";
import { encodeBccText } from "../../../agent/protocols/text/bcc-link.ts";
import type { TextProfile } from "../../../agent/protocols/text/profile.ts";
import { read } from "../../../agent/study/read.ts";
import { replay } from "../../../agent/tools/offline/replay.ts";
import { fujiRecord, fujiTest } from "./fuji-text.ts";
import { context, only, reportsOf } from "../records.ts";

const GLU = fujiTest("GLU-PS", "5.31", "mmol/l");

function readText(text: string, profile: TextProfile = fujiDriChemNx) {
  return read(Buffer.from(text, "latin1"), profile, context);
}

function reportOf(text: string, profile: TextProfile = fujiDriChemNx) {
  return only(reportsOf(readText(text, profile)));
}

describe("a row", () => {
  const rowOf = (columns: string) => only(reportOf(fujiRecord([columns])).rows);

  test("has value, sign, unit, range and flag as the device wrote them", () => {
    const row = rowOf(fujiTest("GPT-PS", "0.17", "ukat/l", { sign: "<", range: ["0.10", "1.00"], marks: { 1: "L" } }));
    expect(row).toMatchObject({
      code: "ALT",
      value: 0.17,
      comparator: "<",
      unit: "ukat/L",
      device_range: { text: "0.10-1.00" },
      device_flag: "L",
      device_code: "GPT",
      device_label: "GPT-PS",
    });
    expect(row.comment).toBeUndefined();
  });

  test("is cut at nine characters, so a row without unit keeps its value", () => {
    expect(rowOf(fujiTest("ALB/GLB", "1.4", ""))).toMatchObject({ value: 1.4, text: "1.4" });
    expect(rowOf(fujiTest("LIP-PS", "123456.78", "U/l"))).toMatchObject({ value: 123456.78, unit: "U/L" });
  });

  test("of the molar ratio of BUN and CRE is not the mass ratio", () => {
    const molar = rowOf(fujiTest("BUN/CRE", "92.4", "(SI)"));
    const mass = rowOf(fujiTest("BUN/CRE", "22.8", ""));
    expect([molar.device_code, mass.device_code]).toEqual(["BUN/CRE", "BUN/CRE"]);
    // A catalogue without them keeps both under the device's code.
    expect(molar.codeSource === undefined && molar.code === mass.code).toBe(false);
  });

  test.each([
    [2, "@", "outside the measuring range"],
    [3, "#", "the slide is expired"],
    [4, "$", "thermistor error"],
    [4, "+", "the incubator is too hot"],
    [4, "-", "the incubator is too cold"],
    [5, "?", "photometer error"],
    [7, "&", "abnormally high"],
    [9, "E", "calculation or electrolyte error"],
    [10, "\\", "no sample on the slide"],
    [1, "x", "the device marks the value with x at place 1"],
    [6, "H", "the device marks the value with H at place 6"],
  ])("with a mark at place %i (%s) keeps its value with a comment", (place, mark, comment) => {
    expect(rowOf(fujiTest("GLU-PS", "5.31", "mmol/l", { marks: { [place]: mark } }))).toMatchObject({
      value: 5.31,
      device_flag: mark,
      comment,
    });
  });

  test.each(["****", "+OR", "-OR", "EXP", "CHK QC", ""])("with %j in place of a value is listed", (words) => {
    const report = reportOf(fujiRecord([fujiTest("K-PS", words, "mEq/l", { sign: " " }), GLU]));
    expect(report.rows.map(({ code }) => code)).toEqual(["GLU"]);
    expect(only(report.leftOut)).toMatch(/^K has no /);
  });

  test.each([
    ["a value column that is too short", GLU.replace("5.31 ", "531 "), /has 14 characters, expected 15$/],
    ["an unknown sign", fujiTest("GLU-PS", "5.31", "mmol/l", { sign: "~" }), /the sign is "~", expected =, < or >$/],
  ])("with %s is listed, and the others stay", (_, odd, reason) => {
    const report = reportOf(fujiRecord([odd, fujiTest("ALB-PS", "32", "g/l")]));
    expect(report.rows.map(({ code }) => code)).toEqual(["ALB"]);
    expect(only(report.leftOut)).toMatch(reason);
  });
});

describe("urine", () => {
  const urine = [fujiTest("CRE-U", "9120", "umol/l"), fujiTest("Na-U", "41", "mEq/l"), fujiTest("BUN/CRE", "31", "")];

  test("is never blood: its rows have the device's code", () => {
    const { rows } = reportOf(fujiRecord(urine));
    expect(rows.map(({ code, codeSource }) => [code, codeSource])).toEqual([
      ["CRE-U", "device"],
      ["Na-U", "device"],
      ["BUN/CRE", "device"],
    ]);
  });

  test("with serum leaves the serum as it is, and a calculated row is in doubt", () => {
    const { rows } = reportOf(
      fujiRecord([fujiTest("CRE-PS", "82", "umol/l"), fujiTest("TP-W", "70", "g/l"), ...urine]),
    );
    expect(rows.map(({ code, comment }) => [code, comment])).toEqual([
      ["CREA", undefined],
      ["TP", undefined],
      ["CRE-U", undefined],
      ["Na-U", undefined],
      [expect.any(String), "calculated in a run of blood and urine"],
    ]);
  });
});

describe("the head", () => {
  test.each([
    ["21-11-2026", "2026-11-21T08:30:00.000Z"],
    ["2026-11-21", "2026-11-21T08:30:00.000Z"],
    ["03-11-2026", "2026-11-03T08:30:00.000Z"],
  ])("has the date %s", (date, acquiredAt) => {
    expect(reportOf(fujiRecord([GLU], { date })).acquired_at).toBe(acquiredAt);
  });

  test.each(["21/11/2026", "21-11-26", ""])("with the date %j is not read", (date) => {
    expect(readText(fujiRecord([GLU], { date }))).toMatchObject({ is: "quarantined" });
  });

  test("has no species, sex or age of the clinic's own numbers", () => {
    const hint = (head: Parameters<typeof fujiRecord>[1]) => reportOf(fujiRecord([GLU], head)).patient_hint;
    expect(hint({ species: "14", sex: "9" })).toMatchObject({ species: null, sex: null, date_of_birth: null });
    expect(hint({ sex: "0" }).sex).toBe("M");
    expect(hint({ sex: "1" }).sex).toBe("F");
    expect(reportOf(fujiRecord([GLU])).notes).toContain(
      "the species is number 14 of the clinic's own list, which is not read",
    );
  });

  test("names the animal that staff typed into the column of the id", () => {
    const hint = (id: string, name = "") => reportOf(fujiRecord([GLU], { id, name })).patient_hint;
    expect(hint("ZEYTIN")).toMatchObject({ identifier: "ZEYTIN", name: "ZEYTIN" });
    expect(hint("4711")).toMatchObject({ identifier: "4711", name: null });
    expect(hint("A4711")).toMatchObject({ identifier: "A4711", name: null });
    expect(hint("ZEYTIN", "Zeytin Y")).toMatchObject({ identifier: "ZEYTIN", name: "Zeytin Y" });
  });

  test("gives the sample number as an accession, and reads katakana", () => {
    const report = reportOf(fujiRecord([GLU], { number: "VDAG0001", name: "\xc0\xcf" }));
    expect(report.otherIdentifiers).toEqual(["VDAG0001"]);
    expect(report.patient_hint.name).toBe("\uff80\uff8f");
  });

  test("of types A and B has operator and analyzer, and each slide its lot", () => {
    const more = ["vt2".padEnd(13), "0", "70012233"];
    const report = reportOf(fujiRecord([`${GLU},204118,202708`], { more }));
    expect(report.comments).toEqual(["Operator: vt2", "Analyzer: 70012233", "GLU-PS: lot 204118, valid to 2027-08"]);
    expect(report.rows).toHaveLength(1);
  });
});

describe("a run that is not a patient's", () => {
  test.each([
    ["CONTROL", "not-for-patients"],
    ["QC", "not-for-patients"],
    ["CALIB", "quarantined"],
    ["", "quarantined"],
  ])("has the condition %j: %s", (condition, is) => {
    expect(readText(fujiRecord([GLU], { condition })).is).toBe(is);
  });

  test.each([
    "S,NORMAL ,21-11-2026,11:24,7,4711,Zeytin,01",
    "I,,10",
    "W,7",
    "X,,,,5",
    "E,21-11-2026,11:31:08,I4102,01,x",
  ])("is %s: no study", (text) => {
    expect(readText(text).is).toBe("not-for-patients");
  });
});

test("T has the kind of interval after the marks; R of the immunoassay has none", () => {
  const hormone = fujiTest("v-T4", " 1.23", "ng/mL", { range: ["1.10", "4.20"], marks: { 5: "w" } });
  for (const text of [fujiRecord([hormone]), fujiRecord([`${hormone},3`], { type: "T" })]) {
    expect(only(reportOf(text, fujiAu).rows)).toMatchObject({
      value: 1.23,
      unit: "ng/mL",
      device_code: "v-T4",
      device_range: { text: "1.10-4.20" },
      comment: "the waste box was opened",
    });
  }
});

test("a lost column quarantines the text with both counts", () => {
  expect(readText(fujiRecord([GLU], { count: 2 }))).toEqual({
    is: "quarantined",
    reason: "19 columns, expected 26 or 33 for 2 results",
  });
});

test("every row that is sent is published or listed with a reason", () => {
  const name = fc.stringMatching(/^[A-Za-z][A-Za-z0-9/]{0,5}$/);
  const suffix = fc.constantFrom("", "-PS", "-P", "-W", "-U", "-", "-Z");
  const value = fc.oneof(fc.stringMatching(/^[<>+*.\dA-Z ]{0,9}$/), fc.constantFrom("5.3", "****", "EXP", "12"));
  const unit = fc.constantFrom("", "mmol/l", "(SI)", "U/l", "xyz");
  const marks = fc.dictionary(fc.constantFrom("1", "2", "5", "9"), fc.constantFrom("H", "@", "?", " "));
  const row = fc.tuple(name, suffix, value, unit, fc.constantFrom("=", "<", ">", " "), marks);
  const tests = fc.array(row, { minLength: 1, maxLength: 30 });
  const property = fc.property(tests, fc.constantFrom(fujiDriChemNx, fujiAu), (sent, profile) => {
    const rows = sent.map(([code, end, measured, own, sign, marked]) =>
      fujiTest(`${code}${end}`.slice(0, 8), measured, own, { sign, marks: marked }),
    );
    const reading = readText(fujiRecord(rows), profile);
    if (reading.is === "not-for-patients") return false;
    // A text without any row lists its rows in the reason.
    if (reading.is === "quarantined") return reading.reason.split("; ").length >= rows.length;
    const [report] = reading.reports;
    return report !== undefined && report.rows.length + report.leftOut.length === rows.length;
  });
  expect(fc.check(property, { numRuns: 300 }).counterexample).toBeNull();
});

test("a text of any characters is read without an exception", () => {
  const part = fc.oneof(fc.constantFrom("R,", "T,", "E,", ",", "\x17", "NORMAL ", "2026-11-21", "11:30"), fc.string());
  const property = fc.property(fc.array(part, { maxLength: 40 }), (parts) => {
    readText(parts.join(""));
  });
  expect(fc.check(property, { numRuns: 500 }).counterexample).toBeNull();
});

const folder = fileURLToPath(new URL("../../../../shared/captures/astm/", import.meta.url));

if (!existsSync(folder)) process.stdout.write(`fuji.test.ts leaves out its capture: there is no ${folder}\n`);

describe.skipIf(!existsSync(folder))("field captures", () => {
  test("NX600: all 15 rows of a clinic's run are read", () => {
    const text = readFileSync(`${folder}fuji-nx600__fifteen-slides.txt`, "latin1").replace(/[\r\n]+$/, "");
    const played = replay([encodeBccText(Buffer.from(text, "latin1"))], fujiDriChemNx, context, null);
    expect(played.warnings).toEqual([]);
    const report = only(reportsOf(only(played.messages).reading));
    const columns = text.split(",").slice(12);
    const sent = Array.from({ length: 15 }, (_, index) => columns.slice(7 * index, 7 * index + 7));
    expect(report.leftOut).toEqual([]);
    expect(report.rows.map(({ device_code, text: value, device_flag }) => [device_code, value, device_flag])).toEqual(
      sent.map(([name = "", sign, value = "", , , , marks = ""]) => [
        name.trim().replace(/-PS$/, ""),
        `${sign === "=" ? "" : sign}${value.slice(0, 9).trim()}`,
        marks.trim() || null,
      ]),
    );
    expect(report.rows.map(({ device_range }) => device_range?.text)).toEqual(
      sent.map(([, , , , low = "", high = ""]) => `${low.trim()}-${high.trim()}`),
    );
  });
});
