import { Type } from "typebox";
import { News, NEWS_WAIT_S_MAX, type NewsList } from "../../shared/api/agent/agent-lists.ts";
import { errorMessage } from "../../shared/runtime/error-message.ts";
import { compileLater } from "../../shared/schema/compile-later.ts";
import { hurried } from "../runtime/periodic.ts";
import { SendError } from "../runtime/send-error.ts";
import { realTimer, type SetTimer } from "../runtime/timer.ts";
import type { ServerClient } from "./server-client.ts";

// Follows the server's lists. One request waits at the server until a list of the clinic has another version, and the agent then reads
// that list. Each list is read again now and then, whatever the versions say. A server without news is polled.
//
//   unconfirmed --short request--> confirmed --held request--> confirmed
//        ^                                        | cut
//        +----------------------------------------+
//
// A proxy cuts a silent request, so a cut is not a fault: a short request shows whether the server is there.

/** Least interval between reads for news. A busy clinic has news each second. */
const READ_PAUSE_MS = 5_000;
/** A wait that proxies with a limit of 30 s let through. */
const SHORT_WAIT_S = 25;
/** Age of a cut request that a limit of time explains. */
const CUT_MS = 20_000;
/** Time for a response after the wait. */
const RESPONSE_MS = 15_000;
/** Pause after a server that did not wait. It is random, because all agents of a server meet its restart together. */
const PAUSE_MS_MAX = 10_000;
/** Least part of the wanted time that a server waits. One that is about to stop ends all waits. */
const WAITED_PART_MIN = 0.8;
/** Pause after a failed request, at most. */
const RETRY_MS = 15_000;

const response = compileLater(Type.Object({ data: Type.Union([News, Type.Null()]) }));

/** Reads lists of the server. */
export interface ListReader {
  readonly lists: readonly NewsList[];
  /** Interval of reads at a server without news. */
  readonly everyMs: number;
  /** Interval of reads at a server with news, while the versions stay. */
  readonly unchangedMs: number;
  /** Pause after a failed read. */
  readonly retryMs: number;
  read(lists: ReadonlySet<NewsList>): Promise<void>;
  /** Reports a failure, if its reason differs from the one before. */
  failed(reason: string): void;
}

/** A reader with what it has read. Times are by `now`. */
interface Reading {
  readonly reader: ListReader;
  readonly seen: Map<NewsList, string>;
  readAt: number;
  unchangedMs: number;
  retryAt: number;
  lastReason: string;
}

interface Timing {
  readonly setTimer: SetTimer;
  /** A clock that never goes back, in ms. */
  readonly now: () => number;
  /** From 0 to 1. */
  readonly random: () => number;
}

const REAL: Timing = { setTimer: realTimer, now: () => performance.now(), random: Math.random };

/** Starts to follow the lists. `responded` is called after each response. @returns a function that stops */
export function followNews(
  server: Pick<ServerClient, "get">,
  readers: readonly ListReader[],
  responded: () => Promise<void>,
  timing = REAL,
): () => void {
  const follower = new NewsFollower(server, readers, responded, timing);
  void follower.run();
  return () => follower.stop();
}

class NewsFollower {
  readonly #server: Pick<ServerClient, "get">;
  readonly #readings: readonly Reading[];
  readonly #responded: () => Promise<void>;
  readonly #timing: Timing;
  readonly #stopping = new AbortController();
  /** The versions of the last response; null before the first. */
  #news: News | null = null;
  /** The server has news, and responded to the last request. */
  #isConfirmed = false;
  #longestWaitS = NEWS_WAIT_S_MAX;
  #newsReadAt = Number.NEGATIVE_INFINITY;

