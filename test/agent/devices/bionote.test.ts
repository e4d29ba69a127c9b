import { describe, expect, test } from "vitest";
import { only } from "../records.ts";
import { playFixture, readingOf, reportOf, rowsOf } from "./fixture.ts";

describe("Vcheck F200", () => {
  test("a message without MSH-4 is read, with the index of its note, and gets one CA", () => {
    const { replies } = playFixture("bionote-vcheck/index-of-an-f200");
    expect(replies.match(/<VT>/g)).toHaveLength(1);
    expect(replies).toContain("MSA|CA|");
    const report = reportOf("bionote-vcheck/index-of-an-f200");
    expect(only(report.rows)).toMatchObject({ device_code: "SDB-0860", device_label: "F TBLAM FIA", value: 0.57 });
    expect(report.acquired_at).toBe("2026-11-21T08:30:15.000Z");
  });

  test("a combined test gives one result per code", () => {
    expect(rowsOf(reportOf("bionote-vcheck/two-answers"))).toEqual([
      ["BN0330-1", "Positive", null],
      ["BN0330-2", "Negative", null],
    ]);
  });

  test("a word keeps its titre step, and the interpretation is a comment", () => {
    const report = reportOf("bionote-vcheck/titre-step");
    expect(rowsOf(report)).toEqual([["BN0340", "Positive,VN4", null]]);
    expect(report.comments).toContain("CAV Ab: interpretation=High");
  });

  test("a note Z leaves out each result of the run", () => {
    const reading = readingOf("bionote-vcheck/invalid-by-note");
    expect(reading).toMatchObject({ is: "quarantined" });
    expect(JSON.stringify(reading).match(/the run is invalid/g)).toHaveLength(2);
  });
});

describe("Vcheck M10", () => {
  test("a word and its Ct value are results, the internal control is not", () => {
    const report = reportOf("bionote-vcheck-m10/two-targets");
    expect(rowsOf(report)).toEqual([
      ["SDB-M1002-00", "Positive", null],
      ["SDB-M1002-00 Ct", 24.31, "ct"],
      ["SDB-M1002-01", "Negative", null],
    ]);
    expect(report.rows.map(({ device_label }) => device_label)).toEqual(["B. gibsoni", "B. gibsoni Ct", "B. canis"]);
    expect(report.rows[1]?.device_range).toMatchObject({ low: 0, high: 38 });
    expect(report.leftOut).toEqual(["SDB-M1002-01 Ct has no value: no value"]);
  });

  test("every row without a result is listed", () => {
    const [kept = ""] = reportOf("bionote-vcheck-m10/two-targets").notes;
    // Sample rate and curve of two targets, and the four rows of the internal control.
    expect(kept.split(", ")).toHaveLength(8 + 1);
    expect(kept).toMatch(/^kept in the message, not read: 1\.0\.1\.1, 1\.0\.1\.3, /);
  });

  test("a negative internal control makes the run invalid", () => {
    expect(readingOf("bionote-vcheck-m10/internal-control-failed")).toEqual({
      is: "quarantined",
      reason: expect.stringContaining("the internal control IC is Negative") as string,
    });
  });

  test("a half tree is quarantined", () => {
    expect(readingOf("bionote-vcheck-m10/half-tree")).toEqual({
      is: "quarantined",
      reason: "the message lacks row 1.0.2.2, 1.0.2.3",
    });
  });

  test("a message cut after the Ct value of its last target is quarantined", () => {
    expect(readingOf("bionote-vcheck-m10/cut-curve")).toEqual({
      is: "quarantined",
      reason: "the message lacks row 1.0.2.3",
    });
  });
});
