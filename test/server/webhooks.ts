import type { Store } from "../../server/database/store.ts";
import { insertWebhook } from "../../server/records/webhooks/webhooks.ts";
import { insertUser } from "../../server/records/users/users.ts";
import { findClinic } from "../../server/records/clinics/keys.ts";
import { type WebhookType, webhookTypes } from "../../server/dashboard/types/settings/webhooks.ts";
import { newWebhookSecret } from "../../server/operations/webhooks/sign.ts";
import { noon } from "./harness.ts";

/** Gives a clinic a webhook, as an admin does. */
export async function addWebhook(
  store: Store,
  clinicFp: string,
  {
    url = "https://example.com/",
    types = [...webhookTypes],
    id = `wh_${clinicFp}`,
  }: { url?: string; types?: WebhookType[]; id?: string } = {},
): Promise<{ clinicId: number; id: string; secret: string }> {
  const clinicId = (await findClinic(store, clinicFp))?.id ?? 0;
  const webhook = { clinicId, id, secret: newWebhookSecret(), url, types, now: noon };
  await store.transaction((session) => insertWebhook(session, webhook));
  return webhook;
}

/** Adds a user whom actions need. */
export async function addUser(store: Store): Promise<number> {
  const user = await store.transaction((session) => insertUser(session, { name: "Ada", password: "none", now: noon }));
  return user?.id ?? 0;
}
