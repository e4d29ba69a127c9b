import { X509Certificate } from "node:crypto";
import net from "node:net";
import tls from "node:tls";
import { firstFault, isNoTls, isNoWay } from "../connection-fault.ts";
import { pinOf } from "../public-key-pin.ts";
import { type FaultCode, type Hl7Outcome, Hl7Sender, type SenderAction } from "./sender.ts";

// The socket of a sender: dials, keeps the connection between messages as practice software expects, and never throws.

export interface Hl7Receiver {
  readonly host: string;
  readonly port: number;
  /** null for plain TCP. */
  readonly tls: Hl7Tls | null;
  /** Resolves and checks the host in place of the system. */
  readonly lookup?: net.LookupFunction;
}

export interface Hl7Tls {
  /** Authorities in PEM, in place of those of the system. */
  readonly ca?: Buffer;
  /** The receiver's public key (`sha256/…`), in place of any authority and name. */
  readonly pin?: string;
}

export interface Hl7Times {
  /** Max wait for the connection, TLS included. */
  readonly connectMs: number;
  /** Max wait for an acknowledgement. */
  readonly ackMs: number;
}

/** OpenVPMS and others wait 30 s themselves. */
export const HL7_TIMES: Hl7Times = { connectMs: 10_000, ackMs: 30_000 };

/** State of the connection. A receiver may close it between two messages: `closed` is not a fault. */
export type Hl7LineState =
  | { readonly is: "closed" | "connecting" | "connected" }
  | { readonly is: "failed"; readonly code: FaultCode; readonly text: string | null };

type Fault = Omit<Extract<Hl7LineState, { is: "failed" }>, "is">;

/** Bytes between two looks whether the receiver still reads. */
const PIECE_BYTES = 64 * 1024;

interface Line {
  readonly socket: net.Socket;
  readonly sender: Hl7Sender;
  /** Pieces of the message are not handed to the socket yet. */
  isWriting: boolean;
}

