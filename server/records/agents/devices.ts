import { timestampOrNull } from "../../../shared/runtime/timestamp.ts";
import type { Heartbeat } from "../../../shared/api/study.ts";
import type { AgentShown, CallerShown, DeviceShown } from "../../dashboard/types/devices/devices.ts";
import { agentState, deviceState, type StudyDays, studyDays, workingHours } from "./device-state.ts";
import { Moment } from "../../operations/alerts/moment.ts";
import type { HeardAgent } from "./attention.ts";
import { lastUpgrade } from "./rollout.ts";
import { editableDevices } from "./editable-devices.ts";
import { query, type Session } from "../../database/query.ts";
import { type Json, parseStored } from "../../database/schema.ts";

// The agents of a clinic by their keys, with the devices of their last heartbeats.

/**
 * Latest studies that the rhythms are learned from. Each open page requests them at each change, and reading more takes too long.
 */
const STUDIES_MAX = 5000;

interface Asked {
  readonly clinicId: number;
  /** Null if the clinic chose none. */
  readonly timeZone: string | null;
}

interface AgentRow {
  public_id: string;
  line: string;
  name: string;
  expires_at: number | null;
  revoked_at: number | null;
  received_at: number | null;
  body: Json<Heartbeat> | null;
  paired_at: number | null;
  fp: string | null;
  version: number | null;
  saved_devices: string | null;
}

/** Returns the agents of a clinic with the states of their devices, by name. */
export async function readAgents(
  session: Session,
  { now, ...asked }: Asked & { readonly now: number },
): Promise<AgentShown[]> {
  return (await readHeardAgents(session, { ...asked, moment: new Moment(now) })).agents.map(({ shown }) => shown);
}

/**
 * Returns the agents of a clinic by name, and the clinic's working hours. The moment does not know when a heartbeat will be too old:
 * most agents send the next one before.
 */
export async function readHeardAgents(
  session: Session,
  { clinicId, timeZone, moment }: Asked & { readonly moment: Moment },
): Promise<{ agents: HeardAgent[]; hours: ReturnType<typeof workingHours> }> {
  const { now } = moment;
  const rows = await session.all(agentsOfClinic, { clinicId });
  const days = studyDays(now, timeZone ?? "UTC");
  const studiesOf = await studiesByDevice(session, clinicId, { days, moment });
  const allTimes = [...studiesOf.values()].flatMap(({ times }) => times);
  const hours = workingHours(allTimes, now, timeZone ?? "UTC");
  // The next day has other hours.
  if (hours.length > 0) moment.reached(days.until);
  const agents = rows.map((row) => {
    const heard: Heartbeat = row.body === null ? {} : parseStored(row.body);
    const agent = agentState(row.received_at, now);
    const shown = (heard.devices ?? []).map((device) => {
      const studies = studiesOf.get(device.id) ?? { name: null, times: [] };
      const state = deviceState(device, { agent, studyTimes: studies.times, hours, moment });
      // The last heartbeat of an agent that does not run may be of another day.
      return { ...deviceShown(device, state, studies), ...(agent !== "running" && { today: null }) };
    });
    return { row, line: row.line, shown: agentShown(row, heard, agent, shown), heard };
  });
  return { agents: agents.filter(({ row }) => !isReplaced(row, agents, moment)), hours };
}

/** Whether the key has ended and other agents serve its devices: the key was rolled. An unused key that ended counts too. */
function isReplaced(row: AgentRow, agents: readonly { row: AgentRow; shown: AgentShown }[], moment: Moment): boolean {
  if (!hasEnded(row, moment)) return false;
  const others = agents.filter((agent) => !hasEnded(agent.row, moment));
  const served = new Set(others.flatMap(({ shown }) => shown.devices.map(({ id }) => id)));
  const own = agents.find((agent) => agent.row === row)?.shown.devices ?? [];
  return own.every(({ id }) => served.has(id));
}

function hasEnded({ expires_at, revoked_at }: AgentRow, moment: Moment): boolean {
  return moment.reached(revoked_at ?? Infinity) || moment.reached(expires_at ?? Infinity);
}

