import { createHash } from "node:crypto";
import type { Insertable } from "kysely";
import type { Patient } from "../../shared/api/patient.ts";
import { measurementKey } from "../../shared/clinical/measurement-key.ts";
import { measurementsOf, resultsOf } from "../../shared/clinical/results.ts";
import type { Outcome, PushedStudy, Result, Snapshot, Study } from "../../shared/api/study.ts";
import { flaggedPatient, signalmentAt } from "../../shared/clinical/signalment.ts";
import { decideFiling } from "../domain/study-filing.ts";
import { whyFlagAnew } from "../domain/flagging.ts";
import { findPatient } from "./patients.ts";
import { noInvalidation, query, type Session } from "./query.ts";
import { currentRanges } from "./ranges.ts";
import type { ConflictColumns, StudyColumns, Tables } from "./schema.ts";

// Diagnostic studies: the current revision in `study`, replaced ones in `study_revision`.

/** A filed study by fp and whether the clinic is connected to its patient; undefined when unknown, unmatched or of a deleted patient. */
export async function findStudy(
  session: Session,
  clinicId: number,
  fp: string,
): Promise<{ connected: boolean; study: Study } | undefined> {
  const row = await session.first(filedByFp, { clinicId, fp });
  if (row === undefined) return undefined;
  return { connected: row.active === 1, study: toStudy(row) };
}

/**
 * Files what a clinic's agent pushed; one outcome a study, in order. `conceal`: a patient of other clinics alone is one that does
 * not exist. To be run in a transaction.
 */
export async function fileStudies(
  session: Session,
  clinicId: number,
  studies: readonly PushedStudy[],
  now: number,
  conceal = false,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  // One after the other: a study may meet its own earlier revision in the same batch.
  for (const study of studies) outcomes.push(await fileStudy(session, clinicId, study, now, conceal));
  return outcomes;
}

async function fileStudy(
  session: Session,
  clinicId: number,
  pushed: PushedStudy,
  now: number,
  conceal: boolean,
): Promise<Outcome> {
  const { fp, revision, dedupe_key } = pushed;
  const stored = await session.first(storedByFp, { fp });
  const replaced = stored && (await session.first(replacedRevision, { studyId: stored.id, revision }));
  const sameKey = await session.first(byDedupeKey, { clinicId, dedupeKey: dedupe_key, fp });
  const twin = sameKey && (await session.first(storedByFp, sameKey));

  // A correction that names no patient stays with the patient that it was filed to, and goes where a person put it.
  const byPerson = stored?.by_person === 1;
  const sentFp = byPerson ? null : pushed.patient_fp;
  const patientFp = sentFp ?? stored?.patient_fp ?? null;
  const known = patientFp === null ? undefined : await findPatient(session, clinicId, patientFp);
  const patient = conceal && known?.connected === false ? undefined : known;

  const columns = toColumns(pushed);
  const { write, outcome } = decideFiling({
    pushed: {
      revision,
      contentHash: columns.content_hash,
      measured: measurementKey(pushed.results),
      patientFp: pushed.patient_fp,
    },
    stored: stored
      ? {
          own: stored.clinic_id === clinicId,
          held: stored.patient_id === null,
          byPerson,
          patientFp: stored.patient_fp,
          revision: stored.pushed_revision ?? 0,
          contentHash: stored.content_hash,
        }
      : null,
    replacedHash: replaced?.content_hash ?? null,
    twin: twin
      ? {
          fp: twin.fp,
          measured: measuredOf(twin),
          heldBecause: twin.patient_id === null ? (twin.unmatched_reason ?? "it is unmatched") : null,
          byPerson: twin.by_person === 1,
        }
      : null,
    unmatchedReason: (byPerson && patientFp === null && stored?.unmatched_reason) || whyUnmatched(patientFp, patient),
  });

  const filedTo = outcome.outcome === "filed" ? patient : undefined;
  const row: StudyColumns = {
    ...columns,
    ...(filedTo && (await flaggedAnew(session, { ...columns, clinic_id: clinicId }, pushed, filedTo.patient))),
    clinic_id: clinicId,
    patient_id: filedTo?.id ?? null,
    unmatched_reason: outcome.outcome === "unmatched" ? outcome.reason : null,
    received_at: now,
    cause: "pushed",
    by_person: byPerson ? 1 : 0,
    // Other values are news to the person who rejected the study. A patient alone is not.
    rejected_reason: stored && measuredOf(stored) === measurementKey(pushed.results) ? stored.rejected_reason : null,
  };
  switch (write) {
    case "insert":
      await session.all(insert, row);
      break;
    case "replace":
      if (stored) {
        await replaceStudy(session, stored, { ...row, revision: Math.max(revision, stored.revision + 1) }, now);
      }
      break;
    case "assign":
      if (stored)
        await session.all(update, {
          ...row,
          id: stored.id,
          was_of: stored.patient_id,
          revision: stored.revision,
          received_at: stored.received_at,
        });
      break;
    case "assign twin":
      if (twin && filedTo) {
        const { id: _id, patient_fp: _none, ...held } = twin;
        const flagged = await flagFor(session, twin, filedTo.patient);
        const placed = { patient_id: filedTo.id, sent_patient_fp: pushed.patient_fp, unmatched_reason: null };
        const filed = { ...held, ...flagged, ...placed, revision: twin.revision + 1, received_at: now };
        await replaceStudy(session, twin, { ...filed, cause: "pushed" }, now);
      }
      break;
    case "nothing":
      if (outcome.outcome === "conflict") {
        const contradicted = stored ?? twin;
        if (contradicted) {
          await holdConflict(session, {
            study_id: contradicted.id,
            clinic_id: clinicId,
            content_hash: columns.content_hash,
            revision,
            reason: outcome.reason ?? "",
            body: JSON.stringify(pushed),
            received_at: now,
          });
        }
      }
      break;
  }
  return { fp, ...outcome };
}

