import { describe, expect, test } from "vitest";
import { reportsOf } from "../../records.ts";
import { msh, obx, PID, readGeneric } from "./segments.ts";

// Specimens of a message: urine and blood, and blood with a mnemonic of urine pads.

const ordered = (type: string) => `OBR|1||S-1|CHEM|||20261121113015||||||||${type}`;
const crea = (value: string) => obx("^CREA", value, { 6: "mg/dL" });
const urea = obx("^BUN", "20", { 6: "mg/dL" });

/** Returns analyte, origin of the code, and value of each row, by Report. */
function rowsOf(...segments: readonly string[]) {
  const reports = reportsOf(readGeneric(msh(), PID, ...segments));
  return reports.map(({ rows }) => rows.map(({ code, codeSource, value }) => [code, codeSource, value]));
}

describe("orders of one number, the specimen by OBR-15", () => {
  test.each([
    ["serum first", [ordered("SER"), urea, crea("1.2"), ordered("UR^Urine"), crea("120")]],
    ["urine first", [ordered("UR^Urine"), crea("120"), ordered("SER"), urea, crea("1.2")]],
  ])("%s: urine's creatinine is never blood's, and blood's stays", (_, segments) => {
    expect(rowsOf(...segments).toSorted((one, other) => other.length - one.length)).toEqual([
      [
        ["BUN", undefined, 20],
        ["CREA", undefined, 1.2],
      ],
      [["CREA", "device", 120]],
    ]);
  });

  test("two words for blood are one study", () => {
    expect(rowsOf(ordered("SER"), urea, ordered("PLAS"), crea("1.2"))).toHaveLength(1);
  });
});

test.each(["WB^Whole blood^HL70487", "SER", "serum"])(
  "ketones in %s make no urine of the glucose with them",
  (type) => {
    const rows = [obx("^KET", "1.2", { 6: "mmol/L" }), obx("^GLU", "5.2", { 6: "mmol/L" })];
    expect(rowsOf(ordered(type), ...rows)).toEqual([
      [
        ["KET", "device", 1.2],
        ["GLU", undefined, 5.2],
      ],
    ]);
  },
);

test("a LOINC code of blood in urine is a row under the device's code", () => {
  const loinc = obx("2345-7^GLU^LN", "600", { 6: "mg/dL" });
  expect(rowsOf(ordered("UR"), loinc)).toEqual([[["2345-7", "device", 600]]]);
  expect(rowsOf(ordered("SER"), loinc)).toEqual([[["GLU", undefined, 600]]]);
});
