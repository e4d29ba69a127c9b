import { setImmediate as nextTurn } from "node:timers/promises";
import type { FilingCode } from "../../../shared/api/filing-code.ts";
import type { Patient } from "../../../shared/api/patient.ts";
import { type Reason, reasonOf } from "../../../shared/api/reason.ts";
import type { Outcome, PushedStudy } from "../../../shared/api/study.ts";
import { filingReasonText } from "../../../shared/clinical/filing-reasons.ts";
import { measurementKey } from "../../../shared/clinical/measurement-key.ts";
import { flagMismatchNote } from "./flagging.ts";
import { movedMatch } from "./moved-match.ts";
import { decideFiling, type FilingInput, type FilingOutcome, type Unmatched } from "./study-filing.ts";
import { DamagedRecord } from "../../database/damaged-records.ts";
import { query, type Session } from "../../database/query.ts";
import { parseStored, type StoredSource, type StudyColumns } from "../../database/schema.ts";
import { findOrder, type OrderOfSample } from "../orders/orders.ts";
import { findPatient, survivorOf } from "../patients/patients.ts";
import { controlsOf, qualityColumn, type ControlsOf } from "../quality-marks/remark-studies.ts";
import { storeConflict } from "../studies/conflicts.ts";
import { flagForPatient, intervalAnimal } from "../studies/flags.ts";
import { findMatchFacts } from "./match-facts.ts";
import {
  findForPush,
  findStoredStudy,
  insertStudy,
  replaceStudy,
  reviseStudy,
  type StoredStudy,
  type StudyWrite,
  updateStudy,
} from "../studies/studies.ts";
import { contentHash, storedMeasurementKey, describeStudy } from "../studies/study-content.ts";
import { recordCodes } from "../codes/unknown-codes.ts";

// Files the studies that an agent pushed.

/** Studies that are filed in one turn of the event loop. */
const STUDIES_PER_TURN = 10;

/**
 * Files pushed studies of a clinic. Run it in a transaction. If `conceal` is set, a patient that only other clinics are
 * connected to counts as unknown. `room` is the number of new studies that the clinic may store.
 * @returns one outcome for each study, in order
 */
export async function fileStudies(
  session: Session,
  clinicId: number,
  studies: readonly PushedStudy[],
  now: number,
  { conceal = false, room = Number.POSITIVE_INFINITY }: { conceal?: boolean; room?: number } = {},
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const left = { studies: room };
  const controls = controlsOf(session, clinicId);
  // Sequential: a batch may hold several revisions of one study.
  for (const pushed of studies) {
    outcomes.push(await fileOrReject(session, { clinicId, pushed, now, conceal, left, controls }));
    // On SQLite no query gives up the turn, and other requests would wait for the complete push of an agent that catches up.
    if (outcomes.length % STUDIES_PER_TURN === 0) await nextTurn();
  }
  return outcomes;
}

/** One pushed study and its sender. */
interface Push {
  readonly clinicId: number;
  readonly pushed: PushedStudy;
  readonly now: number;
  readonly conceal: boolean;
  /** Room for new studies, which an insert lowers. */
  readonly left: { studies: number };
  readonly controls: ControlsOf;
}

/** Files a study. A damaged row rejects it, because the other studies of the push must not wait for it. */
async function fileOrReject(session: Session, push: Push): Promise<Outcome> {
  try {
    return withWords(push.pushed.fp, await fileStudy(session, push));
  } catch (error) {
    if (!(error instanceof DamagedRecord)) throw error;
    return withWords(push.pushed.fp, { outcome: "rejected", reason: reasonOf("RECORD.DAMAGED", error.message) });
  }
}

function withWords(fp: string, { outcome, reason, ...rest }: FilingOutcome): Outcome {
  return { fp, outcome, reason: reason && filingReasonText(reason), ...reason, ...rest };
}

async function fileStudy(session: Session, push: Push): Promise<FilingOutcome> {
  const { clinicId, pushed, now } = push;
  const records = await findRecords(session, push);
  const { stored, twin, patient, order } = records;
  const { write, outcome } = decideFiling(filingInput(push, records));
  const place = { filedTo: outcome.outcome === "filed" ? patient : undefined, order, outcome };
  switch (write) {
    case "insert":
      push.left.studies -= 1;
      await insertStudy(session, await studyRow(session, push, stored, place));
      await recordCodes(session, clinicId, pushed, [], now);
      break;
    case "replace":
      if (stored) {
        const row = await studyRow(session, push, stored, place);
        await replaceStudy(session, stored, { ...row, revision: Math.max(pushed.revision, stored.revision + 1) }, now);
        await recordCodes(session, clinicId, pushed, parseStored(stored.results), now);
      }
      break;
    case "assign":
      if (stored) {
        const row = await studyRow(session, push, stored, place);
        const { revision, received_at } = stored;
        await updateStudy(session, stored, { ...row, revision, received_at }, now);
      }
      break;
    case "overwrite":
      if (stored) {
        // The own content of a damaged study does not count.
        const row = await studyRow(session, push, undefined, place);
        await updateStudy(session, stored, { ...row, revision: Math.max(pushed.revision, stored.revision) }, now);
      }
      break;
    case "assign twin":
      if (twin && place.filedTo) await fileTwin(session, push, twin, { filedTo: place.filedTo, order });
      break;
    case "nothing": {
      const contradicted = stored ?? twin;
      if (outcome.outcome === "conflict" && contradicted) {
        const { revision } = pushed;
        const conflict = { study_id: contradicted.id, clinic_id: clinicId, content_hash: hashOf(pushed), revision };
        const body = JSON.stringify(pushed);
        await storeConflict(session, { ...conflict, reason: JSON.stringify(outcome.reason), body, received_at: now });
      }
      break;
    }
  }
  return outcome;
}

