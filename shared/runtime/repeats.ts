// Limits repeated log lines, since a peer that fails many times a second must not fill the disk.

const WINDOW_MS = 60_000;
/** Default max of reported occurrences of a kind in each window. Further ones are counted. */
const REPORTED_PER_WINDOW = 10;
/** Default max of kinds with a count of their own. Further kinds share one, whose name is empty. */
const KINDS_MAX = 1_000;

interface Window {
  reported: number;
  left: number;
}

/**
 * Reports the first occurrences of each kind in a window of one minute, and sums up the rest at its end.
 * `setTimer` runs a function after milliseconds, and does not keep the process alive.
 */
export class Repeats {
  readonly #setTimer: (ms: number, fire: () => void) => unknown;
  readonly #kindsMax: number;
  readonly #windows = new Map<string, Window>();

  constructor(
    setTimer: (ms: number, fire: () => void) => unknown = (ms, fire) => setTimeout(fire, ms).unref(),
    kindsMax = KINDS_MAX,
  ) {
    this.#setTimer = setTimer;
    this.#kindsMax = kindsMax;
  }

  /**
   * Whether to report this occurrence. At the end of the window the `sumUp` of its first occurrence gets the number of
   * unreported ones, and the name of the kind.
   */
  shouldReport(kind: string, sumUp: (left: number, kind: string) => void, max = REPORTED_PER_WINDOW): boolean {
    const key = this.#windows.has(kind) || this.#windows.size < this.#kindsMax ? kind : "";
    let window = this.#windows.get(key);
    if (window === undefined) {
      const opened: Window = { reported: 0, left: 0 };
      this.#windows.set(key, opened);
      this.#setTimer(WINDOW_MS, () => {
        this.#windows.delete(key);
        if (opened.left > 0) sumUp(opened.left, key);
      });
      window = opened;
    }
    if (window.reported < max) {
      window.reported += 1;
      return true;
    }
    window.left += 1;
    return false;
  }
}
