import { describe, expect, test } from "vitest";
import { abaxisVetscanVs2 } from "../../../agent/devices/abaxis-vetscan-vs2.ts";
import { genericAstm } from "../../../agent/devices/generic-astm.ts";
import { contains } from "../../../agent/protocols/astm/resumption.ts";
import { describe as describeReport } from "../../../agent/report/report.ts";
import {
  HEADER,
  message,
  only,
  readGeneric,
  readWith,
  record,
  reportOf,
  reportsOf,
  resultRecord,
  VETSCAN_HEADER,
  vetscanReport,
} from "../records.ts";

const PATIENT = "P|1|4711";
const ORDER = "O|1|S-1||^^^Panel|R||20261121110000";
const ALT = resultRecord("^^^ALT", "52", "U/L", { 13: "20261121113015" });
const WBC = resultRecord("^^^WBC", "9.8", "10*3/uL", { 13: "20261121113015" });

function withTime(time: string): string {
  return resultRecord("^^^ALT", "52", "U/L", { 13: time });
}

function withValue(value: string): string {
  return resultRecord("^^^ALT", value, "U/L");
}

/** The key of the only Report. */
function keyOf(...records: readonly string[]): string {
  return only(keysOf(...records));
}

function codesOf(...records: readonly string[]): string[] {
  return reportOf([PATIENT, ...records]).rows.map(({ code }) => code);
}

function keysOf(...records: readonly string[]): string[] {
  return reportsOf(readGeneric(records)).map((report) => report.dedupe_key);
}