type PatientRecord = NonNullable<Awaited<ReturnType<typeof findPatient>>>;

/** Records that decide the filing of a pushed study. */
interface Records {
  /** Study with the same fp. */
  readonly stored: StoredStudy | undefined;
  readonly isDamaged: boolean;
  /** Content hash of the pushed revision, if a later revision replaced it. */
  readonly replacedHash: string | null;
  /** Another study of the clinic with the same dedupe key. */
  readonly twin: StoredStudy | undefined;
  /** The patient that the agent named, or the one that it was merged into. */
  readonly namedFp: string | null;
  readonly patientFp: string | null;
  readonly patient: PatientRecord | undefined;
  /** The clinic's order that the push names. */
  readonly order: OrderOfSample | undefined;
  /** Why what the agent matched by does not name the patient now; null if it does. */
  readonly moved: Unmatched | null;
}

async function findRecords(session: Session, { clinicId, pushed, conceal }: Push): Promise<Records> {
  const { fp, revision, dedupe_key: dedupeKey } = pushed;
  const { stored, isDamaged } = await findForPush(session, fp);
  const replaced = stored && (await session.first(replacedRevision, { studyId: stored.id, revision }));
  const sameKey = await session.first(byDedupeKey, { clinicId, dedupeKey, fp });
  const twin = sameKey && (await findStoredStudy(session, sameKey.fp));

  // The agent's copy of the directory may have a patient that was merged since.
  const namedFp = pushed.patient_fp === null ? null : await survivorOf(session, pushed.patient_fp);
  // A correction without a patient stays with the stored patient. A user's choice of patient overrides the agent's.
  const claimedFp = stored?.placed_by_user === 1 ? null : namedFp;
  const patientFp = claimedFp ?? (isDamaged ? null : stored?.patient_fp) ?? null;
  const known = patientFp === null ? undefined : await findPatient(session, clinicId, patientFp);
  const patient = conceal && known?.connected === false ? undefined : known;
  const order = pushed.order_fp === undefined ? undefined : await findOrder(session, clinicId, pushed.order_fp);
  const isFiledThere = !isDamaged && stored?.patient_fp === claimedFp;
  const moved =
    claimedFp === null || isFiledThere || patient === undefined
      ? null
      : movedMatch(pushed, patient.patient, await findMatchFacts(session, clinicId, pushed, patient, order));
  return {
    stored,
    isDamaged,
    replacedHash: replaced?.content_hash ?? null,
    twin,
    namedFp,
    patientFp,
    patient,
    order,
    moved,
  };
}

function filingInput({ clinicId, pushed, left }: Push, records: Records): FilingInput {
  const { stored, isDamaged, replacedHash, twin, namedFp, patientFp, patient, moved } = records;
  const isLeftUnmatched = stored?.placed_by_user === 1 && patientFp === null;
  return {
    pushed: {
      revision: pushed.revision,
      contentHash: hashOf(pushed),
      measurementKey: measurementKey(pushed.results),
      patientFp: namedFp,
      severalAnimals: severalAnimals(pushed),
    },
    stored: stored
      ? {
          isOwn: stored.clinic_id === clinicId,
          isDamaged,
          isUnmatched: stored.patient_id === null,
          isPlacedByUser: stored.placed_by_user === 1,
          patientFp: stored.patient_fp,
          revision: stored.pushed_revision ?? 0,
          contentHash: stored.content_hash,
        }
      : null,
    replacedHash,
    hasRoom: left.studies > 0,
    twin: twin
      ? {
          fp: twin.fp,
          measurementKey: storedMeasurementKey(twin),
          isUnmatched: twin.patient_id === null,
          unmatchedReason: parseStored(twin.unmatched_reason),
          isPlacedByUser: twin.placed_by_user === 1,
        }
      : null,
    unmatched:
      isLeftUnmatched && stored.unmatched_reason !== null
        ? reasonOf("PATIENT.LEFT_OPEN", filingReasonText(parseStored(stored.unmatched_reason)))
        : (withoutPatient(patientFp, patient) ?? moved),
  };
}

const OF_SEVERAL: readonly string[] = ["MATCH.SEVERAL_PATIENTS", "MATCH.ACCESSION_OF_OTHER"] satisfies FilingCode[];

