import { describe, expect, test } from "vitest";
import { followNews, type ListReader } from "../../../agent/push/news.ts";
import { createServerClient } from "../../../agent/push/server-client.ts";
import { SendError } from "../../../agent/runtime/send-error.ts";
import { realTimer } from "../../../agent/runtime/timer.ts";
import type { NewsList } from "../../../shared/api/agent/agent-lists.ts";

import { scriptedServer } from "../../support/peers/scripted-server.ts";

// The agent reads the lists that changed. Method: hours of a simulated server. A timer and a held request move the clock.

const LISTS: readonly NewsList[] = ["patients", "orders", "ranges", "codes"];
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

interface Asked {
  readonly at: number;
  readonly after: string | null;
  readonly waitS: number;
}

/** A server of simulated time. A test replaces `respond`. */
class Simulated {
  now = 0;
  readonly asked: Asked[] = [];
  readonly reads: (readonly [at: number, lists: string])[] = [];
  readonly failures: string[] = [];
  responses = 0;
  /** Times that the client waits longer than the server, in ms; 0 for a request without a wait. */
  readonly patience = new Set<number>();
  version = 1;
  lists: Record<string, string> = Object.fromEntries(
    [...LISTS, "appointments", "placements"].map((list) => [list, "1"]),
  );
  /** Times of changes to come, with their lists. */
  readonly changes: { at: number; list: NewsList }[] = [];
  /** Fails a read. */
  refuse: (lists: ReadonlySet<NewsList>) => Error | null = () => null;
  random = () => 0.5;
  /** Part of the wanted time that the server waits. */
  part = 1;

  respond: (asked: Asked) => unknown = (asked) => this.news(asked);

  /** What the real server does. */
  news({ after, waitS }: Asked): unknown {
    this.#apply(this.now);
    const end = this.now + waitS * 1000 * this.part;
    const next = this.changes[0];
    if (after === String(this.version) && next !== undefined && next.at <= end) this.now = next.at;
    this.#apply(this.now);
    if (after !== String(this.version)) return { data: { version: String(this.version), lists: { ...this.lists } } };
    this.now = end;
    return { data: null };
  }

  #apply(until: number): void {
    while (this.changes[0] !== undefined && this.changes[0].at <= until) {
      const { list } = this.changes.shift()!;
      this.version += 1;
      this.lists[list] = String(this.version);
    }
  }

  /** Runs an agent until that time. */
  async run(until: number): Promise<void> {
    const reader = (
      name: string,
      lists: readonly NewsList[],
      everyMs: number,
      { retryMs = everyMs, unchangedMs = HOUR },
    ): ListReader => ({
      lists,
      everyMs,
      unchangedMs,
      retryMs,
      read: async (wanted) => {
        const failure = this.refuse(wanted);
        if (failure !== null) throw failure;
        this.reads.push([this.now, [...wanted].join(" ")]);
        this.now += 10;
      },
      failed: (reason) => void this.failures.push(`${name}: ${reason}`),
    });
    await new Promise<void>((resolve) => {
      const stop = followNews(
        {
          get: async (path, held) => {
            const { searchParams } = new URL(path, "http://server");
            const waitS = Number(searchParams.get("wait") ?? 0);
            this.patience.add((held?.timeoutMs ?? 0) - waitS * 1000);
            const asked = { at: this.now, after: searchParams.get("after"), waitS };
            if (this.now >= until) {
              stop();
              resolve();
              return { data: null };
            }
            this.asked.push(asked);
            this.now += 5;
            return this.respond(asked);
          },
        },
        [
          reader("directory", LISTS, 25_000, { retryMs: 15_000 }),
          reader("appointments", ["appointments"], 5 * MINUTE, { unchangedMs: 15 * MINUTE }),
          reader("placements", ["placements"], MINUTE, {}),
        ],
        async () => void (this.responses += 1),
        {
          now: () => this.now,
          random: () => this.random(),
          setTimer: (ms, fire) => {
            this.now += ms;
            setImmediate(fire);
            return () => undefined;
          },
        },
      );
    });
  }

  readsOf(list: string): number {
    return this.reads.filter(([, lists]) => lists.split(" ").includes(list)).length;
  }
}

const away = () => new SendError("transient", "the server cannot be reached: ECONNREFUSED");

