import fs from "node:fs";
import { type Logger, type LoggerOptions, pino } from "pino";

// The log of a program that goes on when nobody takes its log: on a full disk, or into a pipe that is not read. pino's own
// destination does not: it throws, waits in place, or tries for ever when the process exits.

/** Characters of log kept in memory while the destination takes none; later lines are counted and dropped. */
const KEPT_CHARS_MAX = 1024 * 1024;
/** Characters written at once. */
const WRITE_CHARS_MAX = 64 * 1024;
/** Interval at which a destination that failed is tried again. */
const RETRY_MS = 1_000;

/**
 * Creates a logger that writes to a file descriptor without ever blocking or ending the program. Once the destination takes
 * lines again, one line says how many were dropped. `retryMs` is made shorter in tests.
 */
export function createLog(options: LoggerOptions, fd = 1, retryMs = RETRY_MS): Logger {
  const sayDropped = (lines: number) =>
    log.warn({ lines }, "log lines were dropped: their destination did not take them");
  const destination = new Destination(fd, retryMs, sayDropped);
  const log = pino(options, destination);
  process.on("exit", () => destination.writeRest());
  return log;
}

class Destination {
  readonly #fd: number;
  readonly #retryMs: number;
  readonly #sayDropped: (lines: number) => void;
  readonly #lines: string[] = [];
  #chars = 0;
  #dropped = 0;
  /** Bytes of a write that the destination took in part. */
  #rest: Buffer = Buffer.alloc(0);
  /** A write is under way, or the pause after one that failed. */
  #isBusy = false;

  constructor(fd: number, retryMs: number, sayDropped: (lines: number) => void) {
    this.#fd = fd;
    this.#retryMs = retryMs;
    this.#sayDropped = sayDropped;
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
      this.#sayDropped(dropped);
    });
  }

  /** Writes what is left when the process exits, as far as the destination takes it without waiting. */
  writeRest(): void {
    try {
      for (let bytes = this.#next(); bytes.length > 0; bytes = this.#next()) {
        this.#rest = bytes.subarray(fs.writeSync(this.#fd, bytes));
      }
    } catch {
      // The lines are lost, as those that were dropped.
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
