import { describe, expect, test } from "vitest";
import { duplicateKey } from "../../../../agent/protocols/hl7/message/duplicate-key.ts";
import type { Hl7Profile } from "../../../../agent/protocols/hl7/profile.ts";
import { complete, read } from "../../../../agent/study/read.ts";
import type { Reading, Report } from "../../../../agent/report/report.ts";
import { context, only, reportsOf } from "../../records.ts";
import { hl7Device } from "../../../support/clinic/profiles.ts";

const bionoteVcheck = hl7Device("bionote-vcheck");
const genericHl7 = hl7Device("generic-hl7");

// HL7 messages, written as segments, and the Reports made of them.

function message(...segments: readonly string[]): Buffer {
  return Buffer.from(segments.map((text) => `${text}\r`).join(""), "latin1");
}

/** Encodes a segment by field numbers. */
function segment(name: string, fields: Readonly<Record<number, string>>): string {
  const last = Math.max(0, ...Object.keys(fields).map(Number));
  return [name, ...Array.from({ length: last }, (_, index) => fields[index + 1] ?? "")].join("|");
}

function msh(fields: Readonly<Record<number, string>> = {}): string {
  const values = {
    3: "LAB-1",
    4: "Vendor",
    7: "20261121120000",
    9: "ORU^R01",
    10: "1",
    11: "P",
    12: "2.5.1",
    ...fields,
  };
  const { 1: _, ...rest } = values as Record<number, string>;
  // MSH-1 is the separator itself.
  return segment(
    "MSH",
    Object.fromEntries([[1, "^~\\&"], ...Object.entries(rest).map(([n, text]) => [Number(n) - 1, text])]),
  );
}

const PID = "PID|1||4711^^^^MR||Aydin^Zeytin";
const OBR = "OBR|1||S-1|CHEM|||20261121113015";
const obx = (code: string, value: string, fields: Readonly<Record<number, string>> = {}) =>
  segment("OBX", { 1: "1", 2: "NM", 3: code, 5: value, 6: "U/L", 11: "F", ...fields });
const ALT = obx("1742-6^ALT^LN", "52");

function readWith(profile: Hl7Profile, ...segments: readonly string[]): Reading {
  return read(message(...segments), profile, context);
}

const readGeneric = (...segments: readonly string[]) => readWith(genericHl7, ...segments);
const reportOf = (...segments: readonly string[]): Report => only(reportsOf(readGeneric(msh(), PID, OBR, ...segments)));
const codes = (reading: Reading) =>
  reportsOf(reading).map(({ identifier, rows }) => [identifier, rows.map(({ code }) => code)]);

test("a type that is written as its structure is the type", () => {
  for (const type of ["ORU_R01", "oru_r01", "OUL_R22"]) {
    expect(readGeneric(msh({ 9: type }), PID, OBR, ALT).is).toBe("reports");
  }
  expect(readGeneric(msh({ 9: "ADT_A01" }), PID, OBR, ALT)).toMatchObject({ is: "quarantined" });
});