describe("an agent at a server with news", () => {
  test("makes requests of which 10 000 agents make fewer than 450 a second, while nothing changes", async () => {
    const server = new Simulated();
    // A server waits nine tenths of the wanted time on average.
    server.part = 0.9;
    await server.run(24 * HOUR);
    const reads = ["patients", "appointments", "placements"].map((list) => server.readsOf(list));
    expect(reads).toEqual([25, 97, 25]);
    const [directory = 0, appointments = 0, placements = 0] = reads;
    // The requests of a sync without changes, and a heartbeat each minute.
    const requests = server.asked.length + 5 * directory + appointments + placements + 24 * 60;
    expect((requests * 10_000) / (24 * 3600)).toBeLessThan(450);
    expect(server.failures).toEqual([]);
    expect(server.responses).toBe(server.asked.length);
    expect(server.patience).toEqual(new Set([0, 15_000]));
  });

  test("reads a changed list alone, and within a second of its change", async () => {
    const server = new Simulated();
    const changes: NewsList[] = ["orders", "patients", "appointments", "placements", "ranges", "codes"];
    server.changes.push(...changes.map((list, index) => ({ list, at: (index + 1) * 100_000 })));
    await server.run(11 * MINUTE);
    expect(server.reads.slice(3).map(([, lists]) => lists)).toEqual(changes);
    for (const [index, [at]] of server.reads.slice(3).entries()) expect(at - (index + 1) * 100_000).toBeLessThan(1000);
  });

  test("reads at most every five seconds for a clinic that changes each second, and misses nothing", async () => {
    const server = new Simulated();
    for (let s = 1; s <= 60; s += 1) server.changes.push({ at: s * 1000, list: "patients" });
    await server.run(2 * MINUTE);
    const reads = server.reads.filter(([, lists]) => lists.includes("patients")).map(([at]) => at);
    expect(reads.length).toBeGreaterThan(10);
    expect(reads.length).toBeLessThan(15);
    expect(reads.at(-1)).toBeGreaterThanOrEqual(60_000);
  });

  test("reads a list again that changes while it is read", async () => {
    const server = new Simulated();
    let isFirst = true;
    server.refuse = (lists) => {
      if (isFirst && lists.has("orders")) server.changes.push({ at: server.now, list: "orders" });
      isFirst = false;
      return null;
    };
    await server.run(MINUTE);
    expect(server.reads.map(([, lists]) => lists)).toEqual([LISTS.join(" "), "appointments", "placements", "orders"]);
  });

  test("repeats a failed read after its pause, and reads the other lists meanwhile", async () => {
    const server = new Simulated();
    server.refuse = (lists) => (lists.has("appointments") ? new Error("the key lacks a permission") : null);
    server.changes.push({ at: 30_000, list: "orders" });
    await server.run(MINUTE);
    expect(server.reads.map(([, lists]) => lists)).toEqual([LISTS.join(" "), "placements", "orders"]);
    expect(server.failures).toEqual(["appointments: the key lacks a permission"]);
  });

  test("repeats a first read that fails, and reports the failure once", async () => {
    const server = new Simulated();
    let failures = 2;
    server.refuse = (lists) => (lists.has("orders") && failures-- > 0 ? new Error("broken") : null);
    await server.run(2 * MINUTE);
    expect(server.failures).toEqual(["directory: broken"]);
    const [first, second] = server.reads.filter(([, lists]) => lists.includes("orders")).map(([at]) => at);
    expect(first).toBeGreaterThanOrEqual(30_000);
    expect(first).toBeLessThan(45_000);
    expect(second).toBeUndefined();
  });
});

