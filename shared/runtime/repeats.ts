// A bound on sentences that repeat: a peer that fails many times a second must not fill the disk with the same line.

const WINDOW_MS = 60_000;
/** Occurrences of one kind that are told in each window; the rest are counted. */
const TOLD_PER_WINDOW = 10;
/** Kinds that are counted apart; all further ones are counted as one. */
const KINDS_MAX = 1_000;

interface Window {
  told: number;
  left: number;
}

/**
 * Tells the first occurrences of each kind in a window of one minute and sums up the rest at its end.
 * `setTimer` runs a function after milliseconds without keeping the process alive.
 */
export class Repeats {
  readonly #setTimer: (ms: number, fire: () => void) => unknown;
  readonly #windows = new Map<string, Window>();

  constructor(setTimer: (ms: number, fire: () => void) => unknown = (ms, fire) => setTimeout(fire, ms).unref()) {
    this.#setTimer = setTimer;
  }

  /**
   * Whether this occurrence is to be told. Of those that are not, `sumUp` gets the number at the end of the window.
   * It is the function of the window's first occurrence.
   */
  shouldReport(kind: string, sumUp: (left: number) => void): boolean {
    const key = this.#windows.has(kind) || this.#windows.size < KINDS_MAX ? kind : "";
    let window = this.#windows.get(key);
    if (window === undefined) {
      const opened: Window = { told: 0, left: 0 };
      this.#windows.set(key, opened);
      this.#setTimer(WINDOW_MS, () => {
        this.#windows.delete(key);
        if (opened.left > 0) sumUp(opened.left);
      });
      window = opened;
    }
    if (window.told < TOLD_PER_WINDOW) {
      window.told += 1;
      return true;
    }
    window.left += 1;
    return false;
  }
}