describe("results in every message structure", () => {
  const patient = ["4711", ["ALT"]];

  test.each([
    ["ORU^R01", [PID, OBR, ALT]],
    ["ORU^R01^ORU_R01", [PID, "ORC|RE", OBR, "TQ1|1", ALT, "SPM|1|S-9"]],
    ["ORU^R30^ORU_R30", [PID, "PV1|1", "ORC|NW", OBR, ALT]],
    ["ORU^R31", [PID, OBR, ALT]],
    ["ORU^R32", [PID, OBR, ALT]],
    ["OUL^R22^OUL_R22", [PID, "SPM|1|S-9", "SAC|||C-9", OBR, ALT]],
    ["OUL^R23", [PID, "SAC|||C-9", OBR, ALT]],
    ["OUL^R24^OUL_R24", [PID, OBR, "ORC|RE", ALT, "SPM|1|S-9", "SAC|||C-9"]],
    ["OPU^R25", [PID, OBR, ALT]],
    ["oru^r01", [PID, OBR, ALT]],
  ])("%s", (type, segments) => {
    expect(codes(readGeneric(msh({ 9: type }), ...segments))).toEqual([patient]);
  });

  test("a specimen's or container's number identifies the sample, before or after its order", () => {
    const first = reportsOf(
      readGeneric(
        msh({ 9: "OUL^R22" }),
        PID,
        "SPM|1|S-9",
        "SAC|||C-9",
        "OBR|1",
        ALT,
        "SPM|2|S-8",
        "OBR|2",
        obx("^CREA", "1"),
      ),
    );
    expect(first.map(({ otherIdentifiers }) => otherIdentifiers)).toEqual([["S-9", "C-9"], ["S-8"]]);
    const behind = reportsOf(
      readGeneric(
        msh({ 9: "OUL^R24" }),
        PID,
        "OBR|1",
        ALT,
        "SPM|1|S-9",
        "SAC|||C-9",
        "OBR|2",
        obx("^CREA", "1"),
        "SPM|2|S-8",
      ),
    );
    expect(behind.map(({ otherIdentifiers }) => otherIdentifiers)).toEqual([["S-9", "C-9"], ["S-8"]]);
  });

  test.each([
    ["an alarm", "ORU^R40", "an alarm (MSH-9 is ORU^R40)"],
    ["a state", "ESU^U01", "no results (MSH-9 is ESU^U01)"],
    ["a query", "QRY^Q02", "no results (MSH-9 is QRY^Q02)"],
    ["an order query", "ORM^O01", "no results (MSH-9 is ORM^O01)"],
    ["an acknowledgement", "ACK^R01", "no results (MSH-9 is ACK^R01)"],
  ])("%s gives no study, with any content", (_, type, reason) => {
    expect(readGeneric(msh({ 9: type }), PID, OBR, ALT)).toEqual({ is: "not-for-patients", reason });
  });

  test("a sign of life is neither a study nor a fault, from any sender", () => {
    const strict: Hl7Profile = { ...genericHl7, sender: /^LAB/ };
    for (const type of ["ZHB^H00", "HEARTBEAT", "ORU^R01", "LSU^U12"]) {
      const reading = readWith(
        strict,
        msh({ 3: "ALIVE", 4: "Vendor", 9: type }),
        "EQU|1|20261121113015",
        "NTE|1||ready",
      );
      expect(reading).toMatchObject({ is: "not-for-patients", reason: expect.stringMatching(/^no results/) as string });
    }
    // Segments of the device's own type may hold the results of a patient.
    const named = readWith(strict, msh({ 9: "ZRU^R01" }), PID, "ZBX|1|NM|GLU||95|mg/dL");
    expect(named).toEqual({ is: "quarantined", reason: 'message type "ZRU^R01" is not taken' });
    const own = readWith(strict, msh({ 9: "ZHB^H00" }), OBR, ALT);
    expect(own).toEqual({ is: "quarantined", reason: 'message type "ZHB^H00" is not taken' });
  });

  test("any sender is read in a message that names the model in a field of the device, and in no other message", () => {
    const strict: Hl7Profile = { ...genericHl7, sender: /^ACME/, names: /^X[12]$/ };
    expect(readWith(strict, msh(), PID, "OBR|1||5|Maker^X1", ALT)).toMatchObject({ is: "reports" });
    expect(readWith(strict, msh(), PID, "OBR|1||5|Maker^X9", ALT)).toMatchObject({ is: "quarantined" });
    expect(readWith(strict, msh(), "SFT|Maker|1.0|Program|X2", PID, OBR, ALT)).toMatchObject({ is: "reports" });
    const of = (instrument: string) => `${ALT}${"|".repeat(18 - ALT.split("|").length + 1)}${instrument}`;
    expect(readWith(strict, msh(), PID, OBR, of("X1"), of("X1^Maker"), ALT)).toMatchObject({ is: "reports" });
    // A gateway passes on the rows of two instruments.
    expect(readWith(strict, msh(), PID, OBR, of("X1"), of("Y7"))).toMatchObject({ is: "quarantined" });
    // A person types the names of patients.
    expect(readWith(strict, msh(), "PID|1||4711||X1", OBR, ALT)).toMatchObject({ is: "quarantined" });
  });

  test("a refused message is quarantined with the reason of its acknowledgement; mode aa refuses no readable one", () => {
    const aa: Hl7Profile = { ...genericHl7, link: { kind: "mllp", ackMode: "aa" } };
    expect(readWith(aa, msh({ 9: "ADT^A01" }), PID, OBR, ALT)).toMatchObject({ is: "not-for-patients" });
    expect(codes(readGeneric(msh({ 10: "" }), PID, OBR, ALT))).toEqual([patient]);
    expect(readGeneric("PID|1", msh())).toMatchObject({ is: "quarantined" });
    expect(readGeneric(msh({ 9: "ADT^A01" }), PID)).toEqual({
      is: "quarantined",
      reason: 'message type "ADT^A01" is not taken',
    });
  });
});

