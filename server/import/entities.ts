import { importStudy } from "../records/filing/import.ts";
import { clinicByFp, storeClinic, storeCustomer, storeCustomerSource, storeUser, userByFp } from "./clinics.ts";
import { type ImportContext, missing } from "./context.ts";
import type {
  CalendarEventLine,
  Entity,
  EventSourceLine,
  InventoryBatchLine,
  InventoryItemLine,
  SoapLine,
  StockMovementLine,
  StudyLine,
} from "./lines.ts";
import { importEvent, storedByFp } from "../records/calendar/calendar.ts";
import type { Session } from "../database/query.ts";
import { toPatient } from "../records/patients/patients.ts";
import { markOutdatedFlags } from "../records/filing/outdated-flags.ts";
import { importSoap, storedAmendmentProblem } from "../records/soap/soap.ts";
import { importMovement } from "../records/inventory/imported-movements.ts";
import { importBatch, importItem } from "../records/inventory/stock.ts";
import { type Change, patientByFp } from "../records/registry/animals.ts";
import { nameAppointment } from "../records/registry/appointments.ts";
import { checkMerge, storeConnection, storeMerge, storePatient, storePatientSource } from "./patients.ts";

// Stores the entities of an import.

/** Stores one entity under its fp. Run it in a transaction. @returns a problem if it refers to an unknown entity */
export async function storeEntity(
  session: Session,
  entity: Entity,
  context: ImportContext,
): Promise<Change | { problem: string }> {
  switch (entity.type) {
    case "clinic":
      return storeClinic(session, entity);
    case "user":
      return storeUser(session, entity);
    case "customer":
      return storeCustomer(session, entity);
    case "patient":
      return storePatient(session, entity, context);
    case "patient_source":
      return storePatientSource(session, entity);
    case "customer_source":
      return storeCustomerSource(session, entity);
    case "event_source":
      return storeEventSource(session, entity);
    case "connection":
      return storeConnection(session, entity, context);
    case "study":
      return storeStudy(session, entity, context);
    case "soap":
      return storeSoap(session, entity, context);
    case "calendar_event":
      return storeEvent(session, entity, context);
    case "inventory_item":
      return storeItem(session, entity, context);
    case "inventory_batch":
      return storeBatch(session, entity, context);
    case "stock_movement":
      return storeMovement(session, entity, context);
  }
}

/** Checks an amendment or a merge. Call it after all records of the import are stored. @returns null for any other entity */
export async function checkChain(session: Session, entity: Entity): Promise<{ problem: string } | null> {
  if (entity.type === "patient") return checkMerge(session, entity);
  if (entity.type !== "soap" || !entity.amends_fp) return null;
  const problem = await storedAmendmentProblem(session, entity.fp, entity.amends_fp);
  return problem === null ? null : { problem };
}

/** Links a merged patient. Call it after all patients of the import are stored. @returns null for any other entity */
export async function linkMerged(session: Session, entity: Entity): Promise<{ problem: string } | null> {
  return entity.type === "patient" ? storeMerge(session, entity) : null;
}

async function storeStudy(
  session: Session,
  { type: _type, ...study }: StudyLine,
  { now }: ImportContext,
): Promise<Change | { problem: string }> {
  const patient = await session.first(patientByFp, { fp: study.patient_fp });
  if (patient === undefined) return missing("patient_fp", study.patient_fp);
  const change = await importStudy(session, study, { id: patient.id, isDeleted: patient.deleted_at !== null }, now);
  // A study that an export names with its snapshot may have flags of other facts than its patient's.
  if (study.snapshot !== undefined) await markOutdatedFlags(session, patient.id, toPatient(patient), now, study.fp);
  return change;
}

async function storeSoap(
  session: Session,
  { type: _type, amends_fp = null, ...soap }: SoapLine,
  { recordOwnerId, now }: ImportContext,
): Promise<Change | { problem: string }> {
  const patient = await session.first(patientByFp, { fp: soap.patient_fp });
  if (patient === undefined) return missing("patient_fp", soap.patient_fp);
  const clinic = await session.first(clinicByFp, { fp: soap.performed_by_clinic_fp });
  if (clinic === undefined) return missing("performed_by_clinic_fp", soap.performed_by_clinic_fp);
  const ids = { patientId: patient.id, clinicId: clinic.id, recordOwnerId };
  return importSoap(session, { ...soap, amends_fp }, ids, now);
}

async function storeEvent(
  session: Session,
  { event_type, clinic_fp, ...line }: CalendarEventLine,
  { now }: ImportContext,
): Promise<Change | { problem: string }> {
  const { patient_fp, assigned_user_fp } = line;
  const clinic = await session.first(clinicByFp, { fp: clinic_fp });
  if (clinic === undefined) return missing("clinic_fp", clinic_fp);
  const patient = patient_fp === null ? null : await session.first(patientByFp, { fp: patient_fp });
  if (patient === undefined) return missing("patient_fp", patient_fp);
  const user = assigned_user_fp === null ? null : await session.first(userByFp, { fp: assigned_user_fp });
  if (user === undefined) return missing("assigned_user_fp", assigned_user_fp);
  const ids = { clinicId: clinic.id, patientId: patient?.id ?? null, userId: user?.id ?? null };
  return importEvent(session, { ...line, type: event_type }, ids, now);
}

/** Stores the name of an appointment in practice software. */
async function storeEventSource(
  session: Session,
  { clinic_fp, source, external_id, event_fp, updated_at, removed }: EventSourceLine,
): Promise<Change | { problem: string }> {
  const clinic = await session.first(clinicByFp, { fp: clinic_fp });
  if (clinic === undefined) return missing("clinic_fp", clinic_fp);
  if (event_fp !== null && (await session.first(storedByFp, { fp: event_fp })) === undefined) {
    return missing("event_fp", event_fp);
  }
  const updatedAt = updated_at === null ? null : Date.parse(updated_at);
  const name = { clinicId: clinic.id, source, externalId: external_id };
  return nameAppointment(session, { ...name, fp: event_fp, updatedAt, removed }, { batch: null });
}

async function storeItem(
  session: Session,
  { type: _type, clinic_fp, ...item }: InventoryItemLine,
  { now }: ImportContext,
): Promise<Change | { problem: string }> {
  const clinic = await session.first(clinicByFp, { fp: clinic_fp });
  if (clinic === undefined) return missing("clinic_fp", clinic_fp);
  return importItem(session, item, clinic.id, now);
}

async function storeBatch(
  session: Session,
  { item_fp, lot, quantity, received_at, expiry_date }: InventoryBatchLine,
  { now }: ImportContext,
): Promise<Change | { problem: string }> {
  const batch = { lot, quantity, received_at: Date.parse(received_at), expiry_date };
  return (await importBatch(session, item_fp, batch, now)) ?? missing("item_fp", item_fp);
}

async function storeMovement(
  session: Session,
  { type: _type, item_fp, patient_fp, at, batch, ...line }: StockMovementLine,
  { now, histories }: ImportContext,
): Promise<Change | { problem: string }> {
  const patient = patient_fp === null ? null : await session.first(patientByFp, { fp: patient_fp });
  if (patient === undefined) return missing("patient_fp", patient_fp);
  const known = batch && { ...batch, received_at: Date.parse(batch.received_at) };
  const movement = { ...line, batch: known, patientId: patient?.id ?? null, at: Date.parse(at) };
  const change = await importMovement(session, item_fp, movement, { now, histories });
  return change ?? missing("item_fp", item_fp);
}
