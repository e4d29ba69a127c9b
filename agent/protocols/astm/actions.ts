import type { LinkAction } from "../link.ts";

/** What one call of the link has to say. There is one timer: the last word on it counts, and comes last. */
export class Actions {
  #said: LinkAction[] = [];
  /** undefined: it stays as it is. */
  #timerMs: number | null | undefined;

  /** null: nothing. */
  say(action: LinkAction | null): void {
    if (action !== null) this.#said.push(action);
  }

  warn(reason: string): void {
    this.#said.push({ do: "warn", reason });
  }

  startTimer(ms: number): void {
    this.#timerMs = ms;
  }

  stopTimer(): void {
    this.#timerMs = null;
  }

  take(): LinkAction[] {
    const said = this.#said;
    this.#said = [];
    if (this.#timerMs !== undefined) said.push({ do: "timer", ms: this.#timerMs });
    this.#timerMs = undefined;
    return said;
  }
}