describe("control, calibration and training give no study", () => {
  test.each([
    [{ 11: "Q" }, "quality control (MSH-11 is Q)", 1],
    [{ 11: "D" }, "debugging (MSH-11 is D)", 0],
    [{ 11: "T^A" }, "training (MSH-11 is T)", 0],
    [{ 16: "1" }, "calibration (MSH-16 is 1)", 0],
    [{ 16: "2" }, "quality control (MSH-16 is 2)", 1],
  ])("a header with %j gives no study", (fields, reason, runs) => {
    const reading = readGeneric(msh(fields), PID, OBR, ALT);
    expect(reading).toMatchObject({ is: "not-for-patients", reason });
    expect(reading.controls ?? []).toHaveLength(runs);
  });

  test("MSH-16 of a patient, or of the standard, gives a study", () => {
    for (const asked of ["0", "", "AL", "NE"])
      expect(readGeneric(msh({ 16: asked }), PID, OBR, ALT).is).toBe("reports");
  });

  test("an order of a control program is omitted, and the patient's order kept", () => {
    const reading = readGeneric(msh(), PID, OBR, ALT, "OBR|2||QC|00003^LJ QCR^99MRC", obx("^CREA", "9"));
    expect(codes(reading)).toEqual([["4711", ["ALT"]]]);
    expect(reading).toMatchObject({ notes: ["order 00003^LJ QCR^99MRC is quality control: not for a patient"] });
  });

  test.each(["B", "C", "E", "F", "O", "Q", "V"])("a specimen of role %s is omitted at any place", (role) => {
    const control = `SPM|2|CTRL|||||||||${role}`;
    const order = ["OBR|2", obx("^CREA", "9")];
    const before = readGeneric(msh({ 9: "OUL^R22" }), PID, "SPM|1|S-9|||||||||P", "OBR|1", ALT, control, ...order);
    const behind = readGeneric(msh({ 9: "OUL^R24" }), PID, OBR, ALT, "SPM|1|S-9|||||||||P", ...order, control);
    expect([codes(before), codes(behind)]).toEqual([[["4711", ["ALT"]]], [["4711", ["ALT"]]]]);
    const alone = readGeneric(msh({ 9: "OUL^R24" }), ...order, control);
    expect(alone.is).toBe("not-for-patients");
  });
});

