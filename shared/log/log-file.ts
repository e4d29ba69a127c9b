import fs from "node:fs";
import path from "node:path";
import { makePrivateFolder } from "../files/private-folder.ts";
import { rightsAdvice } from "../files/rights-advice.ts";
import { errorCode } from "../runtime/error-message.ts";

// A log file in addition to stdout, which starts again at a size. Writes are synchronous, so that the last lines before a crash
// are in it.

export interface LogFileOptions {
  readonly file: string;
  readonly bytesMax: number;
  /** Number of older files that stay: FILE.1 is the latest. */
  readonly keep: number;
}

/** Size of a log file and number of older ones. Together they hold some weeks of a clinic in 60 MB. */
export const DEFAULT_LOG = { megabytes: 10, keep: 5 } as const;

/** Reports that the file cannot be written, or is written again. It must not write to the file in the same call. */
type LogFileNotice = (sentence: string, details: object) => void;

export class LogFile {
  readonly #options: LogFileOptions;
  readonly #notify: LogFileNotice;
  readonly #retryMs: number;
  #descriptor: number | null = null;
  #bytes = 0;
  /** Lines that were dropped since the first failure. */
  #dropped = 0;
  #retryAt = 0;

  /** @param retryMs interval between attempts after a failed write */
  constructor(options: LogFileOptions, notify: LogFileNotice, retryMs: number) {
    this.#options = options;
    this.#notify = notify;
    this.#retryMs = retryMs;
  }

  /** Appends a line. A failure drops lines until the file can be written again, and never reaches the caller. */
  write(line: string): void {
    if (this.#dropped > 0 && performance.now() < this.#retryAt) {
      this.#dropped += 1;
      return;
    }
    try {
      this.#append(Buffer.from(line));
    } catch (error) {
      this.#fail(error);
      return;
    }
    const dropped = this.#dropped;
    this.#dropped = 0;
    if (dropped > 0) this.#notify("the log file is written again, some lines are missing", { lines: dropped });
  }

  #append(bytes: Buffer): void {
    if (this.#descriptor === null) this.#open();
    if (this.#bytes > 0 && this.#bytes + bytes.length > this.#options.bytesMax) this.#rotate();
    for (let at = 0; at < bytes.length; ) at += fs.writeSync(this.#descriptor!, bytes, at);
    this.#bytes += bytes.length;
  }

  #open(): void {
    const { file } = this.#options;
    makePrivateFolder(path.dirname(file));
    this.#descriptor = fs.openSync(file, "a", 0o600);
    this.#bytes = fs.fstatSync(this.#descriptor).size;
  }

  /** Renames FILE to FILE.1, FILE.1 to FILE.2 and so on, and removes the oldest. */
  #rotate(): void {
    const { file, keep } = this.#options;
    if (this.#descriptor !== null) fs.closeSync(this.#descriptor);
    this.#descriptor = null;
    fs.rmSync(`${file}.${keep}`, { force: true });
    for (let number = keep - 1; number >= 0; number -= 1) {
      const from = number === 0 ? file : `${file}.${number}`;
      if (fs.existsSync(from)) fs.renameSync(from, `${file}.${number + 1}`);
    }
    if (keep === 0) fs.rmSync(file, { force: true });
    this.#open();
  }

  #fail(error: unknown): void {
    const isFirst = this.#dropped === 0;
    this.#dropped += 1;
    this.#retryAt = performance.now() + this.#retryMs;
    this.#giveUp();
    if (!isFirst) return;
    const { file } = this.#options;
    const code = errorCode(error) || "unknown";
    const reason = rightsAdvice(error, file);
    const details = reason === null ? { file, code } : { file, code, reason };
    this.#notify("the log file cannot be written: make room on its disk, or correct its path", details);
  }

  /** Closes the file without the part of a line that a full disk took. */
  #giveUp(): void {
    const descriptor = this.#descriptor;
    this.#descriptor = null;
    if (descriptor === null) return;
    try {
      fs.ftruncateSync(descriptor, this.#bytes);
      fs.closeSync(descriptor);
    } catch {
      // The disk was removed.
    }
  }
}
