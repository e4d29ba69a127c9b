import { expect, test } from "vitest";
import { newFp } from "../../../../shared/api/fp.ts";
import type {
  DeliveryPage,
  NewWebhook,
  ResentMessages,
  RotatedSecret,
  WebhookList,
} from "../../../../server/dashboard/types/settings/webhooks.ts";
import { clinic, startServer } from "../../../server/harness.ts";
import { makeUser } from "../../harness.ts";
import { webhookReason, webhookText } from "../../../../server/dashboard/types/webhook-reasons.ts";
import { type RefusalCode, refusalText } from "../../../../server/dashboard/types/refusals.ts";
import { uncachedWrite } from "../../../../server/database/query.ts";
import { sendWebhook } from "../../../../server/operations/webhooks/send.ts";
import { dispatcherOn } from "../../../server/operations/webhooks/world.ts";

const ours = newFp("clinic");
const theirs = newFp("clinic");
const url = "https://example.com/hook";

async function world() {
  const server = await startServer(clinic(ours), clinic(theirs));
  const admin = await makeUser(server, "admin", ours);
  const stranger = await makeUser(server, "admin", theirs);
  const make = async (body: unknown = { url, types: ["study.filed"] }) =>
    admin.call<NewWebhook & { error: { message: string; details?: { code: string; values: string[] } } }>(
      "POST",
      "/webhooks",
      body,
    );
  return { server, admin, stranger, make };
}

