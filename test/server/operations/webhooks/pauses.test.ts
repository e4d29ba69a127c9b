import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import {
  findWebhook,
  pauseWebhook,
  resendDeliveries,
  resumeWebhook,
  rotateSecret,
  webhooksPausedByThemselves,
} from "../../../../server/records/webhooks/webhooks.ts";
import { newWebhookSecret } from "../../../../server/operations/webhooks/sign.ts";
import { noon, study } from "../../harness.ts";
import { type Answer, dispatcherOn, dog, HOUR_MS, MINUTE_MS, ok, world } from "./world.ts";

// Method: as dispatcher.test.ts. The world's clock is also the steady one here.

async function steadyWorld() {
  const clock = { now: noon };
  const made = await world(true, { steady: { now: () => clock.now } });
  const row = async () => findWebhook(made.store, made.webhook);
  /** Moves both clocks. */
  const pass = (ms: number) => {
    made.clock.now += ms;
    clock.now += ms;
  };
  return { ...made, row, pass };
}

const failing: Answer = (_request, response) => void response.writeHead(500).end();
const gone: Answer = (_request, response) => void response.writeHead(410).end();

test("both secrets sign until the end of the old one, and then the new one alone", async () => {
  const { receiver, webhook, store, push, drain, clock } = await world();
  const row = async () => findWebhook(store, webhook);
  const secret = newWebhookSecret();
  const oldEndsAt = noon + HOUR_MS;
  await store.transaction((session) => rotateSecret(session, { ...webhook, secret, oldEndsAt }));
  expect((await row())?.old_secret_ends_at).toBe("2026-11-21T13:00:00.000Z");
  const signers = async () => {
    await push(1);
    const sent = receiver.bodies.length;
    await drain();
    const [body, headers] = receiver.bodies[sent] ?? ["", {}];
    const id = String(headers["webhook-id"]);
    const signatures = String(headers["webhook-signature"]).split(" ");
    const at = new Date(Number(headers["webhook-timestamp"]) * 1000);
    return signatures.map((signature) =>
      [secret, webhook.secret].findIndex((key) => new Webhook(key).sign(id, at, body) === signature),
    );
  };
  clock.now += HOUR_MS - 1;
  expect(await signers()).toEqual([0, 1]);
  clock.now += 1;
  expect(await signers()).toEqual([0]);
  expect((await row())?.old_secret_ends_at).not.toBe(null);
  const tidy = dispatcherOn(store, { now: () => clock.now, steady: { now: () => clock.now } });
  await tidy.check();
  await tidy.stop();
  expect((await row())?.old_secret_ends_at).toBe(null);
});

test("a receiver that responds 410 gets nothing more until a person resumes its webhook, and then everything", async () => {
  const { receiver, webhook, store, push, drain, row, pass, clock } = await steadyWorld();
  receiver.answer = gone;
  const fps = await push(9);
  await drain();
  const asked = receiver.got.length;
  // Requests that were under way end as they may.
  expect(asked).toBeLessThanOrEqual(4);
  expect(await row()).toMatchObject({ paused: true, pause_code: "gone", paused_at: "2026-11-21T12:00:00.000Z" });
  expect(await webhooksPausedByThemselves(store)).toMatchObject([{ public_id: webhook.id }]);
  // Before the first retry is due.
  pass(4000);
  await drain();
  expect(receiver.got.length).toBe(asked);
  receiver.answer = ok;
  receiver.got = [];
  await store.transaction((session) => resumeWebhook(session, webhook, clock.now));
  await drain();
  expect(receiver.got.map(({ fp }) => fp).toSorted()).toEqual(fps.toSorted());
  expect(await row()).toMatchObject({ paused: false, pause_code: null, paused_at: null, failing_since: null });
  expect(await webhooksPausedByThemselves(store)).toEqual([]);
});

