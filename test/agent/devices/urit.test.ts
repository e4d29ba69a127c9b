import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { profileById } from "../../../agent/devices/index.ts";
import { parseMessage } from "../../../agent/protocols/hl7/message/message.ts";
import { readOrderQuery } from "../../../agent/protocols/hl7/order-query.ts";
import { encodeReplies } from "../../../agent/protocols/hl7/orders.ts";
import type { Hl7Profile } from "../../../agent/protocols/hl7/profile.ts";
import { dog, fixturesFolder } from "../../support/runner/fixtures.ts";
import { STAMP } from "../protocols/hl7/wire.ts";
import { only } from "../records.ts";
import { doubtsOf, playFixture, readingOf, reportOf, rowsOf } from "./fixture.ts";

describe("URIT-5160", () => {
  const report = reportOf("urit-5160/percentages-and-doubts");

  test("every set row is read, at the end of the run in OBR-8", () => {
    expect(rowsOf(report).map(([code, value]) => [code, value])).toEqual([
      ["WBC", 11.2],
      ["LYM", 21.5],
      ["NEU", 71.2],
      ["LYM#", 2.4],
      ["NEU#", 8],
      ["RBC", 5.1],
      ["RDW_CV", 13.9],
      ["RDW_SD", 41],
      ["PLT", 0],
      ["P_LCR", 24.1],
      ["MCV", 68],
    ]);
    expect(report).toMatchObject({
      device_name: "URIT-5160",
      acquired_at: "2026-11-21T08:30:15.000Z",
      otherIdentifiers: ["7", "BAR4711"],
    });
  });

  test("a count's name with the unit % is the percentage", () => {
    const of = (value: number) => report.rows.find((row) => row.value === value);
    expect([of(21.5)?.code, of(71.2)?.code]).toEqual(["LYMP", "NEUP"]);
    expect([of(2.4)?.code, of(8)?.code]).toEqual(["LYM", "NEU"]);
  });

  test("a value that the device has not set is left out, and an unset interval is dropped", () => {
    expect(report.leftOut).toEqual([expect.stringContaining("0-1079738368")]);
    expect(report.rows.at(-1)).toMatchObject({ device_code: "MCV", device_range: null });
  });

  test("clogs and bubbles are doubts, and the value gets no flag", () => {
    expect(doubtsOf(report)).toEqual([
      ["RBC", "the device found a clog"],
      ["PLT", "the device found bubbles"],
    ]);
    const { studies } = only(playFixture("urit-5160/percentages-and-doubts").messages);
    const results = studies.flatMap(({ results: all }) => all);
    expect(results.filter(({ analyte }) => ["RBC", "PLT"].includes(analyte)).map(({ flag }) => flag)).toEqual([
      null,
      null,
    ]);
  });

  test("a PID with a lot and the end of its validity is a control's", () => {
    expect(readingOf("urit-5160/control")).toMatchObject({
      is: "not-for-patients",
      reason: "LOT20260901 is the lot of a control: not for a patient",
    });
  });

  test("the acknowledgement has MSA-6, and a query without an order gets an empty reply", () => {
    expect(playFixture("urit-5160/percentages-and-doubts").replies).toContain("MSA|AA|0001|Message accepted|||0<CR>");
    expect(playFixture("urit-5160/query").messages).toMatchObject([{ reading: { is: "not-for-patients" } }]);
  });

  test("the Vet model has its species in OBR-16 and two hyphens in its intervals", () => {
    const vet = reportOf("urit-5160/vet");
    expect(vet).toMatchObject({ species: "dog", identifier: "4711", leftOut: [] });
    expect(vet.notes).toContain("kept in the message, not read: WBCHistogram");
    expect(vet.rows.map(({ code, device_range }) => [code, device_range?.text])).toEqual([
      ["WBC", "6.0-17.0"],
      ["LYMP", "12.0-30.0"],
      ["NEUP", "60.0-77.0"],
    ]);
  });
});

describe("URIT-8030", () => {
  const report = reportOf("urit-chem/laboratory-names");

  test("the names of the laboratory are codes of the clinic", () => {
    expect(rowsOf(report)).toEqual([
      ["GLI", 5.41, "mmol/L"],
      ["BIL", 4.2, "umol/L"],
      ["ALT", 52, "U/L"],
    ]);
    expect(report.unmapped).toEqual([expect.stringContaining("GLI"), expect.stringContaining("BIL")]);
    // BIL is not a urine pad here, so the sample is not urine.
    expect(report.rows[2]).toMatchObject({ code: "ALT" });
    expect(report.modality).toBe("BIOCHEMISTRY");
  });

  test("a date with hyphens is the date of the sample", () => {
    expect(report.acquired_at).toBe("2026-11-20T21:00:00.000Z");
  });
});

test("a URIT-5160 gets patient and sample at the lines of its document, and no tests", () => {
  const profile = profileById("urit-5160") as Hl7Profile;
  const bytes = readFileSync(`${fixturesFolder}urit-5160/query.hl7`);
  const message = parseMessage(bytes.subarray(1, -2));
  if ("problem" in message) throw new Error(message.problem);
  const orders = [{ specimen: "VDAG0001", report: "Q" as const, orderedAt: "20261121085000", tests: ["CBC"] }];
  const found = [{ patient: dog, asked: "", orders }];
  const replies = encodeReplies(readOrderQuery(message)!, found, profile.orders!, () => STAMP);
  const segments = replies.map((reply) => Buffer.from(reply.message).toString("utf8").split("\r"));
  expect(segments.map(([header = ""]) => header.split("|")[8])).toEqual(["QCK^Q02", "DSR^Q03"]);
  const lines = segments[1]?.filter((segment) => segment.startsWith("DSP")).map((segment) => segment.split("|"));
  expect(lines?.map(([, number, , text]) => `${number} ${text}`)).toEqual([
    "1 VDAG0001",
    "2 Zeytin",
    "3 F",
    "4 ",
    "5 ",
    "6 ",
    `7 ${dog.fp.slice("patient_".length)}`,
  ]);
});
