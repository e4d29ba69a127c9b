import type { NoiseRun } from "../../protocols/link.ts";
import type { Spool } from "../../spool/spool.ts";
import type { DeviceState } from "../../states/device-state.ts";
import type { GaveWay, LineState } from "../../states/line-state.ts";
import type { NoiseState } from "../../states/noise-state.ts";
import type { Metrics } from "../../status/metrics.ts";
import { DeviceNoise } from "./device-noise.ts";
import { addressOfPeer, RefusedCallers } from "./refused-callers.ts";

const CONNECTED = { is: "connected", reason: null, mayBeOff: false } as const;

interface Connectable {
  readonly connected: boolean;
}

/** The status of one device: in memory, in the spool for the `status` command, and in the metrics. */
export class DeviceStatus {
  readonly #id: string;
  readonly #profile: string;
  readonly #spool: Spool;
  readonly #metrics: Metrics;
  #connection: Connectable = { connected: false };
  #line: LineState = { is: "opening" };
  #since = Date.now();
  #lastMessageAt: number | null = null;
  #lastBytesAt: number | null = null;
  #lastWarning: DeviceState["lastWarning"] = null;
  #gaveWay: GaveWay | null = null;
  readonly #noise = new DeviceNoise();
  readonly #refused = new RefusedCallers();
  readonly #counters = { bytes: 0, messages: 0, warnings: 0, noiseBytes: 0 };
  /** The last connection status, and the last state in the spool, both as JSON. */
  #lastStatus = "";
  #lastStored = "";

  constructor(id: string, profile: string, spool: Spool, metrics: Metrics) {
    this.#id = id;
    this.#profile = profile;
    this.#spool = spool;
    this.#metrics = metrics;
  }

  state(): DeviceState {
    return {
      id: this.#id,
      profile: this.#profile,
      connected: this.#connection.connected,
      ...this.#connectionStatus(),
      since: this.#since,
      lastMessageAt: this.#lastMessageAt,
      lastBytesAt: this.#lastBytesAt,
      lastWarning: this.#lastWarning,
      ...(this.#gaveWay === null ? {} : { gaveWay: this.#gaveWay }),
      ...(this.#noise.state === null ? {} : { noise: this.#noise.state }),
      ...(this.#refused.list.length === 0 ? {} : { refused: this.#refused.list }),
      counters: this.#counters,
    };
  }

  /** Shows from now on whether that connection has an open wire. */
  follow(connection: Connectable): void {
    this.#connection = connection;
    this.connectionChanged();
  }

  /** Stores a changed connection status immediately. Counters wait for note(). */
  connectionChanged(): void {
    this.#metrics.connected.set({ device: this.#id }, this.#connection.connected ? 1 : 0);
    const text = JSON.stringify(this.#connectionStatus());
    if (text === this.#lastStatus) return;
    this.#lastStatus = text;
    this.#since = Date.now();
    // A full disk must not stop the device, so a refusal is ignored.
    if (this.#hasChanged()) this.#spool.call("setDevice", this.state()).catch(() => undefined);
  }

  lineChanged(line: LineState): void {
    this.#line = line;
    if (line.is === "listening" && line.gaveWay !== undefined) this.#gaveWay = line.gaveWay;
    this.connectionChanged();
  }

  countBytes(count: number): void {
    this.#counters.bytes += count;
    this.#lastBytesAt = Date.now();
  }

  countMessage(at: number): void {
    this.#metrics.received.inc({ device: this.#id });
    this.#counters.messages += 1;
    this.#lastMessageAt = at; // the spool stores it with the message
  }

  countWarning(reason: string, at = Date.now()): void {
    this.#metrics.warnings.inc({ device: this.#id });
    this.#counters.warnings += 1;
    this.#lastWarning = { at, reason };
  }

  /** Counts a run of bytes outside any message, as a warning. @returns the device's noise since its last message */
  countNoise(fault: string, run: NoiseRun, peer: string): NoiseState {
    const noise = this.#noise.add(run, Date.now(), this.#lastMessageAt, addressOfPeer(peer));
    this.#metrics.noise.inc({ device: this.#id }, run.bytes);
    this.#counters.noiseBytes += run.bytes;
    const hint =
      noise.protocol === null ? "" : `; they look like ${noise.protocol}: compare the profile ${this.#profile}`;
    this.countWarning(`${fault}${hint}`, noise.at);
    return noise;
  }

  countRefused(address: string): void {
    this.#refused.add(address, Date.now());
  }

  storeIfChanged(): void {
    if (this.#hasChanged()) this.#spool.callLater("setDevice", this.state());
  }

  #connectionStatus(): Pick<DeviceState, "is" | "reason" | "fault" | "remedy" | "code" | "values" | "mayBeOff"> {
    if (this.#connection.connected) return CONNECTED;
    const line = this.#line;
    return "reason" in line ? line : { is: line.is, reason: null, mayBeOff: false };
  }

  #hasChanged(): boolean {
    const text = JSON.stringify(this.state());
    if (text === this.#lastStored) return false;
    this.#lastStored = text;
    return true;
  }
}
