import { Worker } from "node:worker_threads";
import type { HeaderResult, HeaderRequest } from "./header-worker.ts";
import { moduleFile } from "../../shared/runtime/program-files.ts";

/** Time limits of one header in milliseconds. */
export interface HeaderTimes {
  /** Limit of the first attempt. A usual header of some kilobytes takes 1 ms. */
  readonly quickMs: number;
  /** Limit of the second attempt, in a thread for slow headers. */
  readonly longMs: number;
}

const TIMES: HeaderTimes = { quickMs: 200, longMs: 5_000 };
const MEMORY_MB_MAX = 256;

/** Reads headers. A slow header, such as a hostile one, moves to a second thread, so that the others do not wait for it. */
export class HeaderReader {
  readonly #fastThread: ParserThread;
  readonly #slowThread: ParserThread;

  constructor({ quickMs, longMs }: HeaderTimes = TIMES) {
    this.#fastThread = new ParserThread(quickMs);
    this.#slowThread = new ParserThread(longMs);
  }

  /** Reads a header. @returns the problem of an unreadable one */
  async read(request: HeaderRequest): Promise<HeaderResult> {
    return (await this.#fastThread.read(request)) ?? (await this.#slowThread.read(request)) ?? this.#slowThread.tooLong;
  }

  /** Ends the threads. Unread headers resolve to a problem. */
  async close(): Promise<void> {
    await Promise.all([this.#fastThread.close(), this.#slowThread.close()]);
  }
}

/** Queued request. It resolves to null if the time limit ended it. */
interface PendingRead {
  readonly request: HeaderRequest;
  readonly resolve: (result: HeaderResult | null) => void;
}

/** Thread that reads one header after the other. The time limit ends the thread, and the next header starts a new one. */
class ParserThread {
  readonly #timeMs: number;
  readonly #queue: PendingRead[] = [];
  #current: PendingRead | null = null;
  #worker: Worker | null = null;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(timeMs: number) {
    this.#timeMs = timeMs;
  }

  get tooLong(): HeaderResult {
    return { problem: `not read within ${this.#timeMs / 1000} s` };
  }

  /** Reads a header. @returns null after the time limit */
  read(request: HeaderRequest): Promise<HeaderResult | null> {
    return new Promise((resolve) => {
      this.#queue.push({ request, resolve });
      this.#readNext();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    const worker = this.#worker;
    this.#worker = null;
    this.#resolve({ problem: CLOSED });
    await worker?.terminate();
  }

  #readNext(): void {
    if (this.#current !== null) return;
    if (this.#closed) {
      for (const { resolve } of this.#queue.splice(0)) resolve({ problem: CLOSED });
      return;
    }
    // The shortest header is first, because slow headers are long.
    const bytes = this.#queue.map(({ request }) => request.headerBytes);
    const [next] = this.#queue.splice(bytes.indexOf(Math.min(...bytes)), 1);
    if (next === undefined) return;
    this.#current = next;
    this.#worker ??= this.#start();
    this.#worker.postMessage(next.request);
  }

  #resolve(result: HeaderResult | null): void {
    clearTimeout(this.#timer);
    this.#current?.resolve(result);
    this.#current = null;
    this.#readNext();
  }

  #start(): Worker {
    const worker = new Worker(moduleFile("agent/imaging/header-worker"), {
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB_MAX },
    });
    worker.on("message", (message: HeaderResult | "started") => {
      if (worker !== this.#worker) return;
      if (message !== "started") this.#resolve(message);
      // The limit starts with the parsing, because on a slow machine the thread starts slower than it parses.
      else this.#timer = setTimeout(() => this.#giveUp(worker, null), this.#timeMs);
    });
    worker.on("error", (error) => this.#giveUp(worker, { problem: error.message }));
    worker.on("exit", () => this.#giveUp(worker, { problem: "the parser ended" }));
    return worker;
  }

  /** Ends the thread. The next header starts a new one. */
  #giveUp(worker: Worker, result: HeaderResult | null): void {
    if (this.#worker !== worker) return;
    this.#worker = null;
    void worker.terminate();
    this.#resolve(result);
  }
}

const CLOSED = "the agent stops";
