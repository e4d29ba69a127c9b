import { type Static, Type } from "typebox";
import { Compile } from "typebox/compile";
import { findAnalyte } from "../../shared/clinical/analytes.ts";
import { isRealInstant } from "../../shared/api/timestamp.ts";
import { nulProblems, problems, shown } from "../../shared/api/problems.ts";
import type { Measurement } from "../../shared/clinical/results.ts";
import { Nullable, TIMESTAMP_PATTERN } from "../../shared/api/schema.ts";
import { readUnit } from "../../shared/clinical/units.ts";
import { readValue } from "../../shared/clinical/value.ts";

// Reads a study that a user typed. The server computes ranges and flags.

/** The file of `study add`. */
export const ManualStudy = Type.Object(
  {
    modality: Type.Enum(["HEMATOLOGY", "BIOCHEMISTRY", "URINALYSIS"]),
    acquired_at: Type.String({ pattern: TIMESTAMP_PATTERN }),
    device_name: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    results: Type.Array(
      Type.Object(
        {
          analyte: Type.String({ minLength: 1, maxLength: 64 }),
          /** A number, or printed text: `<0.2`, `7,1`, `2+`, `Positive`. */
          value: Type.Union([Type.Number(), Type.String()]),
          unit: Type.Optional(Nullable(Type.String({ maxLength: 32 }))),
        },
        { additionalProperties: false },
      ),
      { minItems: 1, maxItems: 1000 },
    ),
  },
  { additionalProperties: false },
);
export type ManualStudy = Static<typeof ManualStudy>;

const manualStudy = Compile(ManualStudy);

export interface ManualEntry extends Pick<ManualStudy, "modality" | "acquired_at"> {
  device_name: string;
  measurements: Measurement[];
}

/** Reads a typed study. @returns all problems at once, so that the user can correct them together */
export function readManualStudy(typed: unknown, now: number): { entry: ManualEntry } | { problems: string[] } {
  const faults = [...problems(manualStudy, typed), ...nulProblems(typed)];
  if (faults.length > 0) return { problems: faults };
  const { modality, acquired_at, device_name = "Manual entry", results } = typed as ManualStudy;
  if (!isRealInstant(acquired_at)) faults.push(`acquired_at is ${acquired_at}, expected a time that exists`);
  else if (Date.parse(acquired_at) > now) faults.push(`acquired_at is ${acquired_at}, expected a time in the past`);
  const measurements = results.flatMap((result) => {
    const read = readMeasurement(result, modality);
    if ("problem" in read) faults.push(read.problem);
    return "problem" in read ? [] : [read.measurement];
  });
  const codes = measurements.map(({ code }) => code);
  for (const code of new Set(codes.filter((each, index) => codes.indexOf(each) < index))) {
    faults.push(`${code} is listed more than once`);
  }
  return faults.length > 0 ? { problems: faults } : { entry: { modality, acquired_at, device_name, measurements } };
}

/** Reads one typed result. */
export function readMeasurement(
  { analyte: name, value, unit: sentUnit }: ManualStudy["results"][number],
  modality: ManualStudy["modality"],
): { measurement: Measurement } | { problem: string } {
  const found = findAnalyte([name], { modality, urine: modality === "URINALYSIS", unit: sentUnit ?? "" });
  if (found === null) return { problem: `analyte is ${shown(name)}, expected an analyte of ${modality}` };
  const { analyte } = found;
  if (analyte.modality !== modality) {
    return {
      problem: `analyte is ${shown(name)}, which is of ${analyte.modality}, expected an analyte of ${modality}`,
    };
  }
  const text = String(value);
  const read = readValue(text, { decimalComma: true });
  if (read.is === "none") return { problem: `${name} has no value: ${read.reason}` };
  const own = { code: analyte.code, text, device_range: null, device_flag: null };
  if (analyte.value_type === "word") {
    if (read.is === "number") return { problem: `${name} is ${shown(text)}, expected a word such as Positive` };
    if (sentUnit) return { problem: `unit of ${name} is ${shown(sentUnit)}, expected none for a word` };
    return { measurement: { ...own, text: read.text, value: null, comparator: null, ordinal: false, unit: null } };
  }
  const ordinal = read.is === "ordinal";
  if (read.is === "word" || ordinal !== (analyte.value_type === "ordinal")) {
    const expected = analyte.value_type === "numeric" ? "a number" : "a pad's grade such as neg or 2+";
    return { problem: `${name} is ${shown(text)}, expected ${expected}` };
  }
  const number = ordinal ? read.rank : read.value;
  const unit = readUnit(analyte, sentUnit ?? "", number);
  if (unit.warning !== null) return { problem: unit.warning };
  if (unit.doubt !== undefined) return { problem: unit.doubt };
  const comparator = ordinal ? null : read.comparator;
  return { measurement: { ...own, value: number, comparator, ordinal, unit: unit.unit } };
}
