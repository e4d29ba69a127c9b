import fs from "node:fs";
import path from "node:path";

// A file that occupies disk space. It is removed when the disk is full, so that the agent's own operations have room. They
// settle acknowledged messages, prune and stop. The file is created again when there is room.

export const RESERVE_FILE = "reserve";

/** Bytes of the file: more than the WAL has before a checkpoint, because the checkpoint may need as much space. */
const RESERVE_BYTES = 32 * 1024 * 1024;
/** Min free bytes to create the file. */
const FREE_BYTES_MIN = 1.5 * RESERVE_BYTES;
/** Free bytes above which the disk counts as not full, even if a write fails. */
const FULL_BYTES = 4 * 1024 * 1024;
const PIECE_BYTES = 1024 * 1024;
const TRY_EVERY_MS = 1_000;

export class Reserve {
  readonly #folder: string;
  readonly #file: string;
  #isGivenUp: boolean;
  #isMaking = false;

  constructor(folder: string) {
    this.#folder = folder;
    this.#file = path.join(folder, RESERVE_FILE);
    this.#isGivenUp = !fs.existsSync(this.#file) && this.#freeBytes() < FREE_BYTES_MIN;
  }

  /** True from the removal of the file until it exists again. Only the agent's own operations may take room then. */
  get isGivenUp(): boolean {
    return this.#isGivenUp;
  }

  /** Removes the file if the disk is full. @returns true if that made room */
  giveUp(): boolean {
    if (!fs.existsSync(this.#file) || this.#freeBytes() > FULL_BYTES) return false;
    fs.rmSync(this.#file);
    this.#isGivenUp = true;
    return true;
  }

  /** Creates the file as soon as there is room for it, now and after each removal. */
  keep(): void {
    setInterval(() => void this.#make(), TRY_EVERY_MS);
  }

  async #make(): Promise<void> {
    if (this.#isMaking || fs.existsSync(this.#file) || this.#freeBytes() < FREE_BYTES_MIN) return;
    this.#isMaking = true;
    const part = `${this.#file}.part`;
    try {
      const file = await fs.promises.open(part, "w", 0o600);
      try {
        const piece = new Uint8Array(PIECE_BYTES);
        for (let at = 0; at < RESERVE_BYTES; at += PIECE_BYTES) await file.write(piece);
      } finally {
        await file.close();
      }
      fs.renameSync(part, this.#file);
      this.#isGivenUp = false;
    } catch {
      fs.rmSync(part, { force: true }); // another program took the space
    } finally {
      this.#isMaking = false;
    }
  }

  #freeBytes(): number {
    const { bavail, bsize } = fs.statfsSync(this.#folder);
    return bavail * bsize;
  }
}
