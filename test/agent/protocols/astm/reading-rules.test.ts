import { describe, expect, test } from "vitest";
import type { AstmProfile } from "../../../../agent/protocols/astm/profile.ts";
import { readQuery } from "../../../../agent/protocols/astm/orders.ts";
import { parseRecords } from "../../../../agent/protocols/astm/records.ts";
import { HEADER, message, only, readGeneric, readWith, reportOf, reportsOf } from "../../records.ts";
import { astmDevice } from "../../../support/clinic/profiles.ts";

const genericAstm = astmDevice("generic-astm");

// Rules of reading that real devices taught.

const DONE = "20261121113015";
const ORDER = "O|1|17||^^^Panel|R||20261121110000";
const result = (code: string, value: string, unit: string, rest = "|N||F") =>
  `R|1|${code}|${value}|${unit}|${rest}||||${DONE}`;
const ALT = result("^^^ALT", "52", "U/L");

describe("patient", () => {
  test.each(["0", "^0", "-", ".", '""', ""])("P-3 %j names nobody, and P-4 is next", (identifier) => {
    expect(reportOf([`P|1|${identifier}||`, ORDER, ALT])).toMatchObject({ identifier: null });
    expect(reportOf([`P|1|${identifier}|4711`, ORDER, ALT])).toMatchObject({
      identifier: "4711",
      patient_hint: { identifier: "4711" },
    });
  });

  test.each([
    ["^Jim^Brown", "Jim", "Brown"],
    ["^Jim", "Jim", null],
    ["Brown^Jim", "Jim", "Brown"],
    ["Jim", "Jim", null],
  ])("P-6 %j is the animal %s of the owner %s", (name, animal, owner) => {
    expect(reportOf([`P|1|4711|||${name}`, ORDER, ALT]).patient_hint).toMatchObject({ name: animal, owner });
  });

  test("two patients 0 of one message stay two samples", () => {
    expect(reportsOf(readGeneric(["P|1|0", ORDER, ALT, "P|2|0", ORDER, ALT]))).toHaveLength(2);
  });
});

describe("header", () => {
  test.each([
    ["ABAXIS, INC.^VetScan VS2^2.1.9^0000V0000D", "VetScan VS2"],
    ["EPOC^Blood Analysis^EDM^Data Manager", "Blood Analysis"],
    ["c111VET^Roche^c111^4.2.2", "c111"],
    ["Sysmex^XN-1000^V1.0", "XN-1000"],
    ["XN-1000^Sysmex", "XN-1000"],
    ["XP-100^00-13^^^^A7869", "XP-100"],
    ["Skyla Solution^4.2.0.0", "Skyla Solution"],
    ["Abbott^1.00", "Abbott"],
    ["", "ASTM analyzer"],
  ])("H-5 %j is the device %j", (sender, device_name) => {
    const reading = readWith(genericAstm, HEADER.replace("Analyzer^1", sender), "P|1|4711", ORDER, ALT, "L|1|N");
    expect(only(reportsOf(reading))).toMatchObject({ device_name });
  });

  test("an invalid header time never refuses the results", () => {
    const header = HEADER.replace("20261121120000", "202645102825");
    const report = only(reportsOf(readWith(genericAstm, header, "P|1|4711", ORDER, ALT, "L|1|N")));
    expect(report.acquired_at).toBe("2026-11-21T08:30:15.000Z");
    expect(report.notes).toEqual(['"202645102825" is no time']);
  });
});

describe("R-3", () => {
  test.each([
    ["^^^777^XYZ", "777", "XYZ"],
    ["^^^685/", "685", null],
    ["^^^^XYZ^1", "XYZ", null],
    ["^XYZ", "XYZ", null],
    ["99999-9", "99999-9", null],
    ["99999-9^^LN^A new test", "A new test", null],
    ["^^^8/1/not", "8/1/not", null],
  ])("%j is a row of the device's code %j", (code, device_code, device_label) => {
    const row = only(reportOf(["P|1|4711", ORDER, result(code, "1.5", "U/L")]).rows);
    expect(row).toMatchObject({ code: device_code, codeSource: "device", device_code, device_label });
  });

  test("the clinic maps a code with its dilution by its number", () => {
    const codes = new Map([["8", "TT4"]]);
    const row = only(reportOf(["P|1|4711", ORDER, result("^^^8/1/not", "28", "nmol/L")], { codes }).rows);
    expect(row).toMatchObject({ code: "TT4", codeSource: "clinic" });
  });
});

describe("R-4", () => {
  test("a grade before a cut-off index is a comment, and the index is the value", () => {
    const report = reportOf(["P|1|4711", ORDER, result("^^^5/1/not", "-1^0.412", "COI")]);
    expect(only(report.rows)).toMatchObject({ value: 0.412, unit: "COI" });
    expect(report.comments).toEqual(["5/1/not: grade -1"]);
  });

  test("two values in another unit are not a number", () => {
    const report = reportOf(["P|1|4711", ORDER, result("^^^ALT", "1^52", "U/L")]);
    expect(only(report.rows)).toMatchObject({ value: null, text: "1^52" });
  });
});