/** Flags a study anew if the agent flagged it for other facts of the patient. The content hash stays the agent's. */
async function flaggedAnew(
  session: Session,
  row: Parameters<typeof flagFor>[1],
  pushed: PushedStudy,
  patient: Patient,
): Promise<Partial<Pick<StudyColumns, "results" | "snapshot">>> {
  const note = pushed.results.length === 0 ? null : whyFlagAnew(pushed, patient);
  if (note === null) return {};
  const { results, snapshot } = await flagFor(session, row, patient);
  // Without one the rows are of no known analyte, and what they say of their intervals holds no more.
  const flagged = snapshot === null ? { rows: [] } : (JSON.parse(snapshot) as Snapshot);
  const whole = pushed.snapshot && { ...pushed.snapshot, ...flagged, notes: [...pushed.snapshot.notes, note] };
  return { results, snapshot: whole === undefined ? snapshot : JSON.stringify(whole) };
}

function measuredOf({ results }: Pick<StudyColumns, "results">): string {
  return measurementKey(JSON.parse(results) as Result[]);
}

/**
 * Conflicts of one clinic that are kept with a study, so that a device that goes on contradicting itself does not fill the disk.
 * Each clinic has its own: one that shares a patient cannot take another's places.
 */
export const CONFLICTS_MAX = 20;

async function holdConflict(session: Session, conflict: ConflictColumns): Promise<void> {
  const { study_id: studyId, clinic_id: clinicId } = conflict;
  const kept = await session.first(countConflicts, { studyId, clinicId });
  if ((kept?.count ?? 0) < CONFLICTS_MAX) await session.all(insertConflict, conflict);
}

/**
 * A stored study's results with range and flag for the patient, by the clinic's intervals and the catalogue of now for the day
 * of the sample; without a patient they have neither. If a result is of no known analyte, nothing is flagged, and the snapshot
 * is null unless all results are measurements in images.
 */
export async function flagFor(
  session: Session,
  study: Pick<StudyColumns, "clinic_id" | "modality" | "device_name" | "acquired_at" | "results" | "snapshot">,
  patient: Patient | null,
): Promise<Pick<StudyColumns, "results" | "snapshot">> {
  const { modality, device_name, clinic_id } = study;
  const acquired_at = new Date(study.acquired_at).toISOString();
  const results = JSON.parse(study.results) as Result[];
  const before = study.snapshot === null ? null : (JSON.parse(study.snapshot) as Snapshot);
  const measurements = measurementsOf({ modality: modality as Study["modality"], results }, before);
  if (measurements === null) {
    const bare = results.map((result) => ({ ...result, reference_range: null, flag: null }));
    // Measurements in images have no intervals, so that their rows stay true for every patient.
    const isOfImages = before?.rows.every(({ meaning }) => meaning !== undefined) ?? false;
    return { results: canonical(bare), snapshot: isOfImages ? study.snapshot : null };
  }
  const context = {
    signalment: patient === null ? null : signalmentAt(patient, acquired_at),
    instrument: before?.instrument ?? device_name,
    acquired_at,
    ranges: (clinic_id === null ? null : await currentRanges(session, clinic_id)) ?? null,
  };
  const flagged = resultsOf(measurements, context, before?.notes);
  const snapshot = { ...flagged.snapshot, animal: patient === null ? null : flaggedPatient(patient) };
  return { results: canonical(flagged.results), snapshot: JSON.stringify(snapshot) };
}

