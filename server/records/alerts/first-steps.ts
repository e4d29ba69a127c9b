import { type FirstStep, firstSteps } from "../../dashboard/types/results/today.ts";
import { query, type Session, uncachedWrite } from "../../database/query.ts";
import { readNotifications } from "./alerts.ts";

// The first steps of a new clinic. Each follows from what the clinic has, so that none has to be ticked off; a clinic that does not
// need one, such as a vet without a team, skips it.

/** Lists the steps that are neither done nor skipped. */
export async function openFirstSteps(session: Session, clinicId: number): Promise<FirstStep[]> {
  const { receivers } = await readNotifications(session, clinicId);
  const members = await session.all(twoMembers, { clinicId });
  const isDone: Record<FirstStep, boolean> = {
    animals: (await session.first(anAnimal, { clinicId })) !== undefined,
    pc: (await session.first(anAgent, { clinicId })) !== undefined,
    team: members.length > 1,
    notifications: receivers.length > 0,
    ranges: (await session.first(ownRanges, { clinicId })) !== undefined,
    limits: (await session.first(decidedLimits, { clinicId })) !== undefined,
  };
  const skipped = await skippedSteps(session, clinicId);
  return firstSteps.filter((step) => !isDone[step] && !skipped.includes(step));
}

/** Run it in a transaction. */
export async function skipFirstStep(session: Session, clinicId: number, step: FirstStep): Promise<void> {
  const skipped = new Set([...(await skippedSteps(session, clinicId)), step]);
  await session.all(storeSkipped, { clinicId, skipped: [...skipped].join(" ") });
}

async function skippedSteps(session: Session, clinicId: number): Promise<string[]> {
  return (await session.first(storedSkipped, { clinicId }))?.skipped_steps?.split(" ") ?? [];
}

const anAnimal = query((db, p: { clinicId: number }) =>
  db
    .selectFrom("clinic_patient")
    .select("patient_id")
    .where("clinic_id", "=", p.clinicId)
    .where("listed", "=", 1)
    .limit(1),
);

const anAgent = query((db, p: { clinicId: number }) =>
  db.selectFrom("heartbeat").select("api_key_id").where("clinic_id", "=", p.clinicId).limit(1),
);

const twoMembers = query((db, p: { clinicId: number }) =>
  db.selectFrom("dashboard_user_clinic").select("user_id").where("clinic_id", "=", p.clinicId).limit(2),
);

// A set without rows has critical limits alone.
const ownRanges = query((db, p: { clinicId: number }) =>
  db
    .selectFrom("clinic_reference_interval_set")
    .select("id")
    .where("clinic_id", "=", p.clinicId)
    .where("content", "!=", "[]")
    .limit(1),
);

const decidedLimits = query((db, p: { clinicId: number }) =>
  db
    .selectFrom("clinic_reference_interval_set")
    .select("id")
    .where("clinic_id", "=", p.clinicId)
    .where("limits", "is not", null)
    .limit(1),
);

const storedSkipped = query((db, p: { clinicId: number }) =>
  db.selectFrom("clinic_settings").select("skipped_steps").where("clinic_id", "=", p.clinicId),
);

const storeSkipped = uncachedWrite((db, p: { clinicId: number; skipped: string }) =>
  db
    .insertInto("clinic_settings")
    .values({ clinic_id: p.clinicId, skipped_steps: p.skipped })
    .onConflict((conflict) => conflict.column("clinic_id").doUpdateSet({ skipped_steps: p.skipped })),
);
