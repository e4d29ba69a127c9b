import fs from "node:fs";
import path from "node:path";
import { until } from "../../support/processes.ts";

// Measures the threads of a program from inside.
//
// Each thread preloads measureThread(). It watches a file of requests, and writes one file for each request: the bytes that a full
// garbage collection leaves, and the delays of its event loop. The collection itself does not count as a delay.

/** Variable of the program. */
const FOLDER = "TEST_PROBE_FOLDER";

/** Time in which a thread answers, unless it was terminated. */
const ANSWER_MS = 3_000;

/** Measurements of one thread. */
interface ThreadMeasure {
  readonly pid: number;
  readonly thread: number;
  /** Bytes in use after a full collection, buffers included. */
  readonly heapBytes: number;
  readonly residentBytes: number;
  /** 99th percentile and maximum of the delays of its event loop since the first request, the 10 ms between two looks included. */
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** Measurements of a program. */
export interface Measure {
  /** The sum over its threads. */
  readonly heapBytes: number;
  readonly residentBytes: number;
  readonly descriptors: number;
  /** Measurements of its main thread. */
  readonly p99Ms: number;
  readonly maxMs: number;
}

export class Probe {
  readonly #folder: string;
  readonly #preload: string;
  #requests = 0;

  constructor(parent: string) {
    this.#folder = path.join(parent, "probe");
    this.#preload = path.join(this.#folder, "probe.cjs");
    fs.mkdirSync(this.#folder);
    fs.writeFileSync(this.#preload, `(${measureThread.toString()})(process.env.${FOLDER});`);
  }

  get env(): NodeJS.ProcessEnv {
    return { [FOLDER]: this.#folder };
  }

  /** Option of Node for the preload. */
  get option(): string {
    return `--require ${this.#preload}`;
  }

  /** Asks every thread of every program. @returns the measures of these programs, in their order */
  async measure(pids: readonly number[]): Promise<Measure[]> {
    const request = String((this.#requests += 1));
    const file = path.join(this.#folder, "request");
    fs.writeFileSync(`${file}.new`, request);
    fs.renameSync(`${file}.new`, file);
    const programs: Measure[] = [];
    for (const pid of pids) {
      const begun = performance.now();
      const hasAnswered = (name: string) => fs.existsSync(path.join(this.#folder, `answer-${request}-${name}`));
      const measures = await until(`a measure of each thread of process ${pid}`, () => {
        const threads = this.#names(`thread-${pid}-`);
        // A terminated thread leaves its name, and does not answer.
        const isLate = performance.now() - begun > ANSWER_MS && hasAnswered(`thread-${pid}-0`);
        if (threads.length === 0 || !(isLate || threads.every(hasAnswered))) return null;
        for (const name of threads) if (!hasAnswered(name)) fs.rmSync(path.join(this.#folder, name), { force: true });
        return this.#names(`answer-${request}-thread-${pid}-`).map((name) => this.#read(name));
      });
      programs.push(sumOf(pid, measures));
    }
    for (const name of this.#names(`answer-${request}-`)) fs.rmSync(path.join(this.#folder, name));
    return programs;
  }

  #names(begin: string): string[] {
    return fs.readdirSync(this.#folder).filter((name) => name.startsWith(begin));
  }

  #read(name: string): ThreadMeasure {
    return JSON.parse(fs.readFileSync(path.join(this.#folder, name), "utf8")) as ThreadMeasure;
  }
}

function sumOf(pid: number, threads: readonly ThreadMeasure[]): Measure {
  const main = threads.find(({ thread }) => thread === 0)!;
  return {
    heapBytes: threads.reduce((sum, { heapBytes }) => sum + heapBytes, 0),
    residentBytes: main.residentBytes,
    descriptors: fs.readdirSync(`/proc/${pid}/fd`).length,
    p99Ms: main.p99Ms,
    maxMs: main.maxMs,
  };
}

/** Measures a thread at each request. Its text is the preload, so it uses nothing from outside. */
function measureThread(folder: string): void {
  const { readFileSync, renameSync, rmSync, writeFileSync } = process.getBuiltinModule("node:fs");
  const { monitorEventLoopDelay } = process.getBuiltinModule("node:perf_hooks");
  const { setFlagsFromString } = process.getBuiltinModule("node:v8");
  const { runInNewContext } = process.getBuiltinModule("node:vm");
  const { threadId: thread } = process.getBuiltinModule("node:worker_threads");
  const LOOK_MS = 100;
  const NANOSECONDS = 1e6;
  const { pid } = process;

  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const registered = `${folder}/thread-${pid}-${thread}`;
  writeFileSync(registered, "");
  process.once("exit", () => rmSync(registered, { force: true }));

  const delays = monitorEventLoopDelay({ resolution: 10 });
  let answered = "";
  let isFirst = true;
  setInterval(() => {
    let request = "";
    try {
      request = readFileSync(`${folder}/request`, "utf8");
    } catch {
      return; // Nobody asked yet, or the folder is removed before the program.
    }
    if (request === answered) return;
    answered = request;
    delays.disable();
    const [p99Ms, maxMs] = isFirst ? [0, 0] : [delays.percentile(99) / NANOSECONDS, delays.max / NANOSECONDS];
    if (isFirst) delays.reset();
    isFirst = false;
    collect();
    const { heapUsed, external, rss: residentBytes } = process.memoryUsage();
    const measure = { pid, thread, heapBytes: heapUsed + external, residentBytes, p99Ms, maxMs };
    const file = `${folder}/answer-${request}-thread-${pid}-${thread}`;
    const partial = `${folder}/partial-${pid}-${thread}`;
    writeFileSync(partial, JSON.stringify(measure));
    renameSync(partial, file);
    delays.enable();
  }, LOOK_MS).unref();
}
