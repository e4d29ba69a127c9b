import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { KEY_DAYS_MAX, type KeyEntry, type KeyList, type MadeKey } from "../../types/settings/keys.ts";
import { ACTIVE_KEYS_MAX, createKey, KeyRefused, permissions, rollKey } from "../../../http/auth/api-keys.ts";
import { ApiError } from "../../../http/errors.ts";
import { auditCommand } from "../../../records/audit/audit.ts";
import { type KeyDescription, listKeys, revokeKey } from "../../../records/clinics/keys.ts";
import { clinicOf } from "../../auth/guard.ts";
import { bodyReader } from "../../body.ts";
import type { DashboardContext } from "../../context.ts";
import { actorOf } from "../commands.ts";
import { textForm } from "../../../../shared/schema/text-form.ts";
import { refuse } from "../../refuse.ts";
import { refusal } from "../../types/refusals.ts";

// API keys of the clinic: made, rolled and revoked by an admin. A key of another clinic gets the response of a missing one.

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const GRACE_HOURS_MAX = 30 * 24;

const Days = Type.Union([Type.Integer({ minimum: 1, maximum: KEY_DAYS_MAX }), Type.Null()]);

const newKeyBody = bodyReader({
  name: Type.String({ minLength: 1, maxLength: 100, pattern: textForm("\\S", "text that is not blank") }),
  type: Type.Enum(["integration", "device", "partner"]),
  permissions: Type.Array(Type.Enum([...permissions]), { minItems: 1, uniqueItems: true }),
  expires_in_days: Days,
});

const rollBody = bodyReader({
  grace_hours: Type.Integer({ minimum: 0, maximum: GRACE_HOURS_MAX }),
  expires_in_days: Days,
});

const URL = "/clinic/v1/clinics/:clinic/keys";

export function keyRoutes(app: FastifyInstance, { store, now, pepper }: DashboardContext): void {
  app.get(URL, { config: { access: "admin" } }, async (request): Promise<KeyList> => {
    const keys = (await listKeys(store, clinicOf(request).id)).map((key) => entryOf(key, now())).toReversed();
    const active = keys.filter(({ state }) => state === "active");
    const ended = keys.filter(({ state }) => state !== "active");
    return { keys: [...active, ...ended], active: active.length, active_max: ACTIVE_KEYS_MAX };
  });
  app.post(URL, { config: { access: "admin" } }, async (request): Promise<MadeKey> => {
    const { name, type, permissions: granted, expires_in_days } = newKeyBody(request.body);
    const expiresAt = endOf(expires_in_days, now());
    const wanted = { clinicId: clinicOf(request).id, name: name.trim(), type, permissions: granted, expiresAt };
    const actor = actorOf(request, now());
    return { key: await orRefusal(createKey(store, pepper, { ...wanted, now: actor.now, actor })) };
  });
  app.post<{ Params: { id: string } }>(
    `${URL}/:id/roll`,
    { config: { access: "admin" } },
    async (request): Promise<MadeKey> => {
      const { id: publicId } = request.params;
      const { grace_hours, expires_in_days } = rollBody(request.body);
      const end = { now: now(), graceMs: grace_hours * HOUR_MS, expiresAt: endOf(expires_in_days, now()) };
      const actor = actorOf(request, now());
      const wanted = { publicId, clinicId: clinicOf(request).id, ...end, actor };
      return { key: (await orRefusal(rollKey(store, pepper, wanted))).key };
    },
  );
  app.post<{ Params: { id: string } }>(`${URL}/:id/revoke`, { config: { access: "admin" } }, async (request) => {
    const { id: publicId } = request.params;
    const actor = actorOf(request, now());
    await store.transaction(async (session) => {
      const found = await revokeKey(session, publicId, actor.now, clinicOf(request).id);
      if (!found) throw new ApiError("RECORD.NOT_FOUND", "This key");
      await auditCommand(session, "keys revoke", [publicId], actor);
    });
    return {};
  });
}

function entryOf(key: KeyDescription, now: number): KeyEntry {
  const isOver = key.expires_at !== null && Date.parse(key.expires_at) <= now;
  return { ...key, state: key.revoked_at !== null ? "revoked" : isOver ? "expired" : "active" };
}

function endOf(days: number | null, now: number): number | null {
  return days === null ? null : now + days * DAY_MS;
}

/** Converts a refusal into the error of the page. */
async function orRefusal<T>(made: Promise<T>): Promise<T> {
  try {
    return await made;
  } catch (error) {
    if (!(error instanceof KeyRefused)) throw error;
    if (error.reason === "unknown") throw new ApiError("RECORD.NOT_FOUND", "This key");
    refuse(error.reason === "limit" ? refusal("KEY.TOO_MANY", ACTIVE_KEYS_MAX) : refusal("KEY.ENDED"));
  }
}