describe("a network between agent and server", () => {
  test.each([30, 60])("that ends requests after %i s without a byte is not a fault", async (limitS) => {
    const server = new Simulated();
    server.respond = (asked) => {
      if (asked.waitS < limitS) return server.news(asked);
      server.now += limitS * 1000;
      throw new SendError("uncertain", "the server answered 504: no error envelope, so another program responded", {
        status: 504,
      });
    };
    await server.run(58 * MINUTE);
    expect(server.failures).toEqual([]);
    expect(server.asked.filter(({ waitS }) => waitS >= limitS)).toHaveLength(limitS === 30 ? 1 : 0);
    expect(server.readsOf("appointments")).toBe(4);
  });

  test("that is away is reported once by each reader, and only changed lists are read after it", async () => {
    const server = new Simulated();
    server.respond = (asked) => {
      if (asked.at > 2 * MINUTE && asked.at < 10 * MINUTE) throw away();
      return server.news(asked);
    };
    server.changes.push({ at: 5 * MINUTE, list: "orders" });
    await server.run(12 * MINUTE);
    const reason = "the server cannot be reached: ECONNREFUSED";
    expect(server.failures.toSorted()).toEqual([
      `appointments: ${reason}`,
      `directory: ${reason}`,
      `placements: ${reason}`,
    ]);
    expect(server.reads.slice(3).map(([, lists]) => lists)).toEqual(["orders"]);
  });

  test.each([
    ["is killed", () => new SendError("uncertain", "the server cannot be reached: ECONNRESET")],
    ["drains", () => null],
  ])("agents whose server %s come back at different times, and none of them reads all lists", async (_, fault) => {
    const [times, endsAt]: [number[], number] = [[], 30_000];
    for (let agent = 0; agent < 20; agent += 1) {
      const server = new Simulated();
      server.random = () => (agent + 0.5) / 20;
      server.respond = (asked) => {
        if (asked.waitS > 0 && asked.at < endsAt) {
          server.now = endsAt;
          const error = fault();
          if (error !== null) throw error;
          return { data: null };
        }
        if (asked.at >= endsAt) times.push(asked.at);
        return server.news(asked);
      };
      await server.run(MINUTE);
      expect(server.reads).toHaveLength(3);
    }
    const first = times.filter((at) => at < endsAt + 10_000);
    expect(new Set(first.map((at) => Math.floor(at / 1000))).size).toBe(10);
  });

  test("a server that does not wait, because it drains, is asked a few times a minute", async () => {
    const server = new Simulated();
    server.respond = ({ after }) => (after === null ? server.news({ at: 0, after, waitS: 0 }) : { data: null });
    await server.run(10 * MINUTE);
    expect(server.asked.length).toBeLessThan(130);
  });
});

test("a stop ends the request that waits, and reads and reports nothing", async () => {
  const events: string[] = [];
  const server = await scriptedServer(({ url }) => {
    events.push(url);
    if (url.includes("wait=")) return "hang";
    return { status: 200, body: { data: { version: "7", lists: { orders: "1" } } } };
  });
  const client = createServerClient(server.url, () => "sk_live_test");
  const ended: unknown[] = [];
  const get: typeof client.get = (path, held) => {
    const response = client.get(path, held);
    response.catch((error: unknown) => ended.push(error));
    return response;
  };
  const read = async () => void events.push("read");
  const failed = (reason: string) => void events.push(reason);
  const reader = { lists: ["orders"] as const, everyMs: MINUTE, unchangedMs: HOUR, retryMs: MINUTE, read, failed };
  const timing = { setTimer: realTimer, now: () => performance.now(), random: () => 0 };
  const stop = followNews({ get }, [reader], async () => undefined, {
    ...timing,
    setTimer: (_ms, fire) => realTimer(0, fire),
  });
  const expected = ["/agent/v1/news", "read", "/agent/v1/news?after=7&wait=50"];
  await expect.poll(() => events).toEqual(expected);
  stop();
  await expect.poll(() => ended).toEqual([new SendError("transient", "the agent stops")]);
  await server.close();
  expect(events).toEqual(expected);
});

describe("a server without news", () => {
  test.each([
    ["has no such route", null],
    ["is another program", {}],
  ])("that %s is polled as before", async (_, body) => {
    const server = new Simulated();
    server.respond = () => body;
    await server.run(10 * MINUTE);
    expect(server.readsOf("patients")).toBeGreaterThan(20);
    expect(server.readsOf("patients")).toBeLessThan(25);
    expect([server.readsOf("appointments"), server.readsOf("placements")]).toEqual([2, 10]);
  });

  test("that refuses the request is polled too, and the refusal is not reported", async () => {
    const server = new Simulated();
    server.respond = () => {
      throw new SendError("uncertain", "the server answered 500", { status: 500 });
    };
    await server.run(MINUTE);
    expect(server.readsOf("patients")).toBeGreaterThan(1);
    expect(server.failures).toEqual([]);
  });

  test("that is upgraded is no longer polled", async () => {
    const server = new Simulated();
    server.respond = (asked) => (asked.at < 5 * MINUTE ? null : server.news(asked));
    await server.run(5 * MINUTE);
    const before = server.reads.length;
    const later = new Simulated();
    later.respond = (asked) => (asked.at < 5 * MINUTE ? null : later.news(asked));
    await later.run(10 * MINUTE);
    expect(later.reads.length - before).toBeLessThan(5);
  });
});