function severalAnimals({ snapshot, unmatched }: PushedStudy): Reason | null {
  const isOfImages = snapshot?.images !== undefined;
  return isOfImages && unmatched !== undefined && OF_SEVERAL.includes(unmatched.code) ? unmatched : null;
}

function withoutPatient(patientFp: string | null, patient: { connected: boolean } | undefined): Unmatched | null {
  if (patientFp === null) return reasonOf("PATIENT.NONE");
  if (patient === undefined) return reasonOf("PATIENT.UNKNOWN", patientFp);
  if (patient.connected) return null;
  return reasonOf("PATIENT.NOT_CONNECTED", patientFp);
}

/** The agent knows why it found no patient; the server knows only that the push names none. */
function unmatchedReason({ unmatched }: PushedStudy, { reason }: FilingOutcome): Reason | null {
  return reason?.code === ("PATIENT.NONE" satisfies FilingCode) ? (unmatched ?? reason) : reason;
}

/** Where a pushed study goes. */
interface Placed {
  /** Undefined if the study stays unmatched. */
  readonly filedTo: PatientRecord | undefined;
  readonly order: OrderOfSample | undefined;
  readonly outcome: FilingOutcome;
}

/** Builds the row of a pushed study. */
async function studyRow(
  session: Session,
  { clinicId, pushed, now, controls }: Push,
  stored: StoredStudy | undefined,
  { filedTo, order, outcome }: Placed,
): Promise<StudyWrite> {
  const hasSameValues = stored !== undefined && storedMeasurementKey(stored) === measurementKey(pushed.results);
  const row: StudyWrite = {
    fp: pushed.fp,
    clinic_id: clinicId,
    patient_id: filedTo?.id ?? null,
    unmatched_reason: outcome.outcome === "unmatched" ? JSON.stringify(unmatchedReason(pushed, outcome)) : null,
    claimed_patient_fp: pushed.patient_fp,
    ...describeStudy(pushed),
    revision: pushed.revision,
    dedupe_key: pushed.dedupe_key,
    content_hash: hashOf(pushed),
    source: JSON.stringify(sourceOf(pushed)),
    patient_hint: JSON.stringify(pushed.patient_hint),
    snapshot: pushed.snapshot === undefined ? null : JSON.stringify(pushed.snapshot),
    received_at: now,
    pushed_revision: pushed.revision,
    cause: "pushed",
    placed_by_user: stored?.placed_by_user ?? 0,
    // New values return a rejected study to the list. A new patient alone does not.
    rejected_reason: hasSameValues ? stored.rejected_reason : null,
    ...orderColumns(order, stored),
  };
  row.quality = await qualityColumn(controls, row, stored?.quality ?? null);
  return filedTo === undefined ? row : { ...row, ...(await reflagged(session, row, pushed, filedTo.patient)) };
}

function sourceOf({ source, matched_by }: PushedStudy): StoredSource {
  return matched_by === undefined ? source : { ...source, matched_by: matched_by.by };
}

/** The order of the push, else the one that the study had: a later message of an older agent names none. */
function orderColumns(order: OrderOfSample | undefined, stored: StoredStudy | undefined) {
  if (order !== undefined) return { order_fp: order.fp, order_number: order.placer_number };
  return { order_fp: stored?.order_fp ?? null, order_number: stored?.order_number ?? null };
}

/** Flags a study again if the agent flagged it for other facts of the patient. The content hash stays the agent's. */
async function reflagged(
  session: Session,
  row: StudyWrite,
  pushed: PushedStudy,
  patient: Patient,
): Promise<Partial<Pick<StudyColumns, "results" | "snapshot">>> {
  const note =
    pushed.results.length === 0 ? null : flagMismatchNote(pushed, await intervalAnimal(session, patient), patient);
  if (note === null) return {};
  const { results, snapshot } = await flagForPatient(session, row, patient);
  // Without a snapshot some analyte is unknown, and the rows describe intervals of another patient.
  const flagged = snapshot === null ? { rows: [] } : parseStored(snapshot);
  const whole = pushed.snapshot && { ...pushed.snapshot, ...flagged, notes: [...pushed.snapshot.notes, note] };
  return { results, snapshot: whole === undefined ? snapshot : JSON.stringify(whole) };
}

/** Files an unmatched study under its own fp to the patient of a push with the same dedupe key and results. */
async function fileTwin(
  session: Session,
  { pushed, now }: Push,
  twin: StoredStudy,
  { filedTo: { id, patient }, order }: { readonly filedTo: PatientRecord; readonly order: OrderOfSample | undefined },
): Promise<void> {
  const flagged = { ...(await flagForPatient(session, twin, patient)), ...orderColumns(order, twin) };
  const filed = { patient_id: id, claimed_patient_fp: pushed.patient_fp, unmatched_reason: null } as const;
  await reviseStudy(session, twin, { ...flagged, ...filed, cause: "pushed" }, now);
}

function hashOf(pushed: PushedStudy): string {
  return contentHash(pushed, pushed.dedupe_key, pushed.source.device_id);
}

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
