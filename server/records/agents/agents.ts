import { timestampOrNull } from "../../../shared/runtime/timestamp.ts";
import { newFp } from "../../../shared/api/fp.ts";
import type { Heartbeat } from "../../../shared/api/study.ts";
import type { UpgradeReport } from "../../../shared/api/upgrade.ts";
import { query, type Session, uncachedWrite } from "../../database/query.ts";
import { type AgentColumns, parseStored } from "../../database/schema.ts";

// The agents of clinic PCs. An agent is registered when it pairs, or by its first heartbeat with a key that a person made.

/** An agent in the output of `agents list`. */
export interface AgentDescription {
  fp: string;
  clinic_fp: string;
  name: string;
  key: string;
  /** Null for an agent whose key a person made. */
  paired_at: string | null;
  last_heartbeat_at: string | null;
  /** Null for an agent that does not report it. */
  version: string | null;
  /** Its last upgrade; null without one. */
  upgrade: UpgradeReport | null;
  /** End of its access by a person. */
  revoked_at: string | null;
}

/** @returns the fp of the new agent */
export async function insertAgent(session: Session, agent: Omit<AgentColumns, "fp">): Promise<string> {
  const fp = newFp("agent");
  await session.all(insert, { ...agent, fp });
  return fp;
}

/** @returns the agent with this key */
export async function agentOfKey(session: Session, keyId: number): Promise<{ id: number; fp: string } | undefined> {
  return session.first(byKey, { keyId });
}

/** Gives an agent the successor of its key. */
export async function moveAgent(session: Session, oldKeyId: number, newKeyId: number): Promise<void> {
  await session.all(move, { oldKeyId, newKeyId });
}

/** @returns the id of the agent's key with its clinic */
export async function findAgent(session: Session, fp: string): Promise<{ key: string; clinicId: number } | undefined> {
  const row = await session.first(byFp, { fp });
  return row && { key: row.public_id, clinicId: row.clinic_id };
}

/** Lists the agents of all clinics or of one, by clinic and name. */
export async function listAgents(session: Session, clinicFp?: string): Promise<AgentDescription[]> {
  const rows = await session.all(all, {});
  return rows
    .filter(({ clinic_fp }) => clinicFp === undefined || clinic_fp === clinicFp)
    .map(({ paired_at, received_at, revoked_at, body, ...agent }) => {
      const { version, upgrade }: Heartbeat = body === null ? {} : parseStored(body);
      return {
        ...agent,
        paired_at: timestampOrNull(paired_at),
        last_heartbeat_at: timestampOrNull(received_at),
        version: version ?? null,
        upgrade: upgrade ?? null,
        revoked_at: timestampOrNull(revoked_at),
      };
    });
}

const insert = uncachedWrite((db, p: AgentColumns) =>
  db.insertInto("agent").values({ fp: p.fp, clinic_id: p.clinic_id, api_key_id: p.api_key_id, paired_at: p.paired_at }),
);

const byKey = query((db, p: { keyId: number }) =>
  db.selectFrom("agent").select(["id", "fp"]).where("api_key_id", "=", p.keyId),
);

const move = uncachedWrite((db, p: { oldKeyId: number; newKeyId: number }) =>
  db.updateTable("agent").set({ api_key_id: p.newKeyId }).where("api_key_id", "=", p.oldKeyId),
);

const byFp = query((db, p: { fp: string }) =>
  db
    .selectFrom("agent")
    .innerJoin("api_key", "api_key.id", "agent.api_key_id")
    .select(["api_key.public_id", "agent.clinic_id"])
    .where("agent.fp", "=", p.fp),
);

const all = query((db) =>
  db
    .selectFrom("agent")
    .innerJoin("clinic", "clinic.id", "agent.clinic_id")
    .innerJoin("api_key", "api_key.id", "agent.api_key_id")
    .leftJoin("heartbeat", (join) =>
      join.onRef("heartbeat.api_key_id", "=", "agent.api_key_id").onRef("heartbeat.clinic_id", "=", "agent.clinic_id"),
    )
    .select(["agent.fp", "clinic.fp as clinic_fp", "api_key.name", "api_key.public_id as key", "agent.paired_at"])
    .select(["heartbeat.received_at", "heartbeat.body", "api_key.revoked_at"])
    .orderBy("clinic.fp")
    .orderBy("api_key.name")
    .orderBy("agent.id"),
);
