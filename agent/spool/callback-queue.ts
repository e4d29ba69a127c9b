/** Max time spent running commit callbacks before yielding to the event loop, in ms. */
const SLICE_MS = 0.25;

/** A callback of a commit. It gets null, so that a callback which takes an error can be queued without a closure. */
export type CommitCallback = (error: null) => void;

/** Runs commit callbacks in slices, so that new writes reach the worker in between. */
export class CallbackQueue {
  readonly #beforeSlice: () => void;
  readonly #onEmpty: () => void;
  readonly #callbacks: CommitCallback[] = [];
  #isRunning = false;

  constructor(beforeSlice: () => void, onEmpty: () => void) {
    this.#beforeSlice = beforeSlice;
    this.#onEmpty = onEmpty;
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  push(callback: CommitCallback): void {
    this.#callbacks.push(callback);
  }

  /** Runs the first slice now, and each later slice in its own turn of the event loop. */
  run(): void {
    if (!this.#isRunning) this.#runSlice();
  }

  #runSlice(): void {
    this.#isRunning = true;
    this.#beforeSlice();
    const until = performance.now() + SLICE_MS;
    let count = 0;
    while (count < this.#callbacks.length && (count === 0 || performance.now() < until))
      this.#callbacks[count++]!(null);
    this.#callbacks.splice(0, count);
    this.#isRunning = this.#callbacks.length > 0;
    if (this.#isRunning) setImmediate(() => this.#runSlice());
    else this.#onEmpty();
  }
}
