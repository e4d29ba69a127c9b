import type { LinkAction } from "./link.ts";

/** Collects the actions of one call of a link. A link has one timer: the last request counts, and comes last. */
export class ActionQueue {
  #actions: LinkAction[] = [];
  /** undefined: leave the timer as it is. */
  #timerMs: number | null | undefined;

  get isEmpty(): boolean {
    return this.#actions.length === 0 && this.#timerMs === undefined;
  }

  push(action: LinkAction | null): void {
    if (action !== null) this.#actions.push(action);
  }

  reply(bytes: Uint8Array): void {
    this.#actions.push({ do: "reply", bytes });
  }

  warn(reason: string): void {
    this.#actions.push({ do: "warn", reason });
  }

  /** @param incomplete why the message was cut short; null for a complete one */
  deliver(message: Uint8Array, incomplete: string | null): void {
    this.#actions.push({ do: "deliver", message, incomplete });
  }

  startTimer(ms: number): void {
    this.#timerMs = ms;
  }

  stopTimer(): void {
    this.#timerMs = null;
  }

  /** @returns the actions since the last call */
  drain(): LinkAction[] {
    const actions = this.#actions;
    this.#actions = [];
    if (this.#timerMs !== undefined) actions.push({ do: "timer", ms: this.#timerMs });
    this.#timerMs = undefined;
    return actions;
  }
}
