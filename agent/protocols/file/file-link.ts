import { ACK } from "../bytes.ts";
import type { Link, LinkAction } from "../link.ts";
import { readFileHeader } from "./file-message.ts";

/**
 * Link of a watched folder. Each wire carries one file, which stays on its disk until it is acknowledged: what is cut short is read
 * again, so nothing of it is delivered.
 */
export class FileLink implements Link {
  readonly #bytesMax: number;
  #parts: Uint8Array[] = [];
  #length = 0;
  /** Length of the complete message; null while its first line has not come. */
  #expected: number | null = null;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get isIdle(): boolean {
    return this.#length === 0;
  }

  get heldBytes(): number {
    return this.#length;
  }

  receive(chunk: Uint8Array): LinkAction[] {
    this.#parts.push(chunk);
    this.#length += chunk.length;
    if (this.#expected === null) {
      const read = readFileHeader(this.#bytes());
      if (read === null) return [];
      if ("problem" in read) return this.#giveUp(read.problem);
      this.#expected = read.length + read.header.bytes;
      if (read.header.bytes > this.#bytesMax) return this.#giveUp(`a file of more than ${this.#bytesMax} bytes`);
    }
    if (this.#length < this.#expected) return [];
    if (this.#length > this.#expected) return this.#giveUp("bytes after the end of the file");
    const message = this.#bytes();
    this.#reset();
    return [
      { do: "reply", bytes: Uint8Array.of(ACK) },
      { do: "deliver", message, incomplete: null },
    ];
  }

  refuse(): LinkAction[] {
    return this.#giveUp("bytes of the file could not be stored");
  }

  gap(): LinkAction[] {
    return this.#giveUp("bytes of the file could not be stored");
  }

  timeout(): LinkAction[] {
    return [];
  }

  close(): LinkAction[] {
    this.#reset();
    return [];
  }

  #giveUp(reason: string): LinkAction[] {
    this.#reset();
    return [{ do: "warn", reason }, { do: "close" }];
  }

  #bytes(): Uint8Array {
    if (this.#parts.length > 1) this.#parts = [Buffer.concat(this.#parts)];
    return this.#parts[0] ?? new Uint8Array(0);
  }

  #reset(): void {
    this.#parts = [];
    this.#length = 0;
    this.#expected = null;
  }
}