test("the secret of a webhook is shown once, and neither a list nor the log contains it", async () => {
  const { server, admin, make } = await world();
  const { body } = await make();
  expect(body.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  const list = await admin.call<WebhookList>("GET", "/webhooks");
  expect(list.body).toEqual({
    webhooks: [
      {
        id: body.id,
        url,
        types: ["study.filed"],
        paused: false,
        pause_code: null,
        paused_at: null,
        failing_since: null,
        old_secret_ends_at: null,
        created_at: "2026-11-21T12:00:00.000Z",
        waiting: 0,
        given_up: 0,
        delivered_at: null,
      },
    ],
    private_allowed: false,
  });
  const log = await admin.call("GET", `/webhooks/${body.id}/deliveries`);
  const audit = await admin.call("GET", "/audit");
  expect(audit.text).toContain("webhooks create");
  for (const text of [list.text, log.text, audit.text, server.log.join()]) expect(text).not.toContain(body.secret);
});

test("an address in the private network, without https or with a password is refused with its remedy", async () => {
  const { make } = await world();
  for (const [given, reason] of [
    ["http://example.com/", "enter one that starts with https://"],
    ["https://169.254.169.254/latest/meta-data", "which cannot be a receiver: enter another host"],
    ["https://192.168.1.20/", "start the program with --allow-private-webhooks"],
    ["https://a:b@example.com/", "holds a user name or a password: remove it"],
  ]) {
    const { status, body } = await make({ url: given, types: ["study.filed"] });
    expect([status, body.error.message]).toEqual([409, expect.stringContaining(reason ?? "")]);
  }
  expect((await make({ url, types: [] })).status).toBe(400);
  expect((await make({ url, types: ["webhook.test"] })).status).toBe(400);
});

test("a reason is a code with its words in both languages, and that of an older version keeps its sentence", async () => {
  const { server, admin, make } = await world();
  const { id } = (await make()).body;
  const bad = await make({ url: "http://example.com/", types: ["study.filed"] });
  const { code = "", values = [] } = bad.body.error.details ?? {};
  expect(refusalText({ code: code as RefusalCode, values }, "tr")).toBe(
    "Adres http:// ile başlıyor: https:// ile başlayan bir adres girin.",
  );
  await admin.call("POST", `/webhooks/${id}/test`, {});
  const dispatcher = dispatcherOn(server.store, {
    now: () => server.clock.now,
    allowPrivate: false,
    send: async (to, message, options) => sendWebhook({ ...to, url: "https://127.0.0.1/" }, message, options),
  });
  await dispatcher.check();
  await dispatcher.stop();
  const attempt = async () =>
    (await admin.call<DeliveryPage>("GET", `/webhooks/${id}/deliveries`)).body.deliveries[0]?.attempts[0];
  const said = await attempt();
  expect(said?.reason).toContain("127.0.0.1 is in a private network: enter a public host");
  expect(said?.why).toEqual({ code: "HOOK.PRIVATE", values: ["127.0.0.1"] });
  expect(webhookText(said?.why ?? webhookReason("HOOK.GONE"), "tr")).toContain("127.0.0.1 özel bir ağda");
  const old = "The receiver responded 500, expected 2xx: look into its log.";
  await server.store.transaction((session) => session.all(spoken, { reason: old }));
  expect(await attempt()).toMatchObject({ reason: old, why: null });
});

/** Gives all attempts the reason of an older version. */
const spoken = uncachedWrite((db, { reason }: { reason: string }) => db.updateTable("webhook_attempt").set({ reason }));

test("a clinic has ten webhooks at most", async () => {
  const { make } = await world();
  for (let count = 0; count < 10; count += 1) expect((await make()).status).toBe(200);
  const { status, body } = await make();
  expect([status, body.error.message]).toEqual([409, "The clinic has 10 webhooks, the most. Delete one first."]);
});

test("a test message waits in the log, a pause is kept, and deleting removes the webhook with its log", async () => {
  const { server, admin, make } = await world();
  const { id } = (await make()).body;
  await admin.call("POST", `/webhooks/${id}/test`, {});
  await admin.call("POST", `/webhooks/${id}/pause`, { paused: true });
  const { body } = await admin.call<DeliveryPage>("GET", `/webhooks/${id}/deliveries`);
  const at = new Date(server.clock.now).toISOString();
  expect(body).toMatchObject({
    webhook: { paused: true, waiting: 1 },
    deliveries: [{ type: "webhook.test", fp: ours, state: "new", changed_at: at, next_at: at, attempts: [] }],
    total: 1,
  });
  // What waits for its first attempt is not sent twice.
  expect((await admin.call("POST", `/webhooks/${id}/resend`, { id: body.deliveries[0]?.id })).status).toBe(404);
  expect((await admin.call("POST", `/webhooks/${id}/delete`, {})).status).toBe(200);
  expect((await admin.call("GET", `/webhooks/${id}/deliveries`)).status).toBe(404);
  expect((await admin.call<WebhookList>("GET", "/webhooks")).body.webhooks).toEqual([]);
});

test("a rotated secret is shown once, and the list names the time until which the old one signs too", async () => {
  const { server, admin, stranger, make } = await world();
  const { id, secret } = (await make()).body;
  const rotated = await admin.call<RotatedSecret>("POST", `/webhooks/${id}/rotate`, { grace_hours: 24 });
  const end = new Date(server.clock.now + 24 * 3_600_000).toISOString();
  expect(rotated.body).toEqual({ secret: expect.stringMatching(/^whsec_/) as string, old_secret_ends_at: end });
  expect(rotated.body.secret).not.toBe(secret);
  const list = await admin.call<WebhookList>("GET", "/webhooks");
  expect(list.body.webhooks).toMatchObject([{ id, old_secret_ends_at: end }]);
  const audit = await admin.call("GET", "/audit");
  expect(audit.text).toContain("webhooks rotate");
  for (const text of [list.text, audit.text, server.log.join()]) {
    for (const each of [secret, rotated.body.secret]) expect(text).not.toContain(each);
  }
  await admin.call("POST", `/webhooks/${id}/rotate`, { grace_hours: 0 });
  expect((await admin.call<WebhookList>("GET", "/webhooks")).body.webhooks[0]?.old_secret_ends_at).toBe(null);
  for (const grace_hours of [-1, 721, 1.5, "1"]) {
    expect((await admin.call("POST", `/webhooks/${id}/rotate`, { grace_hours })).status).toBe(400);
  }
  expect((await stranger.call("POST", `/webhooks/${id}/rotate`, { grace_hours: 1 })).status).toBe(404);
});

test("one call sends the messages again that were not delivered, or those of the last hours", async () => {
  const { admin, stranger, make } = await world();
  const { id } = (await make()).body;
  const resend = async (hours: unknown) => admin.call<ResentMessages>("POST", `/webhooks/${id}/resend-all`, { hours });
  expect((await resend(null)).body).toEqual({ count: 0, left: 0 });
  expect((await resend(24)).body).toEqual({ count: 0, left: 0 });
  for (const hours of [0, 721, "1"]) expect((await resend(hours)).status).toBe(400);
  expect((await stranger.call("POST", `/webhooks/${id}/resend-all`, { hours: null })).status).toBe(404);
  expect((await admin.call("GET", "/audit")).text).toContain("webhooks resend-all");
});
