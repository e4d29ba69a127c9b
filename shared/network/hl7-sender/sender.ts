import { readAcknowledgement, readHead, type Acknowledgement, type SentHead } from "./acknowledgement.ts";
import { encodeFrame, FrameReader } from "./frames.ts";

// The sender of HL7 messages over MLLP: one message in flight, and its acknowledgement is the one whose MSA-2 is its MSH-10. It
// knows neither a socket nor a clock: bytes and expired timers come in, actions go out.
//
//            ┌── AA, AR, AE, CR, CE, silence, close ──┐
//  idle ─send→ sent ── CA, MSH-16 asks for more ──→ committed ── AA, AR, AE, silence, close ──→ idle
//
// A commit acknowledgement (CA) frees the sender from sending again (HL7 2.5.1 §2.9.3). So silence after it is success.

/** Codes of MSA-1, and those of a message that got no acknowledgement. */
export type Hl7Code =
  | "AA"
  | "CA"
  | "AE"
  | "CE"
  | "AR"
  | "CR"
  | "ACK.TIMED_OUT"
  | "ACK.CLOSED"
  /** Acknowledgements came, each for another MSH-10. */
  | "ACK.FOREIGN"
  /** Bytes came, and no acknowledgement in MLLP. */
  | "ACK.UNREADABLE"
  /** MSA-1 is not a code of table 0008. */
  | "ACK.UNKNOWN_CODE"
  | "ACK.TOO_LONG"
  /** The message has no MSH-10. */
  | "MESSAGE.INVALID"
  | "TLS.NEEDED"
  | FaultCode;

/** Codes of a connection that did not come about. */
export type FaultCode =
  | "DIAL.NO_ROUTE"
  | "DIAL.REFUSED"
  | "DIAL.TIMED_OUT"
  | "DIAL.UNKNOWN_HOST"
  | "DIAL.FAULT"
  | "TLS.NOT_SPOKEN"
  | "TLS.UNTRUSTED"
  | "TLS.OTHER_PIN"
  | "TLS.FAULT";

export interface Hl7Outcome {
  /** `refused`: the receiver will never take this message. `failed`: send the same bytes again later. */
  readonly outcome: "acknowledged" | "refused" | "failed";
  readonly code: Hl7Code;
  /** The words of the receiver, or the code of the system; null without any. */
  readonly text: string | null;
}

export type SenderAction =
  | { readonly do: "write"; readonly bytes: Uint8Array }
  /** Calls timeout() after `ms` milliseconds unless another timer action comes first. `null` stops the timer. */
  | { readonly do: "timer"; readonly ms: number | null }
  | { readonly do: "settle"; readonly outcome: Hl7Outcome }
  /** The answer to the message may still come: another message needs a new connection. */
  | { readonly do: "close" };

type State =
  | { readonly is: "idle" }
  | { readonly is: "sent"; readonly head: SentHead }
  | { readonly is: "committed"; readonly head: SentHead; readonly text: string | null };

/** First bytes of a TLS alert, which a TLS server sends to a program that speaks plain MLLP (RFC 8446 §5.1, §6). */
const TLS_ALERT = [0x15, 0x03];

export class Hl7Sender {
  readonly #ackMs: number;
  readonly #frames = new FrameReader();
  #state: State = { is: "idle" };
  /** MSA-2 of an acknowledgement for another message. */
  #foreign: string | null = null;
  /** A frame came that is not an acknowledgement. */
  #hasUnreadable = false;

  /** `ackMs`: max wait for each acknowledgement, from the last sent byte. */
  constructor(ackMs: number) {
    this.#ackMs = ackMs;
  }

  /** Sends a message. Call it only after the earlier one is settled. */
  send(message: Uint8Array): SenderAction[] {
    const head = readHead(message);
    if (head === null) return [settle("refused", "MESSAGE.INVALID", null)];
    this.#state = { is: "sent", head };
    this.#foreign = null;
    this.#hasUnreadable = false;
    this.#frames.forgetOutside();
    return [
      { do: "write", bytes: encodeFrame(message) },
      { do: "timer", ms: this.#ackMs },
    ];
  }

  /** Some bytes of the message have left: a large one on a slow line takes its time. */
  wrote(): SenderAction[] {
    return this.#state.is === "sent" ? [{ do: "timer", ms: this.#ackMs }] : [];
  }

  receive(chunk: Uint8Array): SenderAction[] {
    return this.#frames.receive(chunk).flatMap((received) => {
      if (this.#state.is === "idle") return [];
      if (received.is === "too long") return [...this.#end("ACK.TOO_LONG", null), { do: "close" } as const];
      const acknowledgement = readAcknowledgement(received.bytes);
      if (acknowledgement === null) this.#hasUnreadable = true;
      else if (acknowledgement.controlId === this.#state.head.controlId) return this.#acknowledged(acknowledgement);
      else this.#foreign = acknowledgement.controlId;
      return [];
    });
  }

  /** The requested timer has expired. */
  timeout(): SenderAction[] {
    return this.#state.is === "idle" ? [] : [...this.#end("ACK.TIMED_OUT", null), { do: "close" }];
  }

  /** The connection is closed, or did not come about. `text`: the code of the system. */
  closed(code: FaultCode | "ACK.CLOSED" = "ACK.CLOSED", text: string | null = null): SenderAction[] {
    return this.#state.is === "idle" ? [] : this.#end(code, text);
  }

  #acknowledged({ code, text }: Acknowledgement): SenderAction[] {
    const state = this.#state;
    switch (code) {
      case "AA":
        return this.#settle("acknowledged", code, text);
      case "CA":
        if (state.is !== "sent" || !state.head.awaitsApplication) return this.#settle("acknowledged", code, text);
        this.#state = { is: "committed", head: state.head, text };
        return [{ do: "timer", ms: this.#ackMs }];
      case "AR":
      case "CR":
        return this.#settle("refused", code, text);
      case "AE":
      case "CE":
        return this.#settle("failed", code, text);
      default:
        return this.#settle("failed", "ACK.UNKNOWN_CODE", code);
    }
  }

  /** Settles a message that gets no more acknowledgement. */
  #end(code: Hl7Code, text: string | null): SenderAction[] {
    if (this.#state.is === "committed") return this.#settle("acknowledged", "CA", this.#state.text);
    if (code !== "ACK.TIMED_OUT" && code !== "ACK.CLOSED") return this.#settle("failed", code, text);
    if (this.#foreign !== null) return this.#settle("failed", "ACK.FOREIGN", this.#foreign);
    const { outside } = this.#frames;
    if (TLS_ALERT.every((byte, at) => outside[at] === byte)) return this.#settle("failed", "TLS.NEEDED", null);
    const isUnreadable = this.#hasUnreadable || outside.length > 0;
    return this.#settle("failed", isUnreadable ? "ACK.UNREADABLE" : code, text);
  }

  #settle(...outcome: Parameters<typeof settle>): SenderAction[] {
    this.#state = { is: "idle" };
    return [{ do: "timer", ms: null }, settle(...outcome)];
  }
}

function settle(outcome: Hl7Outcome["outcome"], code: Hl7Code, text: string | null): SenderAction {
  return { do: "settle", outcome: { outcome, code, text } };
}
