import { sql } from "kysely";
import type { Result, Snapshot } from "../../../shared/api/study.ts";
import { contradictedFacts } from "../../../shared/clinical/candidates.ts";
import { isExpectedWord } from "../../../shared/clinical/result-words.ts";
import { rangesOfStudies, rowFor, storedResults } from "../studies/stored-results.ts";
import { analyteOf, shownResult } from "../../../shared/clinical/units/shown-result.ts";
import type { UnitChoice } from "../../../shared/clinical/units/unit-choice.ts";
import { unitText } from "../../../shared/clinical/units/unit-text.ts";
import { valueText } from "../../../shared/clinical/units/value-text.ts";
import {
  type DeviceRow,
  OUTDATED_MAX,
  type OutdatedStudy,
  type AssignPreview,
  type UnmatchedList,
  type UnmatchedStep,
  type PreviewRow,
  UNMATCHED_MAX,
  type UnmatchedRow,
  type UnmatchedOrder,
  type ShownPatient,
  type UnmatchedDetails,
} from "../../dashboard/types/results/unmatched.ts";
import { speciesContradiction } from "../filing/species-rule.ts";
import { query, type Session, shownSpecies } from "../../database/query.ts";
import { parseStored, type StudyColumns } from "../../database/schema.ts";
import { findPatient, type FoundPatient } from "../patients/patients.ts";
import { countUnknownCodes } from "../codes/unknown-codes.ts";
import { sideIn } from "../comparison/result-side.ts";
import { withBefore } from "../comparison/results-before.ts";
import { candidatesFor } from "./candidates.ts";
import { flagForPatient } from "../studies/flags.ts";
import { historyOf } from "../studies/history.ts";
import { findStoredStudy, type StoredStudy } from "../studies/studies.ts";
import { timestampOf } from "../../../shared/runtime/timestamp.ts";

// Unmatched studies as the screen "To place" shows them. Each function sees the studies and patients of one clinic.

/**
 * Finds a study of the clinic: its agent sent it, or it was taken back here. It is unmatched, or filed to a patient that the clinic sees.
 * @returns undefined for any other study
 */
export async function findOwnStudy(session: Session, clinicId: number, fp: string): Promise<StoredStudy | undefined> {
  const stored = await findStoredStudy(session, fp);
  if (stored?.clinic_id !== clinicId) return undefined;
  if (stored.patient_id === null) return stored;
  const patient = stored.patient_fp === null ? undefined : await findOwnPatient(session, clinicId, stored.patient_fp);
  return patient === undefined ? undefined : stored;
}

/** Finds a patient with an active connection to the clinic. */
export async function findOwnPatient(
  session: Session,
  clinicId: number,
  fp: string,
): Promise<FoundPatient | undefined> {
  const found = await findPatient(session, clinicId, fp);
  return found?.connected === true ? found : undefined;
}

/** Lists the waiting or the rejected studies in the order of their arrival, at most UNMATCHED_MAX, and counts both. */
export async function listForPage(
  session: Session,
  { clinicId, isRejected, order }: { clinicId: number; isRejected: boolean; order: UnmatchedOrder },
): Promise<UnmatchedList> {
  const counts = { waiting: 0, rejected: 0 };
  for (const { is_rejected, total } of await session.all(unmatchedCounts, { clinicId })) {
    counts[is_rejected === 1 ? "rejected" : "waiting"] = total;
  }
  const rows = await session.all(lists[order][isRejected ? "rejected" : "waiting"], { clinicId });
  const outdated = (await session.all(outdatedStudies, { clinicId })).map(
    ({ acquired_at, ...study }): OutdatedStudy => ({ ...study, acquired_at: timestampOf(acquired_at) }),
  );
  const unknown_codes = await countUnknownCodes(session, clinicId);
  return { ...counts, unknown_codes, studies: rows.map(unmatchedRow), outdated };
}

/** Describes a study with its candidates and its history. The study is one of findOwnStudy(). */
export async function describeUnmatched(
  session: Session,
  clinicId: number,
  stored: StoredStudy,
): Promise<UnmatchedDetails> {
  const snapshot = parseStored(stored.snapshot);
  const source = parseStored(stored.source);
  const patient = stored.patient_fp === null ? undefined : await findOwnPatient(session, clinicId, stored.patient_fp);
  const candidates = stored.patient_id === null ? await candidatesFor(session, stored) : [];
  return {
    ...unmatchedRow(stored),
    revision: stored.revision,
    device_id: source?.device_id ?? null,
    sample_ids: source?.sample_ids ?? [],
    reason: stored.patient_id === null ? parseStored(stored.unmatched_reason) : null,
    patient: patient === undefined ? null : shownPatient(patient.patient, patient.precise_species),
    can_undo: stored.placed_by_user === 1 && (stored.patient_id !== null || stored.rejected_reason !== null),
    results: deviceRows(parseStored(stored.results), snapshot),
    comments: parseStored(stored.comments) ?? [],
    candidates: candidates.map(({ signs, number, ...each }) => ({
      patient: shownPatient(each.patient, each.precise),
      signs: [...signs],
      number,
    })),
    history: await stepsOf(session, clinicId, stored),
  };
}

