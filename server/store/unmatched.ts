import { type PatientHint, Result, type Snapshot, type Study } from "../../shared/api/study.ts";
import { type PatientCandidate, type MatchEvidence, rankCandidates } from "../../shared/clinical/candidates.ts";
import { newUlid } from "../../shared/api/fp.ts";
import type { Patient } from "../../shared/api/patient.ts";
import { shown } from "../../shared/api/problems.ts";
import { readSpecies } from "../../shared/clinical/species.ts";
import { insertRow } from "./audit.ts";
import { findPatient, toPatient } from "./patients.ts";
import { query, type Session } from "./query.ts";
import type { StudyCause, StudyColumns } from "./schema.ts";
import { findStored, flagFor, type ReplacedStudy, replaceStudy, type StoredStudy, toStudy } from "./studies.ts";

// The desk of the unmatched: what a person sees of studies that no program may place, and what a person does with them.
// Each act is a revision of the study and stands in the audit; functions that act say why they did not, null when done.

/** A study that waits for a person, as the list shows it. */
export interface UnmatchedStudy {
  fp: string;
  clinic_fp: string;
  received_at: string;
  modality: string;
  device_name: string;
  acquired_at: string;
  hint: PatientHint | null;
  reason: string | null;
  /** Why a person took it off the list. */
  rejected_reason: string | null;
}

/** Actor and time of a change, for the audit. */
export interface Act {
  by: string;
  now: number;
}

/** The studies that wait for a person, the oldest first; a thousand in memory at a time. */
export async function* listUnmatched(
  session: Session,
  { clinicId, rejected }: { clinicId: number | null; rejected: boolean },
): AsyncGenerator<UnmatchedStudy> {
  let after: number | undefined = 0;
  while (after !== undefined) {
    const rows: (StudyColumns & { id: number; clinic_fp: string })[] = await session.all(unmatched, { after });
    for (const row of rows) {
      const isWanted = (row.rejected_reason !== null) === rejected && (clinicId ?? row.clinic_id) === row.clinic_id;
      if (isWanted) yield toUnmatched(row);
    }
    after = rows.at(-1)?.id;
  }
}

/** All that is known of a stored study, whoever may read it. */
export interface StoredView {
  study: Study;
  revision: number;
  clinic_fp: string | null;
  cause: StudyCause;
  unmatched_reason: string | null;
  rejected_reason: string | null;
  received_at: string;
  hint: PatientHint | null;
  source: { device_id: string; message_id: string } | null;
  snapshot: Snapshot | null;
}

export async function viewStudy(session: Session, fp: string): Promise<StoredView | undefined> {
  const stored = await findStored(session, fp);
  if (stored === undefined) return undefined;
  const clinic = stored.clinic_id === null ? undefined : await session.first(clinicFp, { id: stored.clinic_id });
  return {
    study: inOrder(toStudy(stored)),
    revision: stored.revision,
    clinic_fp: clinic?.fp ?? null,
    cause: stored.cause,
    unmatched_reason: stored.unmatched_reason,
    rejected_reason: stored.rejected_reason,
    received_at: instant(stored.received_at),
    hint: parsed(stored.patient_hint) as PatientHint | null,
    source: parsed(stored.source) as StoredView["source"],
    snapshot: parsed(stored.snapshot) as Snapshot | null,
  };
}

const CANDIDATES_MAX = 5;
/** Looked at once more with what earlier studies say of their owners. */
const OWNERS_LOOKED_UP_MAX = 50;
const DAY_MS = 86_400_000;

/** The patients of the study's clinic whom it may be of, the likeliest first, with the reasons. */
export async function candidatesFor(session: Session, fp: string): Promise<PatientCandidate[]> {
  const stored = await findStored(session, fp);
  const hint = parsed(stored?.patient_hint ?? null) as PatientHint | null;
  if (stored?.clinic_id == null || hint === null) return [];
  const clinicId = stored.clinic_id;
  const day = Math.floor(stored.acquired_at / DAY_MS) * DAY_MS;
  const appointed = new Set(
    (await session.all(appointedOn, { clinicId, from: day, to: day + DAY_MS })).map(({ patient_id }) => patient_id),
  );
  const known = new Map<string, MatchEvidence & { id: number }>();
  const identifiers = new Map<number, string[]>();
  for (const { patient_id, identifier } of await session.all(identifiersOfClinic, { clinicId })) {
    identifiers.set(patient_id, [...(identifiers.get(patient_id) ?? []), identifier]);
  }
  for (const row of await session.all(patientsOfClinic, { clinicId })) {
    const own = identifiers.get(row.id) ?? [];
    known.set(row.fp, {
      ...{ id: row.id, patient: toPatient(row), identifiers: own, appointed: appointed.has(row.id), owners: [] },
    });
  }
  const likely: MatchEvidence[] = [];
  for (const { patient } of rankCandidates(hint, known.values(), OWNERS_LOOKED_UP_MAX)) {
    const each = known.get(patient.fp);
    if (each !== undefined) likely.push({ ...each, owners: await ownersOf(session, clinicId, each.id) });
  }
  return rankCandidates(hint, likely, CANDIDATES_MAX);
}

