import { statfs } from "node:fs/promises";
import { type ConfigurationReport, HeartbeatAnswer } from "../../shared/api/configuration.ts";
import {
  CALLERS_MAX,
  type Heartbeat,
  HEARTBEAT_S,
  OFFERED_ORDERS_MAX,
  type UnknownCaller,
} from "../../shared/api/study.ts";
import type { UpgradeReport } from "../../shared/api/upgrade.ts";
import { PLATFORM } from "../../shared/files/program-files.ts";
import type { BackupState } from "../../shared/platform/care/backup-state.ts";
import { compileLater } from "../../shared/schema/compile-later.ts";
import { type Config, type DeviceConfig, DICOM } from "../config/values/schema.ts";
import { profileById } from "../devices/index.ts";
import type { ServerClient } from "./server-client.ts";
import { dayOf } from "../report/device-time.ts";
import { timestampOrNull } from "../../shared/runtime/timestamp.ts";
import { hurried } from "../runtime/periodic.ts";
import { dayCounts } from "../spool/queries/messages/message-outcome.ts";
import type { QuarantinedMessages } from "../spool/queries/messages/messages.ts";
import type { OfferedOrder } from "../spool/queries/orders/server-orders.ts";
import { CLOCK_META } from "../spool/queries/status.ts";
import type { Spool } from "../spool/spool.ts";
import type { DeviceState } from "../states/device-state.ts";
import { isForeign } from "../states/noise-state.ts";

// The heartbeat: what the server's dashboard shows of this agent.

const answer = compileLater(HeartbeatAnswer);

/** The server refuses longer texts. */
const REASON_CHARS_MAX = 1_000;
const CODE_CHARS_MAX = 64;
const NAME_CHARS_MAX = 200;
const ADDRESS_CHARS_MAX = 64;

/** The way on which an admin at the dashboard changes the devices. */
export interface ConfigurationLink {
  /** Reports how the agent is configured. */
  report(config: Pick<Config, "devices" | "managed" | "server">, spool: Spool): Promise<ConfigurationReport>;
  /** Takes the version of the devices that the server wants. */
  wanted(version: number): void;
}

/** The way on which an admin at the dashboard upgrades this program. */
export interface UpgradeLink {
  report(): UpgradeReport | null;
  /** Notes an acknowledged heartbeat, with the version that the server wants; null for none. */
  answered(version: string | null): void;
}

interface HeartbeatSource {
  readonly config: Pick<Config, "data" | "devices" | "managed" | "server" | "timeZone">;
  readonly version: string;
  readonly spool: Spool;
  readonly server: ServerClient;
  readonly devices: readonly { state(): DeviceState }[];
  readonly backupState?: () => BackupState | null;
  /** Null for an agent without a host that could replace it. */
  readonly remote: ConfigurationLink | null;
  /** Null for an agent that no launcher started: it cannot upgrade itself. */
  readonly upgrade?: UpgradeLink | null;
}

/**
 * @returns a task that sends a heartbeat if the last one is old, or immediately if it would report another fault, caller or device,
 * or an order that a device got
 */
export function heartbeatTask(agent: HeartbeatSource): () => Promise<void> {
  const startedAt = performance.now();
  let [sentAt, sentNews] = [Number.NEGATIVE_INFINITY, ""];
  return async () => {
    const states = agent.devices.map((device) => device.state());
    const callers = unknownCallers(states).map(({ device, address, why }) => [device, address, why]);
    const configuration = (await agent.remote?.report(agent.config, agent.spool)) ?? null;
    const offered = await agent.spool.call("unreportedOffers", OFFERED_ORDERS_MAX);
    const news = JSON.stringify([
      states.map(({ reason }) => reason),
      callers,
      agent.backupState?.()?.last.error,
      configuration,
      agent.spool.problem,
      agent.upgrade?.report(),
    ]);
    const hasNews = news !== sentNews || offered.length > 0;
    if (performance.now() < sentAt + hurried(HEARTBEAT_S * 1000) && !hasNews) return;
    await sendHeartbeat(agent, { configuration, offered }, performance.now() - startedAt);
    if (offered.length > 0)
      await agent.spool.call(
        "noteReportedOffers",
        offered.map(({ fp }) => fp),
      );
    [sentAt, sentNews] = [performance.now(), news];
  };
}