describe("patients and samples", () => {
  test("two PIDs stay separate, even with the same fields", () => {
    const shared = ["OBR|1|P-1|F-1|CHEM|||20261121113015", "SPM|1|S-1"];
    const reading = readGeneric(
      msh(),
      "PID|1||4711",
      shared[0]!,
      ALT,
      shared[1]!,
      "PID|2||4712",
      shared[0]!,
      obx("^CREA", "1"),
      shared[1]!,
      "PID|3||||^Zeytin",
      shared[0]!,
      obx("^GLU", "5"),
      "PID|4||||^Zeytin",
      shared[0]!,
      obx("^GLU", "6"),
    );
    expect(codes(reading)).toEqual([
      ["4711", ["ALT"]],
      ["4712", ["CREA"]],
      [null, ["GLU"]],
      [null, ["GLU"]],
    ]);
    expect(new Set(reportsOf(reading).map(({ dedupe_key }) => dedupe_key)).size).toBe(4);
  });

  test("orders of one sample are one study, even with repeated PIDs", () => {
    const reading = readGeneric(msh(), PID, OBR, ALT, OBR, obx("^CREA", "1"), PID, OBR, obx("^BUN", "20"));
    expect(codes(reading)).toEqual([["4711", ["ALT", "CREA", "BUN"]]]);
  });

  test("the identifier is PID-3, else PID-2, and never PID-4", () => {
    const of = (pid: string) => {
      const { identifier, otherIdentifiers } = only(reportsOf(readGeneric(msh(), pid, "OBR|1|P-1|F-1", ALT)));
      return [identifier, ...otherIdentifiers];
    };
    expect(of("PID|1|E-1|4711^^^^MR~0815|12")).toEqual(["4711", "0815", "E-1", "12", "P-1", "F-1"]);
    expect(of("PID|1|E-1||12")).toEqual(["E-1", "12", "P-1", "F-1"]);
    expect(of("PID|1|||12")).toEqual([null, "12", "P-1", "F-1"]);
    expect(of('PID|1|""|""^^^^MR')).toEqual([null, "P-1", "F-1"]);
  });

  test("species, breed, sex, birth, owner and weight become hints in the device's words", () => {
    const pid = segment("PID", {
      3: "4711",
      5: "Aydin^Zeytin",
      7: "20190504",
      8: "FS",
      35: "K9^Canine",
      36: "MIX^Mixed",
    });
    const weight = obx("3141-9^Body weight^LN", "17.4", { 6: "kg" });
    expect(only(reportsOf(readGeneric(msh(), pid, OBR, ALT, weight)))).toMatchObject({
      species: "dog",
      unmapped: [],
      patient_hint: {
        identifier: "4711",
        name: "Zeytin",
        owner: "Aydin",
        species: "Canine",
        breed: "Mixed",
        sex: "FS",
        date_of_birth: "2019-05-04",
        weight_kg: 17.4,
      },
    });
    const pounds = obx("3141-9^Body weight^LN", "38", { 6: "lb" });
    const age = only(reportsOf(readGeneric(msh(), "PID|1||4711||Zeytin||3Y", OBR, ALT, pounds)));
    expect(age.patient_hint).toMatchObject({ name: "Zeytin", owner: null, date_of_birth: null, weight_kg: null });
  });

  test("device, patient, sample and time identify the study; MSH-10 and MSH-7 do not", () => {
    const key = (header: string, pid = PID, order = OBR) =>
      only(reportsOf(readGeneric(header, pid, order, ALT))).dedupe_key;
    const first = key(msh());
    expect(key(msh({ 7: "20261121130000", 10: "99" }))).toBe(first);
    expect(key(msh(), PID.replace("4711", "4712"))).not.toBe(first);
    expect(key(msh(), PID, OBR.replace("S-1", "S-2"))).not.toBe(first);
    expect(key(msh(), PID, OBR.replace("113015", "113016"))).not.toBe(first);
  });
});

