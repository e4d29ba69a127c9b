import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { type Analyte, analytes } from "../../../shared/clinical/analytes/analytes.ts";
import { readData } from "../../../shared/clinical/analytes/data.ts";
import type { ClinicRange } from "../../../shared/clinical/clinic-ranges.ts";
import { type IntervalFields, intervalFields } from "../../../shared/clinical/reference.ts";
import { type Measurement, resultsOf } from "../../../shared/clinical/results.ts";
import type { Signalment } from "../../../shared/clinical/signalment.ts";
import { readValue } from "../../../shared/clinical/analytes/value.ts";
import { Type } from "typebox";

// Flags compared with the published tables: cases with their rows, and every row at its bounds.

const at = "2026-06-01T00:00:00.000Z";
const byCode = new Map(analytes.map((analyte) => [analyte.code, analyte]));

function measurement(analyte: Analyte, text: string, unit: string): Measurement {
  const read = readValue(text, { decimalComma: true });
  if (read.is !== "number") throw new Error(`${text} is no number`);
  const { value, comparator } = read;
  return { code: analyte.code, value, comparator, ordinal: false, text, unit, device_range: null, device_flag: null };
}

const HEADER = "row species subgroup age_days sex instrument analyte value unit device_flag reference_range flag";
const [header, ...cases] = readFileSync(new URL("./flag-cases.tsv", import.meta.url), "utf8")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"))
  .map((line) => line.split("\t"));

test("every shipped species has cases, each with its row", () => {
  expect(header).toEqual(HEADER.split(" "));
  expect(cases.length).toBeGreaterThanOrEqual(300);
  expect(new Set(cases.map(([, species]) => species)).size).toBe(9);
});

test.each(cases)(
  "row %s: %s %s of %s days, %s, on %s: %s %s %s (device: %s) is of %s and %s",
  (row, species, subgroup, age, sex, instrument, code, value, unit, device_flag, range, flag) => {
    const given = (text: string | undefined) => (text === undefined || text === "-" ? null : text);
    const analyte = byCode.get(code ?? "");
    if (analyte === undefined) throw new Error(`no analyte ${code}`);
    const signalment: Signalment = {
      species: species ?? "",
      subgroup: given(subgroup),
      ageDays: age === "-" ? null : Number(age),
      sex: given(sex) as Signalment["sex"],
      neutered: null,
    };
    const { results, snapshot } = resultsOf(
      [{ ...measurement(analyte, value ?? "", unit ?? ""), device_flag: given(device_flag) }],
      { signalment, instrument: given(instrument), acquired_at: at, ranges: null },
    );
    expect([results[0]?.reference_range, results[0]?.flag, snapshot.rows[0]?.interval_id]).toEqual(
      [range, flag, row].map(given),
    );
  },
);

const rows = readData("reference-intervals.json", Type.Array(Type.Object(intervalFields)));

/** Returns a signalment and an instrument to which the row applies. */
function meetingOf(row: IntervalFields): { signalment: Signalment; instrument: string | null } {
  const { species, subgroup = null, age_min_days, age_max_days, life_stage, sex = null, device = null } = row;
  const youngest = age_min_days ?? (life_stage === "adult" ? 366 : 0);
  const ageDays = age_max_days ?? youngest;
  return { signalment: { species, subgroup, ageDays, sex, neutered: null }, instrument: device };
}

/** Returns the row as the only one, so that no better row precedes it. */
function alone(row: IntervalFields) {
  const own = Object.fromEntries(Object.keys(intervalFields).map((key) => [key, row[key as keyof IntervalFields]]));
  return { version: "1", low_quality: false, rows: [{ ...own, effective_from: "2000-01-01" } as ClinicRange] };
}

test("every row flags its bounds normal, values beyond them low and high, and values beyond critical bounds critical", () => {
  let compared = 0;
  for (const row of rows) {
    const analyte = byCode.get(row.analyte);
    const from = analyte?.units.find(({ unit }) => unit === row.unit);
    if (analyte === undefined || from === undefined) throw new Error(`${row.id} is of no analyte or unit`);
    const flagAt = (value: number, unit: string) => {
      const sent = { ...measurement(analyte, "1", unit), value };
      const context = { ...meetingOf(row), acquired_at: at, ranges: alone(row) };
      const { results, snapshot } = resultsOf([sent], context);
      expect([row.id, snapshot.rows[0]?.interval_id]).toEqual([row.id, `clinic:${row.id}`]);
      return results[0]?.flag;
    };
    for (const { unit, factor } of analyte.units) {
      const inUnit = (bound: number) => (bound * from.factor) / factor;
      const [low, high] = [Number(row.low), Number(row.high)];
      // A millionth of the range, far below the resolution of any analyzer.
      const hair = (high - low) * 1e-6;
      const critical = (bound: string | undefined) => (bound === undefined ? null : Number(bound));
      const expected: [string, number, string][] = [
        ["low", low, "normal"],
        ["high", high, "normal"],
        ["just above low", low + hair, "normal"],
        ["just below high", high - hair, "normal"],
        ["just below low", low - hair, critical(row.critical_low) === low ? "critical" : "low"],
        ["just above high", high + hair, critical(row.critical_high) === high ? "critical" : "high"],
      ];
      const [criticalLow, criticalHigh] = [critical(row.critical_low), critical(row.critical_high)];
      if (criticalLow !== null && criticalLow < low) {
        expected.push(["critical low", criticalLow, "low"], ["beyond critical low", criticalLow - hair, "critical"]);
      }
      if (criticalHigh !== null && criticalHigh > high) {
        expected.push(
          ["critical high", criticalHigh, "high"],
          ["beyond critical high", criticalHigh + hair, "critical"],
        );
      }
      for (const [where, value, flag] of expected) {
        expect([row.id, unit, where, flagAt(inUnit(value), unit)]).toEqual([row.id, unit, where, flag]);
        compared += 1;
      }
    }
  }
  expect(rows).toHaveLength(897);
  expect(compared).toBeGreaterThan(9_400);
});
