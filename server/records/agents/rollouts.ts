import type { Rollout, RolloutPc } from "./rollout.ts";
import { query, type Session } from "../../database/query.ts";
import type { RolloutColumns } from "../../database/schema.ts";

// The last roll-out of each clinic. Its PCs are one JSON text, so that a step is one write.

export interface StoredRollout {
  readonly rollout: Rollout;
  readonly userId: number;
  /** The name of the user who started it. */
  readonly by: string;
}

export async function readRollout(session: Session, clinicId: number): Promise<StoredRollout | undefined> {
  const row = await session.first(ofClinic, { clinicId });
  if (row === undefined) return undefined;
  const { version, pcs, started_at: startedAt, stopped_at: stoppedAt, user_id: userId, name: by } = row;
  return { rollout: { version, startedAt, stoppedAt, pcs: JSON.parse(pcs) as RolloutPc[] }, userId, by };
}

/** Stores a roll-out in place of the clinic's last one. */
export async function saveRollout(
  session: Session,
  clinicId: number,
  { rollout, userId }: Pick<StoredRollout, "rollout" | "userId">,
): Promise<void> {
  const { version, startedAt: started_at, stoppedAt: stopped_at, pcs } = rollout;
  const row = { clinic_id: clinicId, version, pcs: JSON.stringify(pcs), started_at, stopped_at, user_id: userId };
  await session.all(upsert, row);
}

export async function forgetRollout(session: Session, clinicId: number): Promise<void> {
  await session.all(remove, { clinicId });
}

const ofClinic = query((db, p: { clinicId: number }) =>
  db
    .selectFrom("rollout")
    .innerJoin("dashboard_user as user", "user.id", "rollout.user_id")
    .select(["rollout.version", "rollout.pcs", "rollout.started_at", "rollout.stopped_at", "rollout.user_id"])
    .select("user.name")
    .where("rollout.clinic_id", "=", p.clinicId),
);

// The pages show it, so a change raises the clinic's version.
const upsert = query(
  (db, p: RolloutColumns) => {
    const columns = {
      version: p.version,
      pcs: p.pcs,
      started_at: p.started_at,
      stopped_at: p.stopped_at,
      user_id: p.user_id,
    };
    return db
      .insertInto("rollout")
      .values({ clinic_id: p.clinic_id, ...columns })
      .onConflict((conflict) => conflict.column("clinic_id").doUpdateSet(columns));
  },
  ({ clinic_id }) => ({ clinics: [clinic_id] }),
);

const remove = query(
  (db, p: { clinicId: number }) => db.deleteFrom("rollout").where("clinic_id", "=", p.clinicId),
  ({ clinicId }) => ({ clinics: [clinicId] }),
);
