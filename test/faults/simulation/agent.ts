import { dirname } from "node:path";
import { pino } from "pino";
import { createAnalyzers } from "../../../agent/analyzers.ts";
import { checkConfig } from "../../../agent/config/check.ts";
import { type Config, DICOM } from "../../../agent/config/values/schema.ts";
import { readSecret } from "../../../agent/config/values/secret-file.ts";
import type { RunningDevice } from "../../../agent/connection/device-service.ts";
import { AgreedTime } from "../../../agent/push/agreed-time.ts";
import { ClockWatch } from "../../../agent/push/clock-watch.ts";
import { Push } from "../../../agent/push/push.ts";
import { QualityPush } from "../../../agent/push/quality-push.ts";
import { createServerClient, type ServerClient } from "../../../agent/push/server-client.ts";
import { runPeriodically } from "../../../agent/runtime/periodic.ts";
import { realTimer } from "../../../agent/runtime/timer.ts";
import { isStorageFault } from "../../../agent/spool/thread/database.ts";
import type { WorkerOptions } from "../../../agent/spool/thread/wire-format.ts";
import { StorageError } from "../../../agent/spool/thread/storage-error.ts";
import { Spool } from "../../../agent/spool/spool.ts";
import { createMetrics } from "../../../agent/status/metrics.ts";
import { Directory } from "../../../agent/study/patient-directory.ts";
import type { Broken } from "./broken.ts";
import { type Clock, type Machine, Process } from "./clock.ts";
import type { Device } from "./devices.ts";
import type { Disk } from "./disk.ts";
import { isRefusal } from "./image-files.ts";
import { createImages } from "./imaging.ts";

// The agent: its parts as agent.ts connects them, without the page and the heartbeat.

const SYNC_EVERY_MS = 25_000;
const REMATCH_EVERY_MS = 5_000;
/** Time until the service manager starts a program again. */
const START_AGAIN_MS = 5_000;
const log = pino({ enabled: false });
const metrics = createMetrics();

export class SimulatedAgent {
  readonly machine: Machine;
  /** The offset of the clock that was reported last, in seconds; null if the clocks agree. */
  reportedOffsetS: number | null = null;
  /** Errors of a start. */
  readonly faults: string[] = [];
  process: Process;
  readonly #clock: Clock;
  readonly #disk: Disk;
  readonly #devices: readonly Device[];
  readonly #config: Config;
  readonly #broken: Broken | null;
  #stop: (() => Promise<void>) | null = null;

  constructor(
    machine: Machine,
    clock: Clock,
    disk: Disk,
    devices: readonly Device[],
    keyFile: string,
    broken: Broken | null,
  ) {
    this.machine = machine;
    this.#clock = clock;
    this.#disk = disk;
    this.#devices = devices;
    this.#config = configOf(devices, disk.folder, keyFile);
    this.#broken = broken;
    this.process = new Process(machine);
    this.process.isAlive = false;
  }