test("after three days without a success a webhook pauses itself, and one success in between starts the days again", async () => {
  const { receiver, webhook, store, push, drain, row, pass, clock } = await steadyWorld();
  receiver.answer = failing;
  await push(1);
  await drain();
  expect(await row()).toMatchObject({ paused: false, failing_since: "2026-11-21T12:00:00.000Z" });
  pass(71 * HOUR_MS);
  receiver.answer = ok;
  await drain();
  expect(await row()).toMatchObject({ paused: false, failing_since: null, waiting: 0 });
  // A week without any event is not a failure.
  pass(168 * HOUR_MS);
  receiver.answer = failing;
  const fps = await push(2);
  await drain();
  expect(await row()).toMatchObject({ paused: false });
  pass(72 * HOUR_MS - 1);
  await drain();
  expect(await row()).toMatchObject({ paused: false, waiting: 2 });
  pass(30 * MINUTE_MS);
  await drain();
  expect(await row()).toMatchObject({ paused: true, pause_code: "no-success", waiting: 2 });
  receiver.answer = ok;
  receiver.got = [];
  pass(24 * HOUR_MS);
  await drain();
  expect(receiver.got).toEqual([]);
  await store.transaction((session) => resumeWebhook(session, webhook, clock.now));
  await drain();
  expect(receiver.got.map(({ fp }) => fp).toSorted()).toEqual(fps.toSorted());
});

test("a clock that jumped ahead by a week pauses no webhook", async () => {
  const { receiver, push, drain, clock, store, webhook } = await world(true, { steady: { now: () => null } });
  receiver.answer = failing;
  await push(1);
  await drain();
  clock.now += 168 * HOUR_MS;
  await drain();
  expect(await findWebhook(store, webhook)).toMatchObject({ paused: false });
});

test("a pause of a person is not an alert, also one of a webhook that paused itself", async () => {
  const { receiver, webhook, store, push, drain, row } = await steadyWorld();
  receiver.answer = gone;
  await push(1);
  await drain();
  await store.transaction((session) => pauseWebhook(session, webhook, noon + 1));
  expect(await row()).toMatchObject({ paused: true, pause_code: null });
  expect(await webhooksPausedByThemselves(store)).toEqual([]);
});

test("the messages that were given up are sent again by one call, each under its own id and within the bound", async () => {
  const { receiver, webhook, store, push, drain, clock, log } = await world();
  receiver.answer = failing;
  await push(5);
  for (let round = 0; round < 10; round += 1) {
    await drain();
    clock.now += 30 * HOUR_MS;
  }
  const ids = new Set(receiver.got.map(({ id }) => id));
  expect((await log()).map(({ state }) => state)).toEqual(Array.from({ length: 5 }, () => "given-up"));
  receiver.answer = ok;
  receiver.got = [];
  const resend = async (limit: number, since: number | null = null) =>
    store.transaction((session) => resendDeliveries(session, { ...webhook, since, now: clock.now, limit }));
  expect(await resend(3)).toEqual({ count: 3, left: 2 });
  expect(await resend(3)).toEqual({ count: 2, left: 0 });
  expect(await resend(3)).toEqual({ count: 0, left: 0 });
  await drain();
  expect(new Set(receiver.got.map(({ id }) => id))).toEqual(ids);
  expect((await log()).map(({ state }) => state)).toEqual(Array.from({ length: 5 }, () => "delivered"));
  const strange = { ...webhook, clinicId: 99, since: null, now: clock.now, limit: 3 };
  expect(await store.transaction((session) => resendDeliveries(session, strange))).toBe(undefined);
});

test("all messages of the last hours are sent again, and no older one", async () => {
  const { receiver, webhook, store, server, key, push, drain, clock } = await world();
  await push(2);
  await drain();
  clock.now += 2 * HOUR_MS;
  server.clock.now = clock.now;
  const late = study({ patient_fp: dog.fp });
  await server.push(key, late);
  await drain();
  receiver.got = [];
  const since = clock.now - HOUR_MS;
  const wanted = { ...webhook, since, now: clock.now, limit: 10 };
  expect(await store.transaction((session) => resendDeliveries(session, wanted))).toEqual({ count: 1, left: 0 });
  await drain();
  expect(receiver.got.map(({ fp }) => fp)).toEqual([late.fp]);
});
