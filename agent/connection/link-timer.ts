import type { SetTimer } from "../runtime/timer.ts";

type LinkTimerState =
  | { readonly is: "off" }
  | { readonly is: "running"; readonly ms: number; readonly cancel: () => void }
  /** The timer ran out while bytes were on their way. The link receives those first, and they may set it again. */
  | { readonly is: "due"; readonly ms: number };

const OFF: LinkTimerState = { is: "off" };

export class LinkTimer {
  readonly #setTimer: SetTimer;
  readonly #isWaiting: () => boolean;
  readonly #timeout: () => void;
  #state: LinkTimerState = OFF;

  /** `timeout` is called when the timer runs out, unless `isWaiting` returns that bytes may be on their way to the link. */
  constructor(setTimer: SetTimer, isWaiting: () => boolean, timeout: () => void) {
    this.#setTimer = setTimer;
    this.#isWaiting = isWaiting;
    this.#timeout = timeout;
  }

  /** Replaces the timer; null turns it off. */
  set(ms: number | null): void {
    if (this.#state.is === "running") this.#state.cancel();
    this.#state = ms === null ? OFF : { is: "running", ms, cancel: this.#setTimer(ms, () => this.#runOut(ms)) };
  }

  /** Counts from now on again. A wire that was paused may hold bytes from before. */
  restart(): void {
    if (this.#state.is !== "off") this.set(this.#state.ms);
  }

  /** Turns a due timer off. @returns true if it was due */
  clearDue(): boolean {
    if (this.#state.is !== "due") return false;
    this.#state = OFF;
    return true;
  }

  #runOut(ms: number): void {
    if (this.#isWaiting()) {
      this.#state = { is: "due", ms };
      return;
    }
    this.#state = OFF;
    this.#timeout();
  }
}