/** Flags a study for a patient of the clinic, without storing it. */
export async function previewAssignment(
  session: Session,
  stored: StoredStudy,
  found: FoundPatient,
  units: UnitChoice,
): Promise<AssignPreview> {
  const { patient } = found;
  const filed = {
    ...stored,
    ...(await flagForPatient(session, stored, patient)),
    ...{ patient_id: found.id, patient_fp: patient.fp },
  };
  const hint = parseStored(stored.patient_hint);
  const contradiction = speciesContradiction(hint, patient, found.precise_species);
  const rangesOf = await rangesOfStudies(session, [filed]);
  const rows = storedResults(filed, rangesOf).map((each): PreviewRow => {
    const { result, row } = each;
    const shown = shownResult(each, units);
    return {
      analyte: result.analyte,
      ...shown,
      // The rank of a urine pad and a bound of a value have no place on a scale.
      number: (result.value_text ?? result.comparator) === undefined ? shown.number : null,
      flag: result.flag,
      ...(result.abnormal === true ? { abnormal: true as const } : {}),
      ...(isExpectedWord(analyteOf(each), result) ? { expected: true as const } : {}),
      side: sideIn(each),
      reason: row?.reason ?? null,
    };
  });
  return {
    revision: stored.revision,
    patient: shownPatient(patient, found.precise_species),
    contradicted_species: contradiction === null ? null : (hint?.species ?? null),
    contradicted: hint === null ? [] : contradictedFacts(hint, patient),
    results: await withBefore(session, { stored: filed, found, units }, rows),
  };
}

type RowColumns = Pick<
  StudyColumns,
  "fp" | "modality" | "device_name" | "acquired_at" | "received_at" | "patient_hint" | "rejected_reason"
>;

function unmatchedRow(row: RowColumns): UnmatchedRow {
  return {
    fp: row.fp,
    modality: row.modality,
    device_name: row.device_name,
    acquired_at: timestampOf(row.acquired_at),
    received_at: timestampOf(row.received_at),
    hint: parseStored(row.patient_hint),
    rejected_reason: row.rejected_reason,
  };
}

function deviceRows(results: readonly Result[], snapshot: Snapshot | null): DeviceRow[] {
  return results.map((result, index) => {
    const row = rowFor(result, snapshot?.rows[index]);
    return {
      analyte: result.analyte,
      label: row?.device_label ?? row?.meaning ?? null,
      value: valueText(result),
      unit: result.unit === null ? null : unitText(result.unit),
      device_range: row?.device_range ?? null,
      device_flag: row?.device_flag ?? null,
      comment: result.comment ?? null,
    };
  });
}

function shownPatient(patient: ShownPatient, precise: string | null): ShownPatient {
  const { fp, name, species, breed, sex, date_of_birth, weight_kg } = patient;
  return { fp, name, species: precise ?? species, breed, sex, date_of_birth, weight_kg };
}

/** Lists the revisions, the last one first. The audit knows the users. */
export async function stepsOf(session: Session, clinicId: number, stored: StoredStudy): Promise<UnmatchedStep[]> {
  const commands = await session.all(commandsOn, { fp: stored.fp });
  const names = new Map<string, string | null>();
  const steps: UnmatchedStep[] = [];
  for (const { revision, at, cause, patient_fp, rejected_reason } of await historyOf(session, stored)) {
    if (patient_fp !== null && !names.has(patient_fp)) {
      names.set(patient_fp, (await findOwnPatient(session, clinicId, patient_fp))?.patient.name ?? null);
    }
    const by = commands.find((command) => timestampOf(command.at) === at)?.address ?? null;
    const patient = patient_fp === null ? null : { fp: patient_fp, name: names.get(patient_fp) ?? null };
    steps.push({ revision, at, cause, patient, rejected_reason, by });
  }
  return steps.toReversed();
}

const unmatchedCounts = query((db, p: { clinicId: number }) =>
  db
    .selectFrom("study")
    .select((select) => [
      sql<number>`case when rejected_reason is null then 0 else 1 end`.as("is_rejected"),
      select.fn.countAll<number>().as("total"),
    ])
    .where("patient_id", "is", null)
    .where("clinic_id", "=", p.clinicId)
    .groupBy("is_rejected"),
);

const outdatedStudies = query((db, p: { clinicId: number }) =>
  db
    .selectFrom("study")
    .innerJoin("clinic_patient", "clinic_patient.patient_id", "study.patient_id")
    .innerJoin("patient", "patient.id", "study.patient_id")
    .select(["study.fp", "study.device_name", "study.acquired_at"])
    .select((select) => select.fn.coalesce("study.flagged_species", select.val("")).as("flagged_species"))
    .select(["patient.name as patient_name", shownSpecies.as("patient_species")])
    .where("study.flagged_species", "is not", null)
    .where("clinic_patient.clinic_id", "=", p.clinicId)
    .where("clinic_patient.listed", "=", 1)
    .orderBy("study.id")
    .limit(OUTDATED_MAX),
);

const lists = {
  oldest: { waiting: listQuery("asc", "is"), rejected: listQuery("asc", "is not") },
  newest: { waiting: listQuery("desc", "is"), rejected: listQuery("desc", "is not") },
};

function listQuery(order: "asc" | "desc", rejected: "is" | "is not") {
  return query((db, p: { clinicId: number }) =>
    db
      .selectFrom("study")
      .select(["fp", "modality", "device_name", "acquired_at", "received_at", "patient_hint", "rejected_reason"])
      .where("patient_id", "is", null)
      .where("clinic_id", "=", p.clinicId)
      .where("rejected_reason", rejected, null)
      .orderBy("id", order)
      .limit(UNMATCHED_MAX),
  );
}

// The method is a literal, so that the index of commands serves the query.
const commandsOn = query((db, p: { fp: string }) =>
  db
    .selectFrom("audit")
    .select(["at", "address"])
    .where("fp", "=", p.fp)
    .where("method", "=", sql.lit("COMMAND"))
    .orderBy("id"),
);
