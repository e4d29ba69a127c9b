// Finds the events of a session that belong to no message. The spool keeps only the newest of them.

/** Events of one session, in their order, that a replay can leave out: it delivers the same messages without them. */
export interface NoiseEvents {
  readonly session: number;
  readonly firstEvent: number;
  readonly lastEvent: number;
  /** Bytes that they take in the spool. */
  readonly bytes: number;
}

/** A longer run is reported in pieces of so many bytes, for the spool removes whole pieces. */
const PIECE_BYTES = 256 * 1024;
/** A shorter run is not worth a row: it stays with the exchange around it. Bytes. */
const PIECE_BYTES_MIN = 4 * 1024;

export class NoiseFinder {
  /** Where the link stood between messages when the run began; null: there is no run. */
  #begin: string | null = null;
  #session = 0;
  #firstEvent: number | null = null;
  /** The last event after which the link stood there again, and the bytes up to it; null: it has not yet. */
  #lastEvent: number | null = null;
  #bytes = 0;
  /** Bytes of the events since. */
  #openBytes = 0;

  /**
   * Takes an event that the link took. `between`: where the link stands after it, if that is between messages.
   * @returns the run of noise that ends here, or a piece of it; null if there is none
   */
  add(session: number, event: number, bytes: number, delivered: boolean, between: string | null): NoiseEvents | null {
    if (delivered || session !== this.#session) {
      const run = this.end();
      this.#begin = between;
      this.#session = session;
      return run;
    }
    // It went on to another place between messages, as from "neutral" to a session without frames: noise may stay there.
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

  /** Ends the run before an event that is no noise. @returns the run; null if there is none */
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
