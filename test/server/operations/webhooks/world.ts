import http from "node:http";
import type { AddressInfo } from "node:net";
import { pino } from "pino";
import { onTestFinished } from "vitest";
import { dueWebhooks } from "../../../../server/records/webhooks/deliveries.ts";
import type { Store } from "../../../../server/database/store.ts";
import { listDeliveries } from "../../../../server/records/webhooks/webhooks.ts";
import { type DispatcherOptions, WebhookDispatcher } from "../../../../server/operations/webhooks/dispatcher.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import { sendWebhook } from "../../../../server/operations/webhooks/send.ts";
import { clinic, connection, keyPermissions, noon, patient, startServer, study } from "../../harness.ts";
import { addWebhook } from "../../webhooks.ts";

// Method: a clinic's agent pushes studies, a dispatcher whose clock the test moves sends their events to a real receiver.

export const own = newFp("clinic");
export const dog = patient();
export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;

export type Answer = (request: http.IncomingMessage, response: http.ServerResponse) => void;
export const ok: Answer = (_request, response) => void response.writeHead(204).end();

interface Message {
  id: string;
  fp: string;
  type: string;
}

/** A receiver whose responses the test changes. It keeps each message that it read. */
export async function startReceiver() {
  const receiver = { url: "", answer: ok, got: [] as Message[], bodies: [] as [string, http.IncomingHttpHeaders][] };
  const server = http.createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      const { type, data } = JSON.parse(body) as { type: string; data: { fp: string } };
      receiver.got.push({ id: String(request.headers["webhook-id"]), fp: data.fp, type });
      receiver.bodies.push([body, request.headers]);
      receiver.answer(request, response);
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return receiver;
}

export async function world(allowPrivate = true, options: Partial<DispatcherOptions> = {}) {
  const server = await startServer(clinic(own), dog, connection(dog.fp, own));
  const { store } = server;
  const receiver = await startReceiver();
  const webhook = await addWebhook(store, own, { url: receiver.url });
  const key = await server.makeKey(own, keyPermissions);
  const clock = { now: noon };
  /** Sends all that is due now, by one server on each of the stores. */
  const drain = async (...stores: Store[]) => {
    do {
      const dispatchers = [store, ...stores].map((on) =>
        dispatcherOn(on, { allowPrivate, now: () => clock.now, ...options }),
      );
      await Promise.all(dispatchers.map(async (dispatcher) => dispatcher.check()));
      await Promise.all(dispatchers.map(async (dispatcher) => dispatcher.stop()));
    } while ((await dueWebhooks(store, clock.now)).length > 0);
  };
  const push = async (count: number) => {
    const studies = Array.from({ length: count }, () => study({ patient_fp: dog.fp }));
    await server.push(key, ...studies);
    return studies.map(({ fp }) => fp);
  };
  const log = async (of = webhook) =>
    (await listDeliveries(store, { ...of, page: 1, pageSize: 1000 })).deliveries.toReversed();
  return { server, store, receiver, webhook, key, clock, drain, push, log };
}

export function dispatcherOn(store: Store, options: Partial<DispatcherOptions>) {
  return new WebhookDispatcher(store, {
    logger: pino({ enabled: false }),
    allowPrivate: true,
    random: () => 0,
    // Long enough for a busy machine. A test with a silent receiver has a short one.
    send: async (to, message, more) => sendWebhook(to, message, { ...more, deadlineMs: 50_000 }),
    ...options,
  });
}
