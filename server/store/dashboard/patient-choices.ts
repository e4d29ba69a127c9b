import type { NamedPatient } from "../../../shared/dashboard/records.ts";
import { query, type Session } from "../database/query.ts";

// Patients to choose from in a form.

const CHOICES_MAX = 12;

/**
 * Lists patients of the clinic whose name has the words, or whose identifier is the text; the last changed first. It
 * compares names without letter case and accents, which no SQL of both engines does for Turkish.
 */
export async function listPatientChoices(session: Session, clinicId: number, search: string): Promise<NamedPatient[]> {
  const words = folded(search)
    .split(/\s+/)
    .filter((word) => word !== "");
  const found: NamedPatient[] = [];
  const byIdentifier =
    search.trim() === ""
      ? new Set()
      : new Set((await session.all(withIdentifier, { clinicId, identifier: search.trim() })).map(({ fp }) => fp));
  for (const patient of await session.all(ofClinic, { clinicId })) {
    const name = folded(patient.name);
    if (!byIdentifier.has(patient.fp) && !words.every((word) => name.includes(word))) continue;
    found.push(patient);
    if (found.length === CHOICES_MAX) break;
  }
  return found;
}

/** The dotless i of Turkish has no decomposition. */
function folded(text: string): string {
  return text.toLowerCase().normalize("NFD").replaceAll(/\p{M}/gu, "").replaceAll("ı", "i");
}

const ofClinic = query((db, p: { clinicId: number }) =>
  db
    .selectFrom("clinic_patient as listed")
    .innerJoin("patient", "patient.id", "listed.patient_id")
    .select(["patient.fp", "patient.name", "patient.species"])
    .where("listed.clinic_id", "=", p.clinicId)
    .where("listed.listed", "=", 1)
    .orderBy("listed.patient_updated_at", "desc")
    .orderBy("listed.patient_fp", "desc"),
);

const withIdentifier = query((db, p: { clinicId: number; identifier: string }) =>
  db
    .selectFrom("patient_identifier as known")
    .innerJoin("clinic_patient as listed", "listed.patient_id", "known.patient_id")
    .select("listed.patient_fp as fp")
    .where("known.identifier", "=", p.identifier)
    .where("listed.clinic_id", "=", p.clinicId)
    .where("listed.listed", "=", 1),
);
