import { AstmLink, type AstmLinkOptions } from "../../protocols/astm/link.ts";
import { CR, ENQ, ETB, ETX, STX } from "../../protocols/bytes.ts";
import type { Link, LinkAction } from "../../protocols/link.ts";
import { serialTransport } from "../../transport/serial.ts";
import { dialTransport, listenTransport } from "../../transport/tcp.ts";
import type { Transport, Wire, WireHandler } from "../../transport/transport.ts";

// Plays the other side of a line with our own link, so that the agent can be tried without hardware: a device that sends what
// a fixture says, or a host that takes what a device sends.

/** What was played and how the other side took it. */
export interface Played {
  /** Every frame was acknowledged. */
  readonly accepted: boolean;
  readonly frames: number;
  readonly resent: number;
  readonly reason: string | null;
}

/** A line to the other side; `reply` gives its next byte, or null after `ms` without one or when the line is gone. */
export interface Line {
  readonly isOpen: boolean;
  send(bytes: Uint8Array): void;
  reply(ms: number): Promise<number | null>;
  close(): Promise<void>;
}

/** A message that came, as records. */
export interface Received {
  readonly message: Uint8Array;
  /** Why it ended before its own end. */
  readonly incomplete: string | null;
}

/** How long a side that was told to contend waits for the other side to say ENQ. */
const CONTEND_MS = 5_000;
/** A line that is silent is looked at that often. */
const IDLE_MS = 60_000;
/** What was written needs no longer to leave. */
const CLOSE_MS = 1_000;

/**
 * Sends a fixture as the device. Its messages are sent by LIS01-A2, cut into frames as recorded; what went wrong in the
 * recording is not repeated. A fixture without such a message (one-way devices, raw records) is sent as it stands.
 */
export async function playDevice(fixture: Uint8Array, line: Line, contend = false): Promise<Played> {
  const messages = messagesIn(fixture);
  if (messages.length === 0) {
    line.send(fixture);
    return { accepted: true, frames: 0, resent: 0, reason: null };
  }
  const station = new Station(new AstmLink({ role: "instrument", ...framingOf(fixture) }), line);
  let reason: string | null = null;
  for (const message of messages) reason ??= await station.send(message, contend);
  const { frames, resent } = station;
  return { accepted: reason === null, frames, resent, reason };
}

/**
 * Takes that many messages as the host, and answers a query (Q record) with `answer` or, without one, with "no
 * information". Gives why it did not come to the end, or null.
 */
export async function playAstmHost(
  line: Line,
  count: number,
  answer: Uint8Array | null,
  onMessage: (received: Received) => void,
  contend = false,
): Promise<string | null> {
  const station = new Station(new AstmLink({ role: "host" }), line);
  const answers = answer === null ? [NO_INFORMATION] : messagesIn(answer);
  for (let taken = 0; taken < count; ) {
    const received = await station.receive();
    if (received === null) return `the line closed after ${taken} of ${count} messages`;
    onMessage(received);
    if (received.incomplete !== null) continue;
    taken += 1;
    if (!QUERY.test(Buffer.from(received.message).toString("latin1"))) continue;
    for (const message of answers) {
      const reason = await station.send(message, contend);
      if (reason !== null) return `the answer was not taken: ${reason}`;
    }
  }
  await station.rest();
  return null;
}

/** LIS02-A2 §12: a last record that says I has nothing to tell. */
const NO_INFORMATION = Buffer.from("H|\\^&\rL|1|I\r");
const QUERY = /(^|\r)Q[^0-9A-Z]/i;

/** One side of the line: a link, its timer, and what became of what. */
export class Station {
  readonly #link: Link & Required<Pick<Link, "send">>;
  readonly #line: Line;
  readonly #received: Received[] = [];
  #dueAt = Number.POSITIVE_INFINITY;
  /** undefined: not known yet; null: the message was taken. */
  #outcome: string | null | undefined;
  /** Of the transfer that goes on; empty before its first. */
  #lastFrame: Uint8Array = new Uint8Array(0);
  #framesSent = 0;
  resent = 0;

