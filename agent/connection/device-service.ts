import type { Logger } from "pino";
import { Repeats } from "../../shared/runtime/repeats.ts";
import type { Config } from "../config/schema.ts";
import type { Metrics } from "../status/metrics.ts";
import type { ConnectionEvents } from "./connection.ts";
import type { DeviceState } from "../states/device-state.ts";
import type { Directory } from "../study/patient-directory.ts";
import { type GaveWay, gaveWayText, type LineState } from "../states/line-state.ts";
import type { NoiseRun } from "../protocols/link.ts";
import { protocolOf } from "../detection/foreign-protocol.ts";
import type { Spool } from "../spool/spool.ts";

// What devices of every kind have: their light in `status`, their counters and their log.

/** What is there once, for the devices of every kind. */
export interface Surroundings {
  readonly config: Config;
  readonly spool: Spool;
  readonly directory: Directory;
  readonly metrics: Metrics;
  readonly log: Logger;
  /** Studies wait for the server. */
  readonly queued: () => void;
}

/** The devices of one kind, and what their messages go through. */
export interface Devices {
  readonly served: readonly ServedDevice[];
  /** Takes up what an earlier process left. No device is served before, so what takes long goes on in the background. */
  resume(): Promise<void>;
  /** A command may have queued something beside the agent. Absent: none can. */
  wake?(): void;
  /** Assesses again the messages whose awaited patient came or changed. */
  rematch(): Promise<void>;
  /** Ends what is under way; the devices are closed before. */
  stop(): Promise<void>;
}

export interface ServedDevice {
  /** Settled when the device may connect. */
  open(): Promise<void>;
  close(): Promise<void>;
  state(): DeviceState;
  /** Stores what was counted since the last time. */
  note(): void;
}

export type DeviceEvents = Pick<ConnectionEvents, "connected" | "disconnected" | "stands" | "bytes" | "warning">;

/** The shell of one device. */
export interface Shell {
  readonly connected: boolean;
  open(): void | Promise<void>;
  close(): Promise<void>;
}

/** `connect` makes the shell; what it does is told to `events`, and each message to `received`. */
export function serve(
  { metrics, spool, log }: Surroundings,
  id: string,
  profile: string,
  connect: (events: DeviceEvents, received: (at: number) => void, log: Logger) => Shell,
): ServedDevice {
  const child = log.child({ device: id });
  const repeats = new Repeats();
  let line: LineState = { is: "opening" };
  let since = Date.now();
  let lastMessageAt: number | null = null;
  let lastBytesAt: number | null = null;
  let lastWarning: DeviceState["lastWarning"] = null;
  let gaveWay: GaveWay | null = null;
  const counters = { bytes: 0, messages: 0, warnings: 0, noiseBytes: 0 };
  const words = () => {
    if (shell.connected) return CONNECTED;
    return "reason" in line ? line : { is: line.is, reason: null, mayBeOff: false };
  };
  const state = (): DeviceState => {
    const { is, reason, mayBeOff } = words();
    const { connected } = shell;
    const last = { lastMessageAt, lastBytesAt, lastWarning, ...(gaveWay === null ? {} : { gaveWay }) };
    return { id, profile, connected, is, reason, mayBeOff, since, ...last, counters };
  };
  let noted = "";
  const isNews = () => {
    const text = JSON.stringify(state());
    if (text === noted) return false;
    noted = text;
    return true;
  };
  let told = "";
  /** A change of state is stored at once; what is only counted, with the next note. */
  const tell = () => {
    metrics.connected.set({ device: id }, shell.connected ? 1 : 0);
    const text = JSON.stringify(words());
    if (text === told) return;
    told = text;
    since = Date.now();
    // The device's light in `status`: not worth stopping for when the disk is full.
    if (isNews()) spool.call("setDevice", state()).catch(() => undefined);
  };
  const warnOfGaveWay = (latest: GaveWay) => {
    gaveWay = latest;
    const sumUp = (times: number) =>
      child.warn(
        { stage: "chunk", times },
        "silent connections were closed to make room for new ones, many times more",
      );
    if (!repeats.isTold("gave way", sumUp)) return;
    child.warn({ stage: "chunk", reason: gaveWayText(latest) }, "a silent connection was closed to make room");
  };
  const events: DeviceEvents = {
    connected(peer) {
      child.info({ stage: "chunk", peer }, "the device connected");
      tell();
    },
    disconnected() {
      child.info({ stage: "chunk" }, "the device disconnected");
      tell();
    },
    stands(standing) {
      line = standing;
      if (standing.is === "listening" && standing.gaveWay !== undefined) warnOfGaveWay(standing.gaveWay);
      tell();
    },
    bytes(count) {
      counters.bytes += count;
      lastBytesAt = Date.now();
    },
    warning(what, noise) {
      const reason = `${what}${noise === undefined ? "" : hint(noise, profile)}`;
      counters.warnings += 1;
      counters.noiseBytes += noise?.bytes ?? 0;
      lastWarning = { at: Date.now(), reason };
      metrics.warnings.inc({ device: id });
      metrics.noise.inc({ device: id }, noise?.bytes ?? 0);
      const sumUp = (times: number) =>
        child.warn({ stage: "message", reason, times }, "the same fault of the device or its line, many times more");
      // Counts and checksums differ from one to the next of the same fault.
      if (!repeats.isTold(reason.replaceAll(/\d+|\b[0-9A-F]{2}\b/g, "#"), sumUp)) return;
      child.warn({ stage: "message", reason }, "a fault of the device or its line");
    },
  };
  const received = (at: number) => {
    counters.messages += 1;
    metrics.received.inc({ device: id });
    lastMessageAt = at; // the spool notes it with the message
  };
  const shell = connect(events, received, child);
  return {
    async open() {
      tell();
      await shell.open();
    },
    close: () => shell.close(),
    state,
    note() {
      if (isNews()) spool.callLater("setDevice", state());
    },
  };
}

/** Names the protocol that the first bytes prove. */
function hint({ head }: NoiseRun, profile: string): string {
  const protocol = protocolOf(head);
  return protocol === null ? "" : `; they look like ${protocol}: compare the profile ${profile}`;
}

const CONNECTED = { is: "connected", reason: null, mayBeOff: false } as const;
