import type { Worker } from "node:worker_threads";
import type { HeaderAnswer, HeaderRequest } from "./headers-worker.ts";
import { startWorker } from "./worker.ts";

/** A header of some kilobytes takes a millisecond. */
const TIME_MS_MAX = 5_000;
const MEMORY_MB_MAX = 256;

/** Reads headers one after the other in a thread, which is ended when one takes too long, and started anew for the next. */
export class Headers {
  readonly #timeMs: number;
  #worker: Worker | null = null;
  #last: Promise<unknown> = Promise.resolve();

  constructor(timeMs = TIME_MS_MAX) {
    this.#timeMs = timeMs;
  }

  /** What the header says, or why it cannot be read. */
  read(request: HeaderRequest): Promise<HeaderAnswer> {
    const answer = this.#last.then(() => this.#ask(request));
    this.#last = answer;
    return answer;
  }

  async close(): Promise<void> {
    await this.#last;
    await this.#worker?.terminate();
  }

  #ask(request: HeaderRequest): Promise<HeaderAnswer> {
    this.#worker ??= startWorker("headers-worker", { resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB_MAX } });
    const worker = this.#worker;
    return new Promise((resolve) => {
      const settle = (answer: HeaderAnswer) => {
        clearTimeout(timer);
        worker.removeAllListeners();
        resolve(answer);
      };
      const giveUp = (problem: string) => {
        this.#worker = null;
        settle({ problem });
        void worker.terminate();
      };
      const timer = setTimeout(() => giveUp(`not read within ${this.#timeMs / 1000} s`), this.#timeMs);
      worker.once("message", settle);
      worker.once("error", (error) => giveUp(error.message));
      worker.once("exit", () => giveUp("the parser ended"));
      worker.postMessage(request);
    });
  }
}
