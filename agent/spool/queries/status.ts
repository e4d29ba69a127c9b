import Database from "better-sqlite3";
import path from "node:path";
import fs from "node:fs";
import { describeDamage } from "../../../shared/files/damaged-file.ts";
import { trustedDatabase } from "../../../shared/files/folder-owner.ts";
import { timestampOrNull } from "../../../shared/runtime/timestamp.ts";
import type { StoredDeviceState } from "../../states/device-state.ts";
import type { NoiseState } from "../../states/noise-state.ts";
import type { ServerState } from "../../states/server-state.ts";
import { waitingQuality } from "./devices/quality-records.ts";
import type { MessageState } from "./messages/message-outcome.ts";
import { type DestinationStatus, readDestinations } from "./result-destinations.ts";

/** A device with the status and events that it reports about itself. */
interface Instrument {
  readonly name: string;
  readonly said_at: string;
  /** Its last status report. */
  readonly status: object;
  /** The latest first. */
  readonly events: readonly object[];
}

/** Max events of an instrument in `status`. Older ones stay in the spool for as long as messages do. */
const EVENTS_SHOWN = 5;

/** The key of the meta table for the state of the server. */
export const SERVER_META = "server";

/** The key of the meta table for this machine's clock minus the server's, in seconds. */
export const CLOCK_META = "clock";

/** The key of the meta table for the last time, in ms since 1970, upon which this machine's clock and the server's agreed. */
export const AGREED_META = "agreed_time";

/** The state of a device that is not configured, or whose agent does not run. */
const NOT_SERVED = "not served";

export interface DeviceStatus {
  readonly id: string;
  readonly connected: boolean;
  readonly last_message_at: string | null;
  readonly counts: Readonly<Record<MessageState, number>>;
  readonly state: StoredDeviceState["is"] | typeof NOT_SERVED;
  /** The reason why it cannot be reached, and the remedy. */
  readonly reason: string | null;
  /** The code of the reason and what its words name. Absent without a fault of the line. */
  readonly code?: string;
  readonly values?: readonly string[];
  readonly since: string | null;
  readonly last_bytes_at: string | null;
  readonly last_warning: { readonly at: string; readonly reason: string } | null;
  /** Silent connections that were closed for new ones since the agent started. Absent if none was closed. */
  readonly gave_way?: { readonly connections: number; readonly last_address: string };
  /** Bytes since the last message that belong to no message. Absent without any. */
  readonly noise?: {
    readonly bytes: number;
    readonly runs: number;
    readonly since: string;
    readonly last_at: string;
    /** At most 64 bytes, as hexadecimal digits. */
    readonly sample: string;
    /** Name of their protocol; null for an unknown one. */
    readonly protocol: string | null;
  };
  /** Counts since the agent started; null if the device is not served. */
  readonly counters: {
    readonly bytes: number;
    readonly messages: number;
    readonly warnings: number;
    readonly noise_bytes: number;
  } | null;
  /** The instruments on its connection that report a status (POCT1-A). */
  readonly instruments?: readonly Instrument[];
}

export interface SpoolStatus {
  readonly running: boolean;
  readonly devices: readonly DeviceStatus[];
  /** Null if the agent does not run. */
  readonly server: { readonly state: ServerState["is"]; readonly reason: string | null; readonly since: string } | null;
  /** This machine's clock minus the server's; null before the first response with a Date. */
  readonly clock: { readonly offset_s: number } | null;
  /**
   * `reason`: why the oldest study waits after the others: the server deferred it, or refuses requests with it; null if it does
   * not wait. `quality`: control runs and device events that wait. No study waits for them.
   */
  readonly outbox: {
    readonly depth: number;
    readonly oldest_at: string | null;
    readonly reason: string | null;
    readonly quality: number;
  };
  /** The stored patient directory. `fetched_at` is the time of the last full sync; null before the first. */
  readonly directory: {
    readonly patients: number;
    readonly fetched_at: string | null;
    readonly synced_at: string | null;
  };
  /** Practice software and folders that get results. */
  readonly destinations: readonly DestinationStatus[];
}

