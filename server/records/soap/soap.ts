import { createHash } from "node:crypto";
import { timestampOrNull } from "../../../shared/runtime/timestamp.ts";
import { newFp } from "../../../shared/api/fp.ts";
import type { Soap, SoapStatus } from "../../../shared/api/soap.ts";
import { announceSoap } from "../changes/clinic-soap.ts";
import { amendmentProblem, isSigned, soapChangeProblem, soapStatusProblem } from "./soap-rules.ts";
import { query, type Session } from "../../database/query.ts";
import type { SoapColumns } from "../../database/schema.ts";
import { type Refusal, refusal, refusalWords } from "../../dashboard/types/refusals.ts";
import { addEventsOfSoap } from "../webhooks/events.ts";

// SOAP records. Triggers of the table protect signed records. The checks here report the reason first.

/**
 * Finds a record and whether the clinic is connected to its patient.
 * @returns undefined if the record is unknown or its patient is deleted
 */
export async function findSoap(
  session: Session,
  clinicId: number,
  fp: string,
): Promise<{ connected: boolean; soap: Soap } | undefined> {
  const row = await session.first(visibleByFp, { clinicId, fp });
  if (row === undefined) return undefined;
  return { connected: row.active === 1, soap: toSoap(row) };
}

/**
 * Stores a record of an import file. The records of the clinic `recordOwnerId` may move to another clinic.
 * @returns a problem if the line changes a signed record, breaks the order of statuses, or changes the owner of another record
 */
export async function importSoap(
  session: Session,
  soap: Soap & { amends_fp: string | null },
  ids: { patientId: number; clinicId: number; recordOwnerId: number | null },
  now: number,
): Promise<"new" | "changed" | "unchanged" | { problem: string }> {
  const row: SoapColumns = {
    fp: soap.fp,
    patient_id: ids.patientId,
    clinic_id: ids.clinicId,
    soap_type: soap.soap_type,
    status: soap.status,
    subjective: soap.subjective,
    objective: soap.objective,
    assessment: soap.assessment,
    plan: soap.plan,
    signed_at: soap.signed_at === null ? null : Date.parse(soap.signed_at),
    created_at: Date.parse(soap.created_at),
    amends_fp: soap.amends_fp,
  };
  const stored = await session.first(storedByFp, { fp: soap.fp });
  if (stored === undefined) {
    await addRecord(session, row, now);
    return "new";
  }
  const differing = (Object.keys(row) as (keyof SoapColumns)[])
    .filter((column) => column !== "status" && stored[column] !== row[column])
    .map((column) => apiNames[column] ?? column);
  const problem = soapChangeProblem(stored.status, row.status, differing);
  if (problem !== null) return { problem: refusalWords(problem) };
  if (stored.clinic_id !== row.clinic_id && stored.clinic_id !== ids.recordOwnerId) {
    return {
      problem: ownerProblem(soap.performed_by_clinic_fp, (await session.first(clinicFp, { id: stored.clinic_id }))?.fp),
    };
  }
  if (differing.length === 0 && stored.status === row.status) return "unchanged";
  await replaceRecord(session, stored, row, now);
  return "changed";
}

function ownerProblem(fp: string, owner = "unknown"): string {
  return `performed_by_clinic_fp is ${fp}, expected ${owner} that owns the stored record, or --owner ${owner} to give it away`;
}

const apiNames: Partial<Record<keyof SoapColumns, string>> = {
  patient_id: "patient_fp",
  clinic_id: "performed_by_clinic_fp",
};

