import fs from "node:fs";
import { type Logger, type LoggerOptions, pino } from "pino";
import { traceFields } from "../network/trace.ts";
import { printable } from "../runtime/printable.ts";
import { LogFile, type LogFileOptions } from "./log-file.ts";
import type { RecentLog } from "./recent-log.ts";

// A log whose destination may fail, such as a full disk or a closed pipe. pino's own destination then throws, blocks, or retries
// without end at the exit.

/** Max characters in memory while the destination takes none. Beyond it lines are dropped and counted. */
const KEPT_CHARS_MAX = 1024 * 1024;
/** Max characters of one write. */
const WRITE_CHARS_MAX = 64 * 1024;
/** Interval between attempts after a failed write. */
const RETRY_MS = 1_000;

/** Further readers of the lines. */
export interface LogCopies {
  readonly file?: LogFileOptions | null;
  readonly recent?: RecentLog;
}

/**
 * Creates a logger that writes to a file descriptor without ever blocking or ending the program. Once the destination takes
 * lines again, one line reports the number of dropped lines. A log file and the recent lines in memory get the same lines. A line
 * that is written within a trace has its `trace_id` and `span_id`.
 */
export function createLog(
  options: LoggerOptions,
  { file = null, recent }: LogCopies = {},
  fd = 1,
  retryMs = RETRY_MS,
): Logger {
  const reportDropped = (lines: number) =>
    log.warn({ lines }, "log lines were dropped, since their destination took none");
  const destination = new Destination(fd, retryMs, reportDropped);
  // The notice waits for the line that caused it.
  const logFile = file && new LogFile(file, (text, details) => setImmediate(() => log.warn(details, text)), retryMs);
  const log = pino(
    { mixin: traceFields, ...options },
    {
      write(entry) {
        // JSON leaves DEL, C1 and marks of text direction raw. The escapes keep the value of the entry.
        const line = `${printable(entry.trimEnd())}\n`;
        destination.write(line);
        logFile?.write(line);
        recent?.add(line);
      },
    },
  );
  process.on("exit", () => destination.writeRest());
  return log;
}

class Destination {
  readonly #fd: number;
  readonly #retryMs: number;
  readonly #reportDropped: (lines: number) => void;
  readonly #lines: string[] = [];
  #chars = 0;
  #dropped = 0;
  /** Bytes of a write that the destination took in part. */
  #rest: Buffer = Buffer.alloc(0);
  /** Whether a write or the pause after a failed one is in progress. */
  #isBusy = false;

  constructor(fd: number, retryMs: number, reportDropped: (lines: number) => void) {
    this.#fd = fd;
    this.#retryMs = retryMs;
    this.#reportDropped = reportDropped;
  }

  write(line: string): void {
    if (this.#chars + line.length > KEPT_CHARS_MAX) {
      this.#dropped += 1;
      return;
    }
    this.#lines.push(line);
    this.#chars += line.length;
    if (!this.#isBusy) this.#writeNext();
  }

  #writeNext(): void {
    const bytes = this.#next();
    this.#isBusy = bytes.length > 0;
    if (!this.#isBusy) return;
    fs.write(this.#fd, bytes, (error, written) => {
      this.#rest = error === null ? bytes.subarray(written) : bytes;
      if (error !== null) {
        setTimeout(() => this.#writeNext(), this.#retryMs).unref();
        return;
      }
      this.#writeNext();
      if (this.#dropped === 0) return;
      const dropped = this.#dropped;
      this.#dropped = 0;
      this.#reportDropped(dropped);
    });
  }

  /** Writes the remaining lines when the process exits, without waiting for the destination. */
  writeRest(): void {
    try {
      for (let bytes = this.#next(); bytes.length > 0; bytes = this.#next()) {
        this.#rest = bytes.subarray(fs.writeSync(this.#fd, bytes));
      }
    } catch {
      // The remaining lines are lost.
    }
  }

  #next(): Buffer {
    if (this.#rest.length > 0) return this.#rest;
    let chars = 0;
    let count = 0;
    while (count < this.#lines.length && (count === 0 || chars + this.#lines[count]!.length <= WRITE_CHARS_MAX)) {
      chars += this.#lines[count++]!.length;
    }
    this.#chars -= chars;
    return Buffer.from(this.#lines.splice(0, count).join(""));
  }
}
