import type http from "node:http";
import { pino } from "pino";
import { Webhook } from "standardwebhooks";
import { expect, onTestFinished, test } from "vitest";
import { STEADY_MS, SteadyTime } from "../../../../server/database/steady-time.ts";
import { openStore } from "../../../../server/database/open.ts";
import type { Store } from "../../../../server/database/store.ts";
import { pruneDeliveries } from "../../../../server/records/webhooks/deliveries.ts";
import { pauseWebhook, resendDelivery, resumeWebhook } from "../../../../server/records/webhooks/webhooks.ts";
import { WebhookDispatcher } from "../../../../server/operations/webhooks/dispatcher.ts";
import { messageId } from "../../../../server/dashboard/types/settings/webhooks.ts";
import { sendWebhook } from "../../../../server/operations/webhooks/send.ts";
import { diceOf, pick } from "../../../support/runner/dice.ts";
import { noon, onPostgres, study } from "../../harness.ts";
import { addWebhook } from "../../webhooks.ts";
import { type Answer, dispatcherOn, dog, HOUR_MS, MINUTE_MS, ok, own, startReceiver, world } from "./world.ts";

test("a study's event arrives signed and thin, with the fp alone", async () => {
  const { receiver, webhook, push, drain } = await world();
  const [fp] = await push(1);
  await drain();
  const [[body, headers]] = receiver.bodies as [[string, Record<string, string>]];
  expect(JSON.parse(body)).toEqual({ type: "study.filed", timestamp: "2026-11-21T12:00:00.000Z", data: { fp } });
  expect(Object.keys(headers).toSorted()).toEqual([
    "connection",
    "content-length",
    "content-type",
    "host",
    "traceparent",
    "user-agent",
    "webhook-id",
    "webhook-signature",
    "webhook-timestamp",
  ]);
  // The library compares the time of the attempt with the real clock.
  expect(new Webhook(webhook.secret).sign(String(headers["webhook-id"]), new Date(noon), body)).toBe(
    headers["webhook-signature"],
  );
});

test("a retry that was planned by a clock ahead is made once the clock was set back", async () => {
  const { receiver, push, drain, clock } = await world();
  receiver.answer = (request) => void request.socket.destroy();
  clock.now += 8_760 * HOUR_MS;
  const fps = await push(1);
  await drain();
  receiver.answer = ok;
  receiver.got = [];
  clock.now -= 8_760 * HOUR_MS;
  await drain();
  expect(receiver.got.map(({ fp }) => fp)).toEqual(fps);
});

test("a clock that is three years ahead for a few hours removes no ended delivery, and the right one does after thirty days", async () => {
  const { store, push, drain, log, clock } = await world();
  await push(2);
  await drain();
  const running = { now: 0 };
  const pass = (ms: number) => {
    clock.now += ms;
    running.now += ms;
  };
  const now = () => clock.now;
  const steady = new SteadyTime({ wall: now, running: () => running.now });
  const lease = { isHeld: true };
  const dispatcher = dispatcherOn(store, { now, steady, lease });
  onTestFinished(() => dispatcher.stop());
  const left = async () => {
    await dispatcher.check();
    return (await log()).length;
  };
  pass(STEADY_MS);
  clock.now += 3 * 8_760 * HOUR_MS;
  expect(await left()).toBe(2);
  pass(STEADY_MS - 1);
  expect(await left()).toBe(2);
  clock.now -= 3 * 8_760 * HOUR_MS;
  expect(await left()).toBe(2);
  pass(31 * 24 * HOUR_MS);
  // Another server removes.
  lease.isHeld = false;
  expect(await left()).toBe(2);
  lease.isHeld = true;
  expect(await left()).toBe(0);
});

test("a message after the removal of all earlier ones is no repeat of one of them", async () => {
  const { server, store, receiver, push, drain, clock } = await world();
  for (const day of [0, 31]) {
    server.clock.now += day * 24 * HOUR_MS;
    clock.now = server.clock.now;
    // A restored backup begins with earlier numbers, too.
    await pruneDeliveries(store, { before: clock.now, now: clock.now });
    await push(1);
    await drain();
  }
  expect(new Set(receiver.got.map(({ id }) => id)).size).toBe(2);
});

