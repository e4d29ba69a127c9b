import type { Worker } from "node:worker_threads";
import type { HeaderAnswer, HeaderRequest } from "./header-worker.ts";
import { startWorker } from "../runtime/start-worker.ts";

/** A header of some kilobytes takes a millisecond. */
const TIME_MS_MAX = 5_000;
const MEMORY_MB_MAX = 256;

/** Reads headers one after the other in a thread, which is ended when one takes too long, and started anew for the next. */
export class Headers {
  readonly #timeMs: number;
  #worker: Worker | null = null;
  #last: Promise<unknown> = Promise.resolve();
  #begun: () => void = () => undefined;
  #answered: (answer: HeaderAnswer) => void = () => undefined;

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
    this.#worker ??= this.#start();
    const worker = this.#worker;
    return new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      // Not before: on a slow machine the thread takes longer to start than a header to parse.
      this.#begun = () => {
        timer = setTimeout(() => this.#giveUp(worker, `not read within ${this.#timeMs / 1000} s`), this.#timeMs);
      };
      this.#answered = (answer) => {
        clearTimeout(timer);
        resolve(answer);
      };
      worker.postMessage(request);
    });
  }

  #start(): Worker {
    const worker = startWorker(import.meta.url, "./header-worker", {
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB_MAX },
    });
    worker.on("message", (said: HeaderAnswer | "begun") => (said === "begun" ? this.#begun() : this.#answered(said)));
    worker.on("error", (error) => this.#giveUp(worker, error.message));
    worker.on("exit", () => this.#giveUp(worker, "the parser ended"));
    return worker;
  }

  /** The next header gets a thread of its own. */
  #giveUp(worker: Worker, problem: string): void {
    if (this.#worker !== worker) return;
    this.#worker = null;
    void worker.terminate();
    this.#answered({ problem });
  }
}