describe("values, comparators, ranges and flags", () => {
  test.each([
    ["NM", "9.4", [9.4, null]],
    ["NM", " 9.4 ", [9.4, null]],
    ["NM", "7,1", [7.1, null]],
    ["NM", "<0.2", [0.2, "<"]],
    ["ST", ">=300", [300, ">="]],
    ["SN", "<^0.2", [0.2, "<"]],
    ["SN", "^9.4", [9.4, null]],
    ["", "9.4", [9.4, null]],
    ["CE", "9.4^^", [9.4, null]],
    ["CWE", "^9.4", [9.4, null]],
    ["CWE", "^^9.4", [9.4, null]],
  ])("OBX-2 %j with OBX-5 %j is a value", (type, text, expected) => {
    const row = only(reportOf(obx("^ALT", text, { 2: type })).rows);
    expect([row.value, row.comparator]).toEqual(expected);
  });

  test.each([
    ["NM", ""],
    ["NM", '""'],
    ["NM", "~~~"],
    ["NM", "***.**"],
    ["NM", ".***"],
    ["NM", "HEM"],
  ])("OBX-2 %j with OBX-5 %j is not a value of ALT, and is listed with its reason", (type, text) => {
    const reading = readGeneric(msh(), PID, OBR, obx("^ALT", text, { 2: type }), obx("^CREA", "1"));
    const { rows, leftOut } = only(reportsOf(reading));
    expect([rows.map(({ code }) => code), leftOut.length]).toEqual([["CREA"], 1]);
    expect(leftOut[0]).toMatch(/^ALT has no value: /);
  });

  test.each([
    ["SN", "^1^:^128", "1:128"],
    ["NM", "14~15", "14~15"],
    ["NM", "14^15", "14^15"],
    ["SN", "^1^-^2", "1-2"],
    ["CWE", "260385009^^SCT", "260385009^^SCT"],
    ["CWE", "2^^99LAB", "2^^99LAB"],
    ["TS", "20261121113015", "20261121113015"],
    ["CWE", "260385009^Negative^SCT", "Negative"],
    ["CE", "Negative^^L", "Negative"],
    ["CWE", "POS^^99LAB", "POS"],
    ["ST", "see 12 & 13", "see 12 & 13"],
  ])("OBX-2 %j with OBX-5 %j is a value in words", (type, text, words) => {
    const reading = readGeneric(msh(), PID, OBR, obx("^ALT", text, { 2: type }), obx("^CREA", "1"));
    const { rows, leftOut } = only(reportsOf(reading));
    expect(leftOut).toEqual([]);
    expect(rows[0]).toMatchObject({ code: "ALT", codeSource: "device", value: null, text: words });
  });

  test.each(["ED", "RP", "NA", "MA"])("a row of type %s is never a result", (type) => {
    const report = reportOf(ALT, obx("6690-2^WBC^LN", "^Image^BMP^Base64^12", { 2: type }));
    expect(report).toMatchObject({ unmapped: [], leftOut: [], notes: ["kept in the message, not read: WBC"] });
    expect(report.rows).toHaveLength(1);
  });

  test("range, unit and flags are read in all their forms", () => {
    const rows = [
      obx("^ALT", "52", { 6: "U/L^unit per litre^UCUM", 7: "[10.00;118.00]", 8: "N~A" }),
      obx("^WBC", "9.8", { 6: "10^9/L", 7: "6.0-17.0", 8: "~A" }),
      obx("^CREA", "1.0", { 6: "^mg/dL", 7: "<1.4" }),
      obx("^BUN", "20", { 6: "", 7: "-", 8: "" }),
    ];
    const read4 = reportsOf(readGeneric(msh(), PID, OBR, ...rows)).flatMap((report) => report.rows);
    expect(
      read4.map(({ code, unit, device_range, device_flag }) => [code, unit, device_range?.text, device_flag]),
    ).toEqual([
      ["ALT", "U/L", "10.00-118.00", "N A"],
      ["CREA", "mg/dL", "<1.4", null],
      ["BUN", null, undefined, null],
      ["WBC", "10*9/L", "6.0-17.0", "A"],
    ]);
  });

  test.each([
    ["D", "deleted"],
    ["I", "pending in the instrument"],
    ["N", "not requested"],
    ["O", "ordered only"],
    ["P", "preliminary"],
    ["R", "not verified"],
    ["S", "partial"],
    ["W", "the value sent before is wrong"],
    ["X", "cannot be done"],
  ])("OBX-11 %s is not a final value, and OBR-25 replaces an empty one", (status, reason) => {
    const own = reportOf(ALT, obx("^CREA", "1", { 11: status }));
    expect(own.leftOut).toEqual([`CREA has no final value: ${reason} (OBX-11 is ${status})`]);
    const order = `${OBR}${"|".repeat(18)}${status}`;
    const ofOrder = readGeneric(msh(), PID, order, obx("^CREA", "1", { 11: "" }), ALT);
    expect(only(reportsOf(ofOrder)).leftOut).toEqual([`CREA has no final value: ${reason} (OBR-25 is ${status})`]);
  });

  test.each(["F", "C", "U", "V", "A", ""])("OBX-11 %j is a final value", (status) => {
    expect(reportOf(obx("^ALT", "52", { 11: status })).rows).toHaveLength(1);
  });

  test("alarms of T and F become remarks, an IS with a strip's word a result", () => {
    const report = reportOf(ALT, obx("17790-7^WBC Left Shift?^LN", "T", { 2: "IS" }));
    expect(report).toMatchObject({ unmapped: [], comments: ["WBC Left Shift?: T"] });
    const strip = only(
      reportsOf(readGeneric(msh(), PID, "OBR|1||U-1|UA||||||||||||UR", obx("^PRO", "2+", { 2: "IS", 6: "" }))),
    );
    expect(strip.rows).toMatchObject([{ code: "UPRO", value: 2, ordinal: true }]);
  });

  test.each([
    ["1742-6^x^LN", "ALT"],
    ["X1^y^99LAB^2160-0^z^LN", "CREA"],
    ["10002^^99MRC", "PCT"],
    ["BUN", "BUN"],
    ["^ALB", "ALB"],
    ["77^Albumin^99LAB^ALB", "ALB"],
  ])("the code %s is matched: LOINC by its form, a vendor's code with its system, then names", (code, analyte) => {
    expect(only(reportOf(obx(code, "1", { 6: "" })).rows).code).toBe(analyte);
  });

  test("unknown codes are listed, never guessed", () => {
    expect(reportOf(ALT, obx("4711-1^Unknown^LN", "7"), obx("", "7")).unmapped).toEqual([
      "4711-1^Unknown",
      "(no code)",
    ]);
  });

  test("a value in a note is read if the profile declares it, and never replaces OBX-5", () => {
    const header = msh({ 4: "BioNote" });
    const note = "NTE|1||Cut Off Index,Value=0.57";
    const row = (value: string) => obx("BN0010^Canine CRP^LN", value, { 6: value === "" ? "" : "mg/L" });
    const valueOf = (profile: Hl7Profile, value: string) => readWith(profile, header, PID, OBR, row(value), note);
    const noted = only(only(reportsOf(valueOf(bionoteVcheck, ""))).rows);
    expect(noted).toMatchObject({ value: 0.57, unit: "Cut Off Index" });
    expect(only(only(reportsOf(valueOf(bionoteVcheck, "16.7"))).rows)).toMatchObject({ value: 16.7, unit: "mg/L" });
    expect(valueOf(genericHl7, "")).toMatchObject({ is: "quarantined" });
  });

  test("notes become comments on the patient, order or result before them", () => {
    const report = only(
      reportsOf(
        readGeneric(msh(), PID, "NTE|1||fasted", OBR, "NTE|1||lipemic~icteric", ALT, "NTE|1||repeated", "NTE|2||"),
      ),
    );
    expect(report.comments).toEqual(["fasted", "lipemic icteric", "ALT: repeated"]);
  });
});