  constructor(link: Link & Required<Pick<Link, "send">>, line: Line) {
    this.#link = link;
    this.#line = line;
  }

  /** Frames that were acknowledged. */
  get frames(): number {
    const failedAtFrame = typeof this.#outcome === "string" && this.#lastFrame.length > 0;
    return this.#framesSent - (failedAtFrame ? 1 : 0);
  }

  /** Answers null, or why the message was not taken. */
  async send(message: Uint8Array, contend = false): Promise<string | null> {
    // The other side's ENQ is heard when ours is out already.
    const heard = contend ? await this.#line.reply(CONTEND_MS) : null;
    this.#outcome = undefined;
    this.#carryOut(this.#link.send(message));
    if (heard !== null) this.#carryOut(this.#link.receive(Uint8Array.of(heard)));
    while (this.#outcome === undefined) await this.#step();
    return this.#outcome;
  }

  /** The next message, or null when the line is gone. */
  async receive(): Promise<Received | null> {
    while (this.#received.length === 0 && this.#line.isOpen) await this.#step();
    return this.#received.shift() ?? null;
  }

  /** The messages that came by now, or come within that time. */
  async hear(ms: number): Promise<readonly Received[]> {
    const until = performance.now() + ms;
    while (this.#line.isOpen && performance.now() < until) await this.#step(until - performance.now());
    return this.#received.splice(0);
  }

  /** Hears the other side out. */
  async rest(): Promise<void> {
    while (!this.#link.atRest && this.#line.isOpen) await this.#step();
  }

  /** One byte further, or one timeout. */
  async #step(ms = IDLE_MS): Promise<void> {
    const isDueFirst = this.#dueAt - performance.now() <= ms;
    const byte = await this.#line.reply(Math.max(0, isDueFirst ? this.#dueAt - performance.now() : ms));
    if (byte !== null) {
      this.#carryOut(this.#link.receive(Uint8Array.of(byte)));
    } else if (!this.#line.isOpen) {
      this.#carryOut(this.#link.close());
    } else if (isDueFirst) {
      // Or sooner, when the line has lost what was waited for.
      this.#dueAt = Number.POSITIVE_INFINITY;
      this.#carryOut(this.#link.timeout());
    }
  }

  #carryOut(actions: readonly LinkAction[]): void {
    for (const action of actions) {
      switch (action.do) {
        case "reply":
          this.#count(action.bytes);
          this.#line.send(action.bytes);
          break;
        case "deliver":
          this.#received.push({ message: action.message, incomplete: action.incomplete });
          break;
        case "warn":
          break; // the other side's faults are told by the outcome
        case "sent":
          this.#outcome = null;
          break;
        case "unsent":
          this.#outcome = action.reason;
          break;
        case "timer":
          this.#dueAt = action.ms === null ? Number.POSITIVE_INFINITY : performance.now() + action.ms;
          break;
        case "identify":
        case "news":
        case "hang up":
          break; // of other protocols
      }
    }
  }

  #count(bytes: Uint8Array): void {
    if (bytes[0] === ENQ) {
      this.#lastFrame = new Uint8Array(0);
    } else if (bytes[0] === STX && Buffer.compare(bytes, this.#lastFrame) === 0) {
      this.resent += 1;
    } else if (bytes[0] === STX) {
      this.#lastFrame = bytes;
      this.#framesSent += 1;
    }
  }
}

/** What a receiver makes of a recording, incomplete messages included. */
function messagesIn(fixture: Uint8Array): Uint8Array[] {
  const link = new AstmLink();
  const actions = [...link.receive(fixture), ...link.close()];
  return actions.flatMap((action) => (action.do === "deliver" ? [action.message] : []));
}

/** How the recorded device cuts a message into frames. */
function framingOf(fixture: Uint8Array): Required<Pick<AstmLinkOptions, "framing" | "frameBytes">> {
  let frameBytes = 1;
  let framing: AstmLinkOptions["framing"] = "record";
  for (let at = fixture.indexOf(STX); at >= 0; at = fixture.indexOf(STX, at + 1)) {
    let end = at;
    while (end < fixture.length && fixture[end] !== ETX && fixture[end] !== ETB) end += 1;
    const text = fixture.subarray(at + 2, end);
    frameBytes = Math.max(frameBytes, text.length);
    const firstEnd = text.indexOf(CR);
    if (firstEnd >= 0 && firstEnd < text.length - 1) framing = "message";
    else if (firstEnd >= 0 && fixture[end] === ETB && framing === "record") framing = "etb-record";
  }
  return { frameBytes, framing };
}

/** Opens `tcp://host:port`, waits at `listen://host:port`, or opens `serial:PATH`. @throws with a sentence when it cannot be opened */
export async function openLine(target: string, baudRate = 9600): Promise<Line> {
  const transport = transportTo(target, baudRate);
  return new Promise((resolve, reject) => {
    let taken = false;
    transport.open(
      (wire) => {
        if (taken) {
          wire.close(); // one conversation is played at a time
          return { chunk: () => undefined, closed: () => undefined };
        }
        taken = true;
        const line = new WireLine(wire, transport);
        resolve(line);
        return line;
      },
      (problem) => {
        void transport.close();
        reject(new Error(`cannot open ${target}: ${problem}`));
      },
    );
  });
}

function transportTo(target: string, baudRate: number): Transport {
  const [, scheme, host = "", port] = /^(tcp|listen):\/\/(\[[^\]]+\]|[^:/]+):(\d{1,5})$/.exec(target) ?? [];
  const address = { host: host.replace(/^\[|\]$/g, ""), port: Number(port) };
  if (scheme === "tcp") return dialTransport(address);
  if (scheme === "listen") return listenTransport(address, []);
  const path = /^serial:(.+)$/.exec(target)?.[1];
  if (path === undefined)
    throw new Error(`--to is ${target}, expected tcp://host:port, listen://host:port or serial:PATH`);
  return serialTransport({ path, baudRate, dataBits: 8, parity: "none", stopBits: 1, rtscts: false });
}

/** A wire whose bytes are asked for one at a time. */
class WireLine implements Line, WireHandler {
  readonly #wire: Wire;
  readonly #transport: Transport;
  readonly #bytes: number[] = [];
  #waiting: ((byte: number | null) => void) | null = null;
  #isOpen = true;
  #whenClosed: () => void = () => undefined;

  constructor(wire: Wire, transport: Transport) {
    this.#wire = wire;
    this.#transport = transport;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  chunk(bytes: Uint8Array): void {
    for (const byte of bytes) this.#bytes.push(byte);
    this.#give();
  }

  /** A line that is gone is not looked for again. */
  closed(): void {
    this.#isOpen = false;
    this.#waiting?.(null);
    this.#whenClosed();
    void this.#transport.close();
  }

  send(bytes: Uint8Array): void {
    this.#wire.write(bytes);
  }

  reply(ms: number): Promise<number | null> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#waiting?.(null), ms);
      this.#waiting = (byte) => {
        clearTimeout(timer);
        this.#waiting = null;
        resolve(byte);
      };
      this.#give();
    });
  }

  async close(): Promise<void> {
    if (this.#isOpen) {
      await new Promise<void>((resolve) => {
        this.#whenClosed = resolve;
        this.#wire.close();
        setTimeout(resolve, CLOSE_MS).unref();
      });
    }
    await this.#transport.close();
  }

  #give(): void {
    if (this.#waiting === null) return;
    const byte = this.#bytes.shift();
    if (byte !== undefined) this.#waiting(byte);
    else if (!this.#isOpen) this.#waiting(null);
  }
}
