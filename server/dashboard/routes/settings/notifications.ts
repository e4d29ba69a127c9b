import { randomBytes } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { timestampOrNull } from "../../../../shared/runtime/timestamp.ts";
import { ClosedObject, Nullable } from "../../../../shared/schema/schema.ts";
import type { Receiver } from "../../../operations/alerts/deliver.ts";
import { textForm } from "../../../../shared/schema/text-form.ts";
import { type QuietHours, WALL_TIME } from "../../../operations/alerts/quiet.ts";
import { isMailAddress } from "../../../operations/mail/smtp.ts";
import {
  CHANNELS_MAX,
  type MadeChannel,
  type NewChannelBody,
  type NotificationState,
  type QuietHoursBody,
  type QuietHoursShown,
  TEST_PAUSE_S,
  type TestOutcome,
} from "../../types/settings/notifications.ts";
import { readReceiverUrl } from "../../../operations/webhooks/receiver.ts";
import { newWebhookSecret } from "../../../operations/webhooks/sign.ts";
import { ApiError } from "../../../http/errors.ts";
import {
  type Notifications,
  readAlertBook,
  readNotifications,
  saveNotifications,
} from "../../../records/alerts/alerts.ts";
import type { Session } from "../../../database/query.ts";
import { clinicOf } from "../../auth/guard.ts";
import { bodyReader } from "../../body.ts";
import type { DashboardContext } from "../../context.ts";
import { refuse, refuseValue } from "../../refuse.ts";
import { type Refusal, refusal } from "../../types/refusals.ts";

// An admin chooses who gets a clinic's alerts, and when. Secrets of webhooks are shown once.

const Time = Type.String({ pattern: textForm(WALL_TIME, "a time of day such as 03:30") });

const Quiet = Nullable(ClosedObject({ from: Time, until: Time, exempt_critical: Type.Boolean() }));
const quietBody = bodyReader({ quiet: Quiet, seen: Quiet });

const newChannelBody = bodyReader({
  type: Type.Enum(["email", "webhook"]),
  target: Type.String({ minLength: 1, maxLength: 2000 }),
});

const URL = "/clinic/v1/clinics/:clinic/notifications";

export function notificationRoutes(app: FastifyInstance, context: DashboardContext): void {
  const { store, now, mail } = context;
  app.get(URL, { config: { access: "admin" } }, async (request) =>
    readState(store, clinicOf(request).id, await mail.isSet()),
  );
  app.put(`${URL}/quiet-hours`, { config: { access: "admin" } }, async (request) => {
    const { quiet: chosen, seen }: QuietHoursBody = quietBody(request.body);
    if (chosen !== null && chosen.from === chosen.until) {
      refuseValue(refusal("QUIET.SAME"));
    }
    const quiet = chosen && { from: chosen.from, until: chosen.until, exemptCritical: chosen.exempt_critical };
    const clinicId = clinicOf(request).id;
    await store.transaction(async (session) => {
      const { quiet: stored, receivers } = await readNotifications(session, clinicId);
      if (!isDeepStrictEqual(shownQuiet(stored), seen)) refuse(refusal("FORM.CHANGED"));
      await saveNotifications(session, clinicId, { quiet, receivers }, now());
    });
    return {};
  });
  channelRoutes(app, context);
}

function channelRoutes(app: FastifyInstance, context: DashboardContext): void {
  const { store, now, alerts, allowPrivateWebhooks } = context;
  const testedAt = new Map<number, number>();
  app.post(`${URL}/channels`, { config: { access: "admin" } }, async (request): Promise<MadeChannel> => {
    const receiver = newReceiver(newChannelBody(request.body), allowPrivateWebhooks);
    const clinicId = clinicOf(request).id;
    await store.transaction(async (session) => {
      const notifications = await readNotifications(session, clinicId);
      const problem = additionProblem(notifications, receiver);
      if (problem !== null) refuse(problem);
      const receivers = [...notifications.receivers, receiver];
      await saveNotifications(session, clinicId, { ...notifications, receivers }, now());
    });
    return { id: receiver.id, secret: receiver.secret === "" ? null : receiver.secret };
  });
  app.delete<{ Params: { id: string } }>(`${URL}/channels/:id`, { config: { access: "admin" } }, async (request) => {
    const clinicId = clinicOf(request).id;
    await store.transaction(async (session) => {
      const notifications = await readNotifications(session, clinicId);
      const removed = receiverOf(notifications, request.params.id);
      const receivers = notifications.receivers.filter((receiver) => receiver !== removed);
      await saveNotifications(session, clinicId, { ...notifications, receivers }, now());
    });
    return {};
  });
  app.post<{ Params: { id: string } }>(
    `${URL}/channels/:id/test`,
    { config: { access: "admin", repeats: "it sends a message and stores nothing, and a second one waits" } },
    async (request): Promise<TestOutcome> => {
      const clinicId = clinicOf(request).id;
      const receiver = receiverOf(await readNotifications(store, clinicId), request.params.id);
      // After a clock was set back, the last test is far ahead.
      if (Math.abs(now() - (testedAt.get(clinicId) ?? 0)) < TEST_PAUSE_S * 1000) {
        refuse(refusal("CHANNEL.TESTED", TEST_PAUSE_S));
      }
      testedAt.set(clinicId, now());
      const outcome = await alerts.test(clinicId, receiver);
      return { ok: outcome.ok, said: outcome.ok ? outcome.said : outcome.reason, why: outcome.why };
    },
  );
}

async function readState(session: Session, clinicId: number, sendsMail: boolean): Promise<NotificationState> {
  const { quiet, receivers } = await readNotifications(session, clinicId);
  const { messages, health } = await readAlertBook(session, clinicId);
  return {
    sends_mail: sendsMail,
    quiet: shownQuiet(quiet),
    channels: receivers.map(({ id, type, target }) => {
      const { sentAt = null, fault = null } = health[id] ?? {};
      return {
        ...{ id, type, target },
        sent_at: timestampOrNull(sentAt),
        fault: fault && { ...fault, at: new Date(fault.at).toISOString() },
        waiting: messages.filter(({ channel }) => channel === id).length,
      };
    }),
  };
}

function shownQuiet(quiet: QuietHours | null): QuietHoursShown | null {
  return quiet && { from: quiet.from, until: quiet.until, exempt_critical: quiet.exemptCritical };
}

/** @throws ApiError for an address that cannot be a receiver */
function newReceiver({ type, target }: NewChannelBody, allowPrivate: boolean): Receiver {
  const id = randomBytes(8).toString("hex");
  const text = target.trim();
  if (type === "email") {
    if (isMailAddress(text)) return { id, type, target: text, secret: "" };
    refuseValue(refusal("SHARE.ADDRESS"));
  }
  const url = readReceiverUrl(text, allowPrivate);
  if (!url.ok) refuse(refusal("WEBHOOK.URL", url.why.code, ...url.why.values));
  return { id, type, target: text, secret: newWebhookSecret() };
}

function additionProblem({ receivers }: Notifications, { target }: Receiver): Refusal | null {
  if (receivers.some((receiver) => receiver.target.toLowerCase() === target.toLowerCase())) {
    return refusal("CHANNEL.TAKEN");
  }
  return receivers.length < CHANNELS_MAX ? null : refusal("CHANNEL.TOO_MANY", CHANNELS_MAX);
}

function receiverOf({ receivers }: Notifications, wanted: string): Receiver {
  const receiver = receivers.find(({ id }) => id === wanted);
  if (receiver === undefined) throw new ApiError("RECORD.NOT_FOUND", "This address");
  return receiver;
}
