import type { Logger } from "pino";
import { Repeats } from "../shared/repeats.ts";
import type { Config } from "./config.ts";
import type { ConnectionEvents } from "./connection.ts";
import type { Directory } from "./directory.ts";
import type { Spool } from "./spool.ts";
import type { Metrics } from "./status.ts";

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
  /** Takes up what an earlier process left; no device is served before. */
  resume(): Promise<void>;
  /** A command may have queued something beside the agent. Absent: none can. */
  wake?(): void;
  /** Ends what is under way; the devices are closed before. */
  stop(): Promise<void>;
}

export interface ServedDevice {
  /** Settled when the device may connect. */
  open(): Promise<void>;
  close(): Promise<void>;
  state(): {
    readonly id: string;
    readonly profile: string;
    readonly connected: boolean;
    readonly lastMessageAt: number | null;
  };
}

export type DeviceEvents = Pick<ConnectionEvents, "connected" | "disconnected" | "warning">;

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
  let lastMessageAt: number | null = null;
  const state = () => ({ id, profile, connected: shell.connected, lastMessageAt });
  const tell = () => {
    metrics.connected.set({ device: id }, shell.connected ? 1 : 0);
    // The device's light in `status`: not worth stopping for when the disk is full.
    spool.call("setDevice", state()).catch(() => undefined);
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
    warning(reason) {
      metrics.warnings.inc({ device: id });
      const sumUp = (times: number) =>
        child.warn({ stage: "message", reason, times }, "the same fault of the device or its line, many times more");
      // Counts and checksums differ from one to the next of the same fault.
      if (!repeats.isTold(reason.replaceAll(/\d+|\b[0-9A-F]{2}\b/g, "#"), sumUp)) return;
      child.warn({ stage: "message", reason }, "a fault of the device or its line");
    },
  };
  const received = (at: number) => {
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
  };
}
