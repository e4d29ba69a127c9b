import { setImmediate as nextTurn } from "node:timers/promises";
import { query, type Session } from "../../../database/query.ts";
import { connectAnimal, removeAnimal } from "../animals.ts";
import type { StoreContext } from "../batches.ts";
import { listOwnNames, type NamedPatient, namePatient, type SourceName } from "../sources.ts";
import type { SyncOutcome } from "./messages.ts";
import { type Absence, auditItem, ITEMS_PER_TURN, type SyncRequest } from "./request.ts";

// Removes the patients that practice software removed, by an item or because a full list lacks them.

/** Removes the patients of the source that a full list lacks. Their source times stay, so that a list that has them brings them back. */
export async function removeAbsent(
  session: Session,
  listed: ReadonlySet<string>,
  request: SyncRequest<unknown>,
  context: StoreContext,
): Promise<Absence> {
  const { clinicId, source } = request;
  const names = await listOwnNames(session, { clinicId, source });
  const absent = names.filter(({ externalId }) => !listed.has(externalId));
  const removed: { external_id: string; fp: string }[] = [];
  for (const [index, { externalId, ...before }] of absent.entries()) {
    const updatedAt = before.source_updated_at;
    const { fp, outcome } = await removePatient(
      session,
      { clinicId, source, externalId },
      { before, updatedAt },
      context,
    );
    if (fp !== null && outcome === "deleted") {
      removed.push({ external_id: externalId, fp });
      await auditItem(session, "sync: patient deleted", fp, request);
    }
    if (index % ITEMS_PER_TURN === ITEMS_PER_TURN - 1) await nextTurn();
  }
  return { of: "patients", removed, known: names.length };
}

/** Removes a patient. Other clinics that are connected to it keep it. */
export async function removePatient(
  session: Session,
  name: SourceName,
  { before, updatedAt }: { before: NamedPatient | undefined; updatedAt: number | null },
  context: StoreContext,
): Promise<{ fp: string | null; outcome: SyncOutcome }> {
  // The name of an unknown patient stays, so that an older item that comes later does not bring it back.
  const isNews =
    before === undefined ? updatedAt !== null : before.removed === 0 || updatedAt !== before.source_updated_at;
  const patientId = before?.patient_id ?? null;
  if (isNews) await namePatient(session, { ...name, patientId, updatedAt, removed: true }, context);
  const fp = before?.fp ?? null;
  if (fp === null || patientId === null || before?.removed === 1) return { fp, outcome: "unchanged" };
  const { clinicId } = name;
  const others = await session.first(otherClinic, { clinicId, patientId });
  if (others === undefined) await removeAnimal(session, fp, context);
  else {
    const patient = { id: patientId, fp, species: others.species };
    await connectAnimal(session, { clinicId, patient, active: false }, context);
  }
  return { fp, outcome: "deleted" };
}

const otherClinic = query((db, p: { clinicId: number; patientId: number }) =>
  db
    .selectFrom("clinic_patient")
    .select("patient_species as species")
    .where("patient_id", "=", p.patientId)
    .where("clinic_id", "!=", p.clinicId)
    .where("active", "=", 1)
    .limit(1),
);
