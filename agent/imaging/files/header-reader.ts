import { errorMessage } from "../../../shared/runtime/error-message.ts";
import { ConfinedFiles, FileFault } from "./confined-files.ts";
import type { HeaderResult } from "./file-thread.ts";
import type { HeaderLocation } from "./parse-header.ts";

/** Time limits of one header in milliseconds. */
export interface HeaderTimes {
  /** Limit of the first attempt. A usual header of some kilobytes takes 1 ms. */
  readonly quickMs: number;
  /** Limit of the second attempt, in a process for slow headers. */
  readonly longMs: number;
}

const TIMES: HeaderTimes = { quickMs: 200, longMs: 5_000 };

/** Reads headers. A slow header, such as a hostile one, moves to a second process, so that the others do not wait for it. */
export class HeaderReader {
  readonly #fast: ConfinedFiles;
  readonly #slow: ConfinedFiles;

  constructor({ quickMs, longMs }: HeaderTimes = TIMES) {
    this.#fast = new ConfinedFiles(quickMs);
    this.#slow = new ConfinedFiles(longMs);
  }

  /** Reads a header, in two attempts. @returns the problem of an unreadable one */
  async read(place: HeaderLocation): Promise<HeaderResult> {
    const request = { do: "header", ...place } as const;
    try {
      const result = await this.#fast.read(request).catch((error: unknown) => {
        if (error instanceof FileFault) return this.#slow.read(request);
        throw error;
      });
      return result as HeaderResult;
    } catch (error) {
      return { problem: errorMessage(error) };
    }
  }

  /** Ends the processes. Unread headers resolve to a problem. */
  close(): void {
    this.#fast.close();
    this.#slow.close();
  }
}