describe("what a message is for", () => {
  test.each([
    ["T", "training (H-12 is T)"],
    ["D", "demo or debug (H-12 is D)"],
    ["d", "demo or debug (H-12 is d)"],
    ["Q", "quality control (H-12 is Q)"],
  ])("H-12 %s is not for patients", (processing, reason) => {
    const header = HEADER.replace("|P|", `|${processing}|`);
    expect(readWith(genericAstm, header, PATIENT, ORDER, ALT, "L|1|N")).toEqual({ is: "not-for-patients", reason });
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

  test.each(["", "N", "F", "I", "Q"])("L-3 %j is an end like any other", (code) => {
    expect(readWith(genericAstm, HEADER, PATIENT, ORDER, ALT, `L|1|${code}`).is).toBe("reports");
  });

  test("O-12 Q is a control: its results are no patient's, the next order's are", () => {
    const control = record("O", { 3: "LEVEL 1", 12: "Q" });
    const reading = readGeneric([PATIENT, control, WBC, "C|1|I|control|G", ORDER, ALT]);
    expect(reading).toMatchObject({ notes: ["order ? is quality control: not for a patient"] });
    const report = only(reportsOf(reading));
    expect(report.rows.map(({ code }) => code)).toEqual(["ALT"]);
    expect(report.comments).toEqual([]);
  });

  test("a control ends with its patient, also where the next one's results come without an order", () => {
    const records = [PATIENT, record("O", { 12: "Q" }), ALT, "P|2|4712", ALT];
    expect(reportsOf(readGeneric(records)).map(({ identifier }) => identifier)).toEqual(["4712"]);
  });

  test("a message of controls only is not for patients", () => {
    expect(readGeneric([PATIENT, record("O", { 2: "1", 12: "q" }), ALT])).toEqual({
      is: "not-for-patients",
      reason: "order 1 is quality control: not for a patient",
    });
  });

  test("VetScan's QC order is known by its name, and the next patient's results count again", () => {
    const qc = "O|2|||^^^* QUALITY CONTROL REPORT *: 9999A";
    const records = [VETSCAN_HEADER, "P|1|1", qc, ALT, "P|2|2", "O|1|||^^^Panel", ALT, "L|1|N"];
    expect(reportsOf(readWith(abaxisVetscanVs2, ...records)).map(({ identifier }) => identifier)).toEqual(["2"]);
  });

  test("another sender than the profile's is quarantined, not read with the wrong table", () => {
    expect(readWith(abaxisVetscanVs2, HEADER, PATIENT, ORDER, ALT, "L|1|N")).toEqual({
      is: "quarantined",
      reason: 'the sender is "Analyzer^1", not what profile abaxis-vetscan-vs2 reads',
    });
  });

  test("H C L is a sign-on; a Q record is a query", () => {
    expect(readGeneric(["C|1|I|Power up|G"])).toEqual({
      is: "not-for-patients",
      reason: "no results (sign-on or status)",
    });
    expect(readGeneric(["Q|1|^S-1||ALL"])).toEqual({ is: "not-for-patients", reason: "host query" });
  });

  test("bytes that are no records are quarantined with the reason", () => {
    expect(readWith(genericAstm, "P|1", "L|1|N")).toEqual({
      is: "quarantined",
      reason: 'the first record is "P|1", expected H',
    });
  });

  test.each([
    ["no value", resultRecord("^^^ALT", "HEM"), 'ALT has no value: "HEM" is not a number'],
    ["no known code", resultRecord("^^^XYZ", "1"), "unmapped: XYZ"],
    ["a number for a pad", resultRecord("^^^KET", "5"), 'KET has no value: "5", expected a pad\'s grade'],
    ["a grade for a number", resultRecord("^^^ALT", "neg"), 'ALT has no value: "neg", expected a number'],
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

  test("what one order leaves out stands in the notes when another's results are read", () => {
    const reading = readGeneric([PATIENT, "O|1|S-1", resultRecord("^^^XYZ", "1"), "O|2|S-2", ALT]);
    expect(reading).toMatchObject({ is: "reports", notes: ["unmapped: XYZ"] });
  });
});

describe("rows", () => {
  test.each(["", "F", "C", "R", "M", "Q", "V", "W", "c"])("R-9 %j has a value", (status) => {
    const report = reportOf([PATIENT, ORDER, resultRecord("^^^ALT", "52", "U/L", { 9: status })]);
    expect(report.rows.map(({ value }) => value)).toEqual([52]);
  });

  test.each(["I", "N", "P", "S", "X", "p"])("R-9 %s has no final value: no row, and its reason", (status) => {
    const pending = resultRecord("^^^AST", "9", "U/L", { 9: status });
    const report = reportOf([PATIENT, ORDER, ALT, pending]);
    expect(report.rows.map(({ code }) => code)).toEqual(["ALT"]);
    expect(report.leftOut).toEqual([expect.stringMatching(/^AST has no final value: .* \(R-9 is [A-Z]\)$/)]);
    expect(describeReport(report)).toEqual(report.leftOut);
  });

  test("a row keeps what the device sent", () => {
    const report = vetscanReport(
      "Dog",
      resultRecord("1742-6^^LN^ALT", " <20* ", "U/L", { 6: "10 to 118", 7: "L\\LL" }),
    );
    expect(report.rows).toEqual([
      {
        code: "ALT",
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
  ])("a value may stand in either component: %s", (sent, value) => {
    expect(reportOf([PATIENT, ORDER, resultRecord("^^^CREA", sent, "mg/dL")]).rows[0]?.value).toBe(value);
  });

  test.each(["1^2", "1\\2", "POS^12.3", '""', "^", "", "5&S&6"])("%s is not one value", (sent) => {
    const report = reportOf([PATIENT, ORDER, ALT, resultRecord("^^^CREA", sent, "mg/dL")]);
    expect(report.rows.map(({ code }) => code)).toEqual(["ALT"]);
    expect(report.leftOut).toHaveLength(1);
  });

  test.each([
    ["^^^ALP", "1,234", "U/L"],
    ["^^^WBC", "9,800*", "/uL"],
    ["^^^CRP", ">1,000", "mg/L"],
  ])("%s of %s may be thousands: left out, never a thousandth", (code, value, unit) => {
    const report = reportOf([PATIENT, ORDER, ALT, resultRecord(code, value, unit)]);
    expect(report.rows.map((row) => row.code)).toEqual(["ALT"]);
    expect(report.leftOut).toEqual([expect.stringMatching(/may be thousands$/)]);
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
    ["^^^77^XYZ^UNDILUTED^P", "77^XYZ"],
    ["^^^685/", "685"],
    ["^^K^XYZ", "XYZ"],
    ["99999-9^ABC", "99999-9^ABC"],
    ["", "(no code)"],
  ])("the code %j is unmapped: its qualifiers are no codes", (code, listed) => {
    const report = reportOf([PATIENT, ORDER, ALT, resultRecord(code, "1", "mg/dL")]);
    expect(report.rows.map((row) => row.code)).toEqual(["ALT"]);
    expect(report.unmapped).toEqual([listed]);
  });

  test("GLU is blood's, unless a urine-only analyte or the specimen says urine", () => {
    const glucose = resultRecord("^^^GLU", "95", "mg/dL");
    const pad = resultRecord("^^^GLU", "neg");
    expect(codesOf(ORDER, glucose)).toEqual(["GLU"]);
    expect(codesOf(ORDER, pad, resultRecord("^^^KET", "1+"))).toEqual(["UGLU", "UKET"]);
    expect(codesOf(record("O", { 3: "S-1", 16: "Urine^midstream" }), pad)).toEqual(["UGLU"]);
    expect(codesOf(record("O", { 3: "S-1", 16: "Serum" }), glucose)).toEqual(["GLU"]);
  });

  test("a urine's glucose in mg/dL never meets the blood's interval", () => {
    const urine = record("O", { 16: "UR" });
    const reading = readGeneric([PATIENT, ORDER, ALT, urine, resultRecord("^^^GLU", "12", "mg/dL")]);
    expect(reportsOf(reading).flatMap(({ rows }) => rows.map(({ code }) => code))).toEqual(["ALT"]);
  });

  test("serum and urine of one animal without numbers are two studies", () => {
    const urine = record("O", { 16: "Urine" });
    const serum = record("O", { 16: "Serum" });
    const reading = readGeneric([PATIENT, serum, ALT, urine, resultRecord("^^^KET", "1+")]);
    expect(reportsOf(reading).map(({ modality }) => modality)).toEqual(["BIOCHEMISTRY", "URINALYSIS"]);
  });

  test("one order of two modalities is one Report each; what was left out is said once", () => {
    const [hematology, chemistry, ...others] = reportsOf(
      readGeneric([PATIENT, ORDER, WBC, ALT, resultRecord("^^^XYZ", "1"), "C|1|I|lipemic|G"]),
    );
    expect(others).toEqual([]);
    expect(hematology).toMatchObject({ modality: "HEMATOLOGY", unmapped: ["XYZ"], comments: ["XYZ: lipemic"] });
    expect(chemistry).toMatchObject({ modality: "BIOCHEMISTRY", unmapped: [], comments: [] });
  });

  test("a profile of one modality keeps its results together", () => {
    expect(vetscanReport("Dog", ALT, WBC)).toMatchObject({ modality: "BIOCHEMISTRY" });
  });
});

describe("comments", () => {
  const comment = (text: string) => `C|1|I|${text}|G`;

  test("belong to what stands before them: header and patient to every order of theirs, a result's name it", () => {
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

  test("manufacturer records part nothing, and a note says that they are not read", () => {
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

describe("dedupe_key", () => {
  const key = keyOf(PATIENT, ORDER, ALT);

  test("a resend has the same key: a new header time and R-9 R change nothing", () => {
    const header = HEADER.replace("20261121120000", "20270101000000");
    const again = resultRecord("^^^ALT", "52", "U/L", { 9: "R", 13: "20261121113015" });
    expect(only(reportsOf(readWith(genericAstm, header, PATIENT, ORDER, again, "L|1|N"))).dedupe_key).toBe(key);
  });

  test("a correction has the same key, so that it becomes a revision", () => {
    const corrected = resultRecord("^^^ALT", "25", "U/L", { 9: "C", 13: "20261121113015" });
    expect(keyOf(PATIENT, ORDER, corrected)).toBe(key);
  });

  test("the moment of receipt is no part of it", () => {
    expect(reportOf([PATIENT, ORDER, ALT], { receivedAt: 0 }).dedupe_key).toBe(key);
  });

  test("it names its device", () => {
    expect(key).toMatch(/^chem-1:[0-9a-f]{32}$/);
    expect(reportOf([PATIENT, ORDER, ALT], { device: "chem-2" }).dedupe_key.slice(-32)).toBe(key.slice(-32));
  });

  test.each([
    ["patient", ["P|1|4712", ORDER, ALT]],
    ["P-4", ["P|1|4711|9", ORDER, ALT]],
    ["specimen", [PATIENT, ORDER.replace("S-1", "S-2"), ALT]],
    ["instrument's specimen number", [PATIENT, ORDER.replace("S-1|", "S-1|7"), ALT]],
    ["time", [PATIENT, ORDER.replace("110000", "110001"), ALT]],
    ["modality", [PATIENT, ORDER, WBC]],
  ])("another %s is another key", (_, records) => {
    expect(keyOf(...records)).not.toBe(key);
  });

  test("without an order's time that of the results tells two measurements apart", () => {
    const morning = keyOf(PATIENT, "O|1|S-1", withTime("20261121113015"));
    expect(keyOf(PATIENT, "O|1|S-1", withTime("20261121153015"))).not.toBe(morning);
    expect(keyOf(PATIENT, "O|1|S-1", withTime("20261121113015"))).toBe(morning);
  });

  test("without specimen and time the results are part of it", () => {
    const first = keyOf(PATIENT, "O|1", withValue("52"));
    expect(keyOf(PATIENT, "O|1", withValue("52"))).toBe(first);
    expect(keyOf(PATIENT, "O|1", withValue("53"))).not.toBe(first);
  });

  test("a specimen of blanks and delimiters is none", () => {
    const records = ["P|1|^^ ", 'O|1|^^    |""'];
    expect(keyOf(...records, withValue("52"))).not.toBe(keyOf(...records, withValue("53")));
  });

  test("a date alone names no measurement: a second result of the day is no correction of the first", () => {
    const [unnumbered, numbered] = ["O|1|||^^^ALT|R|20261121", "O|1|S-1||^^^ALT|R|20261121"];
    expect(keyOf(PATIENT, unnumbered, withValue("52"))).not.toBe(keyOf(PATIENT, unnumbered, withValue("240")));
    expect(keyOf(PATIENT, numbered, withValue("52"))).toBe(keyOf(PATIENT, numbered, withValue("240")));
  });

  test("a date of the order gives way to the time of the results", () => {
    const dated = "O|1|||^^^ALT|R|20261121";
    const [morning, noon] = [withTime("20261121090000"), withTime("20261121130000")];
    expect(keyOf(PATIENT, dated, morning)).not.toBe(keyOf(PATIENT, dated, noon));
  });

  test("where no number was sent the name is what tells animals apart", () => {
    expect(keyOf("P|1||||Zeytin", "O|1", ALT)).not.toBe(keyOf("P|1||||Lokum", "O|1", ALT));
  });

  test("two anonymous animals of one message never share a key, not even with the same results", () => {
    const other = resultRecord("^^^ALT", "9", "U/L", { 13: "20261121113015" });
    const keys = keysOf("P|1", "O|1", ALT, "P|2", "O|1", other, "P|3", "O|1", ALT);
    expect(new Set(keys).size).toBe(3);
    expect(keysOf("P|1", "O|1", ALT, "P|2", "O|1", other, "P|3", "O|1", ALT)).toEqual(keys);
  });

  test("one of several anonymous animals sent again alone never passes for another's correction", () => {
    const other = resultRecord("^^^ALT", "9", "U/L", { 13: "20261121113015" });
    const together = keysOf("P|1", "O|1", ALT, "P|2", "O|1", other);
    expect(together).not.toContain(keyOf("P|1", "O|1", other));
  });
});

describe("orders", () => {
  test.each([[[]], [["P|2|4711"]]])(
    "one O per test of one specimen is one Report, with %j before the second",
    (patient) => {
      const report = reportOf([
        PATIENT,
        "O|1|S-1||^^^ALT",
        ALT,
        ...patient,
        "O|1|S-1||^^^AST",
        ALT.replace("ALT", "AST"),
      ]);
      expect(report.rows.map(({ code }) => code)).toEqual(["ALT", "AST"]);
    },
  );

  test("two specimens, two times and two patients are two Reports", () => {
    expect(keysOf(PATIENT, "O|1|S-1", ALT, "O|2|S-2", ALT)).toHaveLength(2);
    expect(keysOf(PATIENT, "O|1|S-1||||20261121100000", ALT, "O|2|S-1||||20261121110000", ALT)).toHaveLength(2);
    expect(keysOf(PATIENT, "O|1|S-1", ALT, "P|2|4712", "O|1|S-1", ALT)).toHaveLength(2);
  });

  test("a patient without an order may have results, and results no patient", () => {
    expect(reportOf([PATIENT, ALT]).identifier).toBe("4711");
    expect(reportOf([ALT]).patient_hint.identifier).toBeNull();
  });

  test("a comment is its text without the empty components", () => {
    expect(reportOf([PATIENT, ORDER, "C|1|I|^^HEM: 0|G", ALT, "C|1|I|^^|G", 'C|2|I|""|G']).comments).toEqual([
      "HEM: 0",
    ]);
  });
});

describe("who it is", () => {
  test.each([
    ["P|1|1|2|3", "1", ["2", "3"]],
    ["P|1||2|3", "2", ["3"]],
    ["P|1|||3", "3", []],
    ["P|1| 1 ^x|^2", "1", []],
    ['P|1|""|2', "2", []],
    ["P|1", null, []],
  ])("of %s the identifier is %j", (patient, identifier, others) => {
    const report = reportOf([patient, ALT]);
    expect(report.identifier).toBe(identifier);
    expect(report.otherIdentifiers).toEqual(others);
    expect(report.patient_hint.identifier).toBe(identifier);
  });

  test("specimen numbers may hold our fp and are never what a person typed as the card number", () => {
    const report = reportOf(["P|1", "O|1|4711^2^10|9 ", ALT]);
    expect(report.identifier).toBeNull();
    expect(report.otherIdentifiers).toEqual(["4711", "2", "10", "9"]);
  });

  test.each([
    ["Yilmaz^Zeytin", "Zeytin", "Yilmaz"],
    ["Zeytin", "Zeytin", null],
    ["Zeytin^", "Zeytin", null],
    ["^Zeytin", "Zeytin", null],
    ['""^Zeytin', "Zeytin", null],
    ['""', null, null],
    ["", null, null],
  ])("P-6 %s is the animal %j of %j", (sent, name, owner) => {
    expect(reportOf([`P|1||||${sent}`, ALT]).patient_hint).toMatchObject({ name, owner });
  });

  test("the hint is what the device said, null where it did not", () => {
    const patient = record("P", { 3: "4711", 6: "Yilmaz^Zeytin", 8: "20190504", 9: "F", 18: "16.5^Kg" });
    expect(reportOf([patient, ALT]).patient_hint).toEqual({
      identifier: "4711",
      name: "Zeytin",
      species: null,
      breed: null,
      sex: "F",
      owner: "Yilmaz",
      date_of_birth: "2019-05-04",
      weight_kg: 16.5,
    });
  });

  test.each(["16", "35^lb", "^kg", "abc^kg", "-1^kg", '""^kg'])("the weight %s is none in kilograms", (weight) => {
    expect(reportOf([record("P", { 18: weight }), ALT]).patient_hint.weight_kg).toBeNull();
  });

  test("VetScan's species and owner come from their own fields", () => {
    const patient = "P|1|4711|||||20190504|F||||||Yilmaz^7 Yrs.^20260301|Dog";
    const report = only(reportsOf(readWith(abaxisVetscanVs2, VETSCAN_HEADER, patient, "O|1", ALT, "L|1|N")));
    expect(report.species).toBe("dog");
    expect(report.patient_hint).toMatchObject({ species: "Dog", owner: "Yilmaz", name: null });
  });

  test.each([
    ["Dog", "dog"],
    ["CANINE", "dog"],
    ["Feline", "cat"],
    ["Ferret", "exotic"],
    ["General", null],
    ["", null],
  ])("the label %j is the species %j", (label, species) => {
    expect(vetscanReport(label, ALT).species).toBe(species);
  });

  test("a text of any length fits the API's 200 characters", () => {
    expect(reportOf([`P|1|${"4".repeat(999)}`, ALT]).patient_hint.identifier).toHaveLength(200);
  });

  test("a generic device is named by the first component of its sender", () => {
    expect(reportOf([PATIENT, ALT]).device_name).toBe("Analyzer");
    const nameless = readWith(genericAstm, "H|\\^&", PATIENT, ALT, "L|1|N");
    expect(only(reportsOf(nameless)).device_name).toBe("ASTM analyzer");
  });
});

describe("acquired_at", () => {
  const all = { 12: "20261121090000", 13: "20261121100000" };
  const order = "O|1|S-1||^^^ALT|R|20261121070000|20261121080000";

  test.each([
    ["R-13, completed", order, all, "2026-11-21T07:00:00.000Z"],
    ["R-12, started", order, { 12: all[12] }, "2026-11-21T06:00:00.000Z"],
    ["O-8, collected", order, {}, "2026-11-21T05:00:00.000Z"],
    ["O-7, ordered", order.replace("|20261121080000", ""), {}, "2026-11-21T04:00:00.000Z"],
    ["H-14, the header's", "O|1|S-1", {}, "2026-11-21T09:00:00.000Z"],
  ])("%s comes before what follows", (_, orderRecord, fields, time) => {
    const report = reportOf([PATIENT, orderRecord, resultRecord("^^^ALT", "52", "U/L", fields)]);
    expect(report.acquired_at).toBe(time);
  });

  test("without any time it is that of receipt, and a note says so", () => {
    const report = only(
      reportsOf(readWith(genericAstm, "H|\\^&", PATIENT, resultRecord("^^^ALT", "52", "U/L"), "L|1|N")),
    );
    expect(report.acquired_at).toBe("2026-11-21T13:00:00.000Z");
    expect(report.notes).toEqual(["the results carry no readable time: that of receipt stands for it"]);
  });

  test("the first result with a time decides for all", () => {
    const report = reportOf([PATIENT, ORDER, resultRecord("^^^AST", "1", "U/L"), ALT, WBC.replace("WBC", "GGT")]);
    expect(report.acquired_at).toBe("2026-11-21T08:30:15.000Z");
  });

  test("a time that is none is said and not mended", () => {
    const report = reportOf([PATIENT, "O|1|S-1||^^^ALT|R|20261131110000", withTime("20260230101500")]);
    expect(report.acquired_at).toBe("2026-11-21T09:00:00.000Z");
    expect(report.notes).toEqual([
      '"20261131110000" is no time',
      '"20260230101500" is no time',
      "the results carry no readable time: the header's stands for it",
    ]);
  });

  test.each([
    ["Europe/Berlin", "20260715120000", "2026-07-15T10:00:00.000Z"],
    ["Europe/Berlin", "20261215120000", "2026-12-15T11:00:00.000Z"],
    ["America/New_York", "20260715120000", "2026-07-15T16:00:00.000Z"],
    ["America/New_York", "20260715120000+0000", "2026-07-15T12:00:00.000Z"],
  ])("in %s %s is %s", (timeZone, sent, time) => {
    expect(reportOf([PATIENT, ORDER, withTime(sent)], { timeZone }).acquired_at).toBe(time);
  });
});

describe("contains()", () => {
  const whole = message(HEADER, PATIENT, ORDER, ALT, "L|1|N");

  test.each([
    ["cut after a record", message(HEADER, PATIENT, ORDER)],
    ["cut within a record", message(HEADER, PATIENT, ORDER).subarray(0, -5)],
    ["sent under an earlier header", message(HEADER.replace("120000", "115500"), PATIENT, ORDER, ALT)],
    ["its header only", message(HEADER)],
    ["a part of its header", message(HEADER).subarray(0, 9)],
  ])("a whole message holds what was %s", (_, part) => {
    expect(contains(whole, part)).toBe(true);
  });

  test.each([
    ["another patient's", message(HEADER, "P|1|4712", ORDER)],
    ["another value", message(HEADER, PATIENT, ORDER, resultRecord("^^^ALT", "53", "U/L"))],
    ["more results", message(HEADER, PATIENT, ORDER, ALT, WBC, ALT, WBC)],
  ])("it does not hold %s", (_, part) => {
    expect(contains(whole, part)).toBe(false);
  });
});
