import fs from "node:fs/promises";
import path from "node:path";
import type { FileCode, Outcome } from "../../shared/network/hl7-sender/outcome-words.ts";
import { errorCode, errorMessage } from "../../shared/runtime/error-message.ts";

// Writes files into a folder that another program reads. A file has its name only once all its bytes are on the disk, and no file of
// that name is replaced.

/** A name from the server: letters, digits, dots, dashes and underscores. No part of a study's text is in it. */
const FILE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,150}\.csv$/;
/** Files of one name with other content: `x.csv`, `x-2.csv`, … */
const COPIES_MAX = 50;
/** A network share may not answer for minutes. */
const ANSWER_MS = 60_000;

export class CsvDrop {
  readonly to: string;
  readonly #answerMs: number;
  /** The write that has not come back, so that another one does not take one more thread. */
  #pending: Promise<Outcome> | null = null;
  #stop: () => void = () => undefined;

  constructor(folder: string, answerMs = ANSWER_MS) {
    this.to = folder;
    this.#answerMs = answerMs;
  }

  async carry(bytes: Uint8Array, fileName: string | null): Promise<Outcome> {
    if (fileName === null || !FILE_NAME.test(fileName))
      return { outcome: "refused", code: "FILE.NAME", text: fileName };
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<Outcome>((resolve) => {
      this.#stop = () => resolve({ outcome: "failed", code: "FILE.TIMED_OUT", text: null });
      timer = setTimeout(this.#stop, this.#answerMs);
    });
    try {
      // A write that came back late is on the disk: the next one finds its file.
      if (this.#pending !== null) await Promise.race([this.#pending, late]);
      if (this.#pending !== null) return await late;
      this.#pending = write(this.to, fileName, bytes).finally(() => (this.#pending = null));
      return await Promise.race([this.#pending, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  close(): void {
    this.#stop();
  }
}

async function write(folder: string, fileName: string, bytes: Uint8Array): Promise<Outcome> {
  const part = path.join(folder, `${fileName}.part`);
  try {
    const target = await freeName(folder, fileName, bytes);
    if (target === null) return { outcome: "refused", code: "FILE.EXISTS", text: fileName };
    if (target.isWritten) return { outcome: "acknowledged", code: "FILE.WRITTEN", text: target.name };
    await fs.rm(part, { force: true });
    // A new file alone, so that a link in its place is not followed.
    await fs.writeFile(part, bytes, { flag: "wx", flush: true });
    await fs.rename(part, path.join(folder, target.name));
    await syncNames(folder);
    return { outcome: "acknowledged", code: "FILE.WRITTEN", text: target.name };
  } catch (error) {
    await fs.rm(part, { force: true }).catch(() => undefined);
    return {
      outcome: "failed",
      code: codeOf(error),
      text: errorCode(error) || errorMessage(error),
    };
  }
}

/** As syncFolder(), which would hold up the devices while a share does not answer. */
async function syncNames(folder: string): Promise<void> {
  if (process.platform === "win32") return;
  try {
    const handle = await fs.open(folder, "r");
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    const code = errorCode(error);
    if (code !== "EACCES" && code !== "EINVAL") throw error;
  }
}

/** @returns the name to write, or that of the file with these bytes; null if all are taken */
async function freeName(
  folder: string,
  fileName: string,
  bytes: Uint8Array,
): Promise<{ readonly name: string; readonly isWritten: boolean } | null> {
  for (let copy = 1; copy <= COPIES_MAX; copy++) {
    const name = copy === 1 ? fileName : `${fileName.slice(0, -".csv".length)}-${copy}.csv`;
    const file = path.join(folder, name);
    const found = await fs.lstat(file).catch(missing);
    if (found === null) return { name, isWritten: false };
    if (found.isFile() && found.size === bytes.length && (await fs.readFile(file)).equals(bytes)) {
      return { name, isWritten: true };
    }
  }
  return null;
}

function missing(error: unknown): null {
  if (errorCode(error) === "ENOENT") return null;
  throw error;
}

function codeOf(error: unknown): FileCode {
  switch (errorCode(error)) {
    case "ENOSPC":
    case "EDQUOT":
      return "FILE.DISK_FULL";
    case "ENOENT":
    case "ENOTDIR":
      return "FILE.NO_FOLDER";
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return "FILE.FORBIDDEN";
    default:
      return "FILE.FAULT";
  }
}
