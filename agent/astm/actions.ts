import type { LinkAction } from "../link.ts";

const NO_TIMER: LinkAction = { do: "timer", ms: null };

/** What one call of the link has to say. There is one timer: the last word on it counts, and comes last. */
export class Actions {
  #said: LinkAction[] = [];
  #timer: LinkAction | null = null;

  say(action: LinkAction): void {
    this.#said.push(action);
  }

  warn(reason: string): void {
    this.#said.push({ do: "warn", reason });
  }

  startTimer(ms: number): void {
    this.#timer = { do: "timer", ms };
  }

  stopTimer(): void {
    this.#timer = NO_TIMER;
  }

  take(): LinkAction[] {
    const said = this.#said;
    this.#said = [];
    if (this.#timer !== null) said.push(this.#timer);
    this.#timer = null;
    return said;
  }
}
