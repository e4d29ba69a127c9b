import type { Logger } from "pino";
import { errorMessage } from "../../shared/runtime/error-message.ts";
import { FeedRefusal } from "./release-download.ts";
import { type Feed, fetchReleases } from "./release-feed.ts";

// Looks for a new release each day, if the server's options name a source. A fetched release is offered on the dashboard; no
// agent changes its version by that.

const DAY_MS = 24 * 3_600_000;

export class ReleaseWatch {
  readonly #feed: Feed;
  readonly #logger: Logger;
  readonly #end = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #checking: Promise<void> = Promise.resolve();

  constructor(feed: Feed, logger: Logger) {
    this.#feed = feed;
    this.#logger = logger;
  }

  start(): void {
    const check = () => {
      this.#checking = this.#checking.then(() => this.check());
    };
    this.#timer = setInterval(check, DAY_MS).unref();
    check();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#end.abort(new Error("the server ends"));
    await this.#checking;
  }

  /** Never rejects. */
  async check(): Promise<void> {
    if (this.#end.signal.aborted) return;
    try {
      const { version, added } = await fetchReleases(this.#feed, this.#end.signal);
      const platforms = added.map(({ platform }) => platform);
      if (added.length > 0) this.#logger.info({ version, platforms }, "a release of the agent was fetched");
    } catch (error) {
      if (this.#end.signal.aborted) return;
      const about =
        error instanceof FeedRefusal
          ? { code: error.code, file: error.file, detail: error.detail }
          : { reason: errorMessage(error) };
      this.#logger.warn(about, "no release of the agent was fetched: the next try follows in a day");
    }
  }
}
