import type { Kysely } from "kysely";
import { query, type Session } from "../../database/query.ts";
import type { Tables } from "../../database/schema.ts";

// Card numbers and microchips that several patients of a clinic share. A result with such a number stays unmatched.

export interface SharedNumber {
  clinic_fp: string;
  identifier: string;
  patients: number;
  /** Smallest fp of these patients. */
  first_fp: string;
  /** Largest fp of these patients. */
  last_fp: string;
}

/** Lists the first `limit` shared numbers by clinic and number, and counts all. */
export async function listSharedNumbers(
  session: Session,
  limit: number,
): Promise<{ shared: SharedNumber[]; total: number }> {
  const shared = await session.all(firstOnes, { limit });
  const total = shared.length < limit ? shared.length : ((await session.first(count, {}))?.total ?? 0);
  return { shared, total };
}

function sharedNumbers(db: Kysely<Tables>) {
  return db
    .selectFrom("patient_identifier")
    .innerJoin("clinic_patient", "clinic_patient.patient_id", "patient_identifier.patient_id")
    .innerJoin("clinic", "clinic.id", "clinic_patient.clinic_id")
    .select(["clinic.fp as clinic_fp", "patient_identifier.identifier"])
    .select(({ fn }) => [
      fn.countAll<number>().as("patients"),
      fn.min("clinic_patient.patient_fp").as("first_fp"),
      fn.max("clinic_patient.patient_fp").as("last_fp"),
    ])
    .where("clinic_patient.listed", "=", 1)
    .groupBy(["clinic.fp", "patient_identifier.identifier"])
    .having(({ fn }) => fn.countAll(), ">", 1);
}

const firstOnes = query((db, p: { limit: number }) =>
  sharedNumbers(db).orderBy("clinic_fp").orderBy("identifier").limit(p.limit),
);

const count = query((db) =>
  db.selectFrom(sharedNumbers(db).as("shared")).select(({ fn }) => fn.countAll<number>().as("total")),
);
