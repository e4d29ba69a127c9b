import type { FastifyInstance } from "fastify";
import { timestampOf, timestampOrNull } from "../../../shared/runtime/timestamp.ts";
import { compareVersions } from "../../../shared/api/upgrade.ts";
import type { LocalDevice, LocalOverview, LocalRunning } from "../types/overview.ts";
import { type DeviceConfig, DICOM } from "../../config/values/schema.ts";
import { newerRevision, profileById } from "../../devices/index.ts";
import type { Host } from "../../host.ts";
import { dayOf } from "../../report/device-time.ts";
import { readSpool } from "../../spool/access.ts";
import { type DeviceTimes, readDeviceTimes } from "../../spool/queries/devices/device-times.ts";
import { dayCounts, type MessageState } from "../../spool/queries/messages/message-outcome.ts";
import { CLOCK_META } from "../../spool/queries/status.ts";
import type { DeviceState } from "../../states/device-state.ts";
import { gaveWayText } from "../../states/line-state.ts";
import { isForeign } from "../../states/noise-state.ts";
import { hexLines } from "../../tools/offline/hex-lines.ts";

/** Adds the overview: the agent, its server, its queue, and a card for each device. */
export function deviceRoutes(app: FastifyInstance, host: Host): void {
  app.get("/local/v1/overview", async (): Promise<LocalOverview> => {
    const { agent, version, file } = host;
    if (agent === null) return { state: "not set up", version, file };
    const { config, spool } = agent;
    const [outbox, clock, counts, quarantined] = await Promise.all([
      spool.call("outbox"),
      spool.call("getMeta", CLOCK_META),
      spool.call("countMessagesSince", dayOf(Date.now(), config.timeZone).from),
      spool.call("quarantinedMessages"),
    ]);
    const times = new Map(readSpool(config.data, readDeviceTimes).map((of) => [of.id, of]));
    const configured = new Map(config.devices.map((device) => [device.id, device]));
    const server = agent.serverState();
    return {
      state: "running",
      version,
      file,
      upgrade: shownUpgrade(host),
      started_at: timestampOf(agent.startedAt),
      ready: agent.ready(),
      server: { url: config.server.url, state: server.is, reason: server.reason },
      clock_offset_s: clock === null ? null : Number(clock),
      outbox: { depth: outbox.depth, oldest_at: timestampOrNull(outbox.oldestAt) },
      quarantined: {
        count: quarantined.reduce((sum, { count }) => sum + count, 0),
        last_at: timestampOrNull(
          quarantined.length === 0 ? null : Math.max(...quarantined.map(({ lastAt }) => lastAt)),
        ),
      },
      devices: agent.devices.flatMap((device) => {
        const state = device.state();
        const known = configured.get(state.id);
        const own = counts.filter((count) => count.device === state.id);
        return known === undefined ? [] : [describeDevice(known, state, times.get(state.id), own)];
      }),
    };
  });
}

function shownUpgrade({ upgrade, version }: Host): LocalRunning["upgrade"] {
  const last = upgrade?.report() ?? null;
  const isOpen = last !== null && (last.state === "trying" || compareVersions(last.to, version) > 0);
  return isOpen ? last : null;
}

function describeDevice(
  { id, profile, connection }: DeviceConfig,
  { is, reason, code, values = [], mayBeOff, since, lastWarning, gaveWay, noise, refused = [], ...state }: DeviceState,
  stored: DeviceTimes | undefined,
  counts: readonly { readonly state: MessageState; readonly count: number }[],
): LocalDevice {
  const { serial, listen, dial, folder } = connection;
  const lastMessageAt = state.lastMessageAt ?? stored?.lastMessageAt ?? null;
  return {
    id,
    profile,
    newer_profile: newerRevision(profile),
    protocol: profileById(profile)?.protocol ?? DICOM,
    line: serial?.path ?? listen ?? dial ?? folder ?? "",
    way: wayOf(connection),
    state: is,
    reason,
    ...(code !== undefined && { code, values }),
    may_be_off: mayBeOff,
    since: timestampOf(since),
    last_bytes_at: timestampOrNull(state.lastBytesAt ?? stored?.lastBytesAt ?? null),
    last_message_at: timestampOrNull(lastMessageAt),
    last_warning: lastWarning === null ? null : { at: timestampOf(lastWarning.at), reason: lastWarning.reason },
    today: dayCounts(counts),
    noise:
      noise === undefined || !isForeign(noise, lastMessageAt)
        ? null
        : { bytes: noise.bytes, protocol: noise.protocol, hex: hexLines(bytesOf(noise.sample)) },
    refused: refused.map(({ address, count, at }) => ({ address, count, at: timestampOf(at) })).toReversed(),
    gave_way: gaveWay === undefined ? null : gaveWayText(gaveWay),
  };
}

function bytesOf(sample: string): Uint8Array {
  return Uint8Array.from(sample.split(" "), (byte) => Number.parseInt(byte, 16));
}

function wayOf({ serial, listen, dial }: DeviceConfig["connection"]): LocalDevice["way"] {
  if (serial !== undefined) return "serial";
  if (listen !== undefined) return "listen";
  return dial === undefined ? "folder" : "dial";
}