  /** Starts the agent unless it runs. It opens its devices some time later. */
  start(): void {
    if (this.process.isAlive) return;
    const process = (this.process = new Process(this.machine));
    this.#clock.schedule(process, 0, () => {
      this.#run(process).catch((error: unknown) => this.#failed(process, error));
    });
  }

  /** The service manager starts an agent again that could not start. */
  #failed(process: Process, error: unknown): void {
    if (!process.isAlive) return;
    this.crash(false);
    if (!isStorageFault(error) && !(error instanceof StorageError) && !isRefusal(error))
      this.faults.push(`the agent did not start: ${String(error)}`);
    this.#startAgain();
  }

  /** Ends the process. With the power, the commits that were not fsynced are lost too. */
  crash(isPowerCut: boolean): void {
    this.process.isAlive = false;
    this.#stop = null;
    if (isPowerCut) this.#disk.cutPower();
    else this.#disk.close();
  }

  /** Stops the agent as the service manager does, and starts it again. */
  restart(): void {
    const [process, stop] = [this.process, this.#stop];
    if (stop === null || !process.isAlive) return;
    this.#stop = null;
    const ended = () => {
      process.isAlive = false;
      this.#startAgain();
    };
    this.#clock.schedule(process, 0, () => {
      stop().then(ended, (error: unknown) => this.faults.push(`the agent did not stop: ${String(error)}`));
    });
  }

  #startAgain(): void {
    this.#clock.schedule(this.#devices[0]!.process, START_AGAIN_MS, () => this.start());
  }

  async #run(process: Process): Promise<void> {
    const config = this.#config;
    this.reportedOffsetS = null;
    const time = new AgreedTime();
    const now = () => time.best();
    const startThread = (options: WorkerOptions) => this.#disk.startThread(process, options);
    const spool = await Spool.open(config.data, { now, startThread });
    this.#broken?.spool?.(spool);
    const server = this.#client(time);
    const directory = new Directory(spool, server);
    const nothing = () => undefined;
    const events = { outcome: nothing, rejected: nothing, failed: nothing, recovered: nothing };
    const timing = { setTimer: realTimer, random: Math.random, now };
    const push = new Push(spool, server, events, timing);
    const quality = new QualityPush(spool, server, events, timing);
    const context = {
      config,
      spool,
      directory,
      metrics,
      log,
      now,
      queued: () => [push, quality].forEach((each) => each.scheduleSend()),
      changesQueued: () => undefined,
    };
    const cables = new Map(this.#devices.map(({ id, cable }) => [id, cable]));
    const group = await createAnalyzers(context, ({ id }) => cables.get(id)!.transport(process));
    const imaging = await createImages(
      context,
      ({ id }) => cables.get(id)!.transport(process),
      (error) => this.faults.push(`an error of the imaging: ${String(error)}`),
    );
    await spool.call("disconnectAll");
    await group.resume();
    imaging.resume();
    const devices = [...group.devices, ...imaging.devices];
    await Promise.all(devices.map((device: RunningDevice) => device.open()));
    const sync = async () => {
      await directory.sync();
      push.wake();
      quality.serverResponded();
    };
    const rematch = async () => {
      await group.rematch();
      await imaging.rematch();
    };
    const tasks = [
      runPeriodically(SYNC_EVERY_MS, SYNC_EVERY_MS, sync, nothing),
      runPeriodically(REMATCH_EVERY_MS, REMATCH_EVERY_MS, () => rematch(), nothing),
    ];
    this.#stop = async () => {
      for (const stop of tasks) stop();
      await Promise.all(devices.map((device) => device.close()));
      await group.stop();
      await imaging.stop();
      await push.stop();
      await quality.stop();
      await spool.close();
    };
  }

  #client(time: AgreedTime): ServerClient {
    const watch = new ClockWatch({ changed: () => undefined, isWrong: (offsetS) => (this.reportedOffsetS = offsetS) });
    const client = createServerClient(
      "http://server.invalid",
      () => readSecret(this.#config.server.keyFile),
      undefined,
      (exchange) => {
        time.heard(exchange);
        watch.heard(exchange);
      },
    );
    const post: ServerClient["post"] = (route, body) => {
      this.#clock.realWork += 1; // until the request leaves: its body is compressed in another thread
      return client.post(route, body);
    };
    return { ...client, post: this.#broken?.post?.(post) ?? post };
  }
}

function configOf(devices: readonly Device[], folder: string, keyFile: string): Config {
  const text = JSON.stringify({
    server: { url: "http://server.invalid", keyFile },
    data: folder,
    timeZone: "Etc/UTC",
    devices: devices.map(({ id, profile }, index) => ({
      id,
      profile,
      connection: { listen: `127.0.0.1:${4001 + index}` },
      ...(profile === DICOM ? { quietSeconds: 5 } : {}),
    })),
  });
  const checked = checkConfig(text, dirname(keyFile));
  if ("problems" in checked) throw new Error(JSON.stringify(checked.problems));
  return checked.config;
}