/** @throws SendError */
async function sendHeartbeat(
  agent: HeartbeatSource,
  {
    configuration,
    offered,
  }: { readonly configuration: ConfigurationReport | null; readonly offered: readonly OfferedOrder[] },
  uptimeMs: number,
): Promise<void> {
  const { config, spool, server, version } = agent;
  const now = Date.now();
  const [{ depth, oldestAt, reason, code }, clock, counts, quarantined, { bavail, bsize }] = await Promise.all([
    spool.call("outbox"),
    spool.call("getMeta", CLOCK_META),
    spool.call("countMessagesSince", dayOf(now, config.timeZone).from),
    spool.call("quarantinedMessages"),
    statfs(config.data),
  ]);
  const states = agent.devices.map((device) => device.state());
  const response = await server.post("/agent/v1/heartbeat", {
    version,
    uptime_s: Math.round(uptimeMs / 1000),
    clock_offset_s: clock === null ? null : Number(clock),
    outbox: {
      depth,
      oldest_at: timestampOrNull(oldestAt),
      reason: reason?.slice(0, REASON_CHARS_MAX) ?? null,
      ...(code != null && { code: code.slice(0, CODE_CHARS_MAX) }),
    },
    disk: { free_bytes: bavail * bsize, problem: spool.problem?.slice(0, REASON_CHARS_MAX) ?? null },
    devices: states.map((state) => ({
      ...describedDevice(config.devices.find(({ id }) => id === state.id)),
      ...deviceInWords(state),
      today: dayCounts(counts.filter(({ device }) => device === state.id)),
      ...waiting(quarantined.find(({ device }) => device === state.id)),
    })),
    callers: unknownCallers(states),
    ...(offered.length > 0 && {
      offered_orders: offered.map(({ fp, at }) => ({ fp, at: new Date(at).toISOString() })),
    }),
    ...lastBackup(agent.backupState?.() ?? null),
    ...(configuration !== null && { configuration }),
    ...(agent.upgrade != null && { platform: PLATFORM, upgrade: agent.upgrade.report() }),
  } satisfies Heartbeat);
  // An older server responds with nothing.
  const isKnown = answer.Check(response);
  agent.upgrade?.answered(isKnown ? (response.upgrade?.version ?? null) : null);
  if (!isKnown) return;
  if (response.configuration_version !== undefined) agent.remote?.wanted(response.configuration_version);
}

function lastBackup(state: BackupState | null): Pick<Heartbeat, "backup"> {
  if (state === null) return {};
  const { last, succeeded } = state;
  const error = last.error?.slice(0, REASON_CHARS_MAX) ?? null;
  return { backup: { at: last.at, succeeded_at: succeeded?.at ?? null, bytes: succeeded?.bytes ?? null, error } };
}

function describedDevice(device: DeviceConfig | undefined) {
  if (device === undefined) return {};
  const { serial, listen, dial } = device.connection;
  const profile = profileById(device.profile);
  // The instruments of a POCT1-A profile name themselves.
  const name = profile !== undefined && "device_name" in profile ? profile.device_name : null;
  const connection = serial?.path ?? listen ?? dial ?? null;
  return {
    name: device.model ?? name,
    protocol: profile?.protocol ?? DICOM,
    connection: connection?.slice(0, NAME_CHARS_MAX) ?? null,
  };
}

function deviceInWords({
  id,
  profile,
  connected,
  is,
  reason,
  code,
  values,
  mayBeOff,
  since,
  lastMessageAt,
  lastWarning,
  noise,
}: DeviceState) {
  return {
    id,
    profile,
    connected,
    state: is,
    reason: reason?.slice(0, REASON_CHARS_MAX) ?? null,
    ...(code !== undefined && { code, values: [...(values ?? [])] }),
    may_be_off: mayBeOff,
    since: timestampOrNull(since),
    last_message_at: timestampOrNull(lastMessageAt),
    foreign:
      noise !== undefined && isForeign(noise, lastMessageAt) ? { bytes: noise.bytes, protocol: noise.protocol } : null,
    last_warning: lastWarning && {
      at: new Date(lastWarning.at).toISOString(),
      reason: lastWarning.reason.slice(0, REASON_CHARS_MAX),
    },
  };
}

function waiting(quarantined: QuarantinedMessages | undefined) {
  if (quarantined === undefined) return {};
  const { count, lastAt } = quarantined;
  return { quarantined: { count, last_at: new Date(lastAt).toISOString() } };
}

/** @returns the latest callers of all devices, the last one first */
export function unknownCallers(
  states: readonly Pick<DeviceState, "id" | "noise" | "refused" | "lastMessageAt">[],
): UnknownCaller[] {
  const callers = states.flatMap(({ id: device, noise, refused = [], lastMessageAt }) => [
    ...refused.map((caller) => ({ device, ...caller, why: "not allowed", protocol: null })),
    ...(noise !== undefined && isForeign(noise, lastMessageAt)
      ? [
          {
            device,
            address: noise.address,
            count: noise.runs,
            at: noise.at,
            why: "not understood",
            protocol: noise.protocol,
          },
        ]
      : []),
  ]);
  const latest = callers.toSorted((one, other) => other.at - one.at).slice(0, CALLERS_MAX);
  return latest.map(({ at, address, ...caller }) => ({
    ...caller,
    address: address.slice(0, ADDRESS_CHARS_MAX),
    at: new Date(at).toISOString(),
  }));
}
