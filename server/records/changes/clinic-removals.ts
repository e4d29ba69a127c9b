import type { Kysely } from "kysely";
import { query, type Session, uncachedWrite } from "../../database/query.ts";
import type { Tables } from "../../database/schema.ts";
import { UNSTAMPED } from "../../database/stamps.ts";

// `clinic_removal` has what left a clinic's lists, until it returns.

interface Removed {
  readonly clinicId: number;
  readonly fp: string;
}

/** Notes an event or an item of a clinic that is deleted. */
export async function noteRemoval(session: Session, removed: Removed & { now: number }): Promise<void> {
  await session.all(addRemoval, removed);
}

/** Forgets the removal of an event or an item that is stored again. */
export async function forgetRemoval(session: Session, removed: Removed): Promise<void> {
  await session.all(dropRemoval, removed);
}

/** An insert of removals. A repeated one is the newer one. */
export function removals(db: Kysely<Tables>) {
  return db
    .insertInto("clinic_removal")
    .columns(["clinic_id", "fp", "removed_at"])
    .onConflict((conflict) =>
      conflict.columns(["clinic_id", "fp"]).doUpdateSet((set) => ({ removed_at: set.ref("excluded.removed_at") })),
    );
}

/** The clinics that list a patient. */
export function listing(db: Kysely<Tables>, patientId: number | null) {
  return db
    .selectFrom("clinic_patient")
    .select("clinic_patient.clinic_id")
    .where("clinic_patient.patient_id", "=", patientId)
    .where("clinic_patient.listed", "=", 1);
}

const addRemoval = query(
  (db, p: Removed & { now: number }) =>
    removals(db).values((column) => ({ clinic_id: p.clinicId, fp: p.fp, removed_at: column.lit(UNSTAMPED) })),
  ({ clinicId, now }) => ({ clinics: [clinicId], changedAt: now }),
);

const dropRemoval = uncachedWrite((db, p: Removed) =>
  db.deleteFrom("clinic_removal").where("clinic_id", "=", p.clinicId).where("fp", "=", p.fp),
);