describe("charset of a profile", () => {
  const named = (bytes: string, fields: Readonly<Record<number, string>>, profile = genericHl7) => {
    const reading = readWith(profile, msh(fields), `PID|1||4711||${bytes}`, OBR, ALT);
    return [only(reportsOf(reading)).patient_hint.name, reading.is === "reports" ? reading.notes : []];
  };
  const utf8 = Buffer.from("Gümüş").toString("latin1");

  test.each(["8859/9", "8859/1", "GB 18030-2000"])(
    "text that is UTF-8 under %s is read as UTF-8, with a note",
    (charset) => {
      const bytes = message(
        msh({ 18: charset }),
        `PID|1||4711||${Buffer.from("Gümüş^Şeker Çiçeği").toString("latin1")}`,
        OBR,
        ALT,
      );
      const { reports, notes } = read(bytes, genericHl7, context) as Reading & { readonly is: "reports" };
      expect(reports[0]?.patient_hint).toMatchObject({ owner: "Gümüş", name: "Şeker Çiçeği" });
      expect(notes).toEqual([expect.stringMatching(/^the text is UTF-8, though .* is declared$/)]);
    },
  );

  test("the charset is the profile's, then MSH-18, then valid UTF-8, then the fallback", () => {
    const own = (link: object): Hl7Profile => ({ ...genericHl7, link: { kind: "mllp", ...link } });
    expect(named(utf8, { 18: "" })[0]).toBe("Gümüş");
    expect(named("M\xfcller", { 18: "" })[0]).toBe("Müller");
    expect(named("\xf0\xfe", { 18: "8859/9" })[0]).toBe("ğş");
    expect(named("\xf0\xfe", { 18: "8859/1" }, own({ charset: "windows-1254" }))[0]).toBe("ğş");
  });

  test("the notes count the bytes outside the charset", () => {
    expect(named("M\xfcller", { 18: "UNICODE" })).toEqual(["M\ufffdller", ["1 characters that utf-8 does not have"]]);
  });
});

