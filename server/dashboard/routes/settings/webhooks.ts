import type { FastifyInstance, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { timestampOf, timestampOrNull } from "../../../../shared/runtime/timestamp.ts";
import { newUlid } from "../../../../shared/api/fp.ts";
import {
  type DeliveryPage,
  type DeliveryRow,
  GRACE_HOURS_MAX,
  deliveryIdIn,
  messageId,
  type NewWebhook,
  RESEND_HOURS_MAX,
  RESEND_MAX,
  type ResentMessages,
  type RotatedSecret,
  type WebhookList,
  WEBHOOKS_MAX,
  webhookTypes,
} from "../../types/settings/webhooks.ts";
import { readReceiverUrl } from "../../../operations/webhooks/receiver.ts";
import { newWebhookSecret } from "../../../operations/webhooks/sign.ts";
import { ApiError } from "../../../http/errors.ts";
import { pageParameters, readParameters } from "../../../http/query-parameters.ts";
import { auditCommand } from "../../../records/audit/audit.ts";
import {
  addTestEvent,
  countWebhooks,
  deleteWebhook,
  findWebhook,
  insertWebhook,
  listDeliveries,
  listWebhooks,
  pauseWebhook,
  resendDeliveries,
  resendDelivery,
  resumeWebhook,
  rotateSecret,
  type StoredDelivery,
} from "../../../records/webhooks/webhooks.ts";
import { clinicOf } from "../../auth/guard.ts";
import { bodyReader } from "../../body.ts";
import type { DashboardContext } from "../../context.ts";
import { actorOf } from "../commands.ts";
import { refuse } from "../../refuse.ts";
import { refusal } from "../../types/refusals.ts";

// Webhooks of the clinic, for an admin. A webhook of another clinic gets the response of a missing one.

const newBody = bodyReader({
  url: Type.String({ minLength: 1, maxLength: 4000 }),
  types: Type.Array(Type.Enum([...webhookTypes]), { minItems: 1, uniqueItems: true }),
});

const pauseBody = bodyReader({ paused: Type.Boolean() });
const rotateBody = bodyReader({ grace_hours: Type.Integer({ minimum: 0, maximum: GRACE_HOURS_MAX }) });
const resendAllBody = bodyReader({
  hours: Type.Union([Type.Integer({ minimum: 1, maximum: RESEND_HOURS_MAX }), Type.Null()]),
});
const resendBody = bodyReader({ id: Type.String({ maxLength: 200 }) });

const URL = "/clinic/v1/clinics/:clinic/webhooks";
const access = "admin";
const HOUR_MS = 3_600_000;

export function webhookRoutes(app: FastifyInstance, context: DashboardContext): void {
  const { store, now, allowPrivateWebhooks } = context;
  answeringRoutes(app, context);
  app.get(
    URL,
    { config: { access } },
    async (request): Promise<WebhookList> => ({
      webhooks: await listWebhooks(store, clinicOf(request).id),
      private_allowed: allowPrivateWebhooks,
    }),
  );
  app.post(URL, { config: { access } }, async (request): Promise<NewWebhook> => {
    const { url: text, types } = newBody(request.body);
    const url = readReceiverUrl(text.trim(), allowPrivateWebhooks);
    if (!url.ok) refuse(refusal("WEBHOOK.URL", url.why.code, ...url.why.values));
    const { id: clinicId } = clinicOf(request);
    const actor = actorOf(request, now());
    const made = { id: `wh_${newUlid()}`, secret: newWebhookSecret() };
    await store.transaction(async (session) => {
      if ((await countWebhooks(session, clinicId)) >= WEBHOOKS_MAX) {
        refuse(refusal("WEBHOOK.TOO_MANY", WEBHOOKS_MAX));
      }
      await insertWebhook(session, { clinicId, ...made, url: url.value.href, types, now: actor.now });
      await auditCommand(session, "webhooks create", [made.id], actor);
    });
    return made;
  });
  app.get(
    `${URL}/:id/deliveries`,
    { config: { access, parameters: pageParameters } },
    async (request): Promise<DeliveryPage> => {
      const { page, page_size: pageSize } = readParameters(request, pageParameters);
      const of = webhookOf(request);
      const webhook = await findWebhook(store, of);
      if (webhook === undefined) throw missing();
      const { deliveries, total } = await listDeliveries(store, { ...of, page, pageSize });
      return { webhook, deliveries: deliveries.map((delivery) => rowOf(webhook.id, delivery)), total };
    },
  );
  /** Adds a route that changes a webhook, and writes the audit with it. */
  function command(
    path: string,
    name: string,
    change: (
      request: FastifyRequest,
    ) => (session: Parameters<Parameters<typeof store.transaction>[0]>[0]) => Promise<boolean>,
  ): void {
    app.post(`${URL}/:id/${path}`, { config: { access } }, async (request) => {
      const work = change(request);
      await store.transaction(async (session) => {
        if (!(await work(session))) throw missing();
        await auditCommand(session, name, [webhookOf(request).id], actorOf(request, now()));
      });
      return {};
    });
  }
  command("pause", "webhooks pause", (request) => {
    const { paused } = pauseBody(request.body);
    const of = webhookOf(request);
    return async (session) => (paused ? pauseWebhook(session, of, now()) : resumeWebhook(session, of, now()));
  });
  command("delete", "webhooks delete", (request) => async (session) => deleteWebhook(session, webhookOf(request)));
  command("test", "webhooks test", (request) => async (session) => addTestEvent(session, webhookOf(request), now()));
  command("resend", "webhooks resend", (request) => {
    const of = webhookOf(request);
    const deliveryId = deliveryIdIn(of.id, resendBody(request.body).id);
    if (!Number.isSafeInteger(deliveryId)) throw missing();
    return async (session) => resendDelivery(session, { ...of, deliveryId, now: now() });
  });
}

/** Routes whose response is more than a success. */
function answeringRoutes(app: FastifyInstance, { store, now }: DashboardContext): void {
  app.post(`${URL}/:id/rotate`, { config: { access } }, async (request): Promise<RotatedSecret> => {
    const { grace_hours: hours } = rotateBody(request.body);
    const actor = actorOf(request, now());
    const of = webhookOf(request);
    const made = { secret: newWebhookSecret(), oldEndsAt: hours === 0 ? null : actor.now + hours * HOUR_MS };
    await store.transaction(async (session) => {
      if (!(await rotateSecret(session, { ...of, ...made }))) throw missing();
      await auditCommand(session, "webhooks rotate", [of.id], actor);
    });
    return { secret: made.secret, old_secret_ends_at: timestampOrNull(made.oldEndsAt) };
  });
  app.post(`${URL}/:id/resend-all`, { config: { access } }, async (request): Promise<ResentMessages> => {
    const { hours } = resendAllBody(request.body);
    const actor = actorOf(request, now());
    const of = webhookOf(request);
    const since = hours === null ? null : actor.now - hours * HOUR_MS;
    return store.transaction(async (session) => {
      const resent = await resendDeliveries(session, { ...of, since, now: actor.now, limit: RESEND_MAX });
      if (resent === undefined) throw missing();
      await auditCommand(session, "webhooks resend-all", [of.id], actor);
      return resent;
    });
  });
}

function webhookOf(request: FastifyRequest): { clinicId: number; id: string } {
  const { id } = request.params as { id: string };
  return { clinicId: clinicOf(request).id, id };
}

function missing(): ApiError {
  return new ApiError("RECORD.NOT_FOUND", "This webhook or message");
}

function rowOf(webhookId: string, { id, type, fp, state, changed_at, next_at, attempts }: StoredDelivery): DeliveryRow {
  const isWaiting = state === "new" || state === "retrying";
  return {
    id: messageId(webhookId, { id, changedAt: changed_at }),
    type,
    fp,
    state,
    changed_at: timestampOf(changed_at),
    next_at: isWaiting ? timestampOf(next_at) : null,
    attempts: attempts.map(({ number, started_at, ended_at, status, reason, why }) => ({
      number,
      started_at: timestampOf(started_at),
      ended_at: timestampOrNull(ended_at),
      status,
      reason,
      why,
    })),
  };
}
