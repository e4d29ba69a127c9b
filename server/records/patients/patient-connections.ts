import { REQUEST_DAYS } from "../../dashboard/types/connections.ts";
import { type AuditActor, auditCommand } from "../audit/audit.ts";
import { query, type Session, uncachedWrite } from "../../database/query.ts";
import { setConnection, stampAndRelist } from "./connections.ts";
import {
  addHost,
  countWaiting,
  endRequest,
  findLive,
  hostIdsOf,
  hostsOf,
  insertRequest,
  isConfirmedAnywhere,
  openRequest,
  type Request,
} from "./connection-requests.ts";
import { type Refusal, refusal } from "../../dashboard/types/refusals.ts";

// A clinic requests the connection to a patient. Its connected clinics are notified, and confirm first if they want to.

/** The user who opens or closes a connection, and the clinic of the connection. */
export interface ConnectionActor {
  clinicId: number;
  userId: number;
  /** Name of the user. */
  by: string;
  now: number;
}

/** Requests of a clinic that wait, so that nobody tries fps without end. */
export const WAITING_MAX = 100;

export const REQUEST_MS = REQUEST_DAYS * 24 * 3_600_000;

export interface ConnectedPatient {
  readonly id: number;
  readonly fp: string;
  readonly name: string;
  readonly species: string;
}

/**
 * Requests the connection to a patient, and opens it if no other clinic must confirm it. An open connection stays as it is. Where
 * any other clinic confirms, an unknown fp waits like a known one. Run it in a transaction.
 * @returns the name of the patient, null while the request waits; undefined if the patient is unknown or deleted
 */
export async function askConnection(
  session: Session,
  fp: string,
  actor: ConnectionActor,
): Promise<{ name: string | null } | { problem: Refusal } | undefined> {
  const { clinicId, userId, now } = actor;
  const patient = await session.first(patientToConnect, { fp, clinicId });
  if (patient?.active === 1) return { name: patient.name };
  if (patient === undefined && !(await isConfirmedAnywhere(session, clinicId))) return undefined;
  const asked = { clinicId, fp, since: now - REQUEST_MS };
  const found = await findLive(session, asked);
  // An import closed the connection.
  if (found?.state === "open") await endRequest(session, found, { state: "closed", now });
  const waiting = found?.state === "waiting" ? found : undefined;
  if (waiting === undefined && (await countWaiting(session, asked)) >= WAITING_MAX) {
    return { problem: refusal("CONNECTION.TOO_MANY", WAITING_MAX) };
  }
  const request = waiting ?? (await insertRequest(session, { ...asked, userId, now }));
  if (patient !== undefined && (await settle(session, request, patient, actor))) return { name: patient.name };
  if (waiting === undefined) await auditCommand(session, "ask for connection", [fp], actor);
  return { name: null };
}

/**
 * Notifies the connected clinics of a request, and opens its connection unless one of them must still confirm.
 * @returns whether it is open
 */
export async function settle(
  session: Session,
  request: Request,
  patient: ConnectedPatient,
  actor: Omit<AuditActor, "clinicId">,
): Promise<boolean> {
  const { id: requestId, clinic, userId } = request;
  const { now } = actor;
  const known = { requestId, clinicId: clinic.id, patientId: patient.id };
  let waits = false;
  for (const host of await hostsOf(session, known)) {
    const isNew = host.state === null;
    if (isNew) await addHost(session, { ...known, clinicId: host.id, waits: host.confirms });
    if (isNew && host.confirms) await auditFor(session, [host.id], "connection asked for", { request, patient, now });
    waits ||= isNew ? host.confirms : host.state === "waiting";
  }
  if (waits) return false;
  await openRequest(session, request, now);
  await setConnection(session, { clinicId: clinic.id, patient, active: true });
  await stampAndRelist(session, patient.id, now);
  await session.all(insertChange, { clinicId: clinic.id, patientId: patient.id, active: 1, changedAt: now, userId });
  await auditCommand(session, "open connection", [patient.fp], { ...actor, clinicId: clinic.id });
  await auditFor(session, await hostIdsOf(session, requestId), "connection opened", { request, patient, now });
  return true;
}

/**
 * Closes the clinic's connection to a patient, or withdraws its request. Run it in a transaction.
 * @returns the name of the patient, null for a request; undefined if there is neither
 */
export async function closeConnection(
  session: Session,
  fp: string,
  actor: ConnectionActor,
): Promise<{ name: string | null } | undefined> {
  const { clinicId, userId, now } = actor;
  const patient = await session.first(patientToConnect, { fp, clinicId });
  const request = await findLive(session, { clinicId, fp, since: now - REQUEST_MS });
  const isOpen = patient?.active === 1;
  if (!isOpen && request?.state !== "waiting") return undefined;
  if (request !== undefined) {
    await endRequest(session, request, { state: isOpen ? "closed" : "withdrawn", now });
    const command = isOpen ? "connection closed" : "request for connection withdrawn";
    await auditFor(session, await hostIdsOf(session, request.id), command, { request, patient: { fp }, now });
  }
  if (isOpen) await disconnect(session, patient, { clinicId, userId, now });
  await auditCommand(session, isOpen ? "close connection" : "withdraw request for connection", [fp], actor);
  return { name: isOpen ? patient.name : null };
}

/** Closes a connection. Without a user another clinic ended it. */
export async function disconnect(
  session: Session,
  patient: ConnectedPatient,
  { clinicId, userId, now }: { clinicId: number; userId: number | null; now: number },
): Promise<void> {
  if ((await setConnection(session, { clinicId, patient, active: false })) === "unchanged") return;
  await stampAndRelist(session, patient.id, now);
  await session.all(insertChange, { clinicId, patientId: patient.id, active: 0, changedAt: now, userId });
}

/** Adds what a clinic did to the audit of others. It names the clinic, not its user. */
async function auditFor(
  session: Session,
  clinicIds: readonly number[],
  command: string,
  { request, patient, now }: { request: Request; patient: { fp: string }; now: number },
): Promise<void> {
  const by = request.clinic.name;
  for (const clinicId of clinicIds) await auditCommand(session, command, [patient.fp], { by, now, clinicId });
}

const patientToConnect = query((db, p: { fp: string; clinicId: number }) =>
  db
    .selectFrom("patient")
    .leftJoin("clinic_patient", (join) =>
      join.onRef("clinic_patient.patient_id", "=", "patient.id").on("clinic_patient.clinic_id", "=", p.clinicId),
    )
    .select(["patient.id", "patient.fp", "patient.name", "patient.species", "clinic_patient.active"])
    .where("patient.fp", "=", p.fp)
    .where("patient.deleted_at", "is", null),
);

const insertChange = uncachedWrite(
  (db, p: { clinicId: number; patientId: number; active: number; changedAt: number; userId: number | null }) =>
    db.insertInto("connection_change").values({
      clinic_id: p.clinicId,
      patient_id: p.patientId,
      active: p.active,
      changed_at: p.changedAt,
      user_id: p.userId,
    }),
);
