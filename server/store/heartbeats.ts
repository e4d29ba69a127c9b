import type { Heartbeat } from "../../shared/api/study.ts";
import { noInvalidation, query, type Session } from "./database/query.ts";

/** Stores the latest heartbeat of an agent, identified by its key. */
export async function storeHeartbeat(
  session: Session,
  clinicId: number,
  keyId: number,
  heartbeat: Heartbeat,
  now: number,
): Promise<void> {
  await session.all(upsert, { clinicId, keyId, now, body: JSON.stringify(heartbeat) });
}

const upsert = query(
  (db, p: { clinicId: number; keyId: number; now: number; body: string }) =>
    db
      .insertInto("heartbeat")
      .values({ clinic_id: p.clinicId, api_key_id: p.keyId, received_at: p.now, body: p.body })
      .onConflict((conflict) =>
        conflict.columns(["clinic_id", "api_key_id"]).doUpdateSet({ received_at: p.now, body: p.body }),
      ),
  noInvalidation,
);
