// Noise: events of a session that belong to no message. The spool keeps only the newest noise of each device.

/** Consecutive events of one session. A replay without them delivers the same messages. */
export interface NoiseEvents {
  readonly session: number;
  readonly firstEvent: number;
  readonly lastEvent: number;
  /** Bytes of these events in the spool. */
  readonly bytes: number;
}

/** Max bytes of a run. A longer one is reported in pieces, because the spool removes complete pieces. */
const PIECE_BYTES = 256 * 1024;
/** Min bytes of a run. A shorter one is not reported, because it is not worth a row. */
const PIECE_BYTES_MIN = 4 * 1024;

export class NoiseFinder {
  /** The link's position between messages when the run started; null without a run. */
  #begin: string | null = null;
  #session = 0;
  #firstEvent: number | null = null;
  /** The last event after which the link returned to that position; null before the first return. `#bytes` counts up to it. */
  #lastEvent: number | null = null;
  #bytes = 0;
  /** Bytes of the events after it. */
  #openBytes = 0;

  /**
   * Adds an event that the link received. `between` is the link's position after it; null within a message.
   * @returns the run of noise that ends here, or a piece of it, or null
   */
  add(session: number, event: number, bytes: number, delivered: boolean, between: string | null): NoiseEvents | null {
    if (delivered || session !== this.#session) {
      const run = this.end();
      this.#begin = between;
      this.#session = session;
      return run;
    }
    // The link moved to another position between messages, as from "neutral" to a session without frames. Noise may stay there.
    const hasMoved = between !== null && between !== this.#begin && this.#lastEvent === null;
    if (this.#begin === null || hasMoved) {
      this.#forget();
      this.#begin = between;
      return null;
    }
    this.#firstEvent ??= event;
    this.#openBytes += bytes;
    if (between !== this.#begin) return null;
    this.#lastEvent = event;
    this.#bytes += this.#openBytes;
    this.#openBytes = 0;
    return this.#bytes >= PIECE_BYTES ? this.#take() : null;
  }

  /** Ends the run before an event that is not noise. @returns the run, or null */
  end(): NoiseEvents | null {
    this.#begin = null;
    return this.#take();
  }

  #take(): NoiseEvents | null {
    const [firstEvent, lastEvent, bytes] = [this.#firstEvent, this.#lastEvent, this.#bytes];
    this.#forget();
    if (firstEvent === null || lastEvent === null || bytes < PIECE_BYTES_MIN) return null;
    return { session: this.#session, firstEvent, lastEvent, bytes };
  }

  #forget(): void {
    this.#firstEvent = this.#lastEvent = null;
    this.#bytes = this.#openBytes = 0;
  }
}