/** Reads the status of the agent, its devices, outbox and directory. Without a running agent no device is connected. */
export function readStatus(db: Database.Database, folder: string): SpoolStatus {
  const running = isRunning(folder);
  const devices = db
    .prepare("SELECT id, connected, last_message_at, last_bytes_at, state FROM device ORDER BY id")
    .all() as {
    id: string;
    connected: number;
    last_message_at: number | null;
    last_bytes_at: number | null;
    state: string | null;
  }[];
  const count = db.prepare("SELECT state, COUNT(*) AS count FROM message WHERE device = ? GROUP BY state");
  const outbox = db
    .prepare(
      `SELECT COUNT(*) AS depth, MIN(created_at) AS oldest,
         (SELECT reason FROM study WHERE state = 'queued' ORDER BY rowid LIMIT 1) AS reason
       FROM study WHERE state = 'queued'`,
    )
    .get() as { depth: number; oldest: number | null; reason: string | null };
  return {
    running,
    devices: devices.map(({ id, connected, last_message_at, last_bytes_at, state }) => {
      const counts = { pending: 0, filed: 0, unmatched: 0, "not-for-patients": 0, quarantined: 0 };
      for (const row of count.all(id) as { state: MessageState; count: number }[]) counts[row.state] = row.count;
      const device = {
        id,
        connected: running && connected === 1,
        last_message_at: timestampOrNull(last_message_at),
        counts,
        ...readDeviceState(running ? state : null),
        last_bytes_at: timestampOrNull(last_bytes_at),
      };
      const instruments = readInstruments(db, id);
      return instruments.length === 0 ? device : { ...device, instruments };
    }),
    outbox: {
      depth: outbox.depth,
      oldest_at: timestampOrNull(outbox.oldest),
      reason: outbox.reason,
      quality: waitingQuality(db).depth,
    },
    directory: readDirectory(db),
    server: running ? readServer(db) : null,
    clock: readClock(db),
    destinations: readDestinations(db, running),
  };
}

function readServer(db: Database.Database): SpoolStatus["server"] {
  const text = db.prepare("SELECT value FROM meta WHERE key = ?").pluck().get(SERVER_META) as string | undefined;
  if (text === undefined) return null;
  const { is: state, reason, since } = JSON.parse(text) as ServerState;
  return { state, reason, since: new Date(since).toISOString() };
}

function readClock(db: Database.Database): SpoolStatus["clock"] {
  const text = db.prepare("SELECT value FROM meta WHERE key = ?").pluck().get(CLOCK_META) as string | undefined;
  return text === undefined ? null : { offset_s: Number(text) };
}

function readDeviceState(
  stored: string | null,
): Pick<
  DeviceStatus,
  "state" | "reason" | "code" | "values" | "since" | "last_warning" | "gave_way" | "noise" | "counters"
> {
  if (stored === null) return { state: NOT_SERVED, reason: null, since: null, last_warning: null, counters: null };
  const {
    is: state,
    reason,
    code,
    values,
    since,
    lastWarning,
    gaveWay,
    noise,
    counters,
  } = JSON.parse(stored) as StoredDeviceState;
  const { noiseBytes: noise_bytes, ...counted } = counters;
  return {
    state,
    reason,
    ...(code !== undefined && { code, values: values ?? [] }),
    since: timestampOrNull(since),
    last_warning: lastWarning && { at: new Date(lastWarning.at).toISOString(), reason: lastWarning.reason },
    ...(gaveWay === undefined
      ? {}
      : { gave_way: { connections: gaveWay.connections, last_address: gaveWay.lastAddress } }),
    ...(noise === undefined ? {} : { noise: publishedNoise(noise) }),
    counters: { ...counted, noise_bytes },
  };
}

function publishedNoise({ bytes, runs, since, at, sample, protocol }: NoiseState): NonNullable<DeviceStatus["noise"]> {
  const [first, last] = [since, at].map((time) => new Date(time).toISOString());
  return { bytes, runs, since: first!, last_at: last!, sample, protocol };
}

function readDirectory(db: Database.Database): SpoolStatus["directory"] {
  const text = db.prepare("SELECT value FROM meta WHERE key = 'directory'").pluck().get() as string | undefined;
  const { fullSyncAt = null, syncedAt = null } = JSON.parse(text ?? "{}") as { fullSyncAt?: number; syncedAt?: number };
  const patients = db.prepare("SELECT COUNT(*) FROM patient").pluck().get() as number;
  return { patients, fetched_at: timestampOrNull(fullSyncAt), synced_at: timestampOrNull(syncedAt) };
}

function readInstruments(db: Database.Database, device: string): Instrument[] {
  const statuses = db
    .prepare("SELECT name, content, at FROM device_report WHERE device = ? AND topic = 'status' ORDER BY name")
    .all(device) as { name: string; content: string; at: number }[];
  const events = db
    .prepare(
      `SELECT content FROM device_report WHERE device = ? AND name = ? AND topic = 'event' ORDER BY at DESC, content DESC LIMIT ${EVENTS_SHOWN}`,
    )
    .pluck();
  return statuses.map(({ name, content, at }) => ({
    name,
    said_at: new Date(at).toISOString(),
    status: JSON.parse(content) as object,
    events: (events.all(device, name) as string[]).map((event) => JSON.parse(event) as object),
  }));
}

/** Whether an agent has the data folder open. @throws if its lock is damaged */
export function isRunning(folder: string): boolean {
  const file = path.join(folder, "lock.db");
  if (!fs.existsSync(file)) return false;
  const db = new Database(trustedDatabase(file), { timeout: 0 });
  try {
    db.exec("BEGIN IMMEDIATE; ROLLBACK");
    return false;
  } catch (error) {
    const damage = describeDamage(error, file);
    if (damage !== error) throw damage;
    return true;
  } finally {
    db.close();
  }
}
