import { advisedText } from "../shared/runtime/advised.ts";
import type { Logger } from "pino";
import { lackOfDescriptors } from "../shared/files/descriptors.ts";
import { useOwnProfiles } from "./devices/index.ts";
import { makePrivate } from "../shared/files/private-folder.ts";
import { analyzersOf, createAnalyzers } from "./analyzers.ts";
import { startDailyBackup } from "./daily-backup.ts";
import { exposures } from "./config/exposures.ts";
import { useConfiguredNetwork } from "./config/network.ts";
import type { Config } from "./config/values/schema.ts";
import { placeWarning } from "../shared/files/folder-place.ts";
import { readSecret } from "./config/values/secret-file.ts";
import type { DeviceGroup, RunningDevice } from "./connection/device-service.ts";
import { createImaging } from "./imaging-devices.ts";
import { IMAGES_FOLDER } from "./imaging/files/image-folder.ts";
import { type AgentTasks, startPeriodicTasks } from "./periodic-tasks.ts";
import type { ConfigurationLink, UpgradeLink } from "./push/heartbeat.ts";
import { AgreedTime } from "./push/agreed-time.ts";
import { clockSentence, ClockWatch } from "./push/clock-watch.ts";
import { Push } from "./push/push.ts";
import { QualityPush } from "./push/quality-push.ts";
import { RegistryPush } from "./push/registry-push.ts";
import { type Relays, startRelays } from "./relay/relays.ts";
import { createServerClient, type ServerClient } from "./push/server-client.ts";
import { watchServer } from "./push/server-watch.ts";
import { realTimer } from "./runtime/timer.ts";
import { AGREED_META, CLOCK_META, SERVER_META } from "./spool/queries/status.ts";
import { Spool, SPOOL_FILES } from "./spool/spool.ts";
import { NOT_ASKED_YET, type ServerState } from "./states/server-state.ts";
import { createMetrics, type Metrics } from "./status/metrics.ts";
import { type Readiness, readiness } from "./status/readiness.ts";
import { errorMessage } from "../shared/runtime/error-message.ts";
import { finishAdoptions } from "./tools/offline/adopt.ts";
import { Directory } from "./study/patient-directory.ts";
import { CONNECTIONS_MAX } from "./transport/tcp.ts";

// The composition root: creates the parts of the running agent, connects them, and stops them in reverse order.

/** Interval between two stored times upon which the clocks agreed. */
const KEEP_AGREED_MS = 60 * 60_000;

export interface RunningAgent {
  readonly config: Config;
  readonly startedAt: number;
  readonly spool: Spool;
  readonly metrics: Metrics;
  readonly server: ServerClient;
  readonly devices: readonly RunningDevice[];
  readonly relays: Relays;
  serverState(): ServerState;
  ready(): Readiness;
  stop(): Promise<void>;
}

/**
 * Starts everything that the configuration names. `remote` follows the server's devices, `upgrade` its versions.
 * @throws if the data folder is in use
 */
export async function startAgent(
  config: Config,
  version: string,
  log: Logger,
  remote: ConfigurationLink | null = null,
  upgrade: UpgradeLink | null = null,
): Promise<RunningAgent> {
  protectFiles(config, log);
  useOwnProfiles(config.data);
  useConfiguredNetwork(config);
  const lack = lackOfDescriptors(config.devices.length + 1, 2 * CONNECTIONS_MAX);
  if (lack !== null) log.warn({ stage: "chunk", reason: advisedText(lack) }, "devices can open few connections");
  const metrics = createMetrics();
  const time = new AgreedTime();
  const spool = await Spool.open(config.data, {
    now: () => time.best(),
    onCommit: (ms) => metrics.commits.observe(ms / 1000),
  });
  try {
    return await startOn(spool, { config, version, log, remote, upgrade, metrics, time });
  } catch (error) {
    // The data folder is free again for the earlier configuration, which starts next.
    await spool.close();
    throw error;
  }
}

interface Start {
  readonly config: Config;
  readonly version: string;
  readonly log: Logger;
  readonly remote: ConfigurationLink | null;
  readonly upgrade: UpgradeLink | null;
  readonly metrics: Metrics;
  readonly time: AgreedTime;
}

