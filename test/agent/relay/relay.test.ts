import { createHash } from "node:crypto";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { DeliveryReport } from "../../../shared/api/agent/destinations.ts";
import { createServerClient } from "../../../agent/push/server-client.ts";
import { Relay } from "../../../agent/relay/relay.ts";
import { readSpool } from "../../../agent/spool/access.ts";
import { readDestinations } from "../../../agent/spool/queries/result-destinations.ts";
import { type Behaviour, simulateReceiver, type SimulatedReceiver } from "../../../agent/tools/simulator/receiver.ts";
import { until } from "../../support/machine/processes.ts";
import { type ScriptedRequest, scriptedServer, type Step } from "../../support/peers/scripted-server.ts";
import { useSpool } from "../../support/spool.ts";
import { TestClock } from "../../support/protocols/wire.ts";

// A relay brings each delivery to its receiver once, and every outcome to the server. Method: a scripted HTTP server, a real spool, a
// simulated receiver, a test clock.

const used = useSpool();
let clock: TestClock;
let receiver: SimulatedReceiver;
/** What the receiver does with its messages; then "aa". */
let behaviours: Behaviour[];
let got: string[];
let closing: (() => unknown)[];

beforeEach(async () => {
  clock = new TestClock();
  [behaviours, got, closing] = [[], [], []];
  receiver = await simulateReceiver(
    { host: "127.0.0.1", port: 0 },
    () => behaviours.shift() ?? "aa",
    ({ controlId, behaviour }) => got.push(`${controlId} ${behaviour}`),
  );
});

afterEach(async () => {
  for (const close of closing) await close();
  await receiver.close();
});

const delivery = (id: number, attempt = 1) => {
  const bytes = Buffer.from(`MSH|^~\\&|VETWIRE|C|PIMS|C|20261121||ORU^R01|W${id}|P|2.5.1\rPID|1\r`);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  return { id, control_id: `W${id}`, attempt, file_name: null, payload: bytes.toString("base64"), sha256, wait_s: 0 };
};
const next = (found: ReturnType<typeof delivery> | null, wait_s = 5): Step => ({
  status: 200,
  body: { delivery: found, wait_s },
});

/** A server that gives these deliveries one after the other, and what it got. */
async function serverWith(
  queue: Step[],
  outcomes: (report: DeliveryReport) => Step = () => ({ status: 200, body: {} }),
) {
  const reports: string[] = [];
  const server = await scriptedServer(({ method, url, body }: ScriptedRequest) => {
    if (url === "/agent/v1/destinations/pims/next") return queue.shift() ?? next(null);
    if (method !== "POST" || url !== "/agent/v1/destinations/pims/outcomes") return { status: 404 };
    const report = body as DeliveryReport;
    const step = outcomes(report);
    if (step !== "cut") reports.push(`${report.delivery_id}/${report.attempt} ${report.outcome} ${report.code}`);
    return step;
  });
  closing.push(() => server.close());
  return { url: server.url, reports };
}

const ignore = () => undefined;

function relayTo(url: string): Relay {
  const destination = { id: "pims", kind: "hl7", tls: null, options: {} } as const;
  const address = { host: "127.0.0.1", port: receiver.port };
  const timing = { setTimer: clock.setTimer, random: () => 1 };
  const relay = new Relay(
    { ...destination, address },
    { spool: used.spool, server: createServerClient(url, () => "sk_live_test"), timing },
    { ended: ignore, failed: ignore, recovered: ignore, reported: ignore, unknown: ignore },
  );
  closing.unshift(() => relay.stop());
  return relay;
}

const state = () => readSpool(used.folder, (db) => readDestinations(db, true))[0];
const stateIs = (is: string) => until(is, () => state()?.state === is);

