import type { OwnerFacts } from "../../dashboard/types/animals.ts";
import { query, type Session } from "../../database/query.ts";
import { folded } from "../studies/study-search.ts";

/**
 * Counts the texts about an owner's animals that people wrote and that have the owner's name, phone or e-mail: SOAP records, remarks,
 * appointments. They are records of the treatment and stay; a person decides about each.
 */
export async function countMentions(session: Session, ownerId: number, facts: OwnerFacts): Promise<number> {
  const sought = [facts.name, facts.phone, facts.email].flatMap((fact) => (fact === null ? [] : [folded(fact)]));
  if (sought.length === 0) return 0;
  const rows = [
    ...(await session.all(soaps, { ownerId })).map((row) => Object.values(row)),
    ...(await session.all(remarks, { ownerId })).map((row) => Object.values(row)),
    ...(await session.all(followUps, { ownerId })).map((row) => Object.values(row)),
    ...(await session.all(events, { ownerId })).map((row) => Object.values(row)),
  ];
  const texts = rows.map((row) => folded(row.filter((text) => text !== null).join("\n")));
  return texts.filter((text) => sought.some((fact) => text.includes(fact))).length;
}

const soaps = query((db, p: { ownerId: number }) =>
  db
    .selectFrom("soap")
    .innerJoin("patient", "patient.id", "soap.patient_id")
    .select(["subjective", "objective", "assessment", "plan"])
    .where("patient.owner_customer_id", "=", p.ownerId),
);

const remarks = query((db, p: { ownerId: number }) =>
  db
    .selectFrom("study_remark")
    .innerJoin("patient", "patient.fp", "study_remark.patient_fp")
    .select("study_remark.remark")
    .where("patient.owner_customer_id", "=", p.ownerId),
);

const followUps = query((db, p: { ownerId: number }) =>
  db
    .selectFrom("follow_up_event")
    .innerJoin("study", "study.id", "follow_up_event.study_id")
    .innerJoin("patient", "patient.id", "study.patient_id")
    .select("follow_up_event.words")
    .where("patient.owner_customer_id", "=", p.ownerId)
    .where("follow_up_event.kind", "in", ["remark", "done"]),
);

const events = query((db, p: { ownerId: number }) =>
  db
    .selectFrom("calendar_event")
    .innerJoin("patient", "patient.id", "calendar_event.patient_id")
    .select("calendar_event.title")
    .where("patient.owner_customer_id", "=", p.ownerId),
);
