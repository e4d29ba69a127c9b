import path from "node:path";
import type { Logger } from "pino";
import type { BackupState } from "../shared/platform/care/backup-state.ts";
import { watchLog } from "../shared/log/long-log.ts";
import type { Config } from "./config/values/schema.ts";
import type { DeviceGroup, RunningDevice } from "./connection/device-service.ts";
import type { ImagingDevices } from "./imaging-devices.ts";
import { type ConfigurationLink, heartbeatTask, type UpgradeLink } from "./push/heartbeat.ts";
import { followNews, type ListReader } from "./push/news.ts";
import type { AgreedTime } from "./push/agreed-time.ts";
import type { Push } from "./push/push.ts";
import type { QualityPush } from "./push/quality-push.ts";
import type { RegistryPush } from "./push/registry-push.ts";
import type { Relays } from "./relay/relays.ts";
import type { ServerClient } from "./push/server-client.ts";
import { runPeriodically } from "./runtime/periodic.ts";
import { sleep } from "./runtime/timer.ts";
import { MESSAGES_KEPT_MS } from "./spool/queries/retention.ts";
import type { Spool } from "./spool/spool.ts";
import { syncAppointments } from "./study/appointments.ts";
import { syncPlacements } from "./study/placements.ts";
import { type Directory, DIRECTORY_LISTS } from "./study/patient-directory.ts";

// The periodic tasks of the running agent, each with its interval and its log message on failure. The intervals of the lists are
// those for a server without news, and of reads for safety at one with news.

/**
 * A sync without changes costs three requests of the agent's endpoints, one for orders and one of the public API. The rate limits
 * of a device key, 120 a minute and 3000 an hour of each kind, allow six agents with one key.
 */
const DIRECTORY_EVERY_MS = 25_000;
const DIRECTORY_RETRY_MS = 15_000;
const APPOINTMENTS_EVERY_MS = 5 * 60_000;
/** With the directory's requests, six agents with one key stay below its 3000 requests an hour. */
const PLACEMENTS_EVERY_MS = 60_000;
/** The versions of news miss nothing that is known: these reads find what a fault of the server hid. */
const UNCHANGED_LISTS_MS = 60 * 60_000;
/** The appointments of today are others after midnight, which has no news. */
const UNCHANGED_DAY_MS = 15 * 60_000;
const REMATCH_EVERY_MS = 5_000;
/** Maximum age of the counters in `status`. */
const COUNTERS_EVERY_MS = 1_000;
/** Interval between checks for a reason to send a heartbeat. */
const HEARTBEAT_CHECK_MS = 15_000;
/** A new version of the agent must get a response within a minute, or it is rolled back; this allows two retries. */
const HEARTBEAT_RETRY_MS = 20_000;
const PRUNE_EVERY_MS = 6 * 60 * 60_000;
/** Interval between checks whether old rows or images may be removed: the clocks may agree only now. */
const RETENTION_CHECK_MS = 15_000;
/** Interval between checks of the spool's free space. */
const FREE_SPACE_EVERY_MS = 5_000;
const REMOVE_IMAGES_EVERY_MS = 10 * 60_000;
const PRUNE_ROWS = 5_000;
/** Sessions of one step that makes room, of at most 64 messages each. */
const SETTLED_SESSIONS = 50;
/** Pause between two steps of a prune, so that no device waits long for its commit. */
const PRUNE_PAUSE_MS = 50;

export interface AgentTasks {
  readonly config: Config;
  readonly version: string;
  readonly spool: Spool;
  readonly server: ServerClient;
  readonly directory: Directory;
  readonly time: AgreedTime;
  readonly push: Push;
  readonly registry: RegistryPush;
  readonly quality: QualityPush;
  readonly relays: Relays;
  readonly groups: readonly DeviceGroup[];
  readonly imaging: ImagingDevices;
  readonly devices: readonly RunningDevice[];
  readonly backupState: () => BackupState | null;
  readonly remote: ConfigurationLink | null;
  readonly upgrade: UpgradeLink | null;
  readonly log: Logger;
}

/** Starts all tasks. @returns a function that stops them */
export function startPeriodicTasks(agent: AgentTasks): () => void {
  const { config, spool, server, time, groups, devices, log } = agent;
  const warn = (stage: string, sentence: string) => (reason: string) => log.warn({ stage, reason }, sentence);
  const counters = setInterval(() => {
    for (const device of devices) device.storeCounters();
  }, COUNTERS_EVERY_MS);
  const stops = [
    () => clearInterval(counters),
    followNews(server, listReaders(agent), () => serverResponded(agent)),
    runPeriodically(
      DIRECTORY_EVERY_MS,
      DIRECTORY_RETRY_MS,
      async () => {
        for (const group of groups) group.wake?.();
      },
      warn("match", "devices cannot be read"),
    ),
    runPeriodically(
      REMATCH_EVERY_MS,
      REMATCH_EVERY_MS,
      async () => {
        for (const group of groups) await group.rematch();
      },
      warn("match", "waiting results cannot be read"),
    ),
    runPeriodically(HEARTBEAT_CHECK_MS, HEARTBEAT_RETRY_MS, heartbeatTask(agent), (reason) =>
      log.debug({ stage: "push", reason }, "heartbeat failed"),
    ),
    runPeriodically(
      RETENTION_CHECK_MS,
      RETENTION_CHECK_MS,
      pruneTask(spool, time),
      warn("spool", "old rows cannot be removed"),
    ),
    runPeriodically(
      FREE_SPACE_EVERY_MS,
      FREE_SPACE_EVERY_MS,
      () => makeRoom(spool),
      warn("spool", "settled rows cannot be removed"),
    ),
    runPeriodically(
      RETENTION_CHECK_MS,
      RETENTION_CHECK_MS,
      removeImagesTask(agent),
      warn("spool", "images cannot be removed"),
    ),
  ];
  stops.push(
    watchLog(path.join(config.data, "spool.db"), ({ code, bytes, fault, remedy }) =>
      log.warn({ stage: "spool", code, bytes, remedy }, fault),
    ),
  );
  return () => {
    for (const stop of stops) stop();
  };
}

