import { createHmac } from "node:crypto";
import { newUlid } from "../../../shared/api/fp.ts";
import { KEY_PREFIX, newKey } from "../../../shared/runtime/api-key.ts";
import type { KeyHolder } from "../../dashboard/types/settings/keys.ts";
import { moveAgent } from "../../records/agents/agents.ts";
import { type ApiKey, countActiveKeys, expireKey, findKeyById, insertKey } from "../../records/clinics/keys.ts";
import { type AuditActor, auditCommand } from "../../records/audit/audit.ts";
import type { Session } from "../../database/query.ts";
import type { Store } from "../../database/store.ts";

export const permissions = [
  "clinic.patient.view",
  "clinic.calendar.view",
  "clinic.inventory.view",
  "clinic.soap.view",
  "clinic.lab.view",
  "clinic.audit.view",
  "clinic.lab.ingest",
  "clinic.sync.write",
] as const;

export type Permission = (typeof permissions)[number];

/** The header in which an endpoint takes its key. */
export type KeyHeader = "x-api-key" | "authorization";

// The store keeps only an HMAC of a key, so that a stolen database opens nothing.

/** Max active keys of a clinic, so that a faulty script cannot create keys without end. */
export const ACTIVE_KEYS_MAX = 25;

export interface NewApiKey {
  clinicId: number;
  name: string;
  type: KeyHolder;
  permissions: readonly string[];
  /** Milliseconds since 1970. */
  now: number;
  /** Milliseconds since 1970, or null for a key that never expires. */
  expiresAt: number | null;
  /** Row id of the first key of its line, for a successor. */
  rolledFrom?: number;
  /** The user of the dashboard who creates it, for the audit. */
  actor?: AuditActor;
}

/** The key cannot be created. The reason is for programs, the message for the command line. */
export class KeyRefused extends Error {
  readonly reason: "unknown" | "inactive" | "limit";

  constructor(reason: KeyRefused["reason"], message: string) {
    super(message);
    this.reason = reason;
  }
}

export interface Roll {
  publicId: string;
  /** A key of another clinic is unknown. Without it, keys of all clinics are known. */
  clinicId?: number;
  graceMs: number;
  now: number;
  /** End of the new key; null for a key that never expires. By default the end of the old one. */
  expiresAt?: number | null;
  /** The user of the dashboard who rolls it, for the audit. */
  actor?: AuditActor;
}

/**
 * Creates a key for a clinic and stores its digest. Rejects with KeyRefused if the clinic has ACTIVE_KEYS_MAX active keys.
 * @returns the only copy of the key
 */
export async function createKey(store: Store, pepper: Buffer, wanted: NewApiKey): Promise<string> {
  const key = newKey();
  await store.transaction((session) => addKey(session, pepper, key, wanted));
  return key;
}

/**
 * Creates a successor of an active key, with the same permissions. The old key expires after `graceMs`. Rejects with KeyRefused if
 * the key is unknown or no longer active.
 */
export async function rollKey(
  store: Store,
  pepper: Buffer,
  { publicId, clinicId, graceMs, now, expiresAt, actor }: Roll,
): Promise<{ key: string; oldExpiresAt: number; expiresAt: number | null }> {
  return store.transaction(async (session) => {
    const old = await findKeyById(session, publicId);
    if (old === undefined || (clinicId !== undefined && old.clinic_id !== clinicId)) {
      throw new KeyRefused("unknown", `key ${publicId} does not exist, expected an id that keys list shows`);
    }
    if (!isActive(old, now)) {
      const problem = `key ${publicId} is revoked or expired, make a new one with keys create`;
      throw new KeyRefused("inactive", problem);
    }
    const end = expiresAt === undefined ? old.expires_at : expiresAt;
    const key = newKey();
    const added = await addKey(session, pepper, key, {
      ...old,
      clinicId: old.clinic_id,
      now,
      expiresAt: end,
      rolledFrom: old.rolled_from ?? old.id,
      ...(actor && { actor }),
    });
    if (actor !== undefined) await auditCommand(session, "keys roll", [publicId], actor);
    await moveAgent(session, old.id, added.id);
    const oldExpiresAt = Math.min(now + graceMs, old.expires_at ?? Number.MAX_SAFE_INTEGER);
    await expireKey(session, old, oldExpiresAt);
    return { key, oldExpiresAt, expiresAt: end };
  });
}

/** Stores the digest of a new key. Throws KeyRefused if the clinic has ACTIVE_KEYS_MAX active keys. */
export async function addKey(session: Session, pepper: Buffer, key: string, wanted: NewApiKey): Promise<ApiKey> {
  if ((await countActiveKeys(session, wanted.clinicId, wanted.now)) >= ACTIVE_KEYS_MAX) {
    const problem = `the clinic has ${ACTIVE_KEYS_MAX} active keys, at most ${ACTIVE_KEYS_MAX}: revoke one first`;
    throw new KeyRefused("limit", problem);
  }
  const publicId = `key_${newUlid()}`;
  await insertKey(session, {
    public_id: publicId,
    clinic_id: wanted.clinicId,
    name: wanted.name,
    type: wanted.type,
    permissions: [...wanted.permissions],
    digest: digest(pepper, key),
    prefix: key.slice(0, KEY_PREFIX.length + 4),
    last_four: key.slice(-4),
    created_at: wanted.now,
    expires_at: wanted.expiresAt,
    rolled_from: wanted.rolledFrom ?? null,
  });
  if (wanted.actor !== undefined) await auditCommand(session, "keys create", [publicId], wanted.actor);
  const added = await findKeyById(session, publicId);
  if (added === undefined) throw new Error("an inserted key is missing");
  return added;
}

export function isActive({ revoked_at, expires_at }: ApiKey, now: number): boolean {
  return revoked_at === null && (expires_at === null || expires_at > now);
}

/** The HMAC under which the store keeps a key, as hex. */
export function digest(pepper: Buffer, key: string): string {
  return createHmac("sha256", pepper).update(key).digest("hex");
}