test("deliveries reach the receiver in order, and each outcome reaches the server before the next delivery", async () => {
  await used.spool.call("configureResultDestinations", ["pims"]);
  behaviours = ["ae", "aa", "ar"];
  const { url, reports } = await serverWith([
    next(delivery(1)),
    next(delivery(1, 2)),
    next(delivery(2)),
    next(delivery(3)),
  ]);
  relayTo(url).wake();
  await until("four outcomes", () => reports.length === 4);
  expect(reports).toEqual(["1/1 failed AE", "1/2 acknowledged AA", "2/1 refused AR", "3/1 acknowledged AA"]);
  expect(got).toEqual(["W1 ae", "W1 aa", "W2 ar", "W3 aa"]);
  await stateIs("connected");
  expect(state()).toMatchObject({ id: "pims", to: `127.0.0.1:${receiver.port}`, last: { outcome: "acknowledged" } });
});

test("an acknowledged message whose report was lost is reported again, and not sent again", async () => {
  await used.spool.call("configureResultDestinations", ["pims"]);
  const first = await serverWith([next(delivery(1))], () => "cut");
  const killed = relayTo(first.url);
  killed.wake();
  await until("the outcome is stored", async () => (await used.spool.call("lastDelivery", "pims"))?.outcome);
  await stateIs("server away");
  await killed.stop();
  // The server offers it again, since it heard nothing of it.
  const second = await serverWith([next(delivery(1, 2)), next(delivery(2))]);
  relayTo(second.url).wake();
  await until("all outcomes", () => second.reports.length === 3);
  expect(second.reports).toEqual(["1/1 acknowledged AA", "1/2 acknowledged AA", "2/1 acknowledged AA"]);
  expect(got).toEqual(["W1 aa", "W2 aa"]);
});

test("a delivery that a server restored from a backup does not know blocks no other one", async () => {
  await used.spool.call("configureResultDestinations", ["pims"]);
  const unknown = { success: false, error: { code: "RECORD.NOT_FOUND", message: "This delivery was not found." } };
  const { url, reports } = await serverWith([next(delivery(1)), next(delivery(2))], ({ delivery_id: id }) =>
    id === 1 ? { status: 404, body: unknown } : { status: 200, body: {} },
  );
  relayTo(url).wake();
  await until("both outcomes", () => reports.length === 2);
  expect(got).toEqual(["W1 aa", "W2 aa"]);
});

test("a server without destinations, or with damaged bytes, is shown as the fault, and tried again", async () => {
  await used.spool.call("configureResultDestinations", ["pims"]);
  const damaged = { ...delivery(1), sha256: "0".repeat(64) };
  const { url, reports } = await serverWith([{ status: 404 }, next(damaged), next(delivery(1))]);
  relayTo(url).wake();
  await stateIs("server away");
  expect(state()?.text).toBe("the server knows no destinations: upgrade it");
  clock.advance(1000);
  await until("the damage", () => state()?.text?.startsWith("invalid response"));
  expect(got).toEqual([]);
  clock.advance(2000);
  await until("the outcome", () => reports.length === 1);
  expect(got).toEqual(["W1 aa"]);
});

test("a receiver that is down is shown with its code until a message gets through", async () => {
  await used.spool.call("configureResultDestinations", ["pims"]);
  const { port } = receiver;
  await receiver.close();
  const queue = [next(delivery(1)), next(null, 1)];
  const { url, reports } = await serverWith(queue);
  relayTo(url).wake();
  await until("the outcome", () => reports.length === 1);
  await stateIs("failed");
  expect(state()).toMatchObject({ code: "DIAL.REFUSED", last_sent_at: null });
  receiver = await simulateReceiver(
    { host: "127.0.0.1", port },
    () => "aa",
    ({ controlId }) => got.push(controlId),
  );
  await until("the next look is scheduled", () => clock.pending.includes(1000));
  queue.push(next(delivery(1, 2)));
  clock.advance(1000);
  await until("the acknowledgement", () => reports.length === 2);
  await stateIs("connected");
  expect(reports).toEqual(["1/1 failed DIAL.REFUSED", "1/2 acknowledged AA"]);
});
