import { createHash } from "node:crypto";
import { pino } from "pino";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createServerClient } from "../../../agent/push/server-client.ts";
import { startRelays } from "../../../agent/relay/relays.ts";
import { simulateReceiver } from "../../../agent/tools/simulator/receiver.ts";
import { until } from "../../support/machine/processes.ts";
import { scriptedServer, type Step } from "../../support/peers/scripted-server.ts";
import { useSpool } from "../../support/spool.ts";

// The destinations of an agent as its server knows them. Method: a scripted HTTP server with a queue, a real spool, a simulated receiver.

const used = useSpool();
let closing: (() => unknown)[];
beforeEach(() => {
  closing = [];
});
afterEach(async () => {
  for (const close of closing.toReversed()) await close();
});

const NOT_FOUND = { success: false, error: { code: "RECORD.NOT_FOUND", message: "This destination was not found." } };

const delivery = (id: number) => {
  const bytes = Buffer.from(`MSH|^~\\&|VETWIRE|C|PIMS|C|20261121||ORU^R01|W${id}|P|2.5.1\r`);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  return { id, control_id: `W${id}`, attempt: 1, file_name: null, payload: bytes.toString("base64"), sha256 };
};

/** A server with a queue, and an agent with one destination whose receiver acknowledges everything. */
async function start() {
  const waiting = [delivery(1)];
  let [registrations, isGiven] = [0, true];
  const server = await scriptedServer(({ method, url }): Step => {
    if (method === "PUT") registrations += 1;
    const isKnown = registrations > 0;
    if (url.endsWith("/next")) {
      return isKnown
        ? { status: 200, body: { delivery: (isGiven && waiting[0]) || null, wait_s: 5 } }
        : { status: 404, body: NOT_FOUND };
    }
    if (url.endsWith("/outcomes")) waiting.shift();
    const queues = isKnown ? [{ id: "pims", waiting: waiting.length, parked: [] }] : [];
    return { status: 200, body: method === "GET" ? { destinations: queues } : {} };
  });
  const receiver = await simulateReceiver(
    { host: "127.0.0.1", port: 0 },
    () => "aa",
    () => undefined,
  );
  const address = { host: "127.0.0.1", port: receiver.port };
  const client = createServerClient(server.url, () => "sk_live_test");
  let line: "open" | "held" | "answered" = "open";
  const get = async (path: string) => {
    if (line !== "held" || !path.endsWith("/destinations")) return client.get(path);
    const answer = await client.get(path);
    line = "answered";
    await until("the release", () => line === "open");
    return answer;
  };
  const settings = {
    spool: used.spool,
    server: { ...client, get },
    log: pino({ enabled: false }),
    now: () => Date.now(),
  };
  const relays = await startRelays([{ id: "pims", kind: "hl7", address, tls: null, options: {} }], settings);
  closing.push(
    () => server.close(),
    () => receiver.close(),
    () => relays.stop(),
  );
  return {
    ...{ relays, waiting },
    hold: () => (line = "held"),
    isAnswered: () => line === "answered",
    release: () => (line = "open"),
    give: (given: boolean) => (isGiven = given),
    waits: async () => (await relays.readQueues())?.destinations[0]?.waiting,
    registrations: () => registrations,
    forget: () => (registrations = 0),
    reported: (id: number) =>
      until(`the report of ${id}`, async () => {
        const last = await used.spool.call("lastDelivery", "pims");
        return last?.delivery === id && last.reported === 1;
      }),
  };
}

test("the queues are read again after an outcome", async () => {
  const { relays, waiting, give, waits, reported } = await start();
  await reported(1);
  give(false);
  waiting.push(delivery(2));
  relays.wake();
  expect(await waits()).toBe(1);
  give(true);
  relays.serverResponded();
  await reported(2);
  expect(await waits()).toBe(0);
});

test("a server that was restored from a backup gets the destinations again", async () => {
  const hurry = process.env["VETWIRE_HURRY"];
  process.env["VETWIRE_HURRY"] = "600";
  closing.push(() => {
    if (hurry === undefined) delete process.env["VETWIRE_HURRY"];
    else process.env["VETWIRE_HURRY"] = hurry;
  });
  const { relays, waiting, registrations, forget, reported } = await start();
  await reported(1);
  forget();
  relays.serverResponded();
  await until("another registration", () => registrations() === 1);
  waiting.push(delivery(2));
  relays.serverResponded();
  await reported(2);
  expect(registrations()).toBe(1);
});

test("an answer from before a change of the queues is not kept", async () => {
  const { relays, waiting, give, waits, reported, hold, isAnswered, release } = await start();
  await reported(1);
  give(false);
  relays.wake();
  hold();
  const before = waits();
  await until("an answer on its way", isAnswered);
  waiting.push(delivery(2));
  relays.wake();
  release();
  expect(await before).toBe(0);
  expect(await waits()).toBe(1);
});
