import { fold } from "../../../shared/clinical/species.ts";
import { query, type Session } from "../../database/query.ts";
import type { StoreContext } from "./batches.ts";
import { namePatient, type SourceName } from "./sources.ts";

// Animals of a clinic that are known by their microchip, because another door brought them.

/** The source of the numbers that files of the dashboard have. */
export const FILE_SOURCE = "file";

interface WithChip {
  readonly id: number;
  readonly fp: string;
  readonly species: string;
  readonly name: string;
}

/** Lists the clinic's animals with a microchip, at most two. */
export async function animalsWithChip(session: Session, clinicId: number, chip: string): Promise<WithChip[]> {
  return session.all(withChip, { clinicId, chip });
}

/**
 * Gives a name of practice software to the only animal with this microchip, which a user typed or a file of the dashboard brought. One
 * that has a name in practice software stays that software's, and one that is called otherwise stays apart: a chip may be copied into
 * the wrong card. @returns whether there is one
 */
export async function nameByChip(
  session: Session,
  name: SourceName,
  { chip, species, called }: { readonly chip: string; readonly species: string; readonly called: string },
  context: Pick<StoreContext, "batch">,
): Promise<boolean> {
  const [same, ...others] = await animalsWithChip(session, name.clinicId, chip);
  if (same === undefined || others.length > 0 || same.species !== species) return false;
  if (fold(same.name) !== fold(called)) return false;
  if ((await session.first(nameInSoftware, { patientId: same.id })) !== undefined) return false;
  await namePatient(session, { ...name, patientId: same.id, updatedAt: null, removed: false }, context);
  return true;
}

// The number selects the few rows; a join may start at all patients of the clinic instead.
const withChip = query((db, p: { clinicId: number; chip: string }) =>
  db
    .selectFrom("patient")
    .select(["patient.id", "patient.fp", "patient.species", "patient.name"])
    .where("patient.id", "in", (numbers) =>
      numbers
        .selectFrom("patient_identifier")
        .select("patient_identifier.patient_id")
        .where("patient_identifier.identifier", "=", p.chip),
    )
    .where((where) =>
      where.exists(
        where
          .selectFrom("clinic_patient")
          .select("clinic_patient.clinic_id")
          .whereRef("clinic_patient.patient_id", "=", "patient.id")
          .where("clinic_patient.clinic_id", "=", p.clinicId)
          .where("clinic_patient.listed", "=", 1),
      ),
    )
    .limit(2),
);

const nameInSoftware = query((db, p: { patientId: number }) =>
  db
    .selectFrom("patient_source")
    .select("external_id")
    .where("patient_id", "=", p.patientId)
    .where("source", "!=", FILE_SOURCE)
    .limit(1),
);
