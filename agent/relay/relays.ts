import type { Logger } from "pino";
import { type AgentDestinations, DestinationQueues } from "../../shared/api/agent/destinations.ts";
import { compileLater } from "../../shared/schema/compile-later.ts";
import type { ResultDestination } from "../config/values/result-destination.ts";
import type { ServerClient } from "../push/server-client.ts";
import { runPeriodically } from "../runtime/periodic.ts";
import { realTimer } from "../runtime/timer.ts";
import type { SpoolCalls } from "../spool/spool.ts";
import { OLD_SERVER, Relay, type RelayEvents } from "./relay.ts";

// The destinations of agent.yaml: registers them at the server, and runs a relay for each.

/** Interval between two looks at the queues of the server, and between two attempts to register. */
const QUEUES_EVERY_MS = 60_000;
const REGISTER_RETRY_MS = 15_000;
/** Time for which the queues are shown without another request. The page asks after each event. */
const QUEUES_FRESH_MS = 3_000;

const Queues = compileLater(DestinationQueues);

export interface Relays {
  /** Looks for deliveries now, since the server has stored a result of this agent. */
  wake(): void;
  /** Looks for deliveries now, since the server has responded to another request. */
  serverResponded(): void;
  /** Fetches the queues of the server, and shows their lengths. @returns null if the server has none yet @throws SendError */
  readQueues(): Promise<DestinationQueues | null>;
  stop(): Promise<void>;
}

export async function startRelays(
  destinations: readonly ResultDestination[],
  {
    spool,
    server,
    log,
    now,
  }: {
    readonly spool: SpoolCalls;
    readonly server: Pick<ServerClient, "get" | "post" | "put">;
    readonly log: Logger;
    readonly now: () => number;
  },
): Promise<Relays> {
  const ids = destinations.map(({ id }) => id);
  // An agent without destinations pauses at the server those of an earlier configuration.
  if (!(await spool.call("configureResultDestinations", ids))) return NONE;
  const timing = { setTimer: realTimer, random: Math.random, now };
  let isRegistered = false;
  const queues = queueReader(server, (found) => {
    for (const { id, waiting, parked } of found.destinations) {
      relays.find((relay) => relay.id === id)?.setCounts({ waiting, parked: parked.length });
    }
  });
  const unknown = () => (isRegistered = false);
  const relays = destinations.map((destination) => {
    const events = { ...eventsOf(destination, log), reported: () => queues.changed(), unknown };
    return new Relay(destination, { spool, server, timing }, events);
  });
  const register = async () => {
    if (!isRegistered) {
      if ((await server.put("/agent/v1/destinations", registrationOf(destinations))) === null)
        throw new Error(OLD_SERVER);
      isRegistered = true;
      for (const relay of relays) relay.serverResponded();
    }
    if (relays.length > 0) await queues.read();
  };
  const stopTask = runPeriodically(QUEUES_EVERY_MS, REGISTER_RETRY_MS, register, (reason) => {
    for (const relay of relays) if (!isRegistered) relay.serverIsAway(reason);
    log.debug({ stage: "relay", reason }, "the queues of destinations cannot be fetched");
  });
  const ifRegistered = (act: (relay: Relay) => void) => () => {
    if (isRegistered) for (const relay of relays) act(relay);
  };
  const wakeAll = ifRegistered((relay) => relay.wake());
  return {
    wake() {
      queues.changed();
      wakeAll();
    },
    serverResponded: ifRegistered((relay) => relay.serverResponded()),
    readQueues: () => queues.read(),
    async stop() {
      stopTask();
      await Promise.all(relays.map((relay) => relay.stop()));
    },
  };
}

/** Reads the queues of the server, and keeps them for a moment. `found` gets them unless they have changed meanwhile. */
function queueReader(server: Pick<ServerClient, "get">, found: (queues: DestinationQueues) => void) {
  type Reading = { readonly queues: Promise<DestinationQueues | null>; readonly until: number };
  let last: Reading | null = null;
  const ask = async () => {
    const queues = await server.get("/agent/v1/destinations");
    return Queues.Check(queues) ? queues : null;
  };
  return {
    changed() {
      last = null;
    },
    async read(): Promise<DestinationQueues | null> {
      if (last !== null && performance.now() < last.until) return last.queues;
      const reading: Reading = { queues: ask(), until: performance.now() + QUEUES_FRESH_MS };
      last = reading;
      try {
        const queues = await reading.queues;
        if (queues !== null && last === reading) found(queues);
        return queues;
      } catch (error) {
        if (last === reading) last = null;
        throw error;
      }
    },
  };
}

const NONE: Relays = {
  wake: () => undefined,
  serverResponded: () => undefined,
  readQueues: () => Promise.resolve(null),
  stop: () => Promise.resolve(),
};

/** Logs codes alone, since the words of a receiver may name an animal. */
function eventsOf({ id }: ResultDestination, log: Logger): Omit<RelayEvents, "reported" | "unknown"> {
  const about = { stage: "relay", destination: id };
  return {
    ended({ outcome, code }) {
      if (outcome === "acknowledged") log.info({ ...about, code }, "the destination took a result");
      else log.warn({ ...about, code, outcome }, "the destination did not take a result");
    },
    failed: (kind, reason) => log.error({ ...about, kind, reason }, "results for a destination cannot be fetched"),
    recovered: () => log.info(about, "results for a destination are fetched again"),
  };
}

function registrationOf(destinations: readonly ResultDestination[]): AgentDestinations {
  return {
    destinations: destinations.map((destination) => ({
      ...{ id: destination.id, kind: destination.kind },
      ...(destination.kind === "hl7" && { options: destination.options }),
    })),
  };
}