/** Checks the amendment of an imported record. Call it after all records of the file are stored. @returns null if it is valid */
export async function storedAmendmentProblem(session: Session, fp: string, amendsFp: string): Promise<string | null> {
  const amendment = await session.first(storedByFp, { fp });
  // The record was refused, and its problem is reported already.
  if (amendment === undefined) return null;
  const original = await session.first(storedByFp, { fp: amendsFp });
  if (original === undefined) return `amends_fp is ${amendsFp}, which is neither in the file nor in the database`;
  const problem = amendmentProblem(
    { fp, patientId: amendment.patient_id },
    { ...original, patientId: original.patient_id },
  );
  if (problem !== null) return refusalWords(problem);

  // Records of a file may amend each other in a circle.
  const met = new Set([fp]);
  for (let next: string | null = amendsFp; next !== null; ) {
    if (met.has(next)) return `amends_fp is ${amendsFp}, which amends this record itself in turn`;
    met.add(next);
    next = (await session.first(storedByFp, { fp: next }))?.amends_fp ?? null;
  }
  return null;
}

/** The fields that a user writes. */
export type SoapContent = Pick<Soap, "soap_type" | "subjective" | "objective" | "assessment" | "plan">;

/**
 * Identifies the content of a record. A user who edits or signs names it, so that nobody overwrites or signs a text of another
 * user unseen.
 */
export function contentVersion({ soap_type, subjective, objective, assessment, plan }: SoapContent): string {
  const content = JSON.stringify([soap_type, subjective, objective, assessment, plan]);
  return createHash("sha256").update(content).digest("hex");
}

/** Stores a new DRAFT of a clinic. Run it in a transaction. @returns its fp */
export async function writeSoap(
  session: Session,
  { clinicId, patientId, content, now }: { clinicId: number; patientId: number; content: SoapContent; now: number },
): Promise<string> {
  const fp = newFp("soap");
  const isNew = { status: "DRAFT" as const, signed_at: null, created_at: now, amends_fp: null };
  const row = { ...content, ...isNew, fp, clinic_id: clinicId, patient_id: patientId };
  await addRecord(session, row, now);
  return fp;
}

/** Changes the content of an unsigned record for its owner. Run it in a transaction. @returns the reason if it is illegal, else null */
export async function editSoap(
  session: Session,
  { clinicId, fp, changes, now }: { clinicId: number; fp: string; changes: Partial<SoapContent>; now: number },
): Promise<Refusal | null> {
  const stored = await session.first(storedByFp, { fp });
  if (stored?.clinic_id !== clinicId) return notOwned(fp);
  const differing = (Object.keys(changes) as (keyof SoapContent)[]).filter((name) => changes[name] !== stored[name]);
  const problem = soapChangeProblem(stored.status, stored.status, differing);
  if (problem !== null) return problem;
  if (differing.length > 0) await replaceRecord(session, stored, { ...stored, ...changes }, now);
  return null;
}

/** Advances the status of a record for its owner. Run it in a transaction. @returns the reason if it is illegal, else null */
export async function moveSoap(
  session: Session,
  { clinicId, fp, to, now }: { clinicId: number; fp: string; to: SoapStatus; now: number },
): Promise<Refusal | null> {
  const stored = await session.first(storedByFp, { fp });
  if (stored?.clinic_id !== clinicId) return notOwned(fp);
  const problem = soapStatusProblem(stored.status, to);
  if (problem !== null) return problem;
  const signed_at = to === "SIGNED" ? now : stored.signed_at;
  await replaceRecord(session, stored, { ...stored, status: to, signed_at }, now);
  return null;
}

/** Creates a DRAFT that amends a signed record and copies its text. Run it in a transaction. @returns its fp or the problem */
export async function amendSoap(
  session: Session,
  { clinicId, fp, now }: { clinicId: number; fp: string; now: number },
): Promise<{ fp: string } | { problem: Refusal }> {
  const original = await session.first(storedByFp, { fp });
  if (original?.clinic_id !== clinicId) return { problem: notOwned(fp) };
  const amendment = { ...original, fp: newFp("soap"), status: "DRAFT" as const, signed_at: null, created_at: now };
  const patientId = original.patient_id;
  const problem = amendmentProblem({ fp: amendment.fp, patientId }, { ...original, patientId });
  if (problem !== null) return { problem };
  await addRecord(session, { ...amendment, amends_fp: fp }, now);
  return { fp: amendment.fp };
}