async function ownersOf(session: Session, clinicId: number, patientId: number): Promise<string[]> {
  const hints = await session.all(hintsOf, { clinicId, patientId });
  return hints.flatMap(({ patient_hint }) => (parsed(patient_hint) as PatientHint | null)?.owner ?? []);
}

/**
 * Files a study to the patient: range and flag are computed once, for the patient's species and the interval of the day of the
 * sample. A study that is filed already moves. A patient of another species than the device stated needs `despite`, which the
 * history and the audit keep. To be run in a transaction, as all that follow.
 */
export async function assignStudy(
  session: Session,
  { fp, patientFp, despite, ...act }: Act & { fp: string; patientFp: string; despite?: "species" },
): Promise<string | null> {
  const stored = await findStored(session, fp);
  const problem = whyNotTouch(stored, fp);
  if (stored?.clinic_id == null) return problem;
  const patient = await findPatient(session, stored.clinic_id, patientFp);
  if (patient === undefined) return whyNoPatient(session, patientFp);
  if (!patient.connected) return `patient ${patientFp} has no active connection to the study's clinic`;
  if (stored.patient_id === patient.id) return `${fp} is filed to ${patientFp} already`;
  const contradiction = speciesContradiction(stored, patient.patient);
  if (contradiction !== null && despite !== "species") {
    return `${contradiction}, expected a patient of the device's species, or --despite species to file it all the same`;
  }
  const flagged = await flagFor(session, stored, patient.patient);
  const placed = { patient_id: patient.id, unmatched_reason: null };
  if (contradiction === null) {
    await change(session, stored, { ...flagged, ...placed, cause: "assigned" }, act);
    await noteAct(session, "unmatched assign", [fp, patientFp], act);
  } else {
    const snapshot = noted(flagged.snapshot, `filed to ${patientFp} despite the species: ${contradiction}`);
    await change(session, stored, { ...flagged, snapshot, ...placed, cause: "assigned despite species" }, act);
    await noteAct(session, "unmatched assign --despite species", [fp, patientFp], act);
  }
  return null;
}

/** Says why a patient is not found: deleted, or never imported. */
export async function whyNoPatient(session: Session, fp: string): Promise<string> {
  const isDeleted = (await session.first(deletedPatient, { fp })) !== undefined;
  return isDeleted
    ? `patient ${fp} is deleted, expected a patient of the clinic`
    : `patient ${fp} does not exist, expected the fp of an imported patient`;
}

/** Null where the device stated no species, or a word that the species map does not know. */
function speciesContradiction(stored: StoredStudy, { fp, species }: Patient): string | null {
  const words = (parsed(stored.patient_hint) as PatientHint | null)?.species ?? "";
  const stated = readSpecies(words);
  if (stated === null || stated === (readSpecies(species) ?? species)) return null;
  return `the device states the species ${shown(words)} (${stated}) and patient ${fp} is a ${species}`;
}

/** A snapshot with one more note; null stays null, the cause of the revision says it then. */
function noted(snapshot: string | null, note: string): string | null {
  if (snapshot === null) return null;
  const kept = JSON.parse(snapshot) as Snapshot;
  return JSON.stringify({ ...kept, notes: [...kept.notes, note] });
}

/** Takes a study off the list: it is nobody's. */
export async function rejectStudy(
  session: Session,
  { fp, reason, ...act }: Act & { fp: string; reason: string },
): Promise<string | null> {
  const stored = await findStored(session, fp);
  const problem = whyNotTouch(stored, fp);
  if (stored?.clinic_id == null) return problem;
  if (stored.patient_id !== null) return `${fp} is filed to ${stored.patient_fp}, expected one that is unmatched`;
  if (stored.rejected_reason !== null) return `${fp} is rejected already: ${stored.rejected_reason}`;
  await change(session, stored, { rejected_reason: reason, cause: "rejected" }, act);
  await noteAct(session, "unmatched reject", [fp], act);
  return null;
}

