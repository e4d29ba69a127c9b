import type { ComparedAnimal, MergeComparison } from "../../../dashboard/types/animals.ts";
import { query, type Session } from "../../../database/query.ts";
import { patientByFp } from "../animals.ts";
import { isOtherSpecies } from "../merge.ts";
import { readEditedAnimal, versionOf } from "./edited-animal.ts";

// Two animals of a clinic next to each other, before a user merges them.

/** Reads both. The caller has checked that the clinic sees them. */
export async function compareAnimals(
  session: Session,
  { clinicId, fps }: { clinicId: number; fps: readonly [string, string] },
): Promise<MergeComparison> {
  const [one, other] = [await readOne(session, clinicId, fps[0]), await readOne(session, clinicId, fps[1])];
  return {
    animals: [one.compared, other.compared],
    is_other_species: isOtherSpecies(one.species, other.species),
    // The same for both orders of the animals: the user may choose either one to stay.
    version: versionOf([`${fps[0]} ${one.version}`, `${fps[1]} ${other.version}`].toSorted()),
  };
}

async function readOne(session: Session, clinicId: number, fp: string) {
  const stored = await session.first(patientByFp, { fp });
  if (stored === undefined) throw new Error("the animal is missing");
  const { animal, version, owner, is_shared, sources } = await readEditedAnimal(session, { clinicId, fp });
  const counts = await session.first(countsOf, { id: stored.id });
  const compared: ComparedAnimal = {
    ...{ fp, animal, owner, is_shared, sources, is_deceased: stored.deceased_at !== null },
    counts: {
      studies: counts?.studies ?? 0,
      soap_records: counts?.soap_records ?? 0,
      events: counts?.events ?? 0,
      orders: counts?.orders ?? 0,
    },
  };
  return { compared, version, species: stored };
}

const countsOf = query((db, p: { id: number }) =>
  db
    .selectFrom("patient")
    .select((from) => [
      from
        .selectFrom("study")
        .select((count) => count.fn.countAll<number>().as("total"))
        .whereRef("study.patient_id", "=", "patient.id")
        .as("studies"),
      from
        .selectFrom("soap")
        .select((count) => count.fn.countAll<number>().as("total"))
        .whereRef("soap.patient_id", "=", "patient.id")
        .as("soap_records"),
      from
        .selectFrom("calendar_event")
        .select((count) => count.fn.countAll<number>().as("total"))
        .whereRef("calendar_event.patient_id", "=", "patient.id")
        .as("events"),
      from
        .selectFrom("lab_order")
        .select((count) => count.fn.countAll<number>().as("total"))
        .whereRef("lab_order.patient_id", "=", "patient.id")
        .as("orders"),
    ])
    .where("patient.id", "=", p.id),
);