describe("duplicate keys", () => {
  const body = [PID, OBR, ALT];
  const mark = (header: string, ...segments: readonly string[]) =>
    duplicateKey({ bytes: message(header, ...segments), incomplete: null }, genericHl7);

  test("every byte but MSH-7 counts, MSH-10 included", () => {
    const first = mark(msh(), ...body);
    expect(first).toMatch(/^1 [0-9a-f]{64}$/);
    expect(mark(msh({ 7: "20261121150000" }), ...body)).toBe(first);
    expect(mark(msh({ 10: "2" }), ...body)).not.toBe(first);
    expect(mark(msh({ 3: "LAB-2" }), ...body)).not.toBe(first);
    expect(mark(msh(), PID, OBR, ALT.replace("52", "53"))).not.toBe(first);
  });

  test("a value that moves to another field changes the key", () => {
    expect(mark(msh({ 7: "", 8: "20261121120000" }), ...body)).not.toBe(mark(msh({ 8: "" }), ...body));
    expect(mark(msh({ 10: "1", 11: "P" }), ...body)).not.toBe(mark(msh({ 10: "1|P", 11: "" }), ...body));
  });

  test("a repeated query, a cut message and an invalid message have no key", () => {
    expect(mark(msh({ 9: "QRY^Q02" }), "QRD|1")).toBe(null);
    expect(mark("noise")).toBe(null);
    expect(duplicateKey({ bytes: message(msh(), ...body), incomplete: "cut" }, genericHl7)).toBe(null);
  });
});

describe("cut messages", () => {
  const whole = message(msh({ 7: "20261121130000", 10: "2" }), PID, OBR, ALT);
  const cutOf = (bytes: Uint8Array, length: number) => ({ bytes: bytes.subarray(0, length) });

  test("a resend contains its cut message at every cut, and is never joined with it", () => {
    const first = message(msh(), PID, OBR, ALT);
    for (let length = 9; length < first.length; length++) {
      const part = cutOf(first, length);
      expect(complete(whole, [part], genericHl7)).toEqual({ bytes: whole, completed: [part] });
    }
  });

  test("another message does not contain the cut one", () => {
    const other = message(msh(), PID.replace("4711", "4712"), OBR, ALT);
    for (const part of [cutOf(other, other.length - 1), { bytes: Buffer.from("noise") }]) {
      expect(complete(whole, [part], genericHl7)).toEqual({ bytes: whole, completed: [] });
    }
  });
});

test.each<[string, readonly string[], readonly string[]]>([
  ["orders with a specimen each", [], ["OBR|1||S", "SPM|1"]],
  ["patients with notes before them", [], ["NTE|1||note", "PID|1"]],
  ["patients with an order each", [], ["PID|1||1", "NTE|1||x", "OBR|1", ALT]],
  ["results of one order", [], [ALT]],
  ["data between results", [], [obx("A", "1", { 2: "ED" }), ALT]],
  ["orders after many notes", Array.from({ length: 40_000 }, () => "NTE|1||n"), [OBR.replace("S-1", "S-%"), ALT]],
])(
  "a message of 90 000 segments is read in seconds: %s",
  (_, first, repeated) => {
    const many = Array.from({ length: 90_000 - first.length }, (__, index) =>
      repeated[index % repeated.length]!.replace("%", String(index)),
    );
    const from = process.cpuUsage();
    expect(["reports", "not-for-patients"]).toContain(
      read(Buffer.from([msh(), PID, ...first, ...many].join("\r")), genericHl7, context).is,
    );
    expect(process.cpuUsage(from).user / 1_000).toBeLessThan(10_000);
  },
  120_000,
);