/** Takes back what a person did: the study waits for a person again, without range and flag. */
export async function undoPlacing(session: Session, { fp, ...act }: Act & { fp: string }): Promise<string | null> {
  const stored = await findStored(session, fp);
  const problem = whyNotTouch(stored, fp);
  if (stored?.clinic_id == null) return problem;
  const isRejected = stored.rejected_reason !== null;
  if (stored.by_person === 0 || (stored.patient_id === null && !isRejected)) {
    return `${fp} was neither assigned nor rejected by a person`;
  }
  const unmatched_reason = isRejected
    ? "a person rejected it and took that back"
    : `a person took it back from ${stored.patient_fp}`;
  const flagged = await flagFor(session, stored, null);
  await change(
    session,
    stored,
    { ...flagged, patient_id: null, unmatched_reason, rejected_reason: null, cause: "undone" },
    act,
  );
  await noteAct(session, "unmatched reopen", [fp, stored.patient_fp], act);
  return null;
}

function whyNotTouch(stored: StoredStudy | undefined, fp: string): string | null {
  if (stored === undefined) return `study ${fp} does not exist`;
  if (stored.clinic_id === null) return `${fp} was imported, expected a study that a clinic's agent sent`;
  return null;
}

async function change(
  session: Session,
  stored: StoredStudy,
  changed: Partial<StudyColumns> & Pick<StudyColumns, "cause">,
  { now }: Act,
): Promise<void> {
  const { id: _id, patient_fp: _patient, ...columns } = stored;
  const row = { ...columns, ...changed, revision: stored.revision + 1, by_person: 1, received_at: now };
  await replaceStudy(session, stored, row, now);
}

/** One row of the audit for each record that a command of a person touches; the request id holds them together. */
export async function noteAct(
  session: Session,
  command: string,
  fps: readonly (string | null)[],
  { by, now }: Act,
): Promise<void> {
  const request_id = newUlid();
  for (const fp of fps) {
    if (fp === null) continue;
    const row = { at: now, request_id, api_key_id: null, method: "COMMAND", route: command, fp, count: null };
    await insertRow(session, { ...row, status: null, address: by, times: 1 });
  }
}

/** A revision that was in force, and what ended it. */
export interface HistoryEntry {
  revision: number;
  cause: StudyCause | null;
  /** When this revision came, by an agent, a file or a person. */
  at: string;
  patient_fp: string | null;
  unmatched_reason: string | null;
  rejected_reason: string | null;
  study: Study;
  snapshot: Snapshot | null;
}

/** All revisions of a study, the first one first. */
export async function historyOf(session: Session, fp: string): Promise<HistoryEntry[]> {
  const stored = await findStored(session, fp);
  if (stored === undefined) return [];
  const replaced = await session.all(revisionsOf, { studyId: stored.id });
  const earlier = replaced.map(({ revision, body, received_at }): HistoryEntry => {
    const study = JSON.parse(body) as ReplacedStudy;
    return {
      revision,
      cause: study.cause ?? null,
      at: instant(received_at),
      patient_fp: study.patient_fp || null,
      unmatched_reason: study.unmatched_reason,
      rejected_reason: study.rejected_reason ?? null,
      study: inOrder(study),
      snapshot: (study.snapshot ?? null) as Snapshot | null,
    };
  });
  const { revision, cause, received_at, patient_fp, unmatched_reason, rejected_reason } = stored;
  const snapshot = parsed(stored.snapshot) as Snapshot | null;
  const current = { revision, cause, at: instant(received_at), patient_fp, unmatched_reason, rejected_reason };
  return [...earlier, { ...current, study: inOrder(toStudy(stored)), snapshot }];
}

/** A revision that an agent sent and that contradicts what is stored. */
export interface Conflict {
  fp: string;
  at: string;
  revision: number;
  reason: string;
  study: Study;
}

