import { createHash } from "node:crypto";
import type { Insertable } from "kysely";
import type { Outcome, PushedStudy, Result, Study } from "../../shared/study.ts";
import { decideFiling } from "../domain/filing.ts";
import { findPatient } from "./patients.ts";
import type { StudyColumns, Tables } from "./schema.ts";
import { nobody, query, type Session } from "./store.ts";

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

/** Files what a clinic's agent pushed; one outcome a study, in order. To be run in a transaction. */
export async function fileStudies(
  session: Session,
  clinicId: number,
  studies: readonly PushedStudy[],
  now: number,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  // One after the other: a study may meet its own earlier revision in the same batch.
  for (const study of studies) outcomes.push(await fileStudy(session, clinicId, study, now));
  return outcomes;
}

async function fileStudy(session: Session, clinicId: number, pushed: PushedStudy, now: number): Promise<Outcome> {
  const { fp, revision, dedupe_key } = pushed;
  const stored = await session.first(storedByFp, { fp });
  const replaced = stored && (await session.first(replacedRevision, { studyId: stored.id, revision }));
  const twin = await session.first(byDedupeKey, { clinicId, dedupeKey: dedupe_key, fp });

  // A correction that names no patient stays with the patient that it was filed to, be it by a person's hand.
  const patientFp = pushed.patient_fp ?? stored?.patient_fp ?? null;
  const patient = patientFp === null ? undefined : await findPatient(session, clinicId, patientFp);

  const columns = toColumns(pushed);
  const { write, outcome } = decideFiling({
    pushed: { revision, contentHash: columns.content_hash, results: columns.results },
    stored: stored
      ? {
          own: stored.clinic_id === clinicId,
          held: stored.patient_id === null,
          revision: stored.revision,
          contentHash: stored.content_hash,
        }
      : null,
    replacedHash: replaced?.content_hash ?? null,
    twin: twin ?? null,
    unmatchedReason: whyUnmatched(patientFp, patient),
  });

  const row: StudyColumns = {
    ...columns,
    clinic_id: clinicId,
    patient_id: outcome.outcome === "filed" ? (patient?.id ?? null) : null,
    unmatched_reason: outcome.outcome === "unmatched" ? outcome.reason : null,
    received_at: now,
  };
  switch (write) {
    case "insert":
      await session.all(insert, row);
      break;
    case "replace":
      if (stored) await replaceStudy(session, stored, row, now);
      break;
    case "assign":
      if (stored)
        await session.all(update, {
          ...row,
          id: stored.id,
          was_of: stored.patient_id,
          received_at: stored.received_at,
        });
      break;
    case "nothing":
      break;
  }
  return { fp, ...outcome };
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
  };
  if (stored === undefined) {
    await session.all(insert, row);
    return "new";
  }
  if (canonical(toStudy(stored)) === canonical(study)) return "unchanged";
  await replaceStudy(session, stored, row, now);
  return "changed";
}

type StoredStudy = StudyColumns & { id: number; patient_fp: string | null };

async function replaceStudy(session: Session, stored: StoredStudy, row: StudyColumns, now: number): Promise<void> {
  const { id, patient_id: was_of, revision, content_hash, received_at } = stored;
  const body = JSON.stringify({
    ...toStudy(stored),
    sent_patient_fp: stored.sent_patient_fp,
    unmatched_reason: stored.unmatched_reason,
    dedupe_key: stored.dedupe_key,
    source: stored.source && (JSON.parse(stored.source) as unknown),
    patient_hint: stored.patient_hint && (JSON.parse(stored.patient_hint) as unknown),
    snapshot: stored.snapshot && (JSON.parse(stored.snapshot) as unknown),
  });
  await session.all(insertRevision, { study_id: id, revision, content_hash, body, received_at, replaced_at: now });
  await session.all(update, { ...row, id, was_of });
}

function whyUnmatched(patientFp: string | null, patient: { connected: boolean } | undefined): string | null {
  if (patientFp === null) return "patient_fp is null, expected the patient's fp";
  if (patient === undefined) return `patient ${patientFp} does not exist`;
  if (!patient.connected) return `patient ${patientFp} has no active connection to this clinic`;
  return null;
}

function toColumns(
  pushed: PushedStudy,
): Omit<StudyColumns, "clinic_id" | "patient_id" | "unmatched_reason" | "received_at"> {
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
  };
}

function describeStudy(study: Omit<Study, "patient_fp">) {
  return {
    modality: study.modality,
    device_name: study.device_name,
    status: study.status,
    acquired_at: Date.parse(study.acquired_at),
    // Canonical, so that equal results are equal text.
    results: canonical(study.results),
  };
}

// What a study says, without what only tells how it came: a resend has another message_id and perhaps a fuller hint.
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
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

/** A row as the API shows it. */
export function toStudy(row: Omit<StudyColumns, "patient_id"> & { patient_fp: string | null }): Study {
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
    .selectAll("study")
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
    .where("revision", "=", p.revision),
);

const byDedupeKey = query((db, p: { clinicId: number; dedupeKey: string; fp: string }) =>
  db
    .selectFrom("study")
    .select(["fp", "results"])
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
    }),
  nobody,
);
