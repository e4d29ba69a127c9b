import { readUnitChoice, type UnitChoice } from "../../../shared/clinical/units/unit-choice.ts";
import { query, type Session, uncachedWrite } from "../../database/query.ts";

// The units in which a clinic reads results. The API and the database keep those that were sent.

export async function readUnits(session: Session, clinicId: number): Promise<UnitChoice> {
  return readUnitChoice((await session.first(stored, { clinicId }))?.units ?? null);
}

/** Stores the choice of a clinic that has settings. */
export async function storeUnits(session: Session, clinicId: number, units: UnitChoice): Promise<void> {
  await session.all(update, { clinicId, units: JSON.stringify(units) });
}

const stored = query((db, p: { clinicId: number }) =>
  db.selectFrom("clinic_settings").select("units").where("clinic_id", "=", p.clinicId),
);

const update = uncachedWrite((db, p: { clinicId: number; units: string }) =>
  db.updateTable("clinic_settings").set({ units: p.units }).where("clinic_id", "=", p.clinicId),
);