/** The conflicts about one study, or of one clinic, or all of them; the oldest first. */
export async function listConflicts(
  session: Session,
  { fp, clinicId }: { fp?: string; clinicId?: number },
): Promise<Conflict[]> {
  const rows = await session.all(conflicts, {});
  return rows
    .filter((row) => (fp ?? row.fp) === row.fp && (clinicId ?? row.clinic_id) === row.clinic_id)
    .map(({ fp: about, received_at, revision, reason, body }) => ({
      fp: about,
      at: instant(received_at),
      revision,
      reason,
      study: inOrder(JSON.parse(body) as Study),
    }));
}

function toUnmatched(row: StudyColumns & { clinic_fp: string }): UnmatchedStudy {
  return {
    fp: row.fp,
    clinic_fp: row.clinic_fp,
    received_at: instant(row.received_at),
    modality: row.modality,
    device_name: row.device_name,
    acquired_at: instant(row.acquired_at),
    hint: parsed(row.patient_hint) as PatientHint | null,
    reason: row.unmatched_reason,
    rejected_reason: row.rejected_reason,
  };
}

const resultKeys = Object.keys(Result.properties) as (keyof Result)[];

/** The API's fields alone, in their published order. */
function inOrder({ fp, patient_fp, modality, device_name, status, acquired_at, results }: Study): Study {
  const ordered = results.map(
    (result) =>
      Object.fromEntries(
        resultKeys.flatMap((key) => (Object.hasOwn(result, key) ? [[key, result[key]]] : [])),
      ) as Result,
  );
  return { fp, patient_fp, modality, device_name, status, acquired_at, results: ordered };
}

function parsed(text: string | null): unknown {
  return text === null ? null : (JSON.parse(text) as unknown);
}

function instant(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

const unmatched = query((db, p: { after: number }) =>
  db
    .selectFrom("study")
    .innerJoin("clinic", "clinic.id", "study.clinic_id")
    .selectAll("study")
    .select("clinic.fp as clinic_fp")
    .where("study.patient_id", "is", null)
    .where("study.id", ">", p.after)
    .orderBy("study.id")
    .limit(1000),
);

const deletedPatient = query((db, p: { fp: string }) =>
  db.selectFrom("patient").select("id").where("fp", "=", p.fp).where("deleted_at", "is not", null),
);

const clinicFp = query((db, p: { id: number }) => db.selectFrom("clinic").select("fp").where("id", "=", p.id));

const appointedOn = query((db, p: { clinicId: number; from: number; to: number }) =>
  db
    .selectFrom("calendar_event")
    .select("patient_id")
    .where("clinic_id", "=", p.clinicId)
    .where("start_at", ">=", p.from)
    .where("start_at", "<", p.to)
    .where("status", "!=", "CANCELLED"),
);

const patientsOfClinic = query((db, p: { clinicId: number }) =>
  db
    .selectFrom("connection")
    .innerJoin("patient", "patient.id", "connection.patient_id")
    .innerJoin("customer", "customer.id", "patient.owner_customer_id")
    .selectAll("patient")
    .select("customer.fp as owner_customer_fp")
    .where("connection.clinic_id", "=", p.clinicId)
    .where("connection.listed", "=", 1),
);

const identifiersOfClinic = query((db, p: { clinicId: number }) =>
  db
    .selectFrom("connection")
    .innerJoin("patient_identifier", "patient_identifier.patient_id", "connection.patient_id")
    .select(["patient_identifier.patient_id", "patient_identifier.identifier"])
    .where("connection.clinic_id", "=", p.clinicId)
    .where("connection.listed", "=", 1),
);

const hintsOf = query((db, p: { clinicId: number; patientId: number }) =>
  db
    .selectFrom("study")
    .select("patient_hint")
    .where("patient_id", "=", p.patientId)
    .where("clinic_id", "=", p.clinicId)
    .where("patient_hint", "is not", null)
    .orderBy("acquired_at", "desc")
    .limit(20),
);

const revisionsOf = query((db, p: { studyId: number }) =>
  db
    .selectFrom("study_revision")
    .select(["revision", "body", "received_at"])
    .where("study_id", "=", p.studyId)
    .orderBy("revision"),
);

const conflicts = query((db) =>
  db
    .selectFrom("study_conflict")
    .innerJoin("study", "study.id", "study_conflict.study_id")
    .select(["study.fp", "study_conflict.clinic_id", "study_conflict.revision", "study_conflict.reason"])
    .select(["study_conflict.body", "study_conflict.received_at"])
    .orderBy("study_conflict.id"),
);
