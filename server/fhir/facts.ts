import type { Session } from "../database/query.ts";
import { parseStored } from "../database/schema.ts";
import { findPatient } from "../records/patients/patients.ts";
import { findWalkedOrder, orderStatus, type WalkedOrder } from "../records/walks/walked-orders.ts";
import { listClinicNames, type WalkedPatient } from "../records/walks/walked-patients.ts";
import { listFiledRevisions, type WalkedStudy } from "../records/walks/walked-studies.ts";
import type { OrderFacts, OrderName, PatientFacts, StudyFacts } from "./resources/facts.ts";
import { historyOf } from "./resources/history.ts";

// Reads what the encoders need of a record, for the clinic of a key.

export async function factsOfPatient(
  session: Session,
  clinicId: number,
  { id, patient }: WalkedPatient,
): Promise<PatientFacts> {
  return { patient, names: await listClinicNames(session, clinicId, id) };
}

/** Finds a patient that the clinic reads. */
export async function findPatientFacts(
  session: Session,
  clinicId: number,
  fp: string,
): Promise<{ readonly connected: boolean; readonly facts: PatientFacts } | undefined> {
  const found = await findPatient(session, clinicId, fp);
  if (found === undefined) return undefined;
  return { connected: found.connected, facts: await factsOfPatient(session, clinicId, found) };
}

export async function factsOfStudy(session: Session, clinicId: number, walked: WalkedStudy): Promise<StudyFacts> {
  const { id, study, species, revision, receivedAt, changedAt, source, quality } = walked;
  const order = study.order && (await findWalkedOrder(session, clinicId, study.order.fp));
  // Most studies have one revision.
  const earlier = revision === 1 ? [] : await listFiledRevisions(session, id);
  return {
    ...{ study, species, issuedAt: receivedAt, updatedAt: changedAt },
    studyInstanceUid: source?.study_instance_uid ?? null,
    quality,
    history: historyOf(
      { patientFp: study.patient_fp, results: study.results },
      earlier.map(({ patient_fp, results }) => ({ patientFp: patient_fp, results })),
    ),
    order: order === undefined ? null : nameOfOrder(order),
  };
}

export async function factsOfOrder(session: Session, row: WalkedOrder): Promise<OrderFacts> {
  return {
    ...nameOfOrder(row),
    patientFp: row.patient_fp,
    tests: parseStored(row.tests),
    orderedAt: row.ordered_at,
    updatedAt: row.changed_at,
    status: await orderStatus(session, row),
  };
}

function nameOfOrder({ fp, accession, panel, source, placer_number }: WalkedOrder): OrderName {
  const placer = source === null || placer_number === null ? null : { source, number: placer_number };
  return { fp, accession, panel, placer };
}
