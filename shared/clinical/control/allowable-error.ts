import { type Static, Type } from "typebox";
import { analyteByCode } from "../analytes/analytes.ts";
import { readData } from "../analytes/data.ts";
import { convert, factorOf } from "../analytes/units.ts";

// Published limits of the error of a result: data/allowable-error.json.

const positive = Type.Number({ exclusiveMinimum: 0 });

const Row = Type.Object({
  /** Absent where the limit is one of a whole modality. */
  analyte: Type.Optional(Type.String({ minLength: 1 })),
  modality: Type.Optional(Type.Literal("HEMATOLOGY")),
  species: Type.Array(Type.Enum(["dog", "cat"]), { minItems: 1 }),
  /** Total allowable error. */
  percent: Type.Optional(positive),
  max_cv: Type.Optional(positive),
  max_bias: Type.Optional(positive),
  max_method_difference: Type.Optional(positive),
  /** The limit below this value, as an error in its unit. */
  below: Type.Optional(Type.Object({ value: positive, unit: Type.String({ minLength: 1 }), error: positive })),
  device: Type.Optional(Type.Literal("meter")),
  /** `information`: too strict or too general to choose rules by. */
  use: Type.Enum(["sigma", "information"]),
  basis: Type.String({ minLength: 1 }),
  source: Type.String({ minLength: 1 }),
  url: Type.String({ pattern: "^https?://" }),
});
type Row = Static<typeof Row>;

/** The published error that a result of an analyte may have, in percent, with its source. */
export interface AllowableError {
  readonly percent: number;
  readonly source: string;
}

const rows = readData("allowable-error.json", Type.Array(Row));
for (const row of rows) {
  const { analyte: code, below } = row;
  const analyte = code === undefined ? undefined : analyteByCode(code);
  const isKnown = code === undefined ? row.modality !== undefined : analyte !== undefined;
  const hasUnit = below === undefined || (analyte !== undefined && factorOf(analyte, below.unit) !== null);
  const isUsable = row.use === "information" || (code !== undefined && row.percent !== undefined);
  if (!isKnown || !hasUnit || !isUsable) throw new Error(`shared/data/allowable-error.json: ${JSON.stringify(row)}`);
}

/**
 * Returns the published allowable error of an analyte at a control's target. `meter` is a portable meter, for which other limits are
 * published than for an analyzer.
 * @returns null if nothing that was read applies. The tables of the ASVCP were not read, so that an analyzer has none yet
 */
export function allowableErrorOf(
  analyte: string,
  device: "meter" | "analyzer",
  target: { readonly mean: number; readonly unit: string | null },
): AllowableError | null {
  const row = rows.find((one) => one.use === "sigma" && one.analyte === analyte && (one.device ?? device) === device);
  if (row?.percent === undefined) return null;
  const percent = row.below === undefined ? row.percent : percentAt(row.percent, row.below, { ...target, analyte });
  return percent === null ? null : { percent, source: row.source };
}

/** Whether a sigma of an analyte can be known. */
export function hasAllowableError(analyte: string): boolean {
  return rows.some((row) => row.use === "sigma" && row.analyte === analyte);
}

/** @returns null if the unit of the target is unknown, so that the low values are too */
function percentAt(
  percent: number,
  below: NonNullable<Row["below"]>,
  { analyte: code, mean, unit }: { readonly analyte: string; readonly mean: number; readonly unit: string | null },
): number | null {
  const analyte = analyteByCode(code);
  const value = analyte === undefined || unit === null ? null : convert(analyte, mean, unit, below.unit);
  if (value === null || value <= 0) return null;
  return value < below.value ? (below.error / value) * 100 : percent;
}
