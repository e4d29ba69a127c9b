import { describe, expect, test } from "vitest";
import { describe as describeReport } from "../../../agent/report/report.ts";
import {
  ALT,
  ORDER,
  PATIENT,
  WBC,
  HEADER,
  only,
  readGeneric,
  readWith,
  record,
  reportOf,
  reportsOf,
  resultRecord,
  VETSCAN_HEADER,
  vetscanReport,
  withTime,
} from "../records.ts";
import { astmDevice } from "../../support/clinic/profiles.ts";

const genericAstm = astmDevice("generic-astm");
const abaxisVetscanVs2 = astmDevice("abaxis-vetscan-vs2");

function codesOf(...records: readonly string[]): string[] {
  return reportOf([PATIENT, ...records]).rows.map(({ code }) => code);
}

describe("purpose of a message", () => {
  test.each([
    ["T", "training (H-12 is T)"],
    ["D", "demo or debug (H-12 is D)"],
    ["d", "demo or debug (H-12 is d)"],
    ["Q", "quality control (H-12 is Q)"],
  ])("H-12 %s is not for patients", (processing, reason) => {
    const header = HEADER.replace("|P|", `|${processing}|`);
    const reading = readWith(genericAstm, header, PATIENT, ORDER, ALT, "L|1|N");
    expect(reading).toMatchObject({ is: "not-for-patients", reason });
    expect("controls" in reading).toBe(processing === "Q");
  });

  test.each(["P", ""])("H-12 %j is production", (processing) => {
    const header = HEADER.replace("|P|", `|${processing}|`);
    expect(readWith(genericAstm, header, PATIENT, ORDER, ALT, "L|1|N").is).toBe("reports");
  });

  test.each([
    ["T", "sender aborted (L-3 is T)"],
    ["R", "receiver aborted (L-3 is R)"],
    ["E", "system error (L-3 is E)"],
  ])("L-3 %s is quarantined: the sender did not finish", (code, reason) => {
    expect(readWith(genericAstm, HEADER, PATIENT, ORDER, ALT, `L|1|${code}`)).toEqual({ is: "quarantined", reason });
  });

  test.each(["", "N", "F", "I", "Q"])("L-3 %j ends a message", (code) => {
    expect(readWith(genericAstm, HEADER, PATIENT, ORDER, ALT, `L|1|${code}`).is).toBe("reports");
  });

  test("the results of an order with O-12 Q belong to no patient, those of the next order do", () => {
    const control = record("O", { 3: "LEVEL 1", 12: "Q" });
    const reading = readGeneric([PATIENT, control, WBC, "C|1|I|control|G", ORDER, ALT]);
    expect(reading).toMatchObject({ notes: ["order ? is quality control: not for a patient"] });
    const report = only(reportsOf(reading));
    expect(report.rows.map(({ code }) => code)).toEqual(["ALT"]);
    expect(report.comments).toEqual([]);
  });

  test("a control ends with its patient, also before results without an order", () => {
    const records = [PATIENT, record("O", { 12: "Q" }), ALT, "P|2|4712", ALT];
    expect(reportsOf(readGeneric(records)).map(({ identifier }) => identifier)).toEqual(["4712"]);
  });

  test("a message of controls is not for patients", () => {
    expect(readGeneric([PATIENT, record("O", { 2: "1", 12: "q" }), ALT])).toMatchObject({
      is: "not-for-patients",
      reason: "order 1 is quality control: not for a patient",
    });
  });

  test("the QC order of a VetScan is recognized by its name, and ends with the next patient", () => {
    const qc = "O|2|||^^^* QUALITY CONTROL REPORT *: 9999A";
    const records = [VETSCAN_HEADER, "P|1|1", qc, ALT, "P|2|2", "O|1|||^^^Panel", ALT, "L|1|N"];
    expect(reportsOf(readWith(abaxisVetscanVs2, ...records)).map(({ identifier }) => identifier)).toEqual(["2"]);
  });

  test("a message of another sender than the profile's is quarantined", () => {
    expect(readWith(abaxisVetscanVs2, HEADER, PATIENT, ORDER, ALT, "L|1|N")).toEqual({
      is: "quarantined",
      reason: 'the sender is "Analyzer^1", not what profile abaxis-vetscan-vs2 reads',
    });
  });

  test("H C L is a sign-on; a Q record is a query", () => {
    expect(readGeneric(["C|1|I|Power up|G"])).toEqual({
      is: "not-for-patients",
      reason: "no results (sign-on or status)",
      events: [expect.objectContaining({ event: "start", text: "Power up" })],
    });
    expect(readGeneric(["Q|1|^S-1||ALL"])).toEqual({ is: "not-for-patients", reason: "host query" });
  });

  test("bytes without records are quarantined with the reason", () => {
    expect(readWith(genericAstm, "P|1", "L|1|N")).toEqual({
      is: "quarantined",
      reason: 'the first record is "P|1", expected H',
    });
  });

  test.each([
    ["no value", resultRecord("^^^ALT", "HEM"), 'ALT has no value: "HEM" is not a number'],
    [
      "no final value",
      resultRecord("^^^ALT", "5", "U/L", { 9: "P" }),
      "ALT has no final value: preliminary (R-9 is P)",
    ],
  ])("a patient's results of which none can be read (%s) are quarantined, never a sign-on", (_, result, reason) => {
    expect(readGeneric([PATIENT, ORDER, result])).toEqual({
      is: "quarantined",
      reason: `no result could be read: ${reason}`,
    });
  });

  test("an omitted result of one order is a note of another order's results", () => {
    const reading = readGeneric([PATIENT, "O|1|S-1", resultRecord("^^^XYZ", "HEM"), "O|2|S-2", ALT]);
    expect(reading).toMatchObject({ is: "reports", notes: ['XYZ has no value: "HEM" is not a number'] });
  });
});

