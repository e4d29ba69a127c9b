import { ActionQueue } from "../action-queue.ts";
import { ETX, hexByte, STX, xorOf } from "../bytes.ts";
import type { Link, LinkAction } from "../link.ts";
import { Noise, NOISE_TIMEOUT_MS } from "../noise.ts";
import { SILENCE_MS, TEXT_BYTES_MAX } from "./one-way-link.ts";

// Link of devices that send STX, text, ETX, BCC, and query orders. BCC is the XOR of text and ETX, in one byte of any value, STX
// and ETX included. Neither side acknowledges, so a text with a wrong BCC is delivered as incomplete and never read. The agent's
// texts have the same frame.

/** Max wait for the BCC after ETX. A text without any is delivered with a warning: its layout has to prove it. */
export const BCC_MS = 1_000;

/** Facts about the texts of a device, one character per byte. */
export interface BccTexts {
  /** Returns whether the device sends this text with a BCC. */
  readonly hasBcc: (text: string) => boolean;
  /** Returns the trouble that the device reports in this text; null for another text. */
  readonly trouble: (text: string) => string | null;
}

type BccState =
  /** Everything but STX is reported as noise. */
  | { readonly at: "neutral" }
  | { readonly at: "text"; readonly bytes: number[] }
  /** The next byte is the BCC. */
  | { readonly at: "bcc"; readonly text: Uint8Array };

export class BccLink implements Link {
  readonly #texts: BccTexts;
  #state: BccState = { at: "neutral" };
  /** Bytes of the current text are missing. */
  #isDamaged = false;
  /** A message of the agent that waits for the end of the device's text. */
  #outgoing: Uint8Array | null = null;
  readonly #noise = new Noise("outside a text");
  readonly #actions = new ActionQueue();

  constructor(texts: BccTexts) {
    this.#texts = texts;
  }

  get isIdle(): boolean {
    return this.#state.at === "neutral" && !this.#noise.isPending && this.#outgoing === null;
  }

  get between(): string | null {
    return this.#state.at === "neutral" ? "between texts" : null;
  }

  receive(chunk: Uint8Array): LinkAction[] {
    for (const byte of chunk) this.#step(byte);
    return this.#drainActions();
  }

  refuse(): LinkAction[] {
    return this.gap();
  }

  /** Marks the text as damaged. After its ETX the missing byte may be the BCC. */
  gap(): LinkAction[] {
    if (this.#state.at !== "neutral") this.#isDamaged = true;
    return [];
  }

  timeout(): LinkAction[] {
    this.#end("the device fell silent before the end of its text");
    return this.#drainActions();
  }

  /** Sends a text now, or after the text that the device is sending. @throws while the last text is not sent */
  send(message: Uint8Array): LinkAction[] {
    if (this.#outgoing !== null) throw new Error("a message is sent before the last one is sent or unsent");
    this.#outgoing = message;
    this.#sendIfFree();
    return this.#drainActions();
  }

  close(): LinkAction[] {
    if (this.#outgoing !== null) this.#actions.push({ do: "unsent", reason: "the connection closed" });
    this.#outgoing = null;
    this.#end("the connection closed before the end of the text");
    return this.#drainActions();
  }

  #step(byte: number): void {
    const state = this.#state;
    switch (state.at) {
      case "neutral":
        if (byte === STX) this.#begin();
        else this.#actions.push(this.#noise.add(byte));
        return;
      case "text":
        this.#readText(byte, state.bytes);
        return;
      case "bcc":
        this.#checkBcc(byte, state.text);
        return;
    }
  }

  #begin(): void {
    this.#actions.push(this.#noise.end());
    this.#state = { at: "text", bytes: [] };
  }

  #readText(byte: number, bytes: number[]): void {
    if (byte === STX) {
      this.#giveUp(bytes, "a new text began before its end");
      this.#begin();
    } else if (byte === ETX) {
      this.#endText(Uint8Array.from(bytes));
    } else if (bytes.length >= TEXT_BYTES_MAX) {
      this.#giveUp(bytes, `a text of more than ${TEXT_BYTES_MAX} bytes`);
    } else {
      bytes.push(byte);
    }
  }

  #endText(text: Uint8Array): void {
    if (this.#texts.hasBcc(textOf(text))) this.#state = { at: "bcc", text };
    else this.#deliver(text, null);
  }

  #checkBcc(byte: number, text: Uint8Array): void {
    const computed = bccOf(text);
    const isRight = byte === computed && !this.#isDamaged;
    const problem = `BCC ${hexByte(byte)}, computed ${hexByte(computed)}`;
    if (!isRight && !this.#isDamaged) this.#actions.warn(problem);
    this.#deliver(text, isRight ? null : `${problem}: bytes of it are wrong or missing`);
    // The BCC may be missing, and the device has started its next text.
    if (!isRight && byte === STX) this.#begin();
  }

  #end(incomplete: string): void {
    const state = this.#state;
    if (state.at === "text") this.#giveUp(state.bytes, incomplete);
    if (state.at === "bcc") {
      this.#actions.warn("a text without BCC behind its ETX");
      this.#deliver(state.text, null);
    }
    this.#actions.push(this.#noise.end());
  }

  #giveUp(bytes: readonly number[], incomplete: string): void {
    if (bytes.length > 0) this.#deliver(Uint8Array.from(bytes), incomplete);
    else this.#toNeutral();
  }

  #deliver(text: Uint8Array, incomplete: string | null): void {
    const problem = this.#isDamaged ? "bytes of it could not be stored" : incomplete;
    const trouble = problem === null ? this.#texts.trouble(textOf(text)) : null;
    if (trouble !== null) this.#actions.warn(trouble);
    this.#actions.deliver(text, problem);
    this.#toNeutral();
  }

  #toNeutral(): void {
    this.#state = { at: "neutral" };
    this.#isDamaged = false;
    this.#sendIfFree();
  }

  #sendIfFree(): void {
    if (this.#outgoing === null || this.#state.at !== "neutral") return;
    this.#actions.reply(encodeBccText(this.#outgoing));
    this.#actions.push({ do: "sent" });
    this.#outgoing = null;
  }

  #drainActions(): LinkAction[] {
    const ms = this.#timerMs();
    if (ms === null) this.#actions.stopTimer();
    else this.#actions.startTimer(ms);
    return this.#actions.drain();
  }

  #timerMs(): number | null {
    switch (this.#state.at) {
      case "neutral":
        return this.#noise.isPending ? NOISE_TIMEOUT_MS : null;
      case "text":
        return SILENCE_MS;
      case "bcc":
        return BCC_MS;
    }
  }
}

/** Encodes a text as STX, text, ETX, BCC. */
export function encodeBccText(text: Uint8Array): Uint8Array {
  return Uint8Array.of(STX, ...text, ETX, bccOf(text));
}

function bccOf(text: Uint8Array): number {
  return xorOf(text) ^ ETX;
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("latin1");
}