const doubting: AstmProfile = {
  ...genericAstm,
  statuses: { W: { doubt: "suspected" }, P: "final", N: { notFinal: "rejected" } },
  doubtFlags: { A: "an error" },
  doubtMarks: { "?": "marked" },
};

describe("doubt and status", () => {
  const readDoubting = (record: string) =>
    readWith(doubting, HEADER, "P|1|4711", ORDER, record, result("^^^CREA", "1.0", "mg/dL"), "L|1|N");

  test.each([
    ["R-9 W", "52", "||W", "suspected"],
    ["R-7 A", "52", "A||F", "an error"],
    ["a mark before the value", "?52", "N||F", "marked"],
    ["several reasons", "?52", "H\\A||W", "suspected; an error; marked"],
  ])("%s keeps the value and comments it", (_what, value, rest, comment) => {
    const [row] = only(reportsOf(readDoubting(result("^^^ALT", value, "U/L", `|${rest}`)))).rows;
    expect(row).toMatchObject({ code: "ALT", value: 52, comment });
  });

  test("the profile's final status needs no comment, and its status without a value is listed", () => {
    const [row] = only(reportsOf(readDoubting(result("^^^ALT", "52", "U/L", "|N||P")))).rows;
    expect(row).not.toHaveProperty("comment");
    expect(only(reportsOf(readDoubting(result("^^^ALT", "52", "U/L", "|N||N"))))).toMatchObject({
      leftOut: ["ALT has no final value: rejected (R-9 is N)"],
    });
  });

  test("the generic profile keeps the standard's statuses", () => {
    const report = reportOf(["P|1|4711", ORDER, ALT, result("^^^AST", "31", "U/L", "|N||P")]);
    expect(report.leftOut).toEqual(["AST has no final value: preliminary (R-9 is P)"]);
  });
});

test("an empty sender names no other model, and is read by a profile that expects one", () => {
  const strict: AstmProfile = { ...genericAstm, sender: /^ABAXIS/ };
  const sentBy = (sender: string) =>
    readWith(strict, HEADER.replace("Analyzer^1", sender), "P|1|4711", ORDER, ALT, "L|1|N").is;
  expect([sentBy(""), sentBy("ABAXIS"), sentBy("Another")]).toEqual(["reports", "reports", "quarantined"]);
});

test.each([["L|1|N"], ["C|1|I|ALIVE", "L|1|N"], ["P|1", "L|1|N"], ["S|1", "L|1"]])(
  "a message of %j alone is a sign of life, from any sender",
  (...records) => {
    const strict: AstmProfile = { ...genericAstm, sender: /^ABAXIS/ };
    expect(readWith(strict, HEADER, ...records)).toEqual({
      is: "not-for-patients",
      reason: "no results (sign-on or status)",
    });
    expect(readWith(strict, HEADER, "P|1", ORDER, ALT, "L|1|N")).toMatchObject({ is: "quarantined" });
  },
);

describe("queries", () => {
  test.each([
    ["Q-13 A", "Q|1|^1068799||ALL||||||||A", "L|1|N"],
    ["L-3 T", "Q|1|^1068799||ALL||||||||O", "L|1|T"],
  ])("a query withdrawn by %s raises no alarm and gets no reply", (_how, query, end) => {
    const bytes = message(HEADER, query, end);
    expect(readWith(genericAstm, HEADER, query, end)).toEqual({ is: "not-for-patients", reason: "host query" });
    const parsed = parseRecords(bytes);
    expect("problem" in parsed ? parsed : readQuery(parsed)).toBeNull();
  });

  test("results that the sender aborted stay an alarm", () => {
    expect(readWith(genericAstm, HEADER, "P|1|4711", ORDER, ALT, "L|1|T")).toMatchObject({ is: "quarantined" });
  });
});

describe("one test per message", () => {
  const collected = (sample: string, ...records: readonly string[]) =>
    only(reportsOf(readGeneric(["P|1", `O|1|${sample}||^^^ALT`, ...records])));

  test.each(["V36AAAA9", "VACDEFHJ", "20261107", "^^      V36AAAA9^B", "S/2026-17"])(
    "a single result of sample %j is collected",
    (sample) => {
      expect(collected(sample, ALT)).toHaveProperty("collect");
    },
  );

  test.each(["1", "46", "00012", "", "Zeytin", "17^2^10"])(
    "the running number or name %j collects nothing",
    (sample) => {
      expect(collected(sample, ALT)).not.toHaveProperty("collect");
    },
  );

  test("two messages of one barcode are one study, and two results of one message need no collection", () => {
    const second = collected("V36AAAA9", result("^^^AST", "31", "U/L"));
    expect(collected("V36AAAA9", ALT).collect).toEqual(second.collect);
    expect(collected("V36AAAA9", ALT, result("^^^AST", "31", "U/L"))).not.toHaveProperty("collect");
  });
});
