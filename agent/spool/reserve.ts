import fs from "node:fs";
import path from "node:path";

// A file that takes real blocks of the disk. It is given up when the disk is full, so that the agent's own operations have
// room: they settle what was acknowledged, prune and stop. The file is made again when there is room.

export const RESERVE_FILE = "reserve";

/** More than the write-ahead log has before a checkpoint, for the checkpoint may need as much of the disk. Bytes. */
const RESERVE_BYTES = 32 * 1024 * 1024;
/** With less than that free the file is not made. Bytes. */
const FREE_BYTES_MIN = 1.5 * RESERVE_BYTES;
/** With more than that free the disk is not full, whatever it answers. Bytes. */
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

  /** The disk was full, and the file is not made again yet: nothing but operations of the agent may take room. */
  get isGivenUp(): boolean {
    return this.#isGivenUp;
  }

  /** Removes the file if the disk is full. @returns whether that made room */
  giveUp(): boolean {
    if (!fs.existsSync(this.#file) || this.#freeBytes() > FULL_BYTES) return false;
    fs.rmSync(this.#file);
    this.#isGivenUp = true;
    return true;
  }

  /** Makes the file as soon as there is room for it, now and whenever it is given up. */
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
      fs.rmSync(part, { force: true }); // something else took the room
    } finally {
      this.#isMaking = false;
    }
  }

  #freeBytes(): number {
    const { bavail, bsize } = fs.statfsSync(this.#folder);
    return bavail * bsize;
  }
}