test("a receiver that is too busy gets a message again when it wants it, and never sooner than by the schedule", async () => {
  const { receiver, push, drain, clock, log } = await world();
  const refuse = (status: number, after: string): Answer => {
    return (_request, response) => void response.writeHead(status, { "retry-after": after }).end();
  };
  const next = async () => {
    await drain();
    const [delivery] = await log();
    const waits = delivery!.next_at - clock.now;
    clock.now = delivery!.next_at;
    return waits;
  };
  receiver.answer = refuse(429, "120");
  await push(1);
  expect(await next()).toBe(2 * MINUTE_MS);
  receiver.answer = refuse(503, "10");
  expect(await next()).toBe(5 * MINUTE_MS);
  receiver.answer = refuse(503, "999999999999");
  expect(await next()).toBe(HOUR_MS);
  receiver.answer = refuse(500, "99999");
  expect(await next()).toBe(2 * HOUR_MS);
  receiver.answer = ok;
  receiver.got = [];
  await drain();
  expect(receiver.got).toHaveLength(1);
});

test("a receiver that is down gets every event when it is back, each once, after the retries of its log", async () => {
  const { receiver, push, drain, clock, log } = await world();
  receiver.answer = (request) => void request.socket.destroy();
  const fps = await push(6);
  await drain();
  clock.now += 5000;
  await drain();
  expect(
    (await log()).map(({ state, next_at, attempts }) => ({ state, in: next_at - clock.now, tries: attempts.length })),
  ).toEqual(fps.map(() => ({ state: "retrying", in: 5 * MINUTE_MS, tries: 2 })));
  receiver.answer = ok;
  receiver.got = [];
  clock.now += 5 * MINUTE_MS - 1;
  await drain();
  expect(receiver.got).toEqual([]);
  clock.now += 1;
  await drain();
  clock.now += 100 * HOUR_MS;
  await drain();
  expect(receiver.got.map(({ fp }) => fp).toSorted()).toEqual(fps.toSorted());
  expect((await log()).map(({ state, attempts }) => [state, ...attempts.map(({ status }) => status)])).toEqual(
    fps.map(() => ["delivered", null, null, 204]),
  );
});

test("after ten attempts in three days an event is given up and shown, and a resend delivers it under its own id", async () => {
  const { receiver, webhook, push, drain, clock, log, store } = await world();
  receiver.answer = (_request, response) => void response.writeHead(500).end("endless ".repeat(1000));
  await push(1);
  const begun = clock.now;
  const times: number[] = [];
  for (let round = 0; round < 12; round += 1) {
    const before = receiver.got.length;
    await drain();
    if (receiver.got.length > before) times.push(clock.now - begun);
    clock.now = Math.max(clock.now, (await log())[0]?.next_at ?? 0);
  }
  expect(times.map((time) => Math.round(time / MINUTE_MS))).toEqual([0, 0, 5, 35, 155, 455, 1055, 1895, 3095, 4535]);
  const [given] = await log();
  expect(given).toMatchObject({ state: "given-up" });
  expect(given?.attempts.map(({ status, reason }) => [status, reason])).toEqual(
    Array.from({ length: 10 }, () => [500, "The receiver responded 500, expected 2xx: look into its log."]),
  );
  receiver.answer = ok;
  const again = { ...webhook, deliveryId: given?.id ?? 0, now: clock.now };
  expect(await store.transaction((session) => resendDelivery(session, again))).toBe(true);
  await drain();
  expect(await log()).toMatchObject([{ state: "delivered" }]);
  expect(new Set(receiver.got.map(({ id }) => id))).toEqual(
    new Set([messageId(webhook.id, { id: again.deliveryId, changedAt: given?.changed_at ?? 0 })]),
  );
  expect(await store.transaction((session) => resendDelivery(session, { ...again, clinicId: 99 }))).toBe(false);
});

test("a redirect into the private network is refused, and without permission nothing connects there", async () => {
  const { receiver, push, drain, log } = await world();
  const inside = await startReceiver();
  receiver.answer = (_request, response) => void response.writeHead(301, { location: inside.url }).end();
  await push(1);
  await drain();
  expect(inside.got).toEqual([]);
  expect((await log())[0]?.attempts).toMatchObject([
    { status: 301, reason: expect.stringContaining("redirects (301)") as string },
  ]);
  const closed = await world(false);
  await closed.push(1);
  await closed.drain();
  expect(closed.receiver.got).toEqual([]);
  expect((await closed.log())[0]?.attempts).toMatchObject([{ status: null }]);
});

