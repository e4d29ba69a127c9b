import type { SetTimer } from "../runtime/timer.ts";

type LinkTimerState =
  | { readonly is: "off" }
  | { readonly is: "running"; readonly cancel: () => void }
  /** The timer ran out while events were pending. The link receives those first, and they may set it again. */
  | { readonly is: "due" };

const OFF: LinkTimerState = { is: "off" };

/** The timer of one link. */
export class LinkTimer {
  readonly #setTimer: SetTimer;
  readonly #hasPendingEvents: () => boolean;
  readonly #timeout: () => void;
  #state: LinkTimerState = OFF;

  /** `timeout` is called when the timer runs out, unless events are pending. */
  constructor(setTimer: SetTimer, hasPendingEvents: () => boolean, timeout: () => void) {
    this.#setTimer = setTimer;
    this.#hasPendingEvents = hasPendingEvents;
    this.#timeout = timeout;
  }

  /** Replaces the timer; null turns it off. */
  set(ms: number | null): void {
    if (this.#state.is === "running") this.#state.cancel();
    this.#state = ms === null ? OFF : { is: "running", cancel: this.#setTimer(ms, () => this.#runOut()) };
  }

  /** Turns a due timer off. @returns true if it was due */
  clearDue(): boolean {
    if (this.#state.is !== "due") return false;
    this.#state = OFF;
    return true;
  }

  #runOut(): void {
    if (this.#hasPendingEvents()) {
      this.#state = { is: "due" };
      return;
    }
    this.#state = OFF;
    this.#timeout();
  }
}
