import type { Logger } from "pino";
import { Repeats } from "../../shared/runtime/repeats.ts";
import type { Config } from "../config/values/schema.ts";
import type { Metrics } from "../status/metrics.ts";
import type { DeviceState } from "../states/device-state.ts";
import type { Directory } from "../study/patient-directory.ts";
import { type GaveWay, gaveWayText } from "../states/line-state.ts";
import { type NoiseState, noiseText } from "../states/noise-state.ts";
import type { Spool } from "../spool/spool.ts";
import type { DeviceSession } from "./device/device-session.ts";
import { DeviceStatus } from "./device/device-status.ts";

// Common to all devices: connection status, metrics and logger.

/** Kinds of faults that the log counts apart for each device. A peer chooses the words of some faults, such as its AE title. */
const FAULT_KINDS_MAX = 20;

/** Dependencies shared by all devices. */
export interface AgentContext {
  readonly config: Config;
  readonly spool: Spool;
  readonly directory: Directory;
  /** The time in ms since 1970, as far as it is known: this machine's clock may be wrong. */
  readonly now: () => number;
  readonly metrics: Metrics;
  readonly log: Logger;
  /** Called when a study is ready for the push to the server. */
  readonly queued: () => void;
  /** Called when changes of practice software are ready for the server. */
  readonly changesQueued: () => void;
}

/** The devices of one kind with the stages that process their messages. */
export interface DeviceGroup {
  readonly devices: readonly RunningDevice[];
  /** Processes what an earlier process left. Devices open only after it, so long work continues in the background. */
  resume(): Promise<void>;
  /** Checks for items that a command queued in the spool. */
  wake?(): void;
  /** Matches again the messages whose awaited patient was added or changed. */
  rematch(): Promise<void>;
  /** Finishes the work in progress. The caller closes the devices first. */
  stop(): Promise<void>;
}

export interface RunningDevice {
  /** @returns a promise that settles once the device may connect */
  open(): Promise<void>;
  close(): Promise<void>;
  state(): DeviceState;
  /** Whether a message of the device is under way. */
  isWithinMessage(): boolean;
  /** Stores the counters if they have changed. */
  storeCounters(): void;
}

/** The connection of one device of any protocol. */
export interface DeviceConnection {
  readonly connected: boolean;
  /** A message is under way: it has started, or its replies have not left. */
  readonly isWithinMessage: boolean;
  open(): void | Promise<void>;
  close(): Promise<void>;
}

/** Starts one device. `connect` creates its connection, which reports to the given session. */
export function startDevice(
  { metrics, spool, log }: AgentContext,
  id: string,
  profile: string,
  connect: (session: DeviceSession) => DeviceConnection,
): RunningDevice {
  const status = new DeviceStatus(id, profile, spool, metrics);
  const connection = connect(deviceSession(status, log.child({ device: id })));
  return {
    async open() {
      status.follow(connection);
      await connection.open();
    },
    close: () => connection.close(),
    state: () => status.state(),
    isWithinMessage: () => connection.isWithinMessage,
    storeCounters: () => status.storeIfChanged(),
  };
}

/** @returns the session of one device: it logs the reports of the connection and passes them to the status */
function deviceSession(status: DeviceStatus, log: Logger): DeviceSession {
  const repeats = new Repeats();
  const faults = new Repeats(undefined, FAULT_KINDS_MAX);
  return {
    log,
    connected(peer) {
      const sumUp = (times: number) => log.info({ stage: "chunk", times }, "the device connected, many times more");
      if (repeats.shouldReport("connected", sumUp)) log.info({ stage: "chunk", peer }, "the device connected");
      status.connectionChanged();
    },
    disconnected() {
      const sumUp = (times: number) => log.info({ stage: "chunk", times }, "the device disconnected, many times more");
      if (repeats.shouldReport("disconnected", sumUp)) log.info({ stage: "chunk" }, "the device disconnected");
      status.connectionChanged();
    },
    lineChanged(line) {
      if (line.is === "listening" && line.gaveWay !== undefined) warnOfGaveWay(line.gaveWay, repeats, log);
      status.lineChanged(line);
    },
    bytes: (count) => status.countBytes(count),
    warning(fault, noise, peer = "") {
      if (noise === undefined) {
        status.countWarning(fault);
        warnOfFault(fault, faults, log);
      } else {
        warnOfNoise(status.countNoise(fault, noise, peer), repeats, log);
      }
    },
    refusal(fault) {
      status.countWarning(fault);
      warnOfFault(fault, faults, log, 1);
    },
    refused: (address) => status.countRefused(address),
    received: (at) => status.countMessage(at),
  };
}

function warnOfGaveWay(gaveWay: GaveWay, repeats: Repeats, log: Logger): void {
  const sumUp = (times: number) =>
    log.warn({ stage: "chunk", times }, "silent connections were closed to make room for new ones, many times more");
  if (!repeats.shouldReport("gave way", sumUp)) return;
  log.warn({ stage: "chunk", reason: gaveWayText(gaveWay) }, "a silent connection was closed to make room");
}

function warnOfFault(reason: string, repeats: Repeats, log: Logger, max?: number): void {
  const sumUp = (times: number, ofKind: string) =>
    ofKind === ""
      ? log.warn({ stage: "message", times }, "other faults of the device or its line, many times more")
      : log.warn({ stage: "message", reason, times }, "the same fault of the device or its line, many times more");
  // Two faults that differ only in counts or checksums are the same one.
  const kind = reason.replaceAll(/\d+|\b[0-9A-F]{2}\b/g, "#");
  if (repeats.shouldReport(kind, sumUp, max))
    log.warn({ stage: "message", reason }, "a fault of the device or its line");
}

/** Logs noise once a minute, with its counts and without its bytes: they may hold a patient's name. */
function warnOfNoise(noise: NoiseState, repeats: Repeats, log: Logger): void {
  const { bytes, runs } = noise;
  if (!repeats.shouldReport("noise", () => undefined, 1)) return;
  log.warn({ stage: "message", reason: noiseText(noise), bytes, runs }, "bytes of the device belong to no message");
}
