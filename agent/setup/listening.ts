import { addressOfPeer } from "../connection/device/refused-callers.ts";
import { type SerialLine, SERIAL_LINES, type SniffedBytes, suggest, SURE } from "../devices/detection/detect.ts";
import { ACK, concat, ENQ, EOT } from "../protocols/bytes.ts";
import type { Address } from "../transport/address.ts";
import { serialTransport } from "../transport/serial.ts";
import { dialTransport, listenTransport } from "../transport/tcp.ts";
import type { Transport, Wire, WireHandler } from "../transport/transport.ts";

// Listens to a new device until its bytes are recognised. It acknowledges no result: the device would delete or mark it, and
// nothing is stored yet. ENQ alone gets an ACK, because that only permits the device to send (LIS01-A2 §8.2). Its frames get no
// reply, so the device keeps the result and sends it again to the agent.

export type ListenTo =
  | { readonly kind: "serial"; readonly path: string }
  | { readonly kind: "listen" | "dial"; readonly address: Address };

/** Bytes of one serial setting or one connection. */
export interface HeardBytes extends SniffedBytes {
  /** Address of the caller; null on a serial port. */
  readonly caller: string | null;
}

export interface ListeningTimes {
  /** Silence after which listening ends. */
  readonly silenceMs: number;
  /** Silence after which a transmission counts as complete. */
  readonly quietMs: number;
}

export const LISTENING_TIMES: ListeningTimes = { silenceMs: 60_000, quietMs: 1_500 };

/** Max bytes of one sample, more than the longest message. */
const BYTES_MAX = 64 * 1024;
/** Max connections whose bytes are kept. */
const SAMPLES_MAX = 32;

export class Listening {
  readonly #place: ListenTo;
  readonly #times: ListeningTimes;
  #samples: HeardBytes[] = [];
  #unread: SerialLine[] = [];
  #setting: SerialLine | null = null;
  #problem: string | null = null;
  #endsAt = 0;

  constructor(place: ListenTo, times = LISTENING_TIMES) {
    this.#place = place;
    this.#times = times;
  }

  get heard(): readonly HeardBytes[] {
    return this.#samples.filter(({ bytes }) => bytes.length > 0);
  }

  /** The serial settings in use; null over TCP. */
  get setting(): SerialLine | null {
    return this.#setting;
  }

  /** The serial settings whose bytes made no sense. */
  get unread(): readonly SerialLine[] {
    return this.#unread;
  }

  /** Why the line is not open, with what to do; null if it is. */
  get problem(): string | null {
    return this.#problem;
  }

  get secondsLeft(): number {
    return Math.max(0, Math.ceil((this.#endsAt - performance.now()) / 1000));
  }

  /** Listens until a protocol is recognised, the silence lasts too long, or `signal` ends it. */
  async run(signal: AbortSignal): Promise<readonly HeardBytes[]> {
    if (this.#place.kind === "serial") await this.#tryInTurn(this.#place.path, signal);
    else {
      const { kind, address } = this.#place;
      const transport = kind === "listen" ? listenTransport(address, []) : dialTransport(address);
      await this.#receive(transport, null, signal);
    }
    return this.heard;
  }

  /** Stays with serial settings until bytes come, because silence proves nothing. */
  async #tryInTurn(path: string, signal: AbortSignal): Promise<void> {
    for (const line of SETTINGS) {
      this.#setting = line;
      const end = await this.#receive(serialTransport({ path, rtscts: false, ...line }), line, signal);
      if (end === "unread") this.#unread.push(line);
      // Some drivers refuse one of the later settings; the first settings work with every driver.
      else if (end !== "refused" || line === SETTINGS[0]) return;
    }
  }

  async #receive(transport: Transport, line: SerialLine | null, signal: AbortSignal): Promise<End> {
    let deadline: NodeJS.Timeout | undefined;
    let quiet: NodeJS.Timeout | undefined;
    let stop: (() => void) | undefined;
    try {
      return await new Promise<End>((resolve) => {
        stop = () => resolve("stopped");
        signal.addEventListener("abort", stop);
        if (signal.aborted) resolve("stopped");
        const restart = () => {
          clearTimeout(deadline);
          this.#endsAt = performance.now() + this.#times.silenceMs;
          deadline = setTimeout(() => resolve("silent"), this.#times.silenceMs);
        };
        restart();
        const heard = () => {
          restart();
          clearTimeout(quiet);
          const samples = this.#samples.filter((sample) => sample.line === line);
          if (samples.some(({ bytes }) => bytes.length >= BYTES_MAX)) resolve("recognised");
          quiet = setTimeout(() => {
            if (samples.some((sample) => (suggest([sample])[0]?.score ?? 0) >= SURE)) resolve("recognised");
            else if (line !== null && !samples.every(({ bytes }) => isEnquiry(bytes))) resolve("unread");
          }, this.#times.quietMs);
        };
        transport.open(
          (wire) => this.#wire(wire, line, heard),
          (reason) => {
            this.#problem = reason;
            // A device that is called may be off. A port of this PC stays as it is.
            if (this.#place.kind !== "dial") resolve("refused");
          },
        );
      });
    } finally {
      if (stop !== undefined) signal.removeEventListener("abort", stop);
      clearTimeout(deadline);
      clearTimeout(quiet);
      await transport.close();
    }
  }

  #wire(wire: Wire, line: SerialLine | null, heard: () => void): WireHandler {
    this.#problem = null;
    const caller = line === null ? addressOfPeer(wire.peer) : null;
    const index = this.#samples.length;
    if (index < SAMPLES_MAX) this.#samples.push({ line, caller, bytes: new Uint8Array(0) });
    return {
      chunk: (bytes) => {
        const before = this.#samples[index];
        if (before === undefined || before.bytes.length >= BYTES_MAX) return;
        const sample = { ...before, bytes: concat([before.bytes, bytes]) };
        this.#samples[index] = sample;
        if (isEnquiry(sample.bytes) && bytes.at(-1) === ENQ) wire.write(Uint8Array.of(ACK));
        heard();
      },
      closed: () => undefined,
    };
  }
}

type End = "recognised" | "unread" | "silent" | "stopped" | "refused";

/** Eight bits without parity show a parity bit too, so each baud rate is tried once before the rarer settings. */
const SETTINGS: readonly SerialLine[] = SERIAL_LINES.toSorted((one, other) => other.dataBits - one.dataBits);

/** A device that only requests to send. */
function isEnquiry(bytes: Uint8Array): boolean {
  return bytes.length > 0 && bytes.every((byte) => byte === ENQ || byte === EOT);
}
