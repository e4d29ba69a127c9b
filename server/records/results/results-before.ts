import type { Result, RowSnapshot, Snapshot, Study } from "../../../shared/api/study.ts";
import { analyteByCode, analytes } from "../../../shared/clinical/analytes/analytes.ts";
import { type ComparedResult, compareResults } from "../../../shared/clinical/compare/compare.ts";
import { signalmentAt } from "../../../shared/clinical/signalment.ts";
import { valueText } from "../../dashboard/types/results/result-value.ts";
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
  stored: StoredStudy,
  found: Found,
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
      : { ...row, before: resultBefore(before, now, found.patient) };
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

function resultBefore(before: Placed, now: Placed, patient: NonNullable<Found>["patient"]): ResultBefore {
  const [one, other] = [comparedOf(before, patient), comparedOf(now, patient)];
  const change = one === null || other === null ? null : compareResults(one, other, patient.species);
  return {
    fp: before.study.fp,
    device_name: before.study.device_name,
    acquired_at: before.study.acquired_at,
    value: valueText(before.result),
    unit: before.result.unit,
    number: change === null || "code" in change || other === null ? null : other.value - change.absolute,
    change,
  };
}

/** @returns null for words, the rank of a urine pad, and a code outside the catalogue */
function comparedOf({ study, result, row }: Placed, patient: NonNullable<Found>["patient"]): ComparedResult | null {
  const { value, value_text, unit, comparator = null, comment, code_source } = result;
  if (value === null || value_text !== undefined || code_source === "device") return null;
  const analyte =
    row === undefined
      ? analytes.find(({ api_code, modality }) => api_code === result.analyte && modality === study.modality)
      : analyteByCode(row.code);
  if (analyte === undefined) return null;
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
