import { crc32 } from "node:zlib";
import { type AgentTasks, startPeriodicTasks } from "../../../agent/periodic-tasks.ts";
import { createServerClient } from "../../../agent/push/server-client.ts";
import { Directory } from "../../../agent/study/patient-directory.ts";

// Idle agents of one process: each has the periodic tasks and the HTTP client of the real one, and in place of the spool a map. A
// process per agent would need 10 000 times 100 MB.

/** What the bench sends: the agents with a server each, and the time over which they start. */
export interface Order {
  readonly agents: readonly { readonly url: string; readonly key: string }[];
  readonly startMs: number;
}

/**
 * What the agents report: once a second their requests by route since the last report, with the number of agents that have read their
 * lists since then; and each change that reached one.
 */
export type Report =
  | { readonly requests: Readonly<Record<string, number>>; readonly faults: readonly string[]; readonly begun: number }
  | { readonly arrivedAfterMs: number };

/** Name of an animal whose change began at that time, in ms since 1970. */
export const changeName = (at: number): string => `Changed at ${at}`;

const REPORT_EVERY_MS = 1_000;
/** Agents that read their lists for the first time, at most: a host's agents do not all begin in three minutes. */
const STARTING_MAX = 16;
const FAULTS_MAX = 5;

let requests: Record<string, number> = {};
let faults: string[] = [];
let begun = 0;

const send = (report: Report) => void process.send?.(report);
const noteFault = ({ reason }: { readonly reason?: string }, sentence: string) => {
  if (faults.length < FAULTS_MAX) faults.push(`${sentence}: ${reason}`);
};

/** The calls that tasks make while no device sends. */
function smallSpool() {
  const meta = new Map<string, string>();
  const animals = new Map<string, number>();
  /** @returns the number of animals that changed */
  const upsert = (rows: readonly { readonly fp: string; readonly body: string }[]): number => {
    const changed = rows.filter(({ fp, body }) => animals.get(fp) !== crc32(body));
    for (const { fp, body } of changed) {
      animals.set(fp, crc32(body));
      const at = /"Changed at (\d+)"/.exec(body)?.[1];
      if (at !== undefined) send({ arrivedAfterMs: Date.now() - Number(at) });
    }
    return changed.length;
  };
  const nothing = () => undefined;
  const calls: Readonly<Record<string, (...values: never[]) => unknown>> = {
    getMeta: (key: string) => meta.get(key) ?? null,
    setMeta: (key: string, value: string) => void meta.set(key, value),
    endFullSync: (_at: number, progress: string) => void meta.set("directory", progress),
    upsertPatients: upsert,
    removePatients: () => 0,
    outbox: () => ({ depth: 0, oldestAt: null, reason: null, code: null }),
    prune: () => false,
    countMessagesSince: () => [],
    quarantinedMessages: () => [],
    unreportedOffers: () => [],
    ...{ setIdentifiers: nothing, setAppointments: nothing, notePlacements: nothing, storeServerOrders: nothing },
  };
  return {
    problem: null,
    shortDevices: [],
    async call(name: string, ...values: never[]) {
      const called = calls[name];
      if (called === undefined) throw new Error(`expected a call of an idle agent, got ${name}`);
      return called(...values);
    },
  };
}

const DEVICE = { id: "chem-1", profile: "generic-hl7", connection: { listen: "0.0.0.0:2575" } };

/** @param waits is called once the agent waits for news */
function startAgent(url: string, key: string, waits: () => void): void {
  const real = createServerClient(url, () => key);
  const counted = (path: string) => {
    const route = path.split("?")[0] ?? "";
    requests[route] = (requests[route] ?? 0) + 1;
  };
  const server: typeof real = {
    ...real,
    get: (path, held) => {
      counted(path);
      if (held !== undefined) waits();
      return real.get(path, held);
    },
    post: (path, body, mayLack) => {
      counted(path);
      return real.post(path, body, mayLack);
    },
  };
  const state = { ...DEVICE, connected: true, is: "connected", reason: null, mayBeOff: false };
  const device = {
    state: () => ({ ...state, since: null, lastMessageAt: null, lastWarning: null }),
    storeCounters: () => undefined,
  };
  const queue = { serverResponded: () => undefined, retryRefusedTimes: async () => undefined };
  const spool = smallSpool() as unknown as AgentTasks["spool"];
  const agent = {
    ...{ version: "0.2.0", server, spool, directory: new Directory(spool, server), time: { now: Date.now } },
    ...{ push: queue, registry: queue, quality: queue, relays: queue },
    ...{ groups: [], devices: [device], remote: null, upgrade: null, backupState: () => null },
    imaging: { removeOld: async () => ({ count: 0, bytes: 0, isEnough: true }) },
    config: { data: import.meta.dirname, timeZone: "Europe/Istanbul", devices: [DEVICE] },
    log: { debug: noteFault, warn: noteFault, info: () => undefined },
  };
  startPeriodicTasks(agent as unknown as AgentTasks);
}

process.on("message", ({ agents, startMs }: Order) => {
  const began = performance.now();
  const left = [...agents.entries()];
  const startNext = (): void => {
    const [index, agent] = left.shift() ?? [];
    if (index === undefined || agent === undefined) return;
    const inMs = began + (startMs * index) / agents.length - performance.now();
    let waits = () => {
      waits = () => undefined;
      begun += 1;
      startNext();
    };
    setTimeout(() => startAgent(agent.url, agent.key, () => waits()), Math.max(0, inMs));
  };
  for (let n = 0; n < STARTING_MAX; n += 1) startNext();
});
process.on("disconnect", () => process.exit());
setInterval(() => {
  send({ requests, faults, begun });
  [requests, faults, begun] = [{}, [], 0];
}, REPORT_EVERY_MS);
