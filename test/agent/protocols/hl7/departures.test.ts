import { describe, expect, test } from "vitest";
import { duplicateKey } from "../../../../agent/protocols/hl7/message/duplicate-key.ts";
import type { Hl7Profile } from "../../../../agent/protocols/hl7/profile.ts";
import { only, reportsOf } from "../../records.ts";
import { ALT, message, msh, OBR, obx, PID, readGeneric, readWith } from "./segments.ts";
import { answeredWith, answers, header, textOf } from "./wire.ts";
import { hl7Device } from "../../../support/clinic/profiles.ts";

const genericHl7 = hl7Device("generic-hl7");
const mindrayBc = hl7Device("mindray-bc");

// Departures of real devices from HL7: message ids, senders, codes, units, states, marks and times.

const withOption = (option: Partial<Hl7Profile>): Hl7Profile => ({ ...genericHl7, ...option });
const reportOf = (...segments: readonly string[]) => only(reportsOf(readGeneric(msh(), PID, OBR, ...segments)));

describe("MSH-10", () => {
  test("an empty one is accepted with an empty MSA-2", () => {
    const replies = answers(textOf(header({ 10: "", 16: "0" }), "PID|1", "OBR|1"));
    expect(replies.map(answeredWith)).toEqual(["AA"]);
    expect(replies.join("")).toContain("MSA|AA||Message accepted");
  });

  const key = (fields: Readonly<Record<number, string>>, ...segments: readonly string[]) =>
    duplicateKey({ bytes: message(msh(fields), ...segments), incomplete: null }, genericHl7);

  test.each(["", "0001"])("messages under the id %j are distinguished by content and sample time", (id) => {
    const first = key({ 10: id }, PID, OBR, ALT);
    expect(key({ 10: id, 7: "20261122120000" }, PID, OBR, ALT)).toBe(first);
    expect(key({ 10: id }, PID, OBR, ALT.replace("52", "53"))).not.toBe(first);
    expect(key({ 10: id }, PID, OBR.replace("113015", "113016"), ALT)).not.toBe(first);
  });

  test.each([
    ["no time", "OBR|1|7|7"],
    ["a date alone", "OBR|1|7|7||||20261121"],
    ["a birth date with a clock", "OBR|1|7|7", "PID|1||4711||Zeytin||19820123000000"],
  ])("with %s of its own, a sample is distinguished from the next day's by MSH-7", (_, order, pid = PID) => {
    const sent = { 7: "20261121120000" };
    expect(key(sent, pid, order, ALT)).toBe(key(sent, pid, order, ALT));
    expect(key({ 7: "20261122120000" }, pid, order, ALT)).not.toBe(key(sent, pid, order, ALT));
  });
});

test("a query that the device withdraws is acknowledged and no alarm", () => {
  const replies = answers(textOf(header({ 9: "QCN^J01" }), "QID|1|WOS"));
  expect(replies.map(answeredWith)).toEqual(["AA 4711"]);
  expect(readGeneric(msh({ 9: "QCN^J01" }), "QID|1|WOS")).toEqual({
    is: "not-for-patients",
    reason: "no results (MSH-9 is QCN^J01)",
  });
});

test("a profile refuses another model, but no empty sender", () => {
  const WBC = obx("6690-2^WBC^LN", "9.8", { 6: "10*9/L" });
  expect(readWith(mindrayBc, msh({ 3: "BS-240", 4: "" }), PID, OBR, WBC).is).toBe("quarantined");
  for (const nobody of ["", '""', " "]) {
    expect(readWith(mindrayBc, msh({ 3: nobody, 4: nobody }), PID, OBR, WBC).is).toBe("reports");
  }
});

describe("codes", () => {
  test.each([
    ["0", "ALT", "ALT"],
    ["", "ALT", "ALT"],
    ["1^", "CREA^x", "CREA"],
    ["0^0", "ALT", "ALT"],
    ["7^ALT", "CREA", "ALT"],
    ["ALT", "CREA", "ALT"],
    ["1742-6", "CREA", "ALT"],
    ["10002^^99MRC", "ALT", "PCT"],
    ["HDL^Cholesterol", "", "HDL"],
    ["NEU%^Neutrophils^L", "", "NEUP"],
    ["BUN^Urea", "", "BUN"],
    ["413^Cholesterol", "", "CHOL"],
  ])("OBX-3 %j with OBX-4 %j is %s", (code, subId, analyte) => {
    expect(only(reportOf(obx(code, "1", { 4: subId, 6: "" })).rows).code).toBe(analyte);
  });

  test.each([
    ["413^GLI", "", "GLI", null],
    ["0", "Xyz", "Xyz", null],
    ["", "Xyz", "Xyz", null],
    ["X1^Xyz^99LAB", "1.0.0.1", "X1", "Xyz"],
    ["9999-9^Xyz^LN", "", "9999-9", "Xyz"],
    ["7", "1.0.0.1", "7", null],
    ["Xyz", "", "Xyz", null],
    ["^Xyz", "", "Xyz", null],
  ])("the unknown OBX-3 %j with OBX-4 %j is a row of code %s and label %s", (code, subId, own, label) => {
    const [row] = reportOf(obx(code, "1", { 4: subId })).rows;
    expect(row).toMatchObject({ code: own, codeSource: "device", device_code: own, device_label: label, value: 1 });
  });

  test("a row without value is listed by its name", () => {
    const { leftOut } = reportOf(ALT, obx("0", "", { 4: "Xyz" }));
    expect(leftOut).toEqual(["Xyz has no value: no value"]);
  });
});

