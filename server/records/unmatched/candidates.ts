import { sql } from "kysely";
import { type PatientCandidate, type MatchEvidence, rankCandidates } from "../../../shared/clinical/candidates.ts";
import { query, type Session } from "../../database/query.ts";
import { parseStored } from "../../database/schema.ts";
import { identifiersOfClinic, patientsOfClinic } from "../patients/clinic-patients.ts";
import { toPatient } from "../patients/patients.ts";
import type { StoredStudy } from "../studies/studies.ts";

const CANDIDATES_MAX = 5;

/** Max candidates that are ranked again with the owners named in their earlier studies. */
const OWNERS_LOOKED_UP_MAX = 50;

const DAY_MS = 86_400_000;

/** Lists patients of the clinic that an unmatched study may belong to, the likeliest first, with the reasons. */
export async function candidatesFor(
  session: Session,
  stored: Pick<StoredStudy, "clinic_id" | "patient_hint" | "acquired_at">,
): Promise<PatientCandidate[]> {
  const hint = parseStored(stored.patient_hint);
  if (stored.clinic_id === null || hint === null) return [];
  const clinicId = stored.clinic_id;
  const day = Math.floor(stored.acquired_at / DAY_MS) * DAY_MS;
  const appointed = new Set(
    (await session.all(appointedOn, { clinicId, from: day, to: day + DAY_MS })).map(({ patient_id }) => patient_id),
  );
  const known = new Map<string, MatchEvidence & { id: number }>();
  const identifiers = new Map<number, string[]>();
  for (const { patient_id, identifier } of await session.all(identifiersOfClinic, { clinicId })) {
    identifiers.set(patient_id, [...(identifiers.get(patient_id) ?? []), identifier]);
  }
  for (const row of await session.all(patientsOfClinic, { clinicId })) {
    const own = identifiers.get(row.id) ?? [];
    known.set(row.fp, {
      id: row.id,
      patient: toPatient(row),
      precise: row.precise_species,
      identifiers: own,
      appointed: appointed.has(row.id),
      owners: [],
    });
  }
  const likely: MatchEvidence[] = [];
  for (const { patient } of rankCandidates(hint, known.values(), OWNERS_LOOKED_UP_MAX)) {
    const each = known.get(patient.fp);
    if (each !== undefined) likely.push({ ...each, owners: await ownersOf(session, clinicId, each.id) });
  }
  return rankCandidates(hint, likely, CANDIDATES_MAX);
}

async function ownersOf(session: Session, clinicId: number, patientId: number): Promise<string[]> {
  const hints = await session.all(hintsOf, { clinicId, patientId });
  return hints.flatMap(({ patient_hint }) => parseStored(patient_hint)?.owner ?? []);
}

const appointedOn = query((db, p: { clinicId: number; from: number; to: number }) =>
  db
    .selectFrom("calendar_event")
    .select("patient_id")
    .where("clinic_id", "=", p.clinicId)
    .where("start_at", ">=", p.from)
    .where("start_at", "<", p.to)
    .where("status", "!=", "CANCELLED"),
);

const hintsOf = query((db, p: { clinicId: number; patientId: number }) =>
  db
    .selectFrom("study")
    .select("patient_hint")
    .where("patient_id", "=", p.patientId)
    // The plus keeps SQLite from the index of the clinic's studies: an animal has a few of them, the clinic all.
    .where(sql<number>`+clinic_id`, "=", p.clinicId)
    .where("patient_hint", "is not", null)
    .orderBy("acquired_at", "desc")
    .limit(20),
);