/** Stores a study of an import file: new, changed (the old content becomes a revision of its own) or unchanged. */
export async function importStudy(
  session: Session,
  study: Study,
  patientId: number,
  now: number,
): Promise<"new" | "changed" | "unchanged"> {
  const stored = await session.first(storedByFp, { fp: study.fp });
  const row: StudyColumns = {
    fp: study.fp,
    clinic_id: stored?.clinic_id ?? null,
    patient_id: patientId,
    unmatched_reason: null,
    sent_patient_fp: study.patient_fp,
    ...describeStudy(study),
    revision: (stored?.revision ?? 0) + 1,
    dedupe_key: stored?.dedupe_key ?? null,
    content_hash: contentHash(study, stored?.dedupe_key ?? null, deviceOf(stored?.source ?? null)),
    source: stored?.source ?? null,
    patient_hint: stored?.patient_hint ?? null,
    snapshot: null,
    received_at: now,
    pushed_revision: (stored?.revision ?? 0) + 1,
    cause: "imported",
    by_person: 0,
    rejected_reason: null,
  };
  if (stored === undefined) {
    await session.all(insert, row);
    return "new";
  }
  if (canonical(toStudy(stored)) === canonical(study)) return "unchanged";
  await replaceStudy(session, stored, row, now);
  return "changed";
}

export type StoredStudy = StudyColumns & { id: number; patient_fp: string | null };

/** A study as it is stored, whoever may read it. */
export async function findStored(session: Session, fp: string): Promise<StoredStudy | undefined> {
  return session.first(storedByFp, { fp });
}

/** Puts a revision in the place of the stored one, which goes to the history. */
export async function replaceStudy(
  session: Session,
  stored: StoredStudy,
  row: StudyColumns,
  now: number,
): Promise<void> {
  const { id, patient_id: was_of, revision, content_hash, received_at, pushed_revision } = stored;
  const body = JSON.stringify({
    ...toStudy(stored),
    sent_patient_fp: stored.sent_patient_fp,
    unmatched_reason: stored.unmatched_reason,
    dedupe_key: stored.dedupe_key,
    source: stored.source && (JSON.parse(stored.source) as unknown),
    patient_hint: stored.patient_hint && (JSON.parse(stored.patient_hint) as unknown),
    snapshot: stored.snapshot && (JSON.parse(stored.snapshot) as unknown),
    cause: stored.cause,
    rejected_reason: stored.rejected_reason,
  } satisfies ReplacedStudy);
  const kept = { study_id: id, revision, content_hash, body, received_at, pushed_revision };
  await session.all(insertRevision, { ...kept, replaced_at: now });
  await session.all(update, { ...row, id, was_of });
}

/** Stores a study that no agent sent. */
export async function insertStudy(session: Session, row: StudyColumns): Promise<void> {
  await session.all(insert, row);
}

/** A replaced revision as the history keeps it; what began to be kept later is missing in older ones. */
export interface ReplacedStudy extends Study {
  sent_patient_fp: string | null;
  unmatched_reason: string | null;
  dedupe_key: string | null;
  source: unknown;
  patient_hint: unknown;
  snapshot?: unknown;
  cause?: StudyColumns["cause"];
  rejected_reason?: string | null;
}

function whyUnmatched(patientFp: string | null, patient: { connected: boolean } | undefined): string | null {
  if (patientFp === null) return "patient_fp is null, expected the patient's fp";
  if (patient === undefined) return `patient ${patientFp} does not exist`;
  if (!patient.connected) return `patient ${patientFp} has no active connection to this clinic`;
  return null;
}

function toColumns(
  pushed: PushedStudy,
): Omit<
  StudyColumns,
  "clinic_id" | "patient_id" | "unmatched_reason" | "received_at" | "cause" | "by_person" | "rejected_reason"
> {
  return {
    fp: pushed.fp,
    sent_patient_fp: pushed.patient_fp,
    ...describeStudy(pushed),
    revision: pushed.revision,
    dedupe_key: pushed.dedupe_key,
    content_hash: contentHash(pushed, pushed.dedupe_key, pushed.source.device_id),
    source: JSON.stringify(pushed.source),
    patient_hint: JSON.stringify(pushed.patient_hint),
    snapshot: pushed.snapshot === undefined ? null : JSON.stringify(pushed.snapshot),
    pushed_revision: pushed.revision,
  };
}

export function describeStudy(study: Omit<Study, "patient_fp">) {
  return {
    modality: study.modality,
    device_name: study.device_name,
    status: study.status,
    acquired_at: Date.parse(study.acquired_at),
    // Canonical, so that equal results are equal text.
    results: canonical(study.results),
  };
}

// Hashes the content of a study without its origin: a resend has another message_id and perhaps a fuller hint.
function contentHash(
  study: Omit<Study, "patient_fp"> & { patient_fp: string | null },
  dedupeKey: string | null,
  deviceId: string | null,
): string {
  const content = { ...describeStudy(study), patient_fp: study.patient_fp, dedupe_key: dedupeKey, device_id: deviceId };
  return createHash("sha256").update(canonical(content)).digest("hex");
}

