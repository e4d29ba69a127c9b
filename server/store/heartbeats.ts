import type { Heartbeat } from "../../shared/api/study.ts";
import { agentOfKey, insertAgent } from "./agents/agents.ts";
import { noInvalidation, query, type Session } from "./database/query.ts";

/** Stores the latest heartbeat of an agent, identified by its key. The first one registers an agent that did not pair. */
export async function storeHeartbeat(
  session: Session,
  clinicId: number,
  keyId: number,
  heartbeat: Heartbeat,
  now: number,
): Promise<void> {
  if ((await agentOfKey(session, keyId)) === undefined) {
    await insertAgent(session, { clinic_id: clinicId, api_key_id: keyId, paired_at: null });
  }
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