  constructor(
    server: Pick<ServerClient, "get">,
    readers: readonly ListReader[],
    responded: () => Promise<void>,
    timing: Timing,
  ) {
    this.#server = server;
    this.#responded = responded;
    this.#timing = timing;
    const never = Number.NEGATIVE_INFINITY;
    this.#readings = readers.map((reader) => {
      return {
        reader,
        seen: new Map(),
        readAt: never,
        unchangedMs: reader.unchangedMs,
        retryAt: never,
        lastReason: "",
      };
    });
  }

  stop(): void {
    this.#stopping.abort(new SendError("transient", "the agent stops"));
  }

  async run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const pauseMs = await this.#round();
      if (pauseMs > 0) await this.#pause(pauseMs);
    }
  }

  /** Asks once, and reads what is due. @returns the pause until the next round */
  async #round(): Promise<number> {
    const began = this.#timing.now();
    const waitS = this.#isConfirmed ? this.#waitS() : 0;
    let body: unknown;
    try {
      body = await this.#ask(waitS);
    } catch (error) {
      return this.#failed(error, waitS, this.#timing.now() - began);
    }
    if (this.#stopping.signal.aborted) return 0;
    if (!response.Check(body)) {
      this.#isConfirmed = false;
      await this.#readDue();
      return this.#untilNext();
    }
    this.#isConfirmed = true;
    if (body.data !== null) this.#news = body.data;
    await this.#responded().catch(() => undefined);
    await this.#readDue();
    if (body.data !== null) return Math.max(0, this.#newsReadAt + hurried(READ_PAUSE_MS) - this.#timing.now());
    const waitedMs = this.#timing.now() - began;
    if (waitedMs >= hurried(PAUSE_MS_MAX) && waitedMs >= waitS * 1000 * WAITED_PART_MIN) return 0;
    return Math.min(hurried(PAUSE_MS_MAX) * this.#timing.random(), this.#untilNext());
  }

  #ask(waitS: number): Promise<unknown> {
    const query = new URLSearchParams(this.#news === null ? {} : { after: this.#news.version });
    if (waitS === 0) return this.#server.get(`/agent/v1/news?${query.toString()}`);
    query.set("wait", String(waitS));
    const held = { timeoutMs: waitS * 1000 + RESPONSE_MS, signal: this.#stopping.signal };
    return this.#server.get(`/agent/v1/news?${query.toString()}`, held);
  }

  /** @returns the pause until the next round */
  async #failed(error: unknown, waitS: number, ms: number): Promise<number> {
    if (this.#stopping.signal.aborted) return 0;
    this.#isConfirmed = false;
    if (waitS > 0) {
      if (ms >= CUT_MS) this.#longestWaitS = SHORT_WAIT_S;
      return hurried(PAUSE_MS_MAX) * this.#timing.random();
    }
    const isAway = error instanceof SendError && error.status === null;
    if (isAway) for (const reading of this.#readings) if (this.#isDue(reading)) this.#report(reading, error);
    if (!isAway) await this.#readDue();
    const retryMs = hurried(RETRY_MS) * (1 + this.#timing.random()) * 0.5;
    return Math.max(retryMs, error instanceof SendError ? (error.retryAfterMs ?? 0) : 0);
  }

  /** Reads the lists with another version, and all of a reader from time to time. */
  async #readDue(): Promise<void> {
    for (const reading of this.#readings) {
      const { reader } = reading;
      const isDue = this.#isDue(reading);
      const lists = isDue ? reader.lists : this.#changed(reading);
      const now = this.#timing.now();
      if (lists.length === 0 || now < reading.retryAt || this.#stopping.signal.aborted) continue;
      if (!isDue) this.#newsReadAt = now;
      // Before the read: what changes meanwhile has a later version.
      const versions = this.#news?.lists ?? {};
      try {
        await reader.read(new Set(lists));
      } catch (error) {
        this.#report(reading, error);
        reading.retryAt = this.#timing.now() + hurried(reader.retryMs);
        continue;
      }
      reading.lastReason = "";
      for (const list of lists) reading.seen.set(list, versions[list] ?? "");
      if (isDue) {
        reading.readAt = now;
        reading.unchangedMs = hurried(reader.unchangedMs) * (0.8 + 0.4 * this.#timing.random());
      }
    }
  }

  #report(reading: Reading, error: unknown): void {
    const reason = errorMessage(error);
    if (reason !== reading.lastReason && !this.#stopping.signal.aborted) reading.reader.failed(reason);
    reading.lastReason = reason;
  }

  /** @returns the lists whose version differs from the read one */
  #changed({ reader, seen }: Reading): readonly NewsList[] {
    if (!this.#isConfirmed) return [];
    return reader.lists.filter((list) => (this.#news?.lists[list] ?? "") !== seen.get(list));
  }

  #isDue(reading: Reading): boolean {
    return this.#timing.now() >= this.#dueAt(reading);
  }

  #dueAt({ reader, readAt, unchangedMs }: Reading): number {
    return readAt + (this.#isConfirmed ? unchangedMs : hurried(reader.everyMs));
  }

  /** @returns the time until a reader is due, or may repeat a failed read */
  #untilNext(): number {
    const times = this.#readings.map((reading) => {
      const isChanged = this.#changed(reading).length > 0;
      return Math.max(isChanged ? Number.NEGATIVE_INFINITY : this.#dueAt(reading), reading.retryAt);
    });
    // A reader that is due now was read in this round.
    return Math.max(hurried(1_000), Math.min(...times) - this.#timing.now());
  }

  /** A failed read is repeated in time. One for safety may be late, so that it costs no further request for news. */
  #waitS(): number {
    const retriesS = this.#readings.map(({ retryAt }) => Math.ceil((retryAt - this.#timing.now()) / 1000));
    return Math.min(this.#longestWaitS, ...retriesS.filter((inS) => inS > 0));
  }

  async #pause(ms: number): Promise<void> {
    const { signal } = this.#stopping;
    if (signal.aborted) return;
    await new Promise<void>((resolve) => {
      const cancel = this.#timing.setTimer(ms, () => {
        signal.removeEventListener("abort", stop);
        resolve();
      });
      const stop = () => {
        cancel();
        resolve();
      };
      signal.addEventListener("abort", stop);
    });
  }
}
