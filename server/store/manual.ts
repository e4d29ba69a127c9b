import { createHash } from "node:crypto";
import { newFp } from "../../shared/api/fp.ts";
import { resultsOf } from "../../shared/clinical/results.ts";
import { signalmentAt } from "../../shared/clinical/signalment.ts";
import type { ManualEntry } from "../domain/manual-study.ts";
import { type Act, noteAct, whyNoPatient } from "./unmatched.ts";
import { findPatient } from "./patients.ts";
import { query, type Session } from "./query.ts";
import { currentRanges } from "./ranges.ts";
import { canonical, describeStudy, insertStudy } from "./studies.ts";

/** The clinics that are connected to a patient: one of them must be the one whose intervals a typed study is held against. */
export async function clinicsOfPatient(session: Session, patientFp: string): Promise<{ id: number; fp: string }[]> {
  return session.all(connectedClinics, { patientFp });
}

/** Stores what a person typed as a study of the patient, with range and flag; its fp, or why not. To be run in a transaction. */
export async function addStudy(
  session: Session,
  { clinicId, patientFp, entry, ...act }: Act & { clinicId: number; patientFp: string; entry: ManualEntry },
): Promise<{ fp: string } | { problem: string }> {
  const patient = await findPatient(session, clinicId, patientFp);
  if (patient === undefined) return { problem: await whyNoPatient(session, patientFp) };
  if (!patient.connected) return { problem: `patient ${patientFp} has no active connection to the clinic` };
  const { modality, device_name, acquired_at, measurements } = entry;
  const signalment = signalmentAt(patient.patient, acquired_at);
  const ranges = (await currentRanges(session, clinicId)) ?? null;
  const { results, snapshot } = resultsOf(measurements, { signalment, instrument: device_name, acquired_at, ranges });
  const fp = newFp("cds");
  const study = { fp, modality, device_name, status: "COMPLETED" as const, acquired_at, results };
  const described = describeStudy(study);
  await insertStudy(session, {
    ...described,
    fp,
    clinic_id: clinicId,
    patient_id: patient.id,
    unmatched_reason: null,
    sent_patient_fp: patientFp,
    revision: 1,
    dedupe_key: null,
    content_hash: createHash("sha256").update(canonical(described)).digest("hex"),
    source: null,
    patient_hint: null,
    snapshot: JSON.stringify(snapshot),
    received_at: act.now,
    pushed_revision: null,
    cause: "entered",
    by_person: 1,
    rejected_reason: null,
  });
  await noteAct(session, "study add", [fp, patientFp], act);
  return { fp };
}

const connectedClinics = query((db, p: { patientFp: string }) =>
  db
    .selectFrom("connection")
    .innerJoin("patient", "patient.id", "connection.patient_id")
    .innerJoin("clinic", "clinic.id", "connection.clinic_id")
    .select(["clinic.id", "clinic.fp"])
    .where("patient.fp", "=", p.patientFp)
    .where("connection.listed", "=", 1)
    .orderBy("clinic.fp"),
);