async function addRecord(session: Session, row: SoapColumns, now: number): Promise<void> {
  await session.all(insert, row);
  const change = isSigned(row.status) ? "signed" : "created";
  await addEventsOfSoap(session, { fp: row.fp, patientId: row.patient_id, previousPatientId: null, change });
  await announceSoap(session, { fp: row.fp, patientId: row.patient_id, previousPatientId: null, now });
}

async function replaceRecord(
  session: Session,
  { id, status, patient_id: previousPatientId }: SoapColumns & { id: number },
  row: SoapColumns,
  now: number,
): Promise<void> {
  await session.all(update, { ...row, id, previousPatientId });
  const change = isSigned(row.status) && !isSigned(status) ? "signed" : "changed";
  await addEventsOfSoap(session, { fp: row.fp, patientId: row.patient_id, previousPatientId, change });
  await announceSoap(session, { fp: row.fp, patientId: row.patient_id, previousPatientId, now });
}

// The reason must not reveal whether another clinic owns the record.
function notOwned(fp: string): Refusal {
  return refusal("SOAP.NOT_OWN", fp);
}

type SoapRow = Omit<SoapColumns, "patient_id" | "clinic_id"> & { patient_fp: string; performed_by_clinic_fp: string };

/** Converts a row to the record of the API, which has neither `amends_fp` nor ids. */
export function toSoap(row: SoapRow): Soap {
  return {
    fp: row.fp,
    patient_fp: row.patient_fp,
    soap_type: row.soap_type,
    status: row.status,
    subjective: row.subjective,
    objective: row.objective,
    assessment: row.assessment,
    plan: row.plan,
    performed_by_clinic_fp: row.performed_by_clinic_fp,
    signed_at: timestampOrNull(row.signed_at),
    created_at: new Date(row.created_at).toISOString(),
  };
}

const visibleByFp = query((db, p: { clinicId: number; fp: string }) =>
  db
    .selectFrom("soap")
    .innerJoin("patient", "patient.id", "soap.patient_id")
    .innerJoin("clinic", "clinic.id", "soap.clinic_id")
    .leftJoin("clinic_patient", (join) =>
      join.onRef("clinic_patient.patient_id", "=", "patient.id").on("clinic_patient.clinic_id", "=", p.clinicId),
    )
    .selectAll("soap")
    .select(["patient.fp as patient_fp", "clinic.fp as performed_by_clinic_fp", "clinic_patient.active"])
    .where("soap.fp", "=", p.fp)
    .where("patient.deleted_at", "is", null),
);

const clinicFp = query((db, p: { id: number }) => db.selectFrom("clinic").select("fp").where("id", "=", p.id));

const storedByFp = query((db, p: { fp: string }) =>
  db
    .selectFrom("soap")
    .innerJoin("patient", "patient.id", "soap.patient_id")
    .selectAll("soap")
    .select("patient.fp as patient_fp")
    .where("soap.fp", "=", p.fp),
);

const insert = query(
  (db, p: SoapColumns) => db.insertInto("soap").values(soapValues(p)),
  ({ patient_id }) => ({ patients: [patient_id] }),
);

// The clinics of the previous patient lose a draft that moves to another patient.
const update = query(
  (db, p: SoapColumns & { id: number; previousPatientId: number }) =>
    db.updateTable("soap").set(soapValues(p)).where("id", "=", p.id),
  ({ patient_id, previousPatientId }) => ({ patients: [patient_id, previousPatientId] }),
);

function soapValues(p: SoapColumns): SoapColumns {
  return {
    fp: p.fp,
    patient_id: p.patient_id,
    clinic_id: p.clinic_id,
    soap_type: p.soap_type,
    status: p.status,
    subjective: p.subjective,
    objective: p.objective,
    assessment: p.assessment,
    plan: p.plan,
    signed_at: p.signed_at,
    created_at: p.created_at,
    amends_fp: p.amends_fp,
  };
}
