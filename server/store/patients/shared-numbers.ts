import type { Kysely } from "kysely";
import { query, type Session } from "../database/query.ts";
import type { Tables } from "../database/schema.ts";

// Card numbers and microchips that name more than one patient of a clinic: an agent files a result with one to nobody.

export interface SharedNumber {
  clinic_fp: string;
  identifier: string;
  /** How many patients have it; the first and the last of their fps stand for them. */
  patients: number;
  first_fp: string;
  last_fp: string;
}

/** The first of them by clinic and number, at most `limit`, and how many there are in all. */
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
