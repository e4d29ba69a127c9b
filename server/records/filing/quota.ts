import { sql } from "kysely";
import { query, type Session } from "../../database/query.ts";

// How many studies a clinic may store.

/** The limit of a clinic, and how many new studies it has kept with the agents since the start. */
export interface Quota {
  /** Studies that a clinic may store; null for no limit. */
  readonly studiesMax: number | null;
  deferred: number;
}

/** The number of studies that a clinic stores, filed and unmatched. */
export async function storedStudies(session: Session, clinicId: number): Promise<number> {
  return (await session.first(stored, { clinicId }))?.studies ?? 0;
}

const stored = query((db, p: { clinicId: number }) => {
  const waiting = db
    .selectFrom("study")
    .select((count) => count.fn.countAll<number>().as("studies"))
    .where("clinic_id", "=", p.clinicId)
    .where("patient_id", "is", null)
    .where("rejected_reason", "is", null);
  return db
    .selectFrom("clinic_study")
    .select((count) => sql<number>`${count.fn.countAll<number>()} + (${waiting})`.as("studies"))
    .where("clinic_id", "=", p.clinicId);
});