/** Starts the parts of the agent on its open spool. */
async function startOn(spool: Spool, start: Start): Promise<RunningAgent> {
  const { config, version, log, remote, upgrade, metrics, time } = start;
  const startedAt = Date.now();
  time.notBefore = Number((await spool.call("getMeta", AGREED_META)) ?? 0);
  const { server, serverState } = connectServer(config.server, { startedAt, spool, time, log }, () =>
    imaging.clockIsAhead(time.aheadMs),
  );
  const directory = new Directory(spool, server);
  const push = createPush({ spool, server, time, metrics, log }, () => {
    imaging.acknowledged();
    relays.wake();
  });
  const quality = createQualityPush({ spool, server, time, log }, () => push.noteRefusedTime());
  const registry = createRegistryPush({ spool, server, time, log });
  const context = {
    ...{ config, spool, directory, metrics, log },
    now: () => time.best(),
    queued: () => [push, quality].forEach((each) => each.scheduleSend()),
    changesQueued: () => registry.scheduleSend(),
  };
  const imaging = await createImaging(context, server);
  // Before the first image: the server may be away for long.
  imaging.clockIsAhead(time.aheadMs);
  // The first that asks the server, whose clock imaging gets.
  const relays = await startRelays(config.resultDestinations, { spool, server, log, now: () => time.best() });
  const groups = [await createAnalyzers(context), imaging];
  const devices = groups.flatMap((group) => group.devices);

  await resume(spool, serverState(), groups);
  const ready = () =>
    readiness(
      spool.problem,
      serverState(),
      devices.map((device) => device.state()),
    );
  await openDevices(devices);
  const stopAdoptions = completeAdoptions(config, log);
  const backups = startDailyBackup(config, metrics, log);
  const stopTasks = startPeriodicTasks({
    ...{ config, version, spool, server, directory, time, log },
    ...{ push, registry, quality, relays, groups, imaging, devices, remote, upgrade },
    backupState: () => backups.state(),
  });
  log.info({ devices: config.devices.length, version }, "the agent is running");

  return {
    config,
    startedAt,
    spool,
    metrics,
    server,
    devices,
    relays,
    serverState,
    ready,
    async stop() {
      stopTasks();
      await stopAdoptions();
      await backups.stop();
      await Promise.all(devices.map((device) => device.close()));
      for (const group of groups) await group.stop();
      await Promise.all([push, registry, quality].map((each) => each.stop()));
      await relays.stop();
      await spool.close();
      log.info("the agent has stopped");
    },
  };
}

/**
 * Completes the adoptions of profiles that a killed process left. All stored messages of a device may take minutes, in which the
 * devices are served. @returns what ends the work, which the next start takes up again
 */
function completeAdoptions(config: Config, log: Logger): () => Promise<void> {
  let isStopping = false;
  const goOn = () => {
    if (isStopping) throw new Error("the agent stops");
  };
  const done = finishAdoptions(config, analyzersOf(config), goOn).then(
    (adopted) => {
      for (const adoption of adopted) log.info({ stage: "read", ...adoption }, "the adoption of a profile is complete");
    },
    (error: unknown) => {
      const reason = errorMessage(error);
      log.warn({ stage: "read", reason }, "an adoption of a profile is not complete: the next start takes it up again");
    },
  );
  return () => {
    isStopping = true;
    return done;
  };
}

/** Closes the data folder to other users, and warns of files and ports that stay open to others. */
function protectFiles(config: Config, log: Logger): void {
  const { tightened, failed } = makePrivate(config.data, SPOOL_FILES, [IMAGES_FOLDER]);
  if (tightened.length > 0) {
    log.warn(
      { stage: "spool", files: tightened.length },
      "other users could read the data folder: the agent closed it to them",
    );
  }
  for (const reason of failed) log.warn({ stage: "spool", reason }, "other users can read the data folder");
  for (const reason of config.ignored) log.warn({ reason }, "remove a part of the configuration");
  const place = placeWarning(config.data);
  if (place !== null) log.warn({ stage: "spool", code: place.code }, place.sentence);
  for (const open of exposures(config))
    log.warn({ reason: advisedText(open) }, "the configuration leaves something open to others");
}

interface ServerConnection {
  readonly server: ServerClient;
  readonly serverState: () => ServerState;
}

/**
 * `clockJudged` is called when a response has shown how far this machine's clock is ahead.
 * @returns the client of the server; every change of the server's state goes to the spool and the log
 */