export class Hl7Connection {
  readonly #receiver: Hl7Receiver;
  readonly #times: Hl7Times;
  readonly #stateChanged: (state: Hl7LineState) => void;
  /** The open connection. */
  #line: Line | null = null;
  #socket: net.Socket | null = null;
  #opening: Promise<Fault | null> | null = null;
  #settle: ((outcome: Hl7Outcome) => void) | null = null;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(
    receiver: Hl7Receiver,
    times: Hl7Times = HL7_TIMES,
    stateChanged: (state: Hl7LineState) => void = () => undefined,
  ) {
    this.#receiver = receiver;
    this.#times = times;
    this.#stateChanged = stateChanged;
  }

  /** Opens the connection unless it is open. @returns why it cannot be opened; null if it is open */
  open(): Promise<Fault | null> {
    if (this.#line !== null) return Promise.resolve(null);
    this.#opening ??= this.#dial().finally(() => (this.#opening = null));
    return this.#opening;
  }

  /** Sends a message after the earlier one is settled. @returns its outcome; a fault of the connection is `failed` */
  async send(message: Uint8Array): Promise<Hl7Outcome> {
    const fault = await this.open();
    const line = this.#line;
    if (fault !== null) return { outcome: "failed", ...fault };
    // The receiver has closed the connection in the turn in which it opened.
    if (line === null) return { outcome: "failed", code: "ACK.CLOSED", text: null };
    return new Promise((resolve) => {
      this.#settle = resolve;
      this.#carryOut(line, line.sender.send(message));
    });
  }

  /** Closes the connection. A message in flight fails. */
  close(): void {
    this.#isClosed = true;
    this.#socket?.destroy();
  }

  #dial(): Promise<Fault | null> {
    return new Promise((resolve) => this.#dialled(resolve));
  }

  /** Dials, and calls `resolve` once the connection is open or has failed. */
  #dialled(resolve: (fault: Fault | null) => void): void {
    this.#stateChanged({ is: "connecting" });
    let isReached = false;
    let error: Error | null = null;
    const socket = connect(this.#receiver);
    this.#socket = socket;
    const timeout = setTimeout(() => socket.destroy(TIMED_OUT), this.#times.connectMs);
    const line: Line = { socket, sender: new Hl7Sender(this.#times.ackMs), isWriting: false };
    socket.once("connect", () => (isReached = true));
    socket.on("error", (fault) => (error = fault));
    socket.once(this.#receiver.tls === null ? "connect" : "secureConnect", () => {
      clearTimeout(timeout);
      const other = otherPin(socket, this.#receiver.tls?.pin);
      if (this.#isClosed || other !== null) return void socket.destroy(other ?? undefined);
      this.#line = line;
      socket.on("data", (chunk: Buffer) => this.#carryOut(line, line.sender.receive(chunk)));
      // A receiver that has ended its side acknowledges nothing any more.
      socket.once("end", () => socket.destroy());
      this.#stateChanged({ is: "connected" });
      resolve(null);
    });
    socket.once("close", () => {
      clearTimeout(timeout);
      if (this.#line === line) return this.#closed(line);
      const fault = faultOf(error, isReached);
      this.#stateChanged(this.#isClosed ? { is: "closed" } : { is: "failed", ...fault });
      resolve(fault);
    });
  }

  #closed(line: Line): void {
    this.#line = null;
    this.#stateChanged({ is: "closed" });
    this.#carryOut(line, line.sender.closed());
  }

  #carryOut(line: Line, actions: readonly SenderAction[]): void {
    for (const action of actions) {
      switch (action.do) {
        case "write":
          void this.#write(line, action.bytes);
          break;
        case "timer":
          clearTimeout(this.#timer);
          if (action.ms !== null) {
            this.#timer = setTimeout(() => this.#carryOut(line, line.sender.timeout()), action.ms);
          }
          break;
        case "settle":
          // The rest of this message may not run into the next one.
          if (line.isWriting) this.#drop(line);
          this.#settle?.(action.outcome);
          this.#settle = null;
          break;
        case "close":
          this.#drop(line);
          break;
      }
    }
  }

  async #write(line: Line, bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length && this.#line === line; at += PIECE_BYTES) {
      const piece = bytes.subarray(at, at + PIECE_BYTES);
      line.isWriting = at + piece.length < bytes.length;
      await new Promise((resolve) => line.socket.write(piece, resolve));
      if (this.#line === line) this.#carryOut(line, line.sender.wrote());
    }
  }

  /** Closes a line whose message is settled, so that the next message opens a fresh one. */
  #drop(line: Line): void {
    if (this.#line !== line) return;
    this.#line = null;
    line.socket.destroy();
    this.#stateChanged({ is: "closed" });
  }
}

const TIMED_OUT = Object.assign(new Error("timed out"), { code: "ETIMEDOUT" });

function connect({ host, port, tls: security, lookup }: Hl7Receiver): net.Socket {
  const address = { host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: 30_000 };
  const found = lookup === undefined ? address : { ...address, lookup };
  if (security === null) return net.connect(found);
  const servername = net.isIP(host) === 0 ? { servername: host } : {};
  const { ca, pin } = security;
  const trust = pin === undefined ? (ca === undefined ? {} : { ca }) : { rejectUnauthorized: false };
  return tls.connect({ ...found, ...servername, ...trust, minVersion: "TLSv1.2" });
}

const OTHER_PIN = "OTHER_PIN";

/** Returns the error of a receiver that shows another public key than the pinned one. */
function otherPin(socket: net.Socket, pin: string | undefined): Error | null {
  if (pin === undefined || !(socket instanceof tls.TLSSocket)) return null;
  const { raw } = socket.getPeerCertificate();
  const got = raw === undefined ? "" : pinOf(new X509Certificate(raw));
  return got === pin ? null : Object.assign(new Error(got), { code: OTHER_PIN });
}

/** `isReached`: TCP connected, and TLS failed. */
function faultOf(error: Error | null, isReached: boolean): Fault {
  if (error === null) return { code: isReached ? "TLS.NOT_SPOKEN" : "DIAL.FAULT", text: null };
  const { code = "", message } = firstFault(error);
  // The message of the system is English, and its code is in every language.
  const text = code === OTHER_PIN || code === "" ? message : code;
  return { code: isReached ? tlsFault(code) : dialFault(code), text };
}

function dialFault(code: string): FaultCode {
  if (isNoWay(code)) return "DIAL.NO_ROUTE";
  switch (code) {
    case "ECONNREFUSED":
      return "DIAL.REFUSED";
    case "ETIMEDOUT":
      return "DIAL.TIMED_OUT";
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return "DIAL.UNKNOWN_HOST";
    default:
      return "DIAL.FAULT";
  }
}

function tlsFault(code: string): FaultCode {
  if (code === OTHER_PIN) return "TLS.OTHER_PIN";
  if (isNoTls(code) || code === "ECONNRESET" || code === "ETIMEDOUT") return "TLS.NOT_SPOKEN";
  return /CERT|SIGNATURE/.test(code) ? "TLS.UNTRUSTED" : "TLS.FAULT";
}