describe("rows", () => {
  test.each(["", "F", "C", "R", "M", "Q", "V", "W", "c"])("R-9 %j has a value", (status) => {
    const report = reportOf([PATIENT, ORDER, resultRecord("^^^ALT", "52", "U/L", { 9: status })]);
    expect(report.rows.map(({ value }) => value)).toEqual([52]);
  });

  test.each(["I", "N", "P", "S", "X", "p"])("R-9 %s has no final value and is omitted with the reason", (status) => {
    const pending = resultRecord("^^^AST", "9", "U/L", { 9: status });
    const report = reportOf([PATIENT, ORDER, ALT, pending]);
    expect(report.rows.map(({ code }) => code)).toEqual(["ALT"]);
    expect(report.leftOut).toEqual([expect.stringMatching(/^AST has no final value: .* \(R-9 is [A-Z]\)$/)]);
    expect(describeReport(report)).toEqual(report.leftOut);
  });

  test("a row keeps value, unit, range and flag as sent", () => {
    const report = vetscanReport(
      "Dog",
      resultRecord("1742-6^^LN^ALT", " <20* ", "U/L", { 6: "10 to 118", 7: "L\\LL" }),
    );
    expect(report.rows).toEqual([
      {
        code: "ALT",
        device_code: "ALT",
        device_label: null,
        comment: "the value is outside the device's measuring range (*)",
        value: 20,
        comparator: "<",
        ordinal: false,
        text: "<20*",
        unit: "U/L",
        device_range: { low: 10, high: 118, text: "10-118", species: "dog" },
        device_flag: "L LL",
      },
    ]);
  });

  test.each([
    ["^0.17", 0.17],
    ["0.17^", 0.17],
    ['""^0.17', 0.17],
  ])("a value may be in either component: %s", (sent, value) => {
    expect(reportOf([PATIENT, ORDER, resultRecord("^^^CREA", sent, "mg/dL")]).rows[0]?.value).toBe(value);
  });

  test.each([
    ["1^2", "1^2"],
    ["1\\2", "1\\2"],
    ["POS^12.3", "POS^12.3"],
    ["5&S&6", "5^6"],
  ])("%s is not a single value, and stays as sent", (sent, text) => {
    const { rows } = reportOf([PATIENT, ORDER, ALT, resultRecord("^^^CREA", sent, "mg/dL")]);
    expect(rows[1]).toMatchObject({ code: "CREA", value: null, text });
  });

  test.each(['""', "^", ""])("%j is not a value", (sent) => {
    const report = reportOf([PATIENT, ORDER, ALT, resultRecord("^^^CREA", sent, "mg/dL")]);
    expect(report.rows.map(({ code }) => code)).toEqual(["ALT"]);
    expect(report.leftOut).toHaveLength(1);
  });

  test.each([
    ["^^^ALP", "1,234", "U/L"],
    ["^^^WBC", "9,800*", "/uL"],
    ["^^^CRP", ">1,000", "mg/L"],
  ])("%s of %s may be thousands: it stays as sent, never a thousandth", (code, value, unit) => {
    const { rows } = reportOf([PATIENT, ORDER, ALT, resultRecord(code, value, unit)]);
    expect(rows[1]).toMatchObject({ codeSource: "device", value: null, text: value });
  });

  test.each([
    ["^^^PH", "7,412", 7.412],
    ["^^^USG", "1,025", 1.025],
    ["^^^CREA", "0,912", 0.912],
    ["^^^CREA", "1,21", 1.21],
  ])("%s of %s is a decimal comma", (code, sent, value) => {
    expect(reportOf([PATIENT, ORDER, resultRecord(code, sent)]).rows[0]?.value).toBe(value);
  });

  test.each([
    ["1742-6"],
    ["1742-6^ALT^LN"],
    ["^ALT"],
    ["^^^ALT/"],
    ["^^^ALT "],
    ["^^^16^GPT^UNDILUTED^F"],
    ["^^^LEU^1742-6"],
    ["^^^^ALT^1"],
  ])("the code %s is ALT", (code) => {
    expect(reportOf([PATIENT, ORDER, resultRecord(code, "52", "U/L")]).rows[0]?.code).toBe("ALT");
  });

  test.each([
    ["^^^77^XYZ^UNDILUTED^P", "77", "77^XYZ"],
    ["^^^685/", "685", "685"],
    ["^^K^XYZ", "XYZ", "XYZ"],
    ["99999-9^ABC", "ABC", "99999-9^ABC"],
    ["", "(no code)", "(no code)"],
  ])("the unknown code %j makes a row of the device's code: its qualifiers are not codes", (code, own, listed) => {
    const report = reportOf([PATIENT, ORDER, ALT, resultRecord(code, "1", "mg/dL")]);
    expect(report.rows.map((row) => [row.code, row.codeSource])).toEqual([
      ["ALT", undefined],
      [own, "device"],
    ]);
    expect(report.unmapped).toEqual([listed]);
  });

  test("an unknown code keeps value, unit, range and flag as sent", () => {
    const sent = resultRecord("^^^XYZ^Xylose", "< 7.5", " widgets/L ", { 6: "1 to 9", 7: "H" });
    expect(only(vetscanReport("Dog", sent).rows)).toMatchObject({
      code: "XYZ",
      codeSource: "device",
      value: 7.5,
      comparator: "<",
      text: "< 7.5",
      unit: "widgets/L",
      device_range: { low: 1, high: 9, text: "1-9", species: "dog" },
      device_flag: "H",
    });
  });

  test.each([
    ["an unknown code", "^^^XYZ", "Positive"],
    ["a measured analyte", "^^^ALT", "NOT DETECTED"],
    ["a measured analyte", "^^^ALT", "2+"],
    ["a measured analyte", "^^^ALT", "neg"],
  ])("a word of %s is a row of the device's code without a number: %s %s", (_, code, word) => {
    const [row, ...others] = reportOf([PATIENT, ORDER, resultRecord(code, word)]).rows;
    expect(row).toMatchObject({ code: code.slice(3), codeSource: "device", value: null, ordinal: false, text: word });
    expect(others).toEqual([]);
  });

  test("a number of a urine pad is a row of the device's code", () => {
    const row = only(reportOf([PATIENT, ORDER, resultRecord("^^^KET", "5", "mg/dL")]).rows);
    expect(row).toMatchObject({ code: "KET", codeSource: "device", value: 5, ordinal: false, unit: "mg/dL" });
  });

  test("a urine pad prints a word without an amount: it has neither a rank nor a number", () => {
    const row = only(reportOf([PATIENT, record("O", { 16: "Urine" }), resultRecord("^^^NIT", "Positive")]).rows);
    expect(row).toMatchObject({ code: "UNIT", value: null, ordinal: false, text: "Positive" });
    expect(row.codeSource).toBeUndefined();
  });

  test("a message without any known code is a study", () => {
    const reading = readGeneric([PATIENT, ORDER, resultRecord("^^^413", "35.1", "g/L"), resultRecord("^^^GLI", "5.1")]);
    expect(only(reportsOf(reading)).rows.map(({ code, value }) => [code, value])).toEqual([
      ["413", 35.1],
      ["GLI", 5.1],
    ]);
  });

  test("the clinic's code of the device gives the analyte, also where the catalogue has another one", () => {
    const codes = new Map([
      ["413", "ALB"],
      ["alt", "AST"],
    ]);
    const reading = readGeneric([PATIENT, ORDER, resultRecord("^^^413", "35.1", "g/L"), ALT], { codes });
    expect(only(reportsOf(reading)).rows).toMatchObject([
      { code: "ALB", codeSource: "clinic", device_code: "413", value: 35.1, unit: "g/L" },
      { code: "AST", codeSource: "clinic", device_code: "ALT" },
    ]);
  });

  test("a word does not fit a measured analyte of the clinic's codes", () => {
    const codes = new Map([["413", "ALB"]]);
    const reading = readGeneric([PATIENT, ORDER, resultRecord("^^^413", "Positive")], { codes });
    expect(only(only(reportsOf(reading)).rows)).toMatchObject({ code: "413", codeSource: "device", value: null });
  });

  test("GLU is a blood analyte, unless the specimen or a urine-only analyte states urine", () => {
    const glucose = resultRecord("^^^GLU", "95", "mg/dL");
    const pad = resultRecord("^^^GLU", "neg");
    expect(codesOf(ORDER, glucose)).toEqual(["GLU"]);
    expect(codesOf(ORDER, pad, resultRecord("^^^KET", "1+"))).toEqual(["UGLU", "UKET"]);
    expect(codesOf(record("O", { 3: "S-1", 16: "Urine^midstream" }), pad)).toEqual(["UGLU"]);
    expect(codesOf(record("O", { 3: "S-1", 16: "Serum" }), glucose)).toEqual(["GLU"]);
  });

  test("glucose of urine in mg/dL is never compared with the interval of blood", () => {
    const urine = record("O", { 16: "UR" });
    const reading = readGeneric([PATIENT, ORDER, ALT, urine, resultRecord("^^^GLU", "12", "mg/dL")]);
    expect(reportsOf(reading).flatMap(({ rows }) => rows.map(({ code, codeSource }) => [code, codeSource]))).toEqual([
      ["ALT", undefined],
      ["GLU", "device"],
    ]);
  });

  test("serum and urine of a patient without numbers are two studies", () => {
    const urine = record("O", { 16: "Urine" });
    const serum = record("O", { 16: "Serum" });
    const reading = readGeneric([PATIENT, serum, ALT, urine, resultRecord("^^^KET", "1+")]);
    expect(reportsOf(reading).map(({ modality }) => modality)).toEqual(["BIOCHEMISTRY", "URINALYSIS"]);
  });

  test("an order of two modalities is two Reports, and an omitted result is listed once", () => {
    const [hematology, chemistry, ...others] = reportsOf(
      readGeneric([PATIENT, ORDER, WBC, ALT, resultRecord("^^^XYZ", "1"), "C|1|I|lipemic|G"]),
    );
    expect(others).toEqual([]);
    expect(hematology).toMatchObject({ modality: "HEMATOLOGY", unmapped: ["XYZ"], comments: ["XYZ: lipemic"] });
    // The device's comments on the sample hold for both.
    expect(chemistry).toMatchObject({ modality: "BIOCHEMISTRY", unmapped: [], comments: ["XYZ: lipemic"] });
  });

  test("a profile of one modality keeps its results together", () => {
    expect(vetscanReport("Dog", ALT, WBC)).toMatchObject({ modality: "BIOCHEMISTRY" });
  });
});

describe("comments", () => {
  const comment = (text: string) => `C|1|I|${text}|G`;

  test("a comment belongs to the record before it", () => {
    const records = [
      comment("of the header"),
      PATIENT,
      comment("of the patient"),
      "O|1|S-1",
      comment("of the order^second component"),
      ALT,
      comment("43"),
      "O|2|S-2",
      WBC,
      "P|2|4712",
      "O|1|S-3",
      ALT,
    ];
    expect(reportsOf(readGeneric(records)).map(({ comments }) => comments)).toEqual([
      ["of the header", "of the patient", "of the order second component", "ALT: 43"],
      ["of the header", "of the patient"],
      ["of the header"],
    ]);
  });

  test("manufacturer records separate no results, and a note lists them as unread", () => {
    const report = reportOf([
      PATIENT,
      "M|1|x",
      ORDER,
      "M|1|HISTOGRAM^abc",
      ALT,
      "M|1|MATRIX",
      withTime("20261121113015"),
    ]);
    expect(report.rows).toHaveLength(2);
    expect(report.notes).toEqual(["2 manufacturer records (M) are not read"]);
  });
});
