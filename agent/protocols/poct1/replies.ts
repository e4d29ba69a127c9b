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

export class DocumentReplies {
  #refusals = 0;
  /** The last delivered document: a resend of it is acknowledged, but not delivered. */
  #lastDelivered: Uint8Array | null = null;

  /** Restarts the count of refusals. */
  reset(): void {
    this.#refusals = 0;
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

  /** Returns the reply to a message, null for a message that is never acknowledged. */
  replyTo(message: Message | UnreadableDocument, dialect: Dialect): DocumentReply | null {
    if (!expectsReply(message, dialect)) return null;
    switch (message.is) {
      case "unreadable":
        this.#refusals += 1;
        return { accepted: this.#refusals > REFUSALS_MAX, note: message.problem };
      case "observations":
        this.#refusals = 0;
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
