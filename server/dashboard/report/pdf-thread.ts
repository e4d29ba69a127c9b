import { Worker } from "node:worker_threads";
import { moduleFile } from "../../../shared/files/program-files.ts";
import { ApiError } from "../../http/errors.ts";
import type { PdfRequest, PdfResult } from "./pdf-worker.ts";
import { refuse } from "../refuse.ts";
import { refusal } from "../types/refusals.ts";

// Makes PDF files in a thread, one at a time: a study of 1000 results takes seconds, and other users must not wait for it.

const TIME_MS_MAX = 30_000;
const MEMORY_MB_MAX = 512;
/** Reports that wait at most. */
const WAITING_MAX = 10;
/** Time without a report after which the thread ends, with its memory. */
const IDLE_MS = 60_000;

export class PdfThread {
  readonly #timeMs: number;
  #worker: Worker | null = null;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #idle: NodeJS.Timeout | undefined;

  constructor(timeMs = TIME_MS_MAX) {
    this.#timeMs = timeMs;
  }

  /** Makes a PDF. @throws ApiError if many wait, or it is beyond the limits of time and memory */
  async make(request: PdfRequest): Promise<Buffer> {
    if (this.#waiting >= WAITING_MAX)
      throw new ApiError("SERVER.UNAVAILABLE", "", { headers: { "retry-after": "10" } });
    this.#waiting += 1;
    const made = this.#last.then(() => this.#make(request));
    this.#last = made.catch(() => undefined);
    try {
      return await made;
    } finally {
      this.#waiting -= 1;
    }
  }

  async #make(request: PdfRequest): Promise<Buffer> {
    clearTimeout(this.#idle);
    const worker = (this.#worker ??= this.#start());
    const result = await new Promise<PdfResult | "limits">((resolve) => {
      const timer = setTimeout(() => resolve("limits"), this.#timeMs);
      const end = (outcome: PdfResult | "limits") => {
        clearTimeout(timer);
        worker.off("error", fail);
        resolve(outcome);
      };
      const fail = () => end("limits");
      worker.once("message", end);
      worker.once("error", fail);
      worker.postMessage(request);
    });
    worker.removeAllListeners("message");
    if (result === "limits") {
      this.#end();
      refuse(refusal("study" in request ? "STUDY.TOO_LONG" : "CONTROL.TOO_LONG"));
    }
    this.#idle = setTimeout(() => this.#end(), IDLE_MS).unref();
    if ("error" in result) throw new Error(result.error);
    return Buffer.from(result.pdf);
  }

  #start(): Worker {
    const worker = new Worker(moduleFile("server/dashboard/report/pdf-worker"), {
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB_MAX },
    });
    worker.unref();
    worker.on("error", () => undefined); // a report under way receives it too
    worker.on("exit", () => {
      if (worker === this.#worker) this.#worker = null;
    });
    return worker;
  }

  #end(): void {
    void this.#worker?.terminate();
    this.#worker = null;
  }
}
