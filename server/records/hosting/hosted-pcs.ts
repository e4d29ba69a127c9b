import { timestampOrNull } from "../../../shared/runtime/timestamp.ts";
import type { Heartbeat } from "../../../shared/api/study.ts";
import type { HostedPc } from "../../dashboard/types/operator.ts";
import { query, type Session } from "../../database/query.ts";
import { parseStored } from "../../database/schema.ts";
import { agentState, hasFault } from "../agents/device-state.ts";

// The PCs of one clinic as its operator sees them: without the names that the clinic gave them and their devices.

export async function listHostedPcs(session: Session, clinicId: number, now: number): Promise<HostedPc[]> {
  const rows = await session.all(ofClinic, { clinicId });
  return rows.map(({ received_at: at, body }) => {
    const { version, devices = [], outbox }: Heartbeat = body === null ? {} : parseStored(body);
    return {
      version: version ?? null,
      is: agentState(at, now),
      last_seen_at: timestampOrNull(at),
      devices: devices.length,
      devices_with_faults: devices.filter(hasFault).length,
      queue: outbox?.depth ?? 0,
      queue_oldest_at: outbox?.oldest_at ?? null,
    };
  });
}

const ofClinic = query((db, p: { clinicId: number }) =>
  db
    .selectFrom("agent")
    .innerJoin("api_key", "api_key.id", "agent.api_key_id")
    .leftJoin("heartbeat", (join) =>
      join.onRef("heartbeat.api_key_id", "=", "agent.api_key_id").onRef("heartbeat.clinic_id", "=", "agent.clinic_id"),
    )
    .select(["heartbeat.received_at", "heartbeat.body"])
    .where("agent.clinic_id", "=", p.clinicId)
    .where("api_key.revoked_at", "is", null)
    .orderBy("agent.id"),
);
