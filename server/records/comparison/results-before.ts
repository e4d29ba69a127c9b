import type { Modality } from "../../../shared/api/study.ts";
import type { UnitChoice } from "../../../shared/clinical/units/unit-choice.ts";
import { chosenUnit } from "../../../shared/clinical/units/unit-systems.ts";
import { sentValue } from "../../../shared/clinical/units/value-text.ts";
import type { ResultBefore, StudyRow } from "../../dashboard/types/results/results.ts";
import { query, type Session } from "../../database/query.ts";
import { rangesOfStudies } from "../studies/stored-results.ts";
import { checked, STUDY_CONTENT } from "../studies/study-checksum.ts";
import type { StoredStudy } from "../studies/studies.ts";
import {
  type Animal,
  asPrinted,
  bySubject,
  changeBetween,
  isSameSubject,
  type PlacedResult,
  placedStudy,
  type Reader,
  shownPlaced,
} from "./compared-results.ts";

// The previous result of each analyte, for the page of a study.

/** Studies of the same kind before this one that are searched: a long history costs no more than a short one. */
const SEARCHED_MAX = 24;

/** The animal, and whether the clinic sees it. */
type Found = { readonly patient: Animal; readonly connected: boolean } | undefined;

/** Adds the previous result of each row. An animal that the clinic does not see has none. */
export async function withBefore<Row extends Pick<StudyRow, "number">>(
  session: Session,
  { stored, found, units }: { stored: StoredStudy; found: Found; units: UnitChoice },
  rows: Row[],
): Promise<(Row & { before?: ResultBefore })[]> {
  const { patient_id: patientId, modality, acquired_at: at } = stored;
  if (patientId === null || found?.connected !== true || rows.length === 0) return rows;
  const earlier = await session.all(earlierStudies, { patientId, modality, at, limit: SEARCHED_MAX });
  const reader: Reader = {
    animal: found.patient,
    unitOf: (analyte, sent) => chosenUnit(units, analyte) ?? sent,
    rangesOf: await rangesOfStudies(session, [stored, ...earlier]),
  };
  const previous = bySubject(earlier.flatMap((study) => placedStudy(study, reader).results));
  const current = placedStudy(stored, reader).results;
  return rows.map((row, index) => {
    const now = current[index];
    const before = now && previous.get(now.subject)?.find((each) => isSameSubject(each, now));
    return now === undefined || before === undefined
      ? row
      : { ...row, before: resultBefore(before, now, row.number, reader.animal) };
  });
}

/** `later` is the printed number of the new result. */
function resultBefore(before: PlacedResult, now: PlacedResult, later: number | null, animal: Animal): ResultBefore {
  const change = changeBetween(before, now, animal);
  const isComparable = change !== null && !("code" in change) && now.compared !== null;
  const { study, result, analyte } = before;
  const isSame = analyte === now.analyte;
  const { value, unit, number } = shownPlaced(before, now.unit);
  const shown = shownPlaced(now);
  // The percentage is that of the values that were sent; the difference is that of the printed numbers.
  const isInUnit = isSame && unit === shown.unit;
  const isUnchanged = isComparable && change.direction === "same";
  const printed = isComparable && isInUnit && !isUnchanged && number !== null && later !== null ? later - number : null;
  return {
    fp: study.fp,
    device_name: study.device_name,
    acquired_at: study.acquired_at,
    ...(isSame ? {} : { analyte: result.analyte }),
    ...{ value, unit, sent: sentValue(result) },
    number: !isComparable ? null : isInUnit ? number : (now.compared?.value ?? 0) - change.absolute,
    // The value of another name of the substance is in another unit, whose digits say nothing here.
    change: isComparable
      ? asPrinted({ ...change, absolute: printed ?? change.absolute }, isInUnit ? [value, shown.value] : [shown.value])
      : change,
    ...(before.isControlFailed ? { control_failed: true as const } : {}),
  };
}

const earlierStudies = checked(
  query((db, p: { patientId: number; modality: Modality; at: number; limit: number }) =>
    db
      .selectFrom("study")
      .innerJoin("patient", "patient.id", "study.patient_id")
      .select(STUDY_CONTENT)
      .select(["study.clinic_id", "study.source", "study.snapshot", "patient.fp as patient_fp"])
      .where("study.patient_id", "=", p.patientId)
      .where("study.modality", "=", p.modality)
      .where("study.acquired_at", "<", p.at)
      .orderBy("study.acquired_at", "desc")
      .orderBy("study.id", "desc")
      .limit(p.limit),
  ),
);
