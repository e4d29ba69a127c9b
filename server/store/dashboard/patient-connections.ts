import { auditCommand } from "../audit.ts";
import { query, type Session, uncachedWrite } from "../database/query.ts";
import { setConnection, stampAndRelist } from "../patients/connections.ts";

/** The user who opens or closes a connection, and the clinic of the connection. */
export interface ConnectionActor {
  clinicId: number;
  userId: number;
  /** Name of the user. */
  by: string;
  now: number;
}

/**
 * Opens the clinic's connection to a patient, or closes it. An open connection stays as it is. Run it in a transaction.
 * @returns the name of the patient; undefined if the patient is unknown or deleted, or there is no connection to close
 */
export async function changeConnection(
  session: Session,
  fp: string,
  active: boolean,
  { clinicId, userId, by, now }: ConnectionActor,
): Promise<{ name: string } | undefined> {
  const patient = await session.first(patientToConnect, { fp, clinicId });
  if (patient === undefined || (!active && patient.active !== 1)) return undefined;
  const { id, name } = patient;
  if ((await setConnection(session, { clinicId, patient, active })) === "unchanged") return { name };
  await stampAndRelist(session, id, now);
  await session.all(insertChange, { clinicId, patientId: id, active: active ? 1 : 0, changedAt: now, userId });
  await auditCommand(session, active ? "open connection" : "close connection", [fp], { by, now, userId, clinicId });
  return { name };
}

const patientToConnect = query((db, p: { fp: string; clinicId: number }) =>
  db
    .selectFrom("patient")
    .leftJoin("clinic_patient", (join) =>
      join.onRef("clinic_patient.patient_id", "=", "patient.id").on("clinic_patient.clinic_id", "=", p.clinicId),
    )
    .innerJoin("customer", "customer.id", "patient.owner_customer_id")
    .selectAll("patient")
    .select(["customer.fp as owner_customer_fp", "clinic_patient.active"])
    .where("patient.fp", "=", p.fp)
    .where("patient.deleted_at", "is", null),
);

const insertChange = uncachedWrite(
  (db, p: { clinicId: number; patientId: number; active: number; changedAt: number; userId: number }) =>
    db.insertInto("connection_change").values({
      clinic_id: p.clinicId,
      patient_id: p.patientId,
      active: p.active,
      changed_at: p.changedAt,
      user_id: p.userId,
    }),
);
