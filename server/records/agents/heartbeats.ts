import { createHash } from "node:crypto";
import type { Heartbeat } from "../../../shared/api/study.ts";
import { hasFault } from "./device-state.ts";
import { limits } from "../../operations/alerts/kinds.ts";
import { type HeardVersion, stepRollout, wantedVersion } from "./rollout.ts";
import { agentOfKey, insertAgent } from "./agents.ts";
import { readRollout, saveRollout } from "./rollouts.ts";
import { type AuditActor, auditCommand } from "../audit/audit.ts";
import { type Session, uncachedWrite } from "../../database/query.ts";
import { sql } from "kysely";

/**
 * Stores the latest heartbeat of an agent, identified by its key. The first one registers an agent that did not pair.
 * @returns the fp of the agent
 */
export async function storeHeartbeat(
  session: Session,
  clinicId: number,
  keyId: number,
  heartbeat: Heartbeat,
  now: number,
): Promise<string> {
  const known = await agentOfKey(session, keyId);
  const agent = known?.fp ?? (await registerAgent(session, { clinicId, keyId, now }));
  const { version = null, devices = [], outbox } = heartbeat;
  const faulty = devices.filter(hasFault).length;
  const oldest = Date.parse(outbox?.oldest_at ?? "");
  const queueOldestAt = Number.isNaN(oldest) ? null : oldest;
  const row = {
    queueOldestAt,
    clinicId,
    keyId,
    now,
    version,
    faulty,
    devices: devices.length,
    body: JSON.stringify(heartbeat),
    news: newsOf(heartbeat),
  };
  await session.all(upsert, row);
  return agent;
}

async function registerAgent(
  session: Session,
  { clinicId, keyId, now }: { readonly clinicId: number; readonly keyId: number; readonly now: number },
): Promise<string> {
  const agent = await insertAgent(session, { clinic_id: clinicId, api_key_id: keyId, paired_at: null });
  await auditCommand(session, "agents add by its first heartbeat", [agent], { by: "agent", now, clinicId });
  return agent;
}

/**
 * Takes the next step of the clinic's roll-out after a heartbeat. The audit names each PC that goes on.
 * @returns the version that the agent should install now; undefined for none
 */
export async function stepWithHeartbeat(
  session: Session,
  heard: HeardVersion,
  actor: AuditActor & { readonly clinicId: number },
): Promise<string | undefined> {
  const stored = await readRollout(session, actor.clinicId);
  if (stored === undefined) return undefined;
  const { rollout: before, userId } = stored;
  const rollout = stepRollout(before, heard, actor.now);
  if (rollout !== before) await saveRollout(session, actor.clinicId, { rollout, userId });
  for (const [index, { agent, state }] of rollout.pcs.entries()) {
    if (state !== before.pcs[index]?.state) await auditCommand(session, `agents update: ${state}`, [agent], actor);
  }
  return wantedVersion(rollout, heard.agent);
}

/**
 * Returns a digest that differs once a heartbeat has news for the alerts. Left out is what most heartbeats change and no alert reads: a
 * number that counts by its limits alone counts by these.
 */
function newsOf({
  uptime_s: _up,
  callers: _callers,
  clock_offset_s = 0,
  disk,
  devices = [],
  ...rest
}: Heartbeat): string {
  const { clockOffsetS, freeBytes } = limits;
  const offset = Math.abs(clock_offset_s ?? 0);
  const free = disk?.free_bytes ?? Number.POSITIVE_INFINITY;
  const news = {
    ...rest,
    devices: devices.map(({ today: _today, ...device }) => device),
    clock: [offset > clockOffsetS.closes, offset > clockOffsetS.opens],
    disk: [free < freeBytes.closes, free < freeBytes.opens, disk?.problem],
  };
  return createHash("sha256").update(JSON.stringify(news)).digest("base64").slice(0, 22);
}

interface HeartbeatRow {
  clinicId: number;
  keyId: number;
  now: number;
  version: string | null;
  faulty: number;
  devices: number;
  queueOldestAt: number | null;
  body: string;
  news: string;
}

const upsert = uncachedWrite((db, p: HeartbeatRow) =>
  db
    .insertInto("heartbeat")
    .values({
      ...{ clinic_id: p.clinicId, api_key_id: p.keyId, received_at: p.now },
      ...{ body: p.body, news: p.news, changes: 1, version: p.version, faulty_devices: p.faulty },
      ...{ queue_oldest_at: p.queueOldestAt, devices: p.devices },
    })
    .onConflict((conflict) =>
      conflict.columns(["clinic_id", "api_key_id"]).doUpdateSet({
        ...{ received_at: p.now, body: p.body, news: p.news, version: p.version, faulty_devices: p.faulty },
        ...{ queue_oldest_at: p.queueOldestAt, devices: p.devices },
        changes: sql`case when heartbeat.news = ${p.news} then heartbeat.changes else heartbeat.changes + 1 end`,
      }),
    ),
);
