import { describe, expect, test } from "vitest";
import { only } from "../../records.ts";
import { doubtsOf, playFixture, readingOf, reportOf, rowsOf } from "../fixture.ts";

describe("DRI-CHEM NX over HL7", () => {
  const report = reportOf("fuji-dri-chem-nx-hl7/serum");

  test("every result is read once, the row of its slide is a comment", () => {
    expect(rowsOf(report).map(([, value, unit]) => [value, unit])).toEqual([
      [112, "mg/dL"],
      [2.31, "mg/dL"],
      [1000, "U/L"],
      [12.1, expect.anything()],
      [6.4, "g/dL"],
    ]);
    expect(report.rows.map(({ device_label }) => device_label)).toEqual(["GLU", "CRE", "GPT/ALT", null, "TP"]);
    expect(report.leftOut).toEqual([expect.stringContaining("cannot be done (OBX-11 is X)")]);
    expect(report.comments).toContain("GLU: 345678,2027/10,           ,0,0,0");
    expect(report.comments).toHaveLength(6);
  });

  test("sample and tube number identify the sample, and the time is the result's", () => {
    expect(report).toMatchObject({
      device_name: "Fujifilm DRI-CHEM NX",
      identifier: null,
      otherIdentifiers: ["4711", "000471199"],
      acquired_at: "2026-11-21T08:30:15.000Z",
    });
  });

  test("a value outside the measuring range is a bound", () => {
    expect(report.rows[2]).toMatchObject({ value: 1000, comparator: ">" });
  });

  test("marks other than H and L are doubts", () => {
    expect(doubtsOf(report).map(([, words]) => words)).toEqual(["outside the measuring range", "the slide is expired"]);
    const { studies } = only(playFixture("fuji-dri-chem-nx-hl7/serum").messages);
    const flags = studies.flatMap(({ results }) => results.map(({ analyte, flag }) => [analyte, flag]));
    expect(flags).toContainEqual(["ALT", null]);
    expect(flags).toContainEqual(["CREA", "high"]);
  });

  test("the message is acknowledged by AA with its number", () => {
    expect(playFixture("fuji-dri-chem-nx-hl7/serum").replies).toContain("MSA|AA|1|");
  });

  test("a control specimen is not for patients", () => {
    expect(readingOf("fuji-dri-chem-nx-hl7/control").is).toBe("not-for-patients");
  });

  test("a urine specimen is never filed as blood", () => {
    const [row] = reportOf("fuji-dri-chem-nx-hl7/urine").rows;
    expect(row).toMatchObject({ value: 88, unit: "mg/dL" });
    expect(row?.code).not.toBe("CREA");
  });
});