/** The readers of the server's lists. A key without a permission costs only the lists of one reader. */
function listReaders({ config, spool, server, directory, log }: AgentTasks): ListReader[] {
  const warn = (sentence: string) => (reason: string) => log.warn({ stage: "directory", reason }, sentence);
  return [
    {
      lists: DIRECTORY_LISTS,
      everyMs: DIRECTORY_EVERY_MS,
      unchangedMs: UNCHANGED_LISTS_MS,
      retryMs: DIRECTORY_RETRY_MS,
      async read(lists) {
        const { whole, changed } = await directory.syncAfterChange(lists);
        if (whole || changed > 0) {
          log.info(
            { stage: "directory", changed },
            whole ? "all patients of the clinic were fetched" : "patients changed",
          );
        }
      },
      failed: warn("patients cannot be fetched: the agent uses its local copy"),
    },
    {
      lists: ["appointments"],
      everyMs: APPOINTMENTS_EVERY_MS,
      unchangedMs: UNCHANGED_DAY_MS,
      retryMs: APPOINTMENTS_EVERY_MS,
      read: () => syncAppointments(spool, server, config.timeZone),
      failed: warn("today's appointments cannot be fetched: host queries get none of them"),
    },
    {
      lists: ["placements"],
      everyMs: PLACEMENTS_EVERY_MS,
      unchangedMs: UNCHANGED_LISTS_MS,
      retryMs: PLACEMENTS_EVERY_MS,
      read: () => syncPlacements(spool, server),
      failed: warn("what people did at the server cannot be fetched: counts may differ from the dashboard"),
    },
  ];
}

async function serverResponded({ time, push, registry, quality, relays }: AgentTasks): Promise<void> {
  push.serverResponded();
  registry.serverResponded();
  quality.serverResponded();
  relays.serverResponded();
  const agreed = time.now();
  if (agreed !== null) await push.retryRefusedTimes(agreed);
}

/**
 * @returns a task that prunes every PRUNE_EVERY_MS. A clock that is set years ahead must not expire the history, so only a time
 * counts upon which the server agrees
 */
export function pruneTask(spool: Pick<Spool, "call">, time: Pick<AgreedTime, "now">): () => Promise<void> {
  let prunedAt = Number.NEGATIVE_INFINITY;
  return async () => {
    const now = time.now();
    if (performance.now() < prunedAt + PRUNE_EVERY_MS || now === null) return;
    while (await spool.call("prune", now - MESSAGES_KEPT_MS, PRUNE_ROWS)) {
      await sleep(PRUNE_PAUSE_MS);
    }
    prunedAt = performance.now();
  };
}

/** Removes settled rows of the devices that need room, however young they are, until there is enough. */
export async function makeRoom(spool: Pick<Spool, "call" | "shortDevices">): Promise<void> {
  while (spool.shortDevices.length > 0 && (await spool.call("makeRoom", spool.shortDevices, SETTLED_SESSIONS))) {
    await sleep(PRUNE_PAUSE_MS);
  }
}

/**
 * @returns a task that removes images every REMOVE_IMAGES_EVERY_MS, and as soon as there is a time upon which the server agrees.
 * Without one only images beyond the configured size are removed
 */
export function removeImagesTask({
  imaging,
  time,
  log,
}: { readonly imaging: Pick<ImagingDevices, "removeOld">; readonly time: Pick<AgreedTime, "now"> } & Pick<
  AgentTasks,
  "log"
>): () => Promise<void> {
  let [removedAt, wasAgreed] = [Number.NEGATIVE_INFINITY, false];
  return async () => {
    const agreed = time.now();
    const isFirstAgreed = agreed !== null && !wasAgreed;
    if (performance.now() < removedAt + REMOVE_IMAGES_EVERY_MS && !isFirstAgreed) return;
    [removedAt, wasAgreed] = [performance.now(), agreed !== null];
    const { count, bytes, isEnough } = await imaging.removeOld(agreed);
    if (count > 0) log.info({ stage: "spool", images: count, bytes }, "images were removed");
    if (!isEnough) throw new Error("images exceed maxGigabytes, but archives, studies or users still need them");
  };
}
