import { describe, expect, test } from "vitest";
import { contains } from "../../../agent/protocols/astm/resumption.ts";
import { readTime } from "../../../agent/report/device-time.ts";
import {
  ALT,
  ORDER,
  PATIENT,
  WBC,
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
  withTime,
} from "../records.ts";
import { astmDevice } from "../../support/clinic/profiles.ts";

const genericAstm = astmDevice("generic-astm");
const abaxisVetscanVs2 = astmDevice("abaxis-vetscan-vs2");

function withValue(value: string): string {
  return resultRecord("^^^ALT", value, "U/L");
}

/** The key of the only Report. */
function keyOf(...records: readonly string[]): string {
  return only(keysOf(...records));
}

function keysOf(...records: readonly string[]): string[] {
  return reportsOf(readGeneric(records)).map((report) => report.dedupe_key);
}

describe("dedupe_key", () => {
  const key = keyOf(PATIENT, ORDER, ALT);

  test("a resend with a new header time and R-9 R has the same key", () => {
    const header = HEADER.replace("20261121120000", "20270101000000");
    const again = resultRecord("^^^ALT", "52", "U/L", { 9: "R", 13: "20261121113015" });
    expect(only(reportsOf(readWith(genericAstm, header, PATIENT, ORDER, again, "L|1|N"))).dedupe_key).toBe(key);
  });

  test("a correction has the same key", () => {
    const corrected = resultRecord("^^^ALT", "25", "U/L", { 9: "C", 13: "20261121113015" });
    expect(keyOf(PATIENT, ORDER, corrected)).toBe(key);
  });

  test("the key does not depend on the time of receipt", () => {
    expect(reportOf([PATIENT, ORDER, ALT], { receivedAt: 0 }).dedupe_key).toBe(key);
  });

  test("the key depends on the device", () => {
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

  test("without a time of the order the time of the results distinguishes two measurements", () => {
    const morning = keyOf(PATIENT, "O|1|S-1", withTime("20261121113015"));
    expect(keyOf(PATIENT, "O|1|S-1", withTime("20261121153015"))).not.toBe(morning);
    expect(keyOf(PATIENT, "O|1|S-1", withTime("20261121113015"))).toBe(morning);
  });

  test("without specimen and time the key depends on the results", () => {
    const first = keyOf(PATIENT, "O|1", withValue("52"));
    expect(keyOf(PATIENT, "O|1", withValue("52"))).toBe(first);
    expect(keyOf(PATIENT, "O|1", withValue("53"))).not.toBe(first);
  });

  test("a specimen of spaces and delimiters counts as missing", () => {
    const records = ["P|1|^^ ", 'O|1|^^    |""'];
    expect(keyOf(...records, withValue("52"))).not.toBe(keyOf(...records, withValue("53")));
  });

  test("a date without a time does not make a second result of the day a correction", () => {
    const [unnumbered, numbered] = ["O|1|||^^^ALT|R|20261121", "O|1|S-1||^^^ALT|R|20261121"];
    expect(keyOf(PATIENT, unnumbered, withValue("52"))).not.toBe(keyOf(PATIENT, unnumbered, withValue("240")));
    expect(keyOf(PATIENT, numbered, withValue("52"))).toBe(keyOf(PATIENT, numbered, withValue("240")));
  });

  test.each(["12", "0012", "^^12", "12^1^5", "12^R"])(
    "a number of at most four digits without a time identifies no sample: %s",
    (sample) => {
      const isCounter = !sample.includes("R");
      const keys = ["52", "240"].map((value) => keyOf("P|1", `O|1|${sample}|7|^^^ALT|R|20261121`, withValue(value)));
      expect(new Set(keys).size).toBe(isCounter ? 2 : 1);
      expect(keyOf("P|1", `O|1|${sample}|7|^^^ALT|R|20261121`, withValue("52"))).toBe(keys[0]);
      // The time of the measurement identifies it with its corrections.
      const timed = ["52", "240"].map((value) =>
        keyOf("P|1", `O|1|${sample}`, resultRecord("^^^ALT", value, "U/L", { 13: "20261121113015" })),
      );
      expect(new Set(timed).size).toBe(1);
    },
  );

  test("the time of the results replaces a date of the order", () => {
    const dated = "O|1|||^^^ALT|R|20261121";
    const [morning, noon] = [withTime("20261121090000"), withTime("20261121130000")];
    expect(keyOf(PATIENT, dated, morning)).not.toBe(keyOf(PATIENT, dated, noon));
  });

  test("without a number the name distinguishes two patients", () => {
    expect(keyOf("P|1||||Zeytin", "O|1", ALT)).not.toBe(keyOf("P|1||||Lokum", "O|1", ALT));
  });

  test("two anonymous patients of one message have different keys for the same results", () => {
    const other = resultRecord("^^^ALT", "9", "U/L", { 13: "20261121113015" });
    const keys = keysOf("P|1", "O|1", ALT, "P|2", "O|1", other, "P|3", "O|1", ALT);
    expect(new Set(keys).size).toBe(3);
    expect(keysOf("P|1", "O|1", ALT, "P|2", "O|1", other, "P|3", "O|1", ALT)).toEqual(keys);
  });

  test("a resend of one anonymous patient does not correct another", () => {
    const other = resultRecord("^^^ALT", "9", "U/L", { 13: "20261121113015" });
    const together = keysOf("P|1", "O|1", ALT, "P|2", "O|1", other);
    expect(together).not.toContain(keyOf("P|1", "O|1", other));
  });
});

describe("orders", () => {
  test.each([[[]], [["P|2|4711"]]])(
    "several O records of one specimen are one Report, with %j before the second",
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

  test("results may lack an order or a patient", () => {
    expect(reportOf([PATIENT, ALT]).identifier).toBe("4711");
    expect(reportOf([ALT]).patient_hint.identifier).toBeNull();
  });

  test("the text of a comment has no empty components", () => {
    expect(reportOf([PATIENT, ORDER, "C|1|I|^^HEM: 0|G", ALT, "C|1|I|^^|G", 'C|2|I|""|G']).comments).toEqual([
      "HEM: 0",
    ]);
  });
});

describe("patient of a Report", () => {
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

  test("a specimen number may hold an fp and is never the patient identifier", () => {
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

  test("the patient hint has the fields as sent, and null for missing ones", () => {
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

  test.each(["16", "35^lb", "^kg", "abc^kg", "-1^kg", '""^kg'])(
    "the weight %s is not a number of kilograms",
    (weight) => {
      expect(reportOf([record("P", { 18: weight }), ALT]).patient_hint.weight_kg).toBeNull();
    },
  );

  test("species and owner of a VetScan are read from their own fields", () => {
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

  test("a longer text is cut to the 200 characters of the API", () => {
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

  test("without any time acquired_at is the time of receipt, with a note", () => {
    const report = only(
      reportsOf(readWith(genericAstm, "H|\\^&", PATIENT, resultRecord("^^^ALT", "52", "U/L"), "L|1|N")),
    );
    expect(report.acquired_at).toBe("2026-11-21T13:00:00.000Z");
    expect(report.notes).toEqual(["the results carry no readable time: that of receipt stands for it"]);
  });

  test.each([
    ["after the receipt", "20991231235800", "the header's", "20261121120000", "2026-11-21T09:00:00.000Z"],
    ["after the receipt", "20991231235800", "that of receipt", "20991231235900", "2026-11-21T13:00:00.000Z"],
    ["before 1990", "19800101000100", "the header's", "20261121120000", "2026-11-21T09:00:00.000Z"],
    ["before 1990", "19800101000100", "that of receipt", "19800101000200", "2026-11-21T13:00:00.000Z"],
  ])("a time %s (%s) gives way to %s (%s), and keeps the identity of the result", (_, time, __, sent, acquired_at) => {
    const header = `H|\\^&||||||||||||${sent}`;
    const make = (observed: string) =>
      only(reportsOf(readWith(genericAstm, header, PATIENT, "O|1|S-1", withTime(observed), "L|1|N")));
    const report = make(time);
    const suspectTime = readTime(time, "Europe/Istanbul")!;
    expect(report).toMatchObject({ acquired_at, suspectTime });
    expect(report.notes).toEqual([
      `the device's clock is suspect: ${suspectTime}`,
      "the device's time is impossible: another one stands for it",
    ]);
    expect(make(time).dedupe_key).toBe(report.dedupe_key);
    expect(make(time.replace(/00$/, "30")).dedupe_key).not.toBe(report.dedupe_key);
  });

  test.each([
    ["19900101020000", "1990-01-01T00:00:00.000Z", true],
    ["20251121150000", "2025-11-21T12:00:00.000Z", true],
    ["20251121170000", "2025-11-21T14:00:00.000Z", false],
    ["20261122150000", "2026-11-22T12:00:00.000Z", false],
  ])("%s is kept as sent, and is suspect beyond a year", (time, acquired_at, isSuspect) => {
    const report = reportOf([PATIENT, "O|1|S-1", withTime(time)]);
    expect([report.acquired_at, report.suspectTime]).toEqual([acquired_at, isSuspect ? acquired_at : undefined]);
  });

  test("acquired_at is the time of the first result that has one", () => {
    const report = reportOf([PATIENT, ORDER, resultRecord("^^^AST", "1", "U/L"), ALT, WBC.replace("WBC", "GGT")]);
    expect(report.acquired_at).toBe("2026-11-21T08:30:15.000Z");
  });

  test("an invalid time is noted and not corrected", () => {
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
    expect(reportOf([PATIENT, ORDER, withTime(sent)], { timeZone, receivedAt: Date.UTC(2027, 0, 1) }).acquired_at).toBe(
      time,
    );
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
  ])("a complete message holds what was %s", (_, part) => {
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