function deviceOf(source: string | null): string | null {
  return source === null ? null : (JSON.parse(source) as PushedStudy["source"]).device_id;
}

/** JSON with the keys of every object in order, so that equal values are equal text. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

/** A row as the API shows it. */
export function toStudy(
  row: Pick<StudyColumns, "fp" | "modality" | "device_name" | "status" | "acquired_at" | "results"> & {
    patient_fp: string | null;
  },
): Study {
  return {
    fp: row.fp,
    patient_fp: row.patient_fp ?? "",
    modality: row.modality as Study["modality"],
    device_name: row.device_name,
    status: row.status as Study["status"],
    acquired_at: new Date(row.acquired_at).toISOString(),
    results: JSON.parse(row.results) as Result[],
  };
}

const filedByFp = query((db, p: { clinicId: number; fp: string }) =>
  db
    .selectFrom("study")
    .innerJoin("patient", "patient.id", "study.patient_id")
    .leftJoin("connection", (join) =>
      join.onRef("connection.patient_id", "=", "patient.id").on("connection.clinic_id", "=", p.clinicId),
    )
    .select(["study.fp", "study.modality", "study.device_name", "study.status", "study.acquired_at", "study.results"])
    .select(["patient.fp as patient_fp", "connection.active"])
    .where("study.fp", "=", p.fp)
    .where("patient.deleted_at", "is", null),
);

const storedByFp = query((db, p: { fp: string }) =>
  db
    .selectFrom("study")
    .leftJoin("patient", "patient.id", "study.patient_id")
    .selectAll("study")
    .select("patient.fp as patient_fp")
    .where("study.fp", "=", p.fp),
);

const replacedRevision = query((db, p: { studyId: number; revision: number }) =>
  db
    .selectFrom("study_revision")
    .select("content_hash")
    .where("study_id", "=", p.studyId)
    .where("pushed_revision", "=", p.revision),
);

const byDedupeKey = query((db, p: { clinicId: number; dedupeKey: string; fp: string }) =>
  db
    .selectFrom("study")
    .select("fp")
    .where("clinic_id", "=", p.clinicId)
    .where("dedupe_key", "=", p.dedupeKey)
    .where("fp", "!=", p.fp),
);

const insert = query(
  (db, p: StudyColumns) => db.insertInto("study").values(studyValues(p)),
  ({ patient_id }) => ({ patients: [patient_id] }),
);

/** `was_of`: the patient that it was filed to till now; its clinics lose the study when it goes to another. */
const update = query(
  (db, p: StudyColumns & { id: number; was_of: number | null }) =>
    db.updateTable("study").set(studyValues(p)).where("id", "=", p.id),
  ({ patient_id, was_of }) => ({ patients: [patient_id, was_of] }),
);

// Named one by one: the parameters of a query are not an object that could be spread.
function studyValues(p: StudyColumns): StudyColumns {
  return {
    fp: p.fp,
    clinic_id: p.clinic_id,
    patient_id: p.patient_id,
    unmatched_reason: p.unmatched_reason,
    sent_patient_fp: p.sent_patient_fp,
    modality: p.modality,
    device_name: p.device_name,
    status: p.status,
    acquired_at: p.acquired_at,
    results: p.results,
    revision: p.revision,
    dedupe_key: p.dedupe_key,
    content_hash: p.content_hash,
    source: p.source,
    patient_hint: p.patient_hint,
    snapshot: p.snapshot,
    received_at: p.received_at,
    pushed_revision: p.pushed_revision,
    cause: p.cause,
    by_person: p.by_person,
    rejected_reason: p.rejected_reason,
  };
}

const insertRevision = query(
  (db, p: Insertable<Tables["study_revision"]>) =>
    db.insertInto("study_revision").values({
      study_id: p.study_id,
      revision: p.revision,
      content_hash: p.content_hash,
      body: p.body,
      received_at: p.received_at,
      replaced_at: p.replaced_at,
      pushed_revision: p.pushed_revision,
    }),
  noInvalidation,
);

const countConflicts = query((db, p: { studyId: number; clinicId: number }) =>
  db
    .selectFrom("study_conflict")
    .select((select) => select.fn.countAll<number>().as("count"))
    .where("study_id", "=", p.studyId)
    .where("clinic_id", "=", p.clinicId),
);

const insertConflict = query(
  (db, p: ConflictColumns) =>
    db
      .insertInto("study_conflict")
      .values({
        study_id: p.study_id,
        clinic_id: p.clinic_id,
        content_hash: p.content_hash,
        revision: p.revision,
        reason: p.reason,
        body: p.body,
        received_at: p.received_at,
      })
      .onConflict((conflict) => conflict.columns(["study_id", "content_hash"]).doNothing()),
  noInvalidation,
);
