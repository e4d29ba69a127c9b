import type { Heartbeat } from "../../../shared/api/study.ts";
import type { SavedDevices } from "./editable-devices.ts";
import { query, type Session } from "../../database/query.ts";
import { parseStored } from "../../database/schema.ts";

// The devices that admins write for agents: one text with a version for each agent.

/** @returns the devices that the agent with this key should have; undefined if nobody wrote any */
export async function wantedDevices(session: Session, keyId: number): Promise<SavedDevices | undefined> {
  return session.first(byKey, { keyId });
}

export interface AgentFound {
  readonly id: number;
  readonly saved: SavedDevices | undefined;
  /** Its last heartbeat. */
  readonly heartbeat: Heartbeat;
}

/** Finds an agent of a clinic that has access, with its devices. */
export async function findConfigured(session: Session, fp: string, clinicId: number): Promise<AgentFound | undefined> {
  const row = await session.first(byFp, { fp, clinicId });
  if (row === undefined) return undefined;
  const { id, version, devices, body } = row;
  const saved = version === null || devices === null ? undefined : { version, devices };
  return { id, saved, heartbeat: body === null ? {} : parseStored(body) };
}

interface NewDevices extends SavedDevices {
  readonly agentId: number;
  readonly userId: number;
  readonly now: number;
}

/** Stores devices in place of the last ones. The pages show their state, which changes with it. */
export async function saveDevices(session: Session, devices: NewDevices, clinicId: number): Promise<void> {
  await session.all(upsert, { ...devices, clinicId });
}

const byKey = query((db, p: { keyId: number }) =>
  db
    .selectFrom("agent")
    .innerJoin("agent_configuration", "agent_configuration.agent_id", "agent.id")
    .select(["agent_configuration.version", "agent_configuration.devices"])
    .where("agent.api_key_id", "=", p.keyId),
);

const byFp = query((db, p: { fp: string; clinicId: number }) =>
  db
    .selectFrom("agent")
    .innerJoin("api_key", "api_key.id", "agent.api_key_id")
    .leftJoin("agent_configuration", "agent_configuration.agent_id", "agent.id")
    .leftJoin("heartbeat", (join) =>
      join.onRef("heartbeat.api_key_id", "=", "agent.api_key_id").onRef("heartbeat.clinic_id", "=", "agent.clinic_id"),
    )
    .select(["agent.id", "agent_configuration.version", "agent_configuration.devices", "heartbeat.body"])
    .where("agent.fp", "=", p.fp)
    .where("agent.clinic_id", "=", p.clinicId)
    .where("api_key.revoked_at", "is", null),
);

const upsert = query(
  (db, p: { agentId: number; version: number; devices: string; now: number; userId: number; clinicId: number }) => {
    const columns = { version: p.version, devices: p.devices, saved_at: p.now, user_id: p.userId };
    return db
      .insertInto("agent_configuration")
      .values({ agent_id: p.agentId, ...columns })
      .onConflict((conflict) => conflict.column("agent_id").doUpdateSet(columns));
  },
  ({ clinicId }) => ({ clinics: [clinicId] }),
);
