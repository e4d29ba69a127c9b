import { type Static, Type } from "typebox";
import type { Analyte } from "./analytes/analytes.ts";
import { AcceptedLimit } from "./critical-limits.ts";
import { isRealDate, isRealInstant } from "../schema/timestamp.ts";
import {
  bySpecificity,
  candidateOf,
  type Interval,
  type IntervalCandidate,
  intervalFields,
  intervalProblem,
  mostSpecific,
  needsSubgroup,
} from "./reference.ts";
import { DATE_PATTERN, TIMESTAMP_PATTERN } from "../schema/schema.ts";
import type { Signalment } from "./signalment.ts";
import { subgroupsOf } from "./species.ts";
import { textForm } from "../schema/text-form.ts";

// A clinic's own intervals. They take precedence over the device's and the catalogue's from their effective day on.

/** A day, which means its start in UTC, or a timestamp. */
const Day = Type.String({
  pattern: textForm(
    `${DATE_PATTERN}|${TIMESTAMP_PATTERN}`,
    "a day such as 2026-11-21, or a time in UTC such as 2026-11-21T09:30:00.000Z",
  ),
});

/** One line of a file for `ranges import`. An absent field matches everything. */
export const ClinicRange = Type.Object(
  {
    ...intervalFields,
    id: Type.String({
      pattern: textForm(
        "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$",
        "letters, digits, points, dashes and underscores such as alt-dog, at most 64",
      ),
    }),
    effective_from: Day,
    /** End of the row. By default a later row for the same subject ends it. */
    effective_until: Type.Optional(Day),
    note: Type.Optional(Type.String({ maxLength: 500 })),
    // How the numbers came about. No flag depends on it.
    source: Type.Optional(Type.String({ maxLength: 500 })),
    n: Type.Optional(Type.Integer({ minimum: 1 })),
    method: Type.Optional(Type.String({ maxLength: 500 })),
    accepted_by: Type.Optional(Type.String({ maxLength: 200 })),
  },
  { additionalProperties: false },
);
export type ClinicRange = Static<typeof ClinicRange>;

/** The rows of one import. The version identifies their content. */
export const ClinicRanges = Type.Object({
  version: Type.String({ minLength: 1, maxLength: 64 }),
  /** Whether published intervals of quality C and D apply in this clinic. */
  low_quality: Type.Boolean(),
  rows: Type.Array(ClinicRange),
  /** The critical limits that the clinic accepted. Absent until it decided; an older server omits them. */
  limits: Type.Optional(Type.Array(AcceptedLimit)),
});
export type ClinicRanges = Static<typeof ClinicRanges>;

/**
 * Removes the origin of the numbers from the rows for an agent, which needs none of it. An agent of an earlier version would leave
 * out the rows, because an unknown field may restrict their animals.
 */
export function rangesForAgents(ranges: ClinicRanges): ClinicRanges {
  const rows = ranges.rows.map(({ source: _s, n: _n, method: _m, accepted_by: _a, ...row }) => row);
  return { ...ranges, rows };
}

/** Prefix of the id of a clinic's row in a snapshot. */
const CLINIC = "clinic:";

/** Checks a row that matches the schema. @returns the problem, or null */
export function clinicRangeProblem(row: ClinicRange): string | null {
  const { species, subgroup, effective_from, effective_until } = row;
  const known = subgroupsOf(species);
  if (subgroup === undefined && needsSubgroup(species)) return `has no subgroup, expected one of ${known.join(", ")}`;
  if (subgroup !== undefined && !known.includes(subgroup)) {
    return `has the subgroup ${subgroup}, expected one of ${known.join(", ")}`;
  }
  for (const day of [effective_from, effective_until ?? effective_from]) {
    if (!isRealDate(day) && !isRealInstant(day)) return `has the day ${day}, which does not exist`;
  }
  if (effective_until !== undefined && Date.parse(effective_until) <= Date.parse(effective_from)) {
    return `is in force until ${effective_until}, not after ${effective_from}`;
  }
  return intervalProblem(row);
}

/** Returns the subject of a row: its analyte, patients and device. A later row replaces an earlier one of the same subject. */
export function subjectOf(row: ClinicRange): string {
  const { analyte, species, subgroup, life_stage, age_min_days, age_max_days, sex, neutered, device } = row;
  const subject = [analyte, species, subgroup, life_stage, age_min_days, age_max_days, sex, neutered, device];
  return JSON.stringify(subject.map((part) => part ?? null));
}

/** Returns a function that chooses an interval among the clinic's rows in force at a time. */
export function intervalsInForce(
  { rows }: ClinicRanges,
  at: string,
): (analyte: Analyte, signalment: Signalment, device: string | null) => Interval | null {
  const latest = new Map<string, ClinicRange>();
  for (const row of rows) {
    const from = Date.parse(row.effective_from);
    if (from > Date.parse(at)) continue;
    const before = latest.get(subjectOf(row));
    if (before === undefined || Date.parse(before.effective_from) < from) latest.set(subjectOf(row), row);
  }
  const byAnalyte = new Map<string, IntervalCandidate[]>();
  for (const row of latest.values()) {
    if (Date.parse(row.effective_until ?? "") <= Date.parse(at)) continue;
    const id = `${CLINIC}${row.id}`;
    const candidate = candidateOf({ ...row, id }, { source_id: "clinic", quality: null, rank: 0 });
    byAnalyte.set(row.analyte, [...(byAnalyte.get(row.analyte) ?? []), candidate]);
  }
  for (const candidates of byAnalyte.values()) candidates.sort(bySpecificity);
  return (analyte, signalment, device) => mostSpecific(byAnalyte.get(analyte.code) ?? [], signalment, device);
}

/** @returns the clinic's row by the id in a study's snapshot, if it is one */
export function clinicRangeById({ rows }: ClinicRanges, id: string): ClinicRange | undefined {
  return id.startsWith(CLINIC) ? rows.find((row) => row.id === id.slice(CLINIC.length)) : undefined;
}

/** @returns the accepted limit that made a value critical, by its id in a study's snapshot */
export function limitById({ limits = [] }: ClinicRanges, id: string): AcceptedLimit | undefined {
  return limits.find((limit) => limit.id === id);
}

/** Formats a row for a user: its interval, its subject and its period. */
export function rangeText(row: ClinicRange): string {
  return rangeCells(row)
    .filter((cell) => cell !== "")
    .join("  ");
}

/** Returns the id, the interval, its critical bounds or "", the patients and the time of a row. */
export function rangeCells(row: ClinicRange): string[] {
  const ages = [row.age_min_days ?? "", row.age_max_days ?? ""].join("-");
  const signalment = [
    row.species,
    row.subgroup,
    row.life_stage,
    ages === "-" ? undefined : `${ages} days`,
    row.sex,
    row.neutered === undefined ? undefined : row.neutered ? "neutered" : "intact",
    row.device === undefined ? undefined : `on ${row.device}`,
  ].filter((word) => word !== undefined);
  const critical = [row.critical_low, row.critical_high].some((bound) => bound !== undefined)
    ? `critical ${row.critical_low ?? ""}..${row.critical_high ?? ""}`
    : "";
  const until = row.effective_until === undefined ? "" : ` until ${row.effective_until}`;
  const interval = `${row.analyte} ${row.low}-${row.high} ${row.unit}`;
  return [row.id, interval, critical, signalment.join(" "), `from ${row.effective_from}${until}`];
}