test.each([
  ["10^9/L", "10*9/L"],
  ["x10^9/L", "10*9/L"],
  ["X10^9/L", "10*9/L"],
  ["x 10^9/L", "10*9/L"],
  ["*10^9/L", "10*9/L"],
])("the caret of the unit %s is not a delimiter", (sent, unit) => {
  const [known, unknown] = reportOf(obx("^WBC", "9.8", { 6: sent }), obx("^Xyz", "1", { 6: sent })).rows;
  expect([known?.unit, unknown?.unit]).toEqual([unit, sent]);
});

test.each([
  ["\\Z03BC\\g/L", "μg/L"],
  ["\\Z03bc\\g/L^\\Z03BC\\g/L^A400", "μg/L"],
  ["10\\S\\3/\\Z03BC\\L", "10^3/μL"],
  ["\\Z03\\g/L", "\\Z03\\g/L"],
  ["\\ZD800\\g/L", "\\ZD800\\g/L"],
])("the unit %j is %j", (sent, unit) => {
  expect(reportOf(obx("Xyz", "1", { 6: sent })).rows).toMatchObject([{ unit }]);
});

describe("states, marks and doubts of a profile", () => {
  test("a status that a profile calls final has a value, and no other", () => {
    const final = withOption({ finalStatuses: /^P$/ });
    const rows = [obx("^ALT", "52", { 11: "P" }), obx("^CREA", "1", { 6: "mg/dL", 11: "X" })];
    expect(reportsOf(readWith(final, msh(), PID, OBR, ...rows))).toMatchObject([
      { rows: [{ code: "ALT" }], leftOut: ["CREA has no final value: cannot be done (OBX-11 is X)"] },
    ]);
    expect(readGeneric(msh(), PID, OBR, ...rows).is).toBe("quarantined");
  });

  test("a value that the device withholds has a reason", () => {
    const profile = withOption({
      withheld: (row) => (row.field(13) === "Pass" ? "" : `the check is ${row.field(13)}`),
    });
    const rows = [obx("^ALT", "52", { 13: "Pass" }), obx("^CREA", "1", { 13: "Fail" })];
    expect(reportsOf(readWith(profile, msh(), PID, OBR, ...rows))).toMatchObject([
      { rows: [{ code: "ALT" }], leftOut: ["CREA has no final value: the check is Fail"] },
    ]);
  });

  test("marks of a profile are read, and others stay as sent", () => {
    const profile = withOption({ flags: { "0": "N", "1": "H", "2": "L", "↑": "H", NONE: "" } });
    const rows = ["0", "1", "2", "↑", "NONE", "x"].map((mark, index) => obx(`A${index}`, "1", { 8: mark }));
    const [report] = reportsOf(readWith(profile, msh(), PID, OBR, ...rows));
    expect(report?.rows.map(({ device_flag }) => device_flag)).toEqual(["N", "H", "L", "H", null, "x"]);
  });

  test("a mark of doubt stays, and becomes the row's comment", () => {
    const profile = withOption({ doubts: { HL: "hemoglobin is doubtful", ML: "below the measuring range" } });
    const rows = [obx("^ALT", "52", { 8: "HL~ML" }), obx("^CREA", "1", { 8: "H" })];
    expect(reportsOf(readWith(profile, msh(), PID, OBR, ...rows))[0]?.rows).toMatchObject([
      { device_flag: "HL ML", comment: "hemoglobin is doubtful; below the measuring range" },
      { device_flag: "H" },
    ]);
  });
});

describe("times", () => {
  test.each(["201645102825", "yesterday", "20269921"])("the malformed header time %s refuses nothing", (sent) => {
    const report = only(reportsOf(readGeneric(msh({ 7: sent }), PID, OBR, ALT)));
    expect(report).toMatchObject({ acquired_at: "2026-11-21T08:30:15.000Z", notes: [`"${sent}" is no time`] });
  });

  test("values in place of OBX-12 and wrong times in OBX-14 refuse nothing", () => {
    const report = reportOf(obx("^ALT", "52", { 12: "52.004^U/L", 14: "2026-45-10" }));
    expect(report).toMatchObject({ acquired_at: "2026-11-21T08:30:15.000Z", rows: [{ value: 52 }] });
  });

  test("the time of the run may be in a field of the profile", () => {
    const profile = withOption({ runTime: 22 });
    const order = `OBR|1||46${"|".repeat(19)}202611212037`;
    expect(reportsOf(readWith(profile, msh(), order, ALT))).toMatchObject([
      { acquired_at: "2026-11-21T17:37:00.000Z" },
    ]);
  });
});

test('the null `""` is never a value', () => {
  const report = reportOf(ALT, obx("^CREA", '""', { 6: '""', 7: '""', 8: '""' }));
  expect(report).toMatchObject({ rows: [{ code: "ALT" }], leftOut: ["CREA has no value: no value"] });
  const [row] = reportOf(obx("Xyz", "1", { 6: '""', 7: '""', 8: '""' })).rows;
  expect(row).toMatchObject({ unit: null, device_range: null, device_flag: null });
});
