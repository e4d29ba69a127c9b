import type { Logger } from "pino";
import { lossSentence, recentLoss } from "../shared/runtime/commit-mark.ts";
import { makePrivate } from "../shared/runtime/private-folder.ts";
import { createAnalyzers } from "./analyzers.ts";
import type { Config } from "./config/schema.ts";
import { isoOrNull } from "./runtime/iso-time.ts";
import { readSpool } from "./spool/access.ts";
import { CLOCK_META, SERVER_META } from "./spool/queries/status.ts";
import { createMetrics, type Metrics } from "./status/metrics.ts";
import { Directory, syncAppointments } from "./study/patient-directory.ts";
import { every } from "./runtime/periodic.ts";
import { exposures } from "./config/exposures.ts";
import { IMAGES_FOLDER } from "./imaging/instance-store.ts";
import { createImaging } from "./imaging-devices.ts";
import { Push } from "./push/push.ts";
import { clockSentence, ClockWatch } from "./push/clock-watch.ts";
import { readiness } from "./status/readiness.ts";
import { readSecret } from "./config/secret-file.ts";
import { httpServer, type Server } from "./push/server-client.ts";
import { watched } from "./push/server-watch.ts";
import { Spool, SPOOL_FILES } from "./spool/spool.ts";
import { NOT_ASKED_YET, type ServerState } from "./states/server-state.ts";
import { serveStatus } from "./status/status-server.ts";
import { realTimer } from "./runtime/timer.ts";

// Builds the running agent out of its parts, and takes it down again.

/**
 * A sync that finds nothing makes two requests of the agent's own surface and one of the public API. The limits of a device
 * key, 120 a minute and 3000 an hour of each kind, carry ten agents with one key.
 */
const DIRECTORY_EVERY_MS = 25_000;
const DIRECTORY_RETRY_MS = 15_000;
const APPOINTMENTS_EVERY_MS = 5 * 60_000;
const REMATCH_EVERY_MS = 5_000;
/** How old the counters of `status` may be. */
const NOTE_EVERY_MS = 1_000;
const HEARTBEAT_EVERY_MS = 60_000;
/** The server takes reasons up to this length. */
const REASON_CHARS_MAX = 1_000;
const PRUNE_EVERY_MS = 6 * 60 * 60_000;
/** How often it is looked whether the spool is short of room; then it is pruned. */
const PRUNE_SHORT_EVERY_MS = 5 * 60_000;
const REMOVE_EVERY_MS = 10 * 60_000;
/** Settled messages and the bytes they came in are kept that long for support and replay; unsettled ones are kept. */
const KEEP_MS = 30 * 24 * 60 * 60_000;
const PRUNE_ROWS = 5_000;

export interface RunningAgent {
  /** The status server's port; null when the configuration has none. */
  readonly statusPort: number | null;
  stop(): Promise<void>;
}

