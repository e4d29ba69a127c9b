import type { Worker } from "node:worker_threads";
import type { HeaderAnswer, HeaderRequest } from "./header-worker.ts";
import { startWorker } from "../runtime/start-worker.ts";

/** Time limits of one header in milliseconds. */
export interface HeaderTimes {
  /** A header of some kilobytes takes a millisecond. A header that takes longer is read again beside the others. */
  readonly quickMs: number;
  /** A header that takes longer is given up. */
  readonly longMs: number;
}

const TIMES: HeaderTimes = { quickMs: 200, longMs: 5_000 };
const MEMORY_MB_MAX = 256;

/** Reads headers. One that takes long, as a hostile one may, is read in a thread of its own: the others do not wait for it. */
export class Headers {
  readonly #quick: Lane;
  readonly #long: Lane;

  constructor({ quickMs, longMs }: HeaderTimes = TIMES) {
    this.#quick = new Lane(quickMs);
    this.#long = new Lane(longMs);
  }

  /** Reads a header. @returns its content, or the reason why it is not readable */
  async read(request: HeaderRequest): Promise<HeaderAnswer> {
    return (await this.#quick.read(request)) ?? (await this.#long.read(request)) ?? this.#long.tooLong;
  }

  /** Gives up what is not read yet. */
  async close(): Promise<void> {
    await Promise.all([this.#quick.close(), this.#long.close()]);
  }
}

/** A request, and whom to tell: null if the time limit ended it. */
interface Waiting {
  readonly request: HeaderRequest;
  readonly resolve: (answer: HeaderAnswer | null) => void;
}

/** Reads one header after the other in a thread, which is ended when one takes too long, and started anew for the next. */
class Lane {
  readonly #timeMs: number;
  readonly #waiting: Waiting[] = [];
  #current: Waiting | null = null;
  #worker: Worker | null = null;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(timeMs: number) {
    this.#timeMs = timeMs;
  }

  get tooLong(): HeaderAnswer {
    return { problem: `not read within ${this.#timeMs / 1000} s` };
  }

  /** @returns null if the header took too long */
  read(request: HeaderRequest): Promise<HeaderAnswer | null> {
    return new Promise((resolve) => {
      this.#waiting.push({ request, resolve });
      this.#readNext();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    const worker = this.#worker;
    this.#worker = null;
    this.#settle({ problem: CLOSED });
    await worker?.terminate();
  }

  #readNext(): void {
    if (this.#current !== null) return;
    if (this.#closed) {
      for (const { resolve } of this.#waiting.splice(0)) resolve({ problem: CLOSED });
      return;
    }
    // The shortest first: a header that takes long is a long one.
    const bytes = this.#waiting.map(({ request }) => request.headerBytes);
    const [next] = this.#waiting.splice(bytes.indexOf(Math.min(...bytes)), 1);
    if (next === undefined) return;
    this.#current = next;
    this.#worker ??= this.#start();
    this.#worker.postMessage(next.request);
  }

  #settle(answer: HeaderAnswer | null): void {
    clearTimeout(this.#timer);
    this.#current?.resolve(answer);
    this.#current = null;
    this.#readNext();
  }

  #start(): Worker {
    const worker = startWorker(import.meta.url, "./header-worker", {
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB_MAX },
    });
    worker.on("message", (said: HeaderAnswer | "begun") => {
      if (worker !== this.#worker) return;
      if (said !== "begun") this.#settle(said);
      // Not before: on a slow machine the thread takes longer to start than a header to parse.
      else this.#timer = setTimeout(() => this.#giveUp(worker, null), this.#timeMs);
    });
    worker.on("error", (error) => this.#giveUp(worker, { problem: error.message }));
    worker.on("exit", () => this.#giveUp(worker, { problem: "the parser ended" }));
    return worker;
  }

  /** The next header gets a thread of its own. */
  #giveUp(worker: Worker, answer: HeaderAnswer | null): void {
    if (this.#worker !== worker) return;
    this.#worker = null;
    void worker.terminate();
    this.#settle(answer);
  }
}

const CLOSED = "the agent stops";
