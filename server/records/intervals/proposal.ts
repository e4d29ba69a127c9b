import type { Language } from "../../../shared/api/language.ts";
import { analyteByCode } from "../../../shared/clinical/analytes/analytes.ts";
import { convert } from "../../../shared/clinical/analytes/units.ts";
import { type ClinicRange, subjectOf } from "../../../shared/clinical/clinic-ranges.ts";
import { ownInterval } from "../../../shared/clinical/compare/own-interval.ts";
import { type Refusal, refusal } from "../../dashboard/types/refusals.ts";
import type { OwnCandidates, ProposalBody, ProposalContent } from "../../dashboard/types/settings/own-intervals.ts";
import { timestampOf } from "../../../shared/runtime/timestamp.ts";
import { groupOf } from "./healthy-animals.ts";

// Makes a proposal of an interval, and the row that an accepted one becomes.

/** Computes what a user proposes, from the results as they are now. `by` leaves the animals out. */
export function proposalOf(
  { studies, left_out: leftOut, ...subject }: ProposalBody,
  { animals, unit, decimals, now }: OwnCandidates,
  by: string,
): ProposalContent | Refusal {
  const chosen = new Set(studies);
  const found = animals.filter(({ study_fp: fp }) => chosen.has(fp));
  if (unit === null || found.length < chosen.size) return refusal("INTERVAL.CHANGED");
  const taken = found.filter(({ study_fp: fp }) => !leftOut.includes(fp));
  const interval = ownInterval(taken.map(({ value }) => value));
  if (interval.state === "too few") return refusal("INTERVAL.TOO_FEW", interval.missing);
  if (interval.state === "too equal") return refusal("INTERVAL.TOO_EQUAL");
  return {
    ...{ subject, unit, decimals, interval, now },
    values: taken.map(({ study_fp, value }) => ({ study_fp, value })),
    left_out: found
      .filter(({ study_fp: fp }) => leftOut.includes(fp))
      .map(({ study_fp, acquired_at, value }) => ({ study_fp, acquired_at, value, by })),
  };
}

/** Makes the row of the clinic's intervals that an accepted proposal becomes, in force from the day of the decision on. */
export function rowOf(
  { subject, unit, decimals, interval }: Pick<ProposalContent, "subject" | "unit" | "decimals" | "interval">,
  decision: { by: string; at: number; language: Language },
  taken: readonly ClinicRange[],
): ClinicRange {
  const { animal, analyte, device, age_from: from, age_to: to } = subject;
  const { species, subgroup } = groupOf(animal);
  const day = timestampOf(decision.at).slice(0, 10);
  const made: ClinicRange = {
    id: idOf(`own-${analyte}-${animal}-${day}`.toLowerCase(), taken),
    species: species as ClinicRange["species"],
    ...(subgroup === null ? {} : { subgroup }),
    ...(from === null ? {} : { age_min_days: from }),
    ...(to === null ? {} : { age_max_days: to }),
    ...(device === null ? {} : { device }),
    ...{ analyte, unit },
    low: interval.low.value.toFixed(decimals),
    high: interval.high.value.toFixed(decimals),
    // A second row of the day begins after the first one.
    effective_from: taken.some((each) => each.effective_from.startsWith(day)) ? timestampOf(decision.at) : day,
    ...passportOf(subject, interval, decision),
  };
  // An animal whose birthday nobody knows counts as an adult, unless a row to replace says it by days.
  const replaces = taken.some((row) => subjectOf(row) === subjectOf(made));
  const row = replaces ? made : asAdult(made);
  return { ...row, ...criticalBounds(row, taken) };
}

/** Age in days from which adult intervals apply, as the form of a proposal writes it. */
const ADULT_DAYS = 366;

/** Keeps the critical bounds of the row that this one replaces, in its unit and never inside its interval. */
function criticalBounds(row: ClinicRange, taken: readonly ClinicRange[]): Partial<ClinicRange> {
  const before = taken
    .filter((each) => subjectOf(each) === subjectOf(row))
    .toSorted((one, other) => Date.parse(one.effective_from) - Date.parse(other.effective_from))
    .at(-1);
  const analyte = analyteByCode(row.analyte);
  if (before === undefined || analyte === undefined) return {};
  const inUnit = (bound: string | undefined) =>
    bound === undefined ? null : convert(analyte, Number(bound), before.unit, row.unit);
  const [low, high] = [inUnit(before.critical_low), inUnit(before.critical_high)];
  return {
    ...(low === null ? {} : { critical_low: String(Math.min(Number(low.toPrecision(4)), Number(row.low))) }),
    ...(high === null ? {} : { critical_high: String(Math.max(Number(high.toPrecision(4)), Number(row.high))) }),
  };
}

/** Writes a row of adults as such, whichever way it says so. */
function asAdult(row: ClinicRange): ClinicRange {
  const { age_min_days: from, ...others } = row;
  return from === ADULT_DAYS && row.age_max_days === undefined ? { ...others, life_stage: "adult" } : row;
}

function idOf(words: string, taken: readonly ClinicRange[]): string {
  const id = words.replaceAll(/[^a-z0-9._-]+/g, "-").slice(0, 60);
  const ids = new Set(taken.map((row) => row.id));
  let free = id;
  for (let number = 2; ids.has(free); number += 1) free = `${id}-${number}`;
  return free;
}

/** Says how the numbers came about, in the language of who accepted them. */
function passportOf(
  { from, to }: ProposalContent["subject"],
  { method, n }: ProposalContent["interval"],
  { by, language }: { by: string; language: Language },
): Required<Pick<ClinicRange, "source" | "n" | "method" | "accepted_by">> {
  const isTurkish = language === "tr";
  const words = method === "robust" ? ["robust method", "dayanıklı yöntem"] : ["ranks", "sıra yöntemi"];
  return {
    source: isTurkish
      ? `Kliniğin sağlıklı hayvanları, ${from} – ${to}`
      : `Healthy animals of the clinic, ${from} to ${to}`,
    n,
    method: `${words[isTurkish ? 1 : 0]} (EP28-A3c)`,
    accepted_by: by,
  };
}
