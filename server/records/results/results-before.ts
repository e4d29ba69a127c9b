import type { Result, RowSnapshot, Snapshot, Study } from "../../../shared/api/study.ts";
import { analyteOf, shownIn } from "../../../shared/clinical/units/shown-result.ts";
import type { UnitChoice } from "../../../shared/clinical/units/unit-choice.ts";
import { chosenUnit } from "../../../shared/clinical/units/unit-systems.ts";
import { type ComparedResult, compareResults } from "../../../shared/clinical/compare/compare.ts";
import { signalmentAt } from "../../../shared/clinical/signalment.ts";
import { sentValue } from "../../../shared/clinical/units/value-text.ts";
import type { ResultBefore, StudyRow } from "../../dashboard/types/results/results.ts";
import { query, type Session } from "../../database/query.ts";
import type { findPatient } from "../patients/patients.ts";
import { checked, STUDY_CONTENT } from "../studies/study-checksum.ts";
import type { StoredStudy } from "../studies/studies.ts";
import { parseStored, toStudy } from "../studies/study-content.ts";

// The previous result of each analyte, for the page of a study.

/** Studies of the same kind before this one that are searched: a long history costs no more than a short one. */
const SEARCHED_MAX = 24;

type Found = Awaited<ReturnType<typeof findPatient>>;

/** A result with the study that has it. */
interface Placed {
  readonly study: Study;
  readonly result: Result;
  readonly row: RowSnapshot | undefined;
}

/** Adds the previous result of each row. An animal that the clinic does not see has none. */
export async function withBefore(
  session: Session,
  { stored, found, units }: { stored: StoredStudy; found: Found; units: UnitChoice },
  rows: StudyRow[],
): Promise<StudyRow[]> {
  const { patient_id: patientId, modality, acquired_at: at } = stored;
  if (patientId === null || found?.connected !== true || rows.length === 0) return rows;
  const earlier = await session.all(earlierStudies, { patientId, modality, at, limit: SEARCHED_MAX });
  const previous = new Map<string, Placed>();
  for (const { snapshot, ...row } of earlier) {
    for (const placed of placedResults(toStudy(row), snapshot)) {
      if (!previous.has(keyOf(placed))) previous.set(keyOf(placed), placed);
    }
  }
  const current = placedResults(toStudy(stored), stored.snapshot);
  return rows.map((row, index) => {
    const now = current[index];
    const before = now === undefined ? undefined : previous.get(keyOf(now));
    return now === undefined || before === undefined
      ? row
      : { ...row, before: resultBefore(before, now, row.number, { patient: found.patient, units }) };
  });
}

function placedResults(study: Study, snapshot: string | null): Placed[] {
  const rows = (parseStored(snapshot) as Snapshot | null)?.rows ?? [];
  return study.results.map((result, index) => {
    const row = rows[index];
    return { study, result, row: row?.analyte === result.analyte ? row : undefined };
  });
}

/** A device's own code means the same on that device alone. */
function keyOf({ study, result: { analyte, code_source } }: Placed): string {
  return JSON.stringify([analyte, code_source === "device" ? study.device_name : null]);
}

interface Reader {
  readonly patient: NonNullable<Found>["patient"];
  readonly units: UnitChoice;
}

/** `later` is the printed number of the new result. */
function resultBefore(before: Placed, now: Placed, later: number | null, reader: Reader): ResultBefore {
  const { patient } = reader;
  const [one, other] = [comparedOf(before, patient), comparedOf(now, patient)];
  const change = one === null || other === null ? null : compareResults(one, other, patient.species);
  const { number: earlier, ...shown } = shownBefore(before, now, reader);
  return {
    fp: before.study.fp,
    device_name: before.study.device_name,
    acquired_at: before.study.acquired_at,
    ...shown,
    number: change === null || "code" in change ? null : earlier,
    // The percentage is that of the values that were sent; the difference is that of the printed numbers.
    change:
      change === null || "code" in change || earlier === null || later === null
        ? change
        : { ...change, absolute: Number((later - earlier).toPrecision(12)) },
  };
}

/** Shows the earlier value in the unit of the new one. */
function shownBefore(
  before: Placed,
  now: Placed,
  { units }: Reader,
): Pick<ResultBefore, "value" | "unit" | "sent" | "number"> {
  const { result } = before;
  const analyte = analyteOf(placeOf(before));
  const unit = analyte === undefined ? null : (chosenUnit(units, analyte) ?? now.result.unit);
  const shown = shownIn(placeOf(before), analyte, unit);
  return {
    value: shown.value,
    unit: shown.unit,
    number: shown.number,
    sent: sentValue(result),
  };
}

function placeOf({ study: { modality }, result, row }: Placed) {
  return { modality, result, row };
}

/** @returns null for words, the rank of a urine pad, and a code outside the catalogue */
function comparedOf(placed: Placed, patient: Reader["patient"]): ComparedResult | null {
  const { study, result, row } = placed;
  const { value, value_text, unit, comparator = null, comment } = result;
  const analyte = analyteOf(placeOf(placed));
  if (analyte === undefined || value === null || value_text !== undefined) return null;
  return {
    analyte: analyte.code,
    ...{ value, unit, comparator },
    device: study.device_name,
    interval: row?.interval_id ?? null,
    ageDays: signalmentAt(patient, study.acquired_at).ageDays,
    doubt: comment !== undefined,
  };
}

const earlierStudies = checked(
  query((db, p: { patientId: number; modality: string; at: number; limit: number }) =>
    db
      .selectFrom("study")
      .innerJoin("patient", "patient.id", "study.patient_id")
      .select(STUDY_CONTENT)
      .select(["study.snapshot", "patient.fp as patient_fp"])
      .where("study.patient_id", "=", p.patientId)
      .where("study.modality", "=", p.modality)
      .where("study.acquired_at", "<", p.at)
      .orderBy("study.acquired_at", "desc")
      .orderBy("study.id", "desc")
      .limit(p.limit),
  ),
);
