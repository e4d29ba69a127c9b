import { equalBytes } from "../bytes.ts";
import type { Dialect } from "./dialect.ts";
import type { Message, UnreadableDocument } from "./message.ts";
import { short } from "../file/layouts/xml-tree.ts";

// Decides how each document of the device is acknowledged.

/** An unreadable document is refused this often; then it is accepted and stored, so that the next ones get through. */
export const REFUSALS_MAX = 3;

export interface DocumentReply {
  readonly accepted: boolean;
  readonly note?: string;
}

const ACCEPT: DocumentReply = { accepted: true };
export const CANNOT_STORE: DocumentReply = { accepted: false, note: "cannot store" };

/** Returns whether the device expects an ACK of this message. */
export function expectsReply(message: Message | UnreadableDocument, dialect: Dialect): boolean {
  if (message.is === "acknowledgement" || message.is === "escape") return false;
  return message.is !== "end of topic" || dialect.ackEndOfTopic;
}

/** Devices whose refusals are counted. One port may serve several, and a peer chooses its name. */
const DEVICES_MAX = 100;

/**
 * Refusals of each device since its last observations, by the name in its HELLO. They outlive a connection, because a device may
 * end it after each refusal, and would never send what follows the unreadable document.
 */
export class Refusals {
  readonly #counts = new Map<string, number>();

  /** Counts an unreadable document. @returns whether it is refused */
  refuses(device: string): boolean {
    const count = this.#counts.get(device) ?? 0;
    if (count === REFUSALS_MAX) return false;
    if (this.#counts.size === DEVICES_MAX) this.#counts.clear();
    this.#counts.set(device, count + 1);
    return true;
  }

  restart(device: string): void {
    this.#counts.delete(device);
  }
}

export class DocumentReplies {
  readonly #refusals: Refusals;
  /** The last delivered document: a resend of it is acknowledged, but not delivered. */
  #lastDelivered: Uint8Array | null = null;

  constructor(refusals: Refusals) {
    this.#refusals = refusals;
  }

  forgetDelivered(): void {
    this.#lastDelivered = null;
  }

  /** Remembers the document. @returns whether it is a resend of the last one, control id included */
  isResend(document: Uint8Array): boolean {
    const isSame = this.#lastDelivered !== null && equalBytes(this.#lastDelivered, document);
    this.#lastDelivered = document;
    return isSame;
  }

  /**
   * Returns the reply to a message, null for a message that is never acknowledged.
   * @param device name of the device
   */
  replyTo(message: Message | UnreadableDocument, dialect: Dialect, device: string): DocumentReply | null {
    if (!expectsReply(message, dialect)) return null;
    switch (message.is) {
      case "unreadable":
        return { accepted: !this.#refusals.refuses(device), note: message.problem };
      case "observations":
        this.#refusals.restart(device);
        return ACCEPT;
      case "other":
        return { accepted: false, note: unsupported(message) };
      default:
        return ACCEPT;
    }
  }
}

export function unsupported({ root }: Message): string {
  return `unsupported ${short(root.name)}`;
}
