import type { PushedStudy } from "../../../shared/api/study.ts";
import { isNearName } from "../../../shared/clinical/candidates.ts";
import { type MatchFacts, matchOf } from "./moved-match.ts";
import type { FoundPatient } from "../patients/patients.ts";
import { preciseSpeciesOf } from "../studies/flags.ts";
import type { OrderOfSample } from "../orders/orders.ts";
import { query, type Session } from "../../database/query.ts";

/** Reads the facts of the clinic's directory about the match of a pushed study. */
export async function findMatchFacts(
  session: Session,
  clinicId: number,
  pushed: PushedStudy,
  { id, patient, deceased_at: deceasedAt }: Pick<FoundPatient, "id" | "patient" | "deceased_at">,
  ordered: OrderOfSample | undefined,
): Promise<MatchFacts> {
  const { by, identifiers, day } = matchOf(pushed);
  const order = pushed.order_fp === undefined ? null : { fp: pushed.order_fp, patientFp: ordered?.patient_fp ?? null };
  const named = new Set<string>();
  for (const identifier of identifiers) {
    for (const { patient_fp } of await session.all(namedBy, { clinicId, identifier })) named.add(patient_fp);
  }
  const formerly = new Set<string>();
  const at = Date.parse(pushed.acquired_at);
  for (const identifier of by === "identifier" ? identifiers : []) {
    for (const { patient_fp } of await session.all(namedThen, { clinicId, identifier, at })) formerly.add(patient_fp);
  }
  const precise = await preciseSpeciesOf(session, patient.fp);
  const facts = { named: [...named], formerly: [...formerly], deceasedAt, order, precise };
  if (by !== "name" || day === undefined) return { ...facts, namesakes: [], isAppointed: false };
  const name = pushed.patient_hint.name ?? "";
  const all = await session.all(ofSpecies, { clinicId, species: patient.species });
  const namesakes = all.filter((each) => isNearName(each.name, name)).map(({ fp }) => fp);
  const period = { from: Date.parse(day.from), to: Date.parse(day.to) };
  const event = await session.first(appointment, { clinicId, patientId: id, ...period });
  return { ...facts, namesakes, isAppointed: event !== undefined };
}

const namedBy = query((db, p: { clinicId: number; identifier: string }) =>
  db
    .selectFrom("patient_identifier")
    .innerJoin("clinic_patient", "clinic_patient.patient_id", "patient_identifier.patient_id")
    .select("clinic_patient.patient_fp")
    .where("patient_identifier.identifier", "=", p.identifier)
    .where("clinic_patient.clinic_id", "=", p.clinicId)
    .where("clinic_patient.listed", "=", 1)
    .orderBy("clinic_patient.patient_fp")
    .limit(3),
);

/** The animals of the clinic that had a number at a time, and have lost it since. */
const namedThen = query((db, p: { clinicId: number; identifier: string; at: number }) =>
  db
    .selectFrom("former_number")
    .innerJoin("clinic_patient", "clinic_patient.patient_id", "former_number.patient_id")
    .select("clinic_patient.patient_fp")
    .where("former_number.identifier", "=", p.identifier)
    .where("former_number.left_at", ">", p.at)
    .where("clinic_patient.clinic_id", "=", p.clinicId)
    .where("clinic_patient.listed", "=", 1)
    .orderBy("clinic_patient.patient_fp")
    .limit(3),
);

const ofSpecies = query((db, p: { clinicId: number; species: string }) =>
  db
    .selectFrom("clinic_patient")
    .innerJoin("patient", "patient.id", "clinic_patient.patient_id")
    .select(["patient.fp", "patient.name"])
    .where("clinic_patient.clinic_id", "=", p.clinicId)
    .where("clinic_patient.listed", "=", 1)
    .where("clinic_patient.patient_species", "=", p.species),
);

const appointment = query((db, p: { clinicId: number; patientId: number; from: number; to: number }) =>
  db
    .selectFrom("calendar_event")
    .select("id")
    .where("patient_id", "=", p.patientId)
    .where("clinic_id", "=", p.clinicId)
    .where("start_at", ">=", p.from)
    .where("start_at", "<", p.to)
    .where("status", "!=", "CANCELLED")
    .limit(1),
);