function agentShown(
  { public_id: id, name, received_at, revoked_at, paired_at, fp, version: savedVersion, saved_devices }: AgentRow,
  { version, clock_offset_s, outbox, callers = [], configuration, platform, upgrade }: Heartbeat,
  is: AgentShown["is"],
  devices: DeviceShown[],
): AgentShown {
  const saved =
    savedVersion === null || saved_devices === null ? undefined : { version: savedVersion, devices: saved_devices };
  return {
    key: { id, name },
    fp,
    configuration: editableDevices(saved, configuration).state,
    paired_at: timestampOrNull(paired_at),
    is_revoked: revoked_at !== null,
    is,
    last_seen_at: timestampOrNull(received_at),
    version: version ?? null,
    platform: platform ?? null,
    upgrade: lastUpgrade(version ?? null, upgrade ?? null),
    clock_offset_s: clock_offset_s ?? null,
    outbox: outbox === undefined ? null : { depth: outbox.depth, oldest_at: outbox.oldest_at ?? null },
    devices,
    callers: callers.map(callerShown),
  };
}

function deviceShown(
  device: NonNullable<Heartbeat["devices"]>[number],
  state: DeviceShown["state"],
  { name: study_name, times }: DeviceStudies,
): DeviceShown {
  const {
    id,
    name = null,
    profile = null,
    protocol = null,
    connection = null,
    last_warning = null,
    today = null,
  } = device;
  // The time of the last study counts too, because a newly installed agent has not heard the messages before it.
  const heardAt = Math.max(0, ...times, Date.parse(device.last_message_at ?? "") || 0);
  const last_message_at = heardAt === 0 ? null : new Date(heardAt).toISOString();
  const counts = today && { ...today, not_for_patients: today.not_for_patients ?? null };
  return { id, name, profile, protocol, connection, state, last_message_at, last_warning, study_name, today: counts };
}

function callerShown({ why, protocol = null, ...caller }: NonNullable<Heartbeat["callers"]>[number]): CallerShown {
  return { ...caller, why: why === "not allowed" ? why : "not understood", protocol };
}

/** The times of a device's studies, the latest first, with the name in that one. */
interface DeviceStudies {
  readonly name: string | null;
  readonly times: number[];
}

async function studiesByDevice(
  session: Session,
  clinicId: number,
  { days, moment }: { readonly days: StudyDays; readonly moment: Moment },
): Promise<Map<string, DeviceStudies>> {
  const studies = new Map<string, DeviceStudies>();
  const { now } = moment;
  const rows = await session.all(studyTimes, { clinicId, since: days.from, now });
  // A device whose clock is ahead has studies of later.
  const later = await session.first(nextStudyTime, { clinicId, now });
  if (later?.acquired_at != null) moment.reached(later.acquired_at);
  for (const { acquired_at, device_name, source } of rows) {
    if (source === null) continue;
    const { device_id } = parseStored(source);
    const known = studies.get(device_id);
    if (known === undefined) studies.set(device_id, { name: device_name, times: [acquired_at] });
    else known.times.push(acquired_at);
  }
  return studies;
}

const agentsOfClinic = query((db, p: { clinicId: number }) =>
  db
    .selectFrom("api_key")
    .leftJoin("heartbeat", (join) =>
      join.onRef("heartbeat.api_key_id", "=", "api_key.id").onRef("heartbeat.clinic_id", "=", "api_key.clinic_id"),
    )
    .leftJoin("api_key as first", "first.id", "api_key.rolled_from")
    .leftJoin("agent", "agent.api_key_id", "api_key.id")
    .leftJoin("agent_configuration", "agent_configuration.agent_id", "agent.id")
    .select(["api_key.public_id", "api_key.name", "api_key.expires_at", "api_key.revoked_at"])
    .select((select) => select.fn.coalesce("first.public_id", "api_key.public_id").as("line"))
    .select(["heartbeat.received_at", "heartbeat.body", "agent.paired_at", "agent.fp"])
    .select(["agent_configuration.version", "agent_configuration.devices as saved_devices"])
    .where("api_key.clinic_id", "=", p.clinicId)
    .where((where) => where.or([where("heartbeat.body", "is not", null), where("api_key.type", "=", "device")]))
    .orderBy("api_key.name")
    .orderBy("api_key.id"),
);

export const studyTimes = query((db, p: { clinicId: number; since: number; now: number }) =>
  db
    .selectFrom("study")
    .select(["acquired_at", "device_name", "source"])
    .where("clinic_id", "=", p.clinicId)
    .where("acquired_at", ">=", p.since)
    .where("acquired_at", "<=", p.now)
    .where("source", "is not", null)
    .orderBy("acquired_at", "desc")
    .limit(STUDIES_MAX),
);

const nextStudyTime = query((db, p: { clinicId: number; now: number }) =>
  db
    .selectFrom("study")
    .select((select) => select.fn.min<number | null>("acquired_at").as("acquired_at"))
    .where("clinic_id", "=", p.clinicId)
    .where("acquired_at", ">", p.now)
    .where("source", "is not", null),
);