test("a slow receiver has four simultaneous requests, and holds up no other webhook", async () => {
  const { receiver, store, push, clock, drain } = await world();
  const quick = await startReceiver();
  const { clinicId } = await addWebhookTo(store, quick.url);
  const held: http.ServerResponse[] = [];
  receiver.answer = (_request, response) => void held.push(response);
  const fps = await push(12);
  const dispatcher = dispatcherOn(store, { now: () => clock.now });
  await dispatcher.check();
  await expect.poll(() => quick.got.length + receiver.got.length).toBe(fps.length + 4);
  expect(quick.got.map(({ fp }) => fp).toSorted()).toEqual(fps.toSorted());
  expect([held.length, clinicId]).toEqual([4, 1]);
  receiver.answer = ok;
  for (const response of held) response.end();
  await dispatcher.stop();
  await drain();
  expect(receiver.got.map(({ fp }) => fp).toSorted()).toEqual(fps.toSorted());
});

async function addWebhookTo(store: Store, url: string) {
  return addWebhook(store, own, { url, id: "wh_second" });
}

test("a paused webhook sends nothing, and when it is resumed one message for each changed record", async () => {
  const { receiver, webhook, server, key, store, drain } = await world();
  await store.transaction((session) => pauseWebhook(session, webhook, noon));
  const changing = study({ patient_fp: dog.fp });
  for (const revision of [1, 2, 3]) {
    await server.push(key, { ...changing, revision, device_name: `Device ${revision}` });
  }
  await drain();
  expect(receiver.got).toEqual([]);
  await store.transaction((session) => resumeWebhook(session, webhook, noon));
  await drain();
  expect(receiver.got.map(({ type, fp }) => [type, fp])).toEqual([
    ["study.filed", changing.fp],
    ["study.revised", changing.fp],
  ]);
});

test("a server that dies between sending and storing leads to one repeat under the same id, and its log shows both", async () => {
  const { receiver, store, push, clock, log, drain } = await world();
  const dying = new WebhookDispatcher(
    {
      ...store,
      transaction: async (work) =>
        receiver.got.length > 0 ? Promise.reject(new Error("killed")) : store.transaction(work),
    },
    { logger: pino({ enabled: false }), allowPrivate: true, now: () => clock.now, random: () => 0 },
  );
  await push(1);
  await dying.check();
  await dying.stop();
  expect(receiver.got).toHaveLength(1);
  clock.now += 59_999;
  await drain();
  expect(receiver.got).toHaveLength(1);
  clock.now += 1;
  await drain();
  expect(new Set(receiver.got.map(({ id }) => id)).size).toBe(1);
  expect(receiver.got).toHaveLength(2);
  expect((await log()).map(({ state, attempts }) => [state, ...attempts.map(({ status }) => status)])).toEqual([
    ["delivered", null, 204],
  ]);
});

test.each([1, 2, 3])(
  "against a receiver of all faults nothing is lost and the log shows every request (%i)",
  async (seed) => {
    let deadlineMs = 300;
    const send: typeof sendWebhook = async (to, message, more) => sendWebhook(to, message, { ...more, deadlineMs });
    const { receiver, server, push, clock, drain, log } = await world(true, { send });
    // On PostgreSQL two servers share the work.
    const second = onPostgres() ? await openStore(server.database) : undefined;
    if (second !== undefined) onTestFinished(() => second.close());
    const others = second === undefined ? [] : [second];
    const dice = diceOf(seed);
    const faults: Answer[] = [
      (_request, response) => void response.writeHead(500).end(),
      (_request, response) => void response.writeHead(301, { location: "http://127.0.0.1:1/" }).end(),
      (request) => void request.socket.destroy(),
      () => undefined,
      (request) => void request.socket.end("no HTTP at all\r\n\r\n"),
    ];
    receiver.answer = (request, response) => (dice(2) === 0 ? ok : pick(dice, faults))(request, response);
    const fps = await push(20);
    for (let round = 0; round < 9; round += 1) {
      await drain(...others);
      clock.now += 25 * HOUR_MS;
    }
    receiver.answer = ok;
    deadlineMs = 50_000;
    await drain(...others);
    const deliveries = await log();
    expect(deliveries.map(({ state, fp }) => ({ state, fp })).toSorted((a, b) => a.fp.localeCompare(b.fp))).toEqual(
      fps.toSorted().map((fp) => ({ state: "delivered", fp })),
    );
    // On a slow machine an attempt may end before its request arrives.
    const received = new Map(fps.map((fp) => [fp, receiver.got.filter((got) => got.fp === fp).length]));
    const unlogged = deliveries.filter(({ fp, attempts }) => (received.get(fp) ?? 0) > attempts.length);
    expect(unlogged).toEqual([]);
    const succeeded = deliveries.map(
      ({ attempts }) => attempts.filter(({ reason, ended_at }) => ended_at !== null && reason === null).length,
    );
    expect(succeeded).toEqual(fps.map(() => 1));
  },
);
