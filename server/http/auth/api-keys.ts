import zlib from "node:zlib";
import { createHmac, randomInt } from "node:crypto";
import { newUlid } from "../../../shared/api/fp.ts";
import { type ApiKey, countActiveKeys, expireKey, findKeyById, insertKey, type KeyType } from "../../store/keys.ts";
import type { Session } from "../../store/database/query.ts";
import type { Store } from "../../store/database/store.ts";

export const permissions = [
  "clinic.patient.view",
  "clinic.calendar.view",
  "clinic.inventory.view",
  "clinic.soap.view",
  "clinic.lab.view",
  "clinic.lab.ingest",
] as const;

export type Permission = (typeof permissions)[number];

/** The header in which an endpoint takes its key. */
export type KeyHeader = "x-api-key" | "authorization";

// Format of a key: the prefix, a secret of 32 random base62 characters, and a CRC32 of both in 6 base62 characters. The
// checksum detects typing errors and junk without a database query. The store keeps an HMAC of the key, never the key.

/** Max active keys of a clinic, so that a faulty script cannot create keys without end. */
export const ACTIVE_KEYS_MAX = 25;

const PREFIX = "sk_live_";

const SECRET_CHARS = 32;

const CHECKSUM_CHARS = 6;

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

const KEY = new RegExp(`^${PREFIX}[0-9A-Za-z]{${SECRET_CHARS + CHECKSUM_CHARS}}$`);

export interface NewApiKey {
  clinicId: number;
  name: string;
  type: KeyType;
  permissions: readonly string[];
  /** Milliseconds since 1970. */
  now: number;
  /** Milliseconds since 1970, or null for a key that never expires. */
  expiresAt: number | null;
}

/**
 * Creates a key for a clinic and stores its digest. Rejects if the clinic has ACTIVE_KEYS_MAX active keys.
 * @returns the only copy of the key
 */
export async function createKey(store: Store, pepper: Buffer, wanted: NewApiKey): Promise<string> {
  return store.transaction((session) => makeKey(session, pepper, wanted));
}

/**
 * Creates a successor of an active key, with the same permissions. The old key expires after `graceMs`. The new key
 * expires when the old one would have, unless `expiresAt` is given.
 */
export async function rollKey(
  store: Store,
  pepper: Buffer,
  { publicId, graceMs, now, expiresAt }: { publicId: string; graceMs: number; now: number; expiresAt?: number },
): Promise<{ key: string; oldExpiresAt: number; expiresAt: number | null }> {
  return store.transaction(async (session) => {
    const old = await findKeyById(session, publicId);
    if (old === undefined) throw new Error(`key ${publicId} does not exist, expected an id that keys list shows`);
    if (!isActive(old, now)) throw new Error(`key ${publicId} is revoked or expired, make a new one with keys create`);
    const made = { ...old, clinicId: old.clinic_id, now, expiresAt: expiresAt ?? old.expires_at };
    const key = await makeKey(session, pepper, made);
    const oldExpiresAt = Math.min(now + graceMs, old.expires_at ?? Number.MAX_SAFE_INTEGER);
    await expireKey(session, old, oldExpiresAt);
    return { key, oldExpiresAt, expiresAt: made.expiresAt };
  });
}

async function makeKey(session: Session, pepper: Buffer, wanted: NewApiKey): Promise<string> {
  if ((await countActiveKeys(session, wanted.clinicId, wanted.now)) >= ACTIVE_KEYS_MAX) {
    throw new Error(`the clinic has ${ACTIVE_KEYS_MAX} active keys, at most ${ACTIVE_KEYS_MAX}: revoke one first`);
  }
  const key = newKey();
  await insertKey(session, {
    public_id: `key_${newUlid()}`,
    clinic_id: wanted.clinicId,
    name: wanted.name,
    type: wanted.type,
    permissions: [...wanted.permissions],
    digest: digest(pepper, key),
    prefix: key.slice(0, PREFIX.length + 4),
    last_four: key.slice(-4),
    created_at: wanted.now,
    expires_at: wanted.expiresAt,
  });
  return key;
}

/** Whether the text has the format and the checksum of a key. */
export function isWellFormedKey(text: string): boolean {
  return KEY.test(text) && checksum(text.slice(0, -CHECKSUM_CHARS)) === text.slice(-CHECKSUM_CHARS);
}

export function isActive({ revoked_at, expires_at }: ApiKey, now: number): boolean {
  return revoked_at === null && (expires_at === null || expires_at > now);
}

function newKey(): string {
  let key = PREFIX;
  for (let count = 0; count < SECRET_CHARS; count += 1) key += BASE62.charAt(randomInt(BASE62.length));
  return key + checksum(key);
}

function checksum(text: string): string {
  let rest = zlib.crc32(text);
  let chars = "";
  while (chars.length < CHECKSUM_CHARS) {
    chars = BASE62.charAt(rest % BASE62.length) + chars;
    rest = Math.floor(rest / BASE62.length);
  }
  return chars;
}

/** The HMAC under which the store keeps a key, as hex. */
export function digest(pepper: Buffer, key: string): string {
  return createHmac("sha256", pepper).update(key).digest("hex");
}