function connectServer(
  { url, keyFile, pin }: Config["server"],
  { startedAt, spool, time, log }: { startedAt: number; spool: Spool; time: AgreedTime; log: Logger },
  clockJudged: () => void,
): ServerConnection {
  let current: ServerState = { ...NOT_ASKED_YET, since: startedAt };
  const clock = watchClock(spool, log);
  const keepAgreedTime = agreedTimeKeeper(spool, time);
  const client = createServerClient(
    url,
    () => readSecret(keyFile),
    undefined,
    (exchange) => {
      clock.heard(exchange);
      if (!time.heard(exchange)) return;
      keepAgreedTime();
      clockJudged();
    },
    pin,
  );
  const server = watchServer(client, (state) => {
    current = state;
    spool.callLater("setMeta", SERVER_META, JSON.stringify(state));
    if (state.reason === null) log.info({ stage: "push" }, `the server: ${state.is}`);
    else log.warn({ stage: "push", reason: state.reason }, `the server: ${state.is}`);
  });
  return { server, serverState: () => current };
}

/** Resets the stored states of an earlier process, and processes what it left. */
async function resume(spool: Spool, serverState: ServerState, groups: readonly DeviceGroup[]): Promise<void> {
  await spool.call("disconnectAll");
  await spool.call("setMeta", SERVER_META, JSON.stringify(serverState));
  for (const group of groups) await group.resume();
}

async function openDevices(devices: readonly RunningDevice[]): Promise<void> {
  await Promise.all(devices.map((device) => device.open()));
  await new Promise((resolve) => setImmediate(resolve)); // ports listen from the next turn of the event loop
}

/** @returns a function that stores the agreed time for the next start, at most once an hour */
function agreedTimeKeeper(spool: Spool, time: AgreedTime): () => void {
  let kept = 0;
  return () => {
    const { agreedAt } = time;
    if (agreedAt === null || Math.abs(agreedAt - kept) < KEEP_AGREED_MS) return;
    kept = agreedAt;
    spool.callLater("setMeta", AGREED_META, String(agreedAt));
  };
}

function watchClock(spool: Spool, log: Logger): ClockWatch {
  return new ClockWatch({
    changed: (offsetS) => spool.callLater("setMeta", CLOCK_META, String(offsetS)),
    isWrong(offsetS) {
      if (offsetS === null) log.info({ stage: "server" }, "this machine's clock agrees with the server's again");
      else log.warn({ stage: "server", offset_s: offsetS }, clockSentence(offsetS));
    },
  });
}

/** `acknowledged` is called when the server has a study. */
function createPush(
  { spool, server, time, metrics, log }: Pick<AgentTasks, "spool" | "server" | "time" | "log"> & { metrics: Metrics },
  acknowledged: () => void,
): Push {
  return new Push(
    spool,
    server,
    {
      outcome(outcome) {
        metrics.pushed.inc({ outcome });
        acknowledged();
      },
      failed(kind, reason) {
        metrics.pushFailures.inc({ kind });
        log.error({ stage: "push", kind, reason }, "studies cannot be sent: the agent keeps them and retries");
      },
      recovered: () => log.info({ stage: "push" }, "studies are sent again"),
    },
    { setTimer: realTimer, random: Math.random, now: () => time.best() },
  );
}

function createRegistryPush({
  spool,
  server,
  time,
  log,
}: Pick<AgentTasks, "spool" | "server" | "time" | "log">): RegistryPush {
  return new RegistryPush(
    spool,
    server,
    {
      refused: (device, code) =>
        log.warn({ stage: "push", device, code }, "the server refused a change of practice software"),
      failed: (kind, reason) =>
        log.error(
          { stage: "push", kind, reason },
          "changes of practice software cannot be sent: the agent keeps them and retries",
        ),
      recovered: () => log.info({ stage: "push" }, "changes of practice software are sent again"),
    },
    { setTimer: realTimer, random: Math.random, now: () => time.best() },
  );
}

/** `refusedTime` is called when the server has rejected a record because of its time. */
function createQualityPush(
  { spool, server, time, log }: Pick<AgentTasks, "spool" | "server" | "time" | "log">,
  refusedTime: () => void,
): QualityPush {
  return new QualityPush(
    spool,
    server,
    {
      rejected(device, code) {
        if (code === "QUALITY.AFTER_CLOCK") refusedTime();
        log.warn({ stage: "push", device, code }, "the server rejected a control or an event");
      },
      failed: (kind, reason) =>
        log.warn({ stage: "push", kind, reason }, "controls cannot be sent: the agent keeps them and retries"),
      recovered: () => log.info({ stage: "push" }, "controls are sent again"),
    },
    { setTimer: realTimer, random: Math.random, now: () => time.best() },
  );
}
