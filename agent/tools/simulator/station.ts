import { ENQ, STX } from "../../protocols/bytes.ts";
import type { Link, LinkAction } from "../../protocols/link.ts";
import type { SimulatorLine } from "./line.ts";

// Runs a link of the agent on the device's side of a line, with its timer.

export interface ReceivedMessage {
  readonly message: Uint8Array;
  /** Reason of an early end; null for a complete message. */
  readonly incomplete: string | null;
}

/** Time between two checks of a silent line, in ms. */
const IDLE_MS = 60_000;

/** The device's side of a line. */
export class Station {
  readonly #link: Link & Required<Pick<Link, "send">>;
  readonly #line: SimulatorLine;
  readonly #received: ReceivedMessage[] = [];
  #dueAt = Number.POSITIVE_INFINITY;
  /** Outcome of the message: undefined while it is under way, null if it is accepted, else the reason of its failure. */
  #outcome: string | null | undefined;
  /** Last frame of the current transfer; empty before its first frame. */
  #lastFrame: Uint8Array = new Uint8Array(0);
  #framesSent = 0;
  resent = 0;

  constructor(link: Link & Required<Pick<Link, "send">>, line: SimulatorLine) {
    this.#link = link;
    this.#line = line;
  }

  get frames(): number {
    const failedAtFrame = typeof this.#outcome === "string" && this.#lastFrame.length > 0;
    return this.#framesSent - (failedAtFrame ? 1 : 0);
  }

  /** Sends a message. @returns null once it is accepted, else the reason */
  async send(message: Uint8Array): Promise<string | null> {
    this.#outcome = undefined;
    this.#carryOut(this.#link.send(message));
    while (this.#outcome === undefined) await this.#step();
    return this.#outcome;
  }

  /** Returns the messages that arrived, or arrive within `ms`. */
  async receiveFor(ms: number): Promise<readonly ReceivedMessage[]> {
    const until = performance.now() + ms;
    while (this.#line.isOpen && performance.now() < until) await this.#step(until - performance.now());
    return this.#received.splice(0);
  }

  /** Processes one byte or one timeout. */
  async #step(ms = IDLE_MS): Promise<void> {
    const isDueFirst = this.#dueAt - performance.now() <= ms;
    const byte = await this.#line.reply(Math.max(0, isDueFirst ? this.#dueAt - performance.now() : ms));
    if (byte !== null) {
      this.#carryOut(this.#link.receive(Uint8Array.of(byte)));
    } else if (!this.#line.isOpen) {
      this.#carryOut(this.#link.close());
    } else if (isDueFirst) {
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
          break; // the outcome reports faults of the other side
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
        case "report":
        case "close":
          break; // POCT1-A only
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