/** Starts everything the configuration names. @throws when the data folder is in use or the status port is taken */
export async function startAgent(config: Config, version: string, log: Logger): Promise<RunningAgent> {
  const metrics = createMetrics();
  const { tightened, failed } = makePrivate(config.data, SPOOL_FILES, [IMAGES_FOLDER]);
  if (tightened.length > 0) {
    log.warn({ stage: "spool", files: tightened.length }, "other users could read the data folder: not any more");
  }
  for (const reason of failed) log.warn({ stage: "spool", reason }, "other users can read the data folder");
  for (const reason of exposures(config)) log.warn({ reason }, "the configuration leaves something open to others");
  const spool = await Spool.open(config.data, { onCommit: (ms) => metrics.commits.observe(ms / 1000) });
  const loss = readSpool(config.data, recentLoss);
  if (loss !== null) log.error({ stage: "spool", ...loss }, lossSentence(loss));
  const startedAt = Date.now();
  let serverState: ServerState = { ...NOT_ASKED_YET, since: startedAt };
  const noteServer = (state: ServerState) => {
    serverState = state;
    spool.callLater("setMeta", SERVER_META, JSON.stringify(state));
    if (state.reason === null) log.info({ stage: "push" }, `the server: ${state.is}`);
    else log.warn({ stage: "push", reason: state.reason }, `the server: ${state.is}`);
  };
  const clock = watchClock(spool, log);
  const { url, keyFile } = config.server;
  const server = watched(
    httpServer(
      url,
      () => readSecret(keyFile),
      undefined,
      (exchange) => clock.heard(exchange),
    ),
    noteServer,
  );
  const directory = new Directory(spool, server);
  const push = createPush(spool, server, metrics, log);
  const around = { config, spool, directory, metrics, log, queued: () => push.wakeSoon() };
  const imaging = await createImaging(around);
  const kinds = [await createAnalyzers(around), imaging];
  const devices = kinds.flatMap(({ served }) => served);
  const states = () => devices.map((device) => device.state());
  const ready = () => readiness(spool.problem, serverState, states());

  await spool.call("disconnectAll");
  await spool.call("setMeta", SERVER_META, JSON.stringify(serverState));
  for (const kind of kinds) await kind.resume();
  const status =
    config.status === null
      ? null
      : await serveStatus(config.status, spool, metrics, ready).catch(async (error: unknown) => {
          await spool.close();
          throw error;
        });
  await Promise.all(devices.map((device) => device.open()));
  await new Promise((resolve) => setImmediate(resolve)); // from the next turn on their ports listen
  const noting = setInterval(() => {
    for (const device of devices) device.note();
  }, NOTE_EVERY_MS);
  let prunedAt = Number.NEGATIVE_INFINITY;
  const stopLoops = [
    () => clearInterval(noting),
    every(
      DIRECTORY_EVERY_MS,
      DIRECTORY_RETRY_MS,
      async () => {
        for (const kind of kinds) kind.wake?.();
        const { whole, changed } = await directory.sync();
        if (whole || changed > 0) {
          const sentence = whole ? "all patients of the clinic were fetched" : "patients changed";
          log.info({ stage: "directory", changed }, sentence);
        }
        push.wake();
      },
      (reason) => log.warn({ stage: "directory", reason }, "patients cannot be fetched: the ones on disk are used"),
    ),
    every(
      REMATCH_EVERY_MS,
      REMATCH_EVERY_MS,
      async () => {
        for (const kind of kinds) await kind.rematch();
      },
      (reason) => log.warn({ stage: "match", reason }, "waiting results cannot be read"),
    ),
    every(
      APPOINTMENTS_EVERY_MS,
      APPOINTMENTS_EVERY_MS,
      () => syncAppointments(spool, server, config.timeZone),
      (reason) =>
        log.warn({ stage: "directory", reason }, "today's appointments cannot be fetched: worklists lack them"),
    ),
    every(
      HEARTBEAT_EVERY_MS,
      HEARTBEAT_EVERY_MS,
      () => heartbeat(),
      (reason) => log.debug({ stage: "push", reason }, "no heartbeat"),
    ),
    every(
      PRUNE_SHORT_EVERY_MS,
      PRUNE_SHORT_EVERY_MS,
      () => pruneWhenDue(),
      (reason) => log.warn({ stage: "spool", reason }, "old rows stay"),
    ),
    every(
      REMOVE_EVERY_MS,
      REMOVE_EVERY_MS,
      async () => {
        const { count, bytes, isEnough } = await imaging.removeOld();
        if (count > 0) log.info({ stage: "spool", images: count, bytes }, "images were removed");
        if (!isEnough) throw new Error("they are beyond maxGigabytes, and archives, studies or persons wait for them");
      },
      (reason) => log.warn({ stage: "spool", reason }, "images stay"),
    ),
  ];
  log.info({ devices: config.devices.length, version }, "the agent is running");

  async function pruneWhenDue(): Promise<void> {
    if (performance.now() < prunedAt + PRUNE_EVERY_MS && !spool.isShort) return;
    await prune(spool);
    prunedAt = performance.now();
  }

  async function heartbeat(): Promise<void> {
    const { depth, oldestAt } = await spool.call("outbox");
    await server.post("/agent/v1/heartbeat", {
      version,
      uptime_s: Math.round((Date.now() - startedAt) / 1000),
      outbox: { depth, oldest_at: isoOrNull(oldestAt) },
      devices: states().map(({ id, profile, connected, is, reason, since, lastMessageAt }) => ({
        ...{
          id,
          profile,
          connected,
          state: is,
          reason: reason?.slice(0, REASON_CHARS_MAX) ?? null,
          since: isoOrNull(since),
        },
        last_message_at: isoOrNull(lastMessageAt),
      })),
    });
  }

  return {
    statusPort: status?.port ?? null,
    async stop() {
      for (const stopLoop of stopLoops) stopLoop();
      await Promise.all(devices.map((device) => device.close()));
      await status?.close();
      for (const kind of kinds) await kind.stop();
      await push.stop();
      await spool.close();
      log.info("the agent has stopped");
    },
  };
}

function watchClock(spool: Spool, log: Logger): ClockWatch {
  return new ClockWatch({
    changed: (offsetS) => spool.callLater("setMeta", CLOCK_META, String(offsetS)),
    isWrong(offsetS) {
      if (offsetS === null) log.info({ stage: "server" }, "this machine's clock and the server's agree again");
      else log.warn({ stage: "server", offset_s: offsetS }, clockSentence(offsetS));
    },
  });
}

function createPush(spool: Spool, server: Server, metrics: Metrics, log: Logger): Push {
  return new Push(
    spool,
    server,
    {
      outcome: (outcome) => metrics.pushed.inc({ outcome }),
      failed(kind, reason) {
        metrics.pushFailures.inc({ kind });
        log.error({ stage: "push", kind, reason }, "studies cannot be sent: kept, and tried again");
      },
      recovered: () => log.info({ stage: "push" }, "studies are sent again"),
    },
    { setTimer: realTimer, random: Math.random },
  );
}

/** In steps, so that no device waits long for its commit. */
async function prune(spool: Spool): Promise<void> {
  while (await spool.call("prune", Date.now() - KEEP_MS, PRUNE_ROWS)) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
