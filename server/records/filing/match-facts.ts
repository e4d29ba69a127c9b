import type { PushedStudy } from "../../../shared/api/study.ts";
import { isNearName } from "../../../shared/clinical/candidates.ts";
import { type MatchFacts, matchOf } from "./moved-match.ts";
import { type FoundPatient, survivorOf } from "../patients/patients.ts";
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
    for (const { patient_fp: fp } of await session.all(namedThen, { clinicId, identifier, at })) {
      // An animal that was merged into this one is this one.
      if (!named.has(fp) && (await survivorOf(session, fp)) !== patient.fp) formerly.add(fp);
    }
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

/**
 * The animals that had a number at a time and were on the clinic's list then. One that has lost it since may be removed as well, and
 * one that is removed keeps its numbers, which another animal may have got.
 */
const namedThen = query((db, p: { clinicId: number; identifier: string; at: number }) =>
  db
    .selectFrom(
      db
        .selectFrom("former_number")
        .select("patient_id")
        .where("identifier", "=", p.identifier)
        .where("left_at", ">", p.at)
        .union(db.selectFrom("patient_identifier").select("patient_id").where("identifier", "=", p.identifier))
        .as("holder"),
    )
    .innerJoin("clinic_patient", "clinic_patient.patient_id", "holder.patient_id")
    .leftJoin("clinic_removal", (join) =>
      join
        .onRef("clinic_removal.clinic_id", "=", "clinic_patient.clinic_id")
        .onRef("clinic_removal.fp", "=", "clinic_patient.patient_fp"),
    )
    .select("clinic_patient.patient_fp")
    .where("clinic_patient.clinic_id", "=", p.clinicId)
    .where((where) => where.or([where("clinic_patient.listed", "=", 1), where("clinic_removal.removed_at", ">", p.at)]))
    .orderBy("clinic_patient.patient_fp")
    .limit(HOLDERS_MAX),
);

/** Animals of one number that are looked at. Two decide. */
const HOLDERS_MAX = 10;

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
