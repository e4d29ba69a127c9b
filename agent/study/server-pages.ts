import { SendError } from "../runtime/send-error.ts";
import { realTimer, type SetTimer, sleep } from "../runtime/timer.ts";
import type { ServerClient } from "../push/server-client.ts";

const PAGE_SIZE = 100;
/** Longest Retry-After that a request waits for. The server counts by the minute; the next sync covers longer ones. */
const LIMIT_WAIT_MS_MAX = 70_000;
/** Waits per request, after which it fails. */
const LIMIT_WAITS_MAX = 3;

/** Reads lists of the server page by page, within the rate limit of the key. */
export class ServerPages {
  readonly #server: ServerClient;
  readonly #setTimer: SetTimer;

  constructor(server: ServerClient, setTimer: SetTimer = realTimer) {
    this.#server = server;
    this.#setTimer = setTimer;
  }

  /** Repeats a request that the rate limit refuses after its Retry-After. @returns the body; null for 404 @throws SendError */
  async get(path: string): Promise<unknown> {
    for (let waits = 0; ; waits++) {
      try {
        return await this.#server.get(path);
      } catch (error) {
        const ms = error instanceof SendError && error.status === 429 ? error.retryAfterMs : null;
        if (ms === null || ms > LIMIT_WAIT_MS_MAX || waits === LIMIT_WAITS_MAX) throw error;
        await sleep(ms, this.#setTimer);
      }
    }
  }

  /**
   * Reads all pages of a list. `since` limits it to later changes, in ms since 1970; null reads the complete list.
   * @throws SendError; Error if the server has no such public route
   */
  async *list(path: string, since: number | null): AsyncGenerator {
    for (let page = 1; ; page++) {
      const query = new URLSearchParams({ page: String(page), page_size: String(PAGE_SIZE) });
      if (since !== null) query.set("updated_since", new Date(since).toISOString());
      const body = await this.get(`${path}?${query.toString()}`);
      // An older server may lack a route for agents. A server without a public route is another program, such as a proxy: an
      // empty list in its place would empty the directory.
      if (body === null && path.startsWith("/agent/")) return;
      if (body === null) throw new Error(`the server has no GET ${path}: is server.url right?`);
      yield body;
      if (!(body as { data: { has_more: boolean } }).data.has_more) return;
    }
  }
}
