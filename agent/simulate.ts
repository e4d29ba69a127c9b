import net from "node:net";
import { SerialPort } from "serialport";
import { ACK, CR, ENQ, EOT, ETB, ETX, LF, NAK, STX } from "./astm/frame.ts";

// Plays a fixture as the device would: LIS01-A2's sender, so that the agent can be tried without hardware.

/** What was played and how the other side took it. */
export interface Played {
  /** Every frame was acknowledged. */
  readonly accepted: boolean;
  readonly frames: number;
  readonly resent: number;
  readonly reason: string | null;
}

/** A line to the agent; `reply` gives its next byte, or null after `ms` without one or when the line is gone. */
export interface Line {
  send(bytes: Uint8Array): void;
  reply(ms: number): Promise<number | null>;
  close(): Promise<void>;
}

/** LIS01-A2 §6.5.2: the sender waits 15 s for a reply; §6.5.1.2: six tries a frame; §6.2.6: 10 s after NAK to ENQ. */
const REPLY_MS = 15_000;
const TRIES = 6;
const BUSY_MS = 10_000;

/** Sends the fixture's bytes unit by unit, waiting for the reply where the standard waits. */
export async function playAstm(fixture: Uint8Array, line: Line): Promise<Played> {
  let frames = 0;
  let resent = 0;
  for (const unit of units(fixture)) {
    const first = unit[0];
    if (first !== ENQ && first !== STX) {
      line.send(unit);
      continue;
    }
    let taken = false;
    for (let attempt = 0; attempt < TRIES && !taken; attempt++) {
      if (attempt > 0) resent += 1;
      line.send(unit);
      const reply = await line.reply(REPLY_MS);
      if (reply === null) {
        line.send(Uint8Array.of(EOT));
        return { accepted: false, frames, resent, reason: `no reply within ${REPLY_MS / 1000} s` };
      }
      // EOT in place of ACK accepts the frame and asks for a pause (§6.3.5).
      taken = reply === ACK || (first === STX && reply === EOT);
      if (!taken && first === ENQ && reply === NAK) await new Promise((resolve) => setTimeout(resolve, BUSY_MS));
    }
    if (!taken) {
      line.send(Uint8Array.of(EOT));
      return { accepted: false, frames, resent, reason: `not accepted after ${TRIES} tries` };
    }
    if (first === STX) frames += 1;
  }
  return { accepted: true, frames, resent, reason: null };
}

/** Cuts a recorded session into what is sent at once: ENQ, a frame with its end, EOT, and whatever else stands between them. */
export function units(bytes: Uint8Array): Uint8Array[] {
  const found: Uint8Array[] = [];
  let at = 0;
  while (at < bytes.length) {
    const end = bytes[at] === STX ? frameEnd(bytes, at) : at + 1;
    found.push(bytes.subarray(at, end));
    at = end;
  }
  return found;
}

function frameEnd(bytes: Uint8Array, start: number): number {
  let at = start;
  while (at < bytes.length && bytes[at] !== ETX && bytes[at] !== ETB) at += 1;
  at += 3; // the terminator and two checksum characters
  if (bytes[at] === CR) at += 1;
  if (bytes[at] === LF) at += 1;
  return Math.min(at, bytes.length);
}

/** Opens `tcp://host:port` or `serial:PATH`. @throws with a sentence when it cannot be opened */
export function openLine(target: string, baudRate = 9600): Promise<Line> {
  const tcp = /^tcp:\/\/(\[[^\]]+\]|[^:/]+):(\d+)$/.exec(target);
  if (tcp !== null) return openSocket(tcp[1]!.replace(/^\[|\]$/g, ""), Number(tcp[2]));
  if (target.startsWith("serial:")) return openSerial(target.slice("serial:".length), baudRate);
  return Promise.reject(new Error(`--to is ${target}, expected tcp://host:port or serial:PATH`));
}

function openSocket(host: string, port: number): Promise<Line> {
  return new Promise((resolve, reject) => {
    const socket = net.connect({ host, port, noDelay: true });
    const replies = new Replies();
    socket.on("data", (chunk: Buffer) => replies.push(chunk));
    socket.once("error", (error) => reject(new Error(`cannot connect to ${host}:${port}: ${error.message}`)));
    socket.on("close", () => replies.end());
    socket.once("connect", () =>
      resolve({
        send: (bytes) => void socket.write(bytes),
        reply: (ms) => replies.next(ms),
        close: () => new Promise((closed) => socket.end(() => closed())),
      }),
    );
  });
}

function openSerial(path: string, baudRate: number): Promise<Line> {
  return new Promise((resolve, reject) => {
    const port = new SerialPort({ path, baudRate, autoOpen: false });
    const replies = new Replies();
    port.on("data", (chunk: Buffer) => replies.push(chunk));
    port.on("close", () => replies.end());
    port.open((error) => {
      if (error !== null) return reject(new Error(`cannot open ${path}: ${error.message}`));
      resolve({
        send: (bytes) => void port.write(bytes),
        reply: (ms) => replies.next(ms),
        close: () => new Promise((closed) => port.drain(() => port.close(() => closed()))),
      });
    });
  });
}

/** Bytes that came back, one at a time. */
class Replies {
  readonly #bytes: number[] = [];
  #waiting: ((byte: number | null) => void) | null = null;
  #ended = false;

  push(chunk: Uint8Array): void {
    this.#bytes.push(...chunk);
    this.#give();
  }

  end(): void {
    this.#ended = true;
    this.#waiting?.(null);
  }

  next(ms: number): Promise<number | null> {
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

  #give(): void {
    if (this.#waiting === null) return;
    const byte = this.#bytes.shift();
    if (byte !== undefined) this.#waiting(byte);
    else if (this.#ended) this.#waiting(null);
  }
}
