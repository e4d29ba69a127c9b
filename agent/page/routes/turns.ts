import { PageError } from "./page-error.ts";

const AT_ONCE_MAX = 2;
const WAITING_MAX = 20;
const WAIT_MS = 30_000;

/** Work that needs much memory: few jobs run simultaneously, some wait for their turn, and more are refused. */
export class Turns {
  #running = 0;
  readonly #waiting = new Set<() => void>();

  /** Runs the work at its turn. @throws PageError if too much waits, it waits too long, or the browser goes away */
  async take<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    await this.#begin(signal);
    try {
      return await work();
    } finally {
      this.#end();
    }
  }

  #begin(signal: AbortSignal): Promise<void> {
    if (this.#running < AT_ONCE_MAX) {
      this.#running += 1;
      return Promise.resolve();
    }
    if (this.#waiting.size >= WAITING_MAX) return Promise.reject(busy());
    return new Promise((resolve, reject) => {
      const leave = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", giveUp);
        this.#waiting.delete(start);
      };
      const start = () => {
        leave();
        resolve();
      };
      const giveUp = () => {
        leave();
        reject(busy());
      };
      const timer = setTimeout(giveUp, WAIT_MS);
      signal.addEventListener("abort", giveUp);
      this.#waiting.add(start);
    });
  }

  /** Gives the turn to the work that waits longest. */
  #end(): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#running -= 1;
    else next();
  }
}

function busy(): PageError {
  return new PageError(503, "the agent draws other pictures: try it again in a moment");
}
