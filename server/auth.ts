import { createHmac, randomBytes, randomInt } from "node:crypto";
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import type { FastifyRequest } from "fastify";
import { newUlid } from "../shared/fp.ts";
import { ApiError } from "./errors.ts";
import { type ApiKey, findKey, insertKey, type KeyType, touchKey } from "./store/keys.ts";
import type { Store } from "./store/store.ts";

// API keys: `sk_live_`, 32 random base62 letters, and 6 letters of CRC32 over all before them, so that a typing error
// or junk is refused without asking the database. Stored is an HMAC only: the key is shown once, when it is made.

export const permissions = [
  "clinic.patient.view",
  "clinic.calendar.view",
  "clinic.inventory.view",
  "clinic.soap.view",
  "clinic.lab.view",
  "clinic.lab.ingest",
] as const;
export type Permission = (typeof permissions)[number];

/** The header in which an endpoint takes its key (specification, section 5). */
export type KeyHeader = "x-api-key" | "authorization";

/** Runs before anything else of a protected route; rejects with 401 or 403. */
export type Guard = (request: FastifyRequest) => Promise<void>;

const PREFIX = "sk_live_";
const SECRET_LETTERS = 32;
const CHECKSUM_LETTERS = 6;
const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const KEY = new RegExp(`^${PREFIX}[0-9A-Za-z]{${SECRET_LETTERS + CHECKSUM_LETTERS}}$`);

/** A day-old last_used_at serves its purpose, a write at each request would not. */
const LAST_USED_THROTTLE_MS = 60_000;

/** Makes the guards of the routes: which header carries the key, and which permissions open the route (any one of them does). */
export function createGuards(store: Store, pepper: Buffer, now: () => number) {
  return (header: KeyHeader, ...anyOf: Permission[]): Guard =>
    async (request) => {
      const key = await authenticate(store, pepper, presentedKey(request, header), now());
      if (key === undefined) {
        throw new ApiError("AUTH.UNAUTHORIZED", "", { headers: { "www-authenticate": CHALLENGES[header] } });
      }
      noteUse(store, key, request, now());

      // Rate limits (issue 3) stand here: after the key is known, before what it may do (api.md 140).

      if (!anyOf.some((permission) => key.permissions.includes(permission))) throw new ApiError("AUTH.FORBIDDEN");
      request.setDecorator<ApiKey>("apiKey", key);
    };
}

/** The key that a guard let through. */
export function keyOf(request: FastifyRequest): ApiKey {
  return request.getDecorator<ApiKey>("apiKey");
}

/** Makes a key for a clinic and stores its digest; the returned text is the only copy of the key. */
export async function createKey(
  store: Store,
  pepper: Buffer,
  description: {
    clinicId: number;
    name: string;
    type: KeyType;
    permissions: Permission[];
    now: number;
    expiresAt: number | null;
  },
): Promise<string> {
  const key = newKey();
  await store.transaction((session) =>
    insertKey(session, {
      public_id: `key_${newUlid()}`,
      clinic_id: description.clinicId,
      name: description.name,
      type: description.type,
      permissions: description.permissions,
      digest: digest(pepper, key),
      prefix: key.slice(0, PREFIX.length + 4),
      last_four: key.slice(-4),
      created_at: description.now,
      expires_at: description.expiresAt,
    }),
  );
  return key;
}

/** Whether the text has the shape and the checksum of a key. */
export function isWellFormedKey(text: string): boolean {
  return KEY.test(text) && checksum(text.slice(0, -CHECKSUM_LETTERS)) === text.slice(-CHECKSUM_LETTERS);
}

const PEPPER_BYTES = 32;

/**
 * The secret that key digests are made with, from its file in the data folder. It is made when no key needs one yet;
 * throws when keys exist and the file is gone, since none of them could be recognised again.
 */
export function loadPepper(folder: string, keysExist: boolean): Buffer {
  const path = join(folder, "pepper");
  const kept = readIfThere(path);
  if (kept === undefined) {
    if (keysExist) throw new Error(`${path} is missing, and the keys of this database were made with it: restore it`);
    // Linked into place whole: another process starting now reads all of it or makes none.
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const draft = `${path}.${process.pid}`;
    writeFileSync(draft, randomBytes(PEPPER_BYTES), { mode: 0o600, flush: true });
    try {
      linkSync(draft, path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    } finally {
      rmSync(draft);
    }
  }
  const pepper = kept ?? readFileSync(path);
  if (pepper.length !== PEPPER_BYTES) {
    throw new Error(`${path} has ${pepper.length} bytes, expected ${PEPPER_BYTES}: restore it`);
  }
  return pepper;
}

const CHALLENGES: Record<KeyHeader, string> = {
  "x-api-key": 'X-API-Key realm="vetwire"',
  authorization: 'Bearer realm="vetwire"',
};

function presentedKey(request: FastifyRequest, header: KeyHeader): string {
  const value = request.headers[header];
  if (typeof value !== "string") return "";
  if (header === "x-api-key") return value;
  // RFC 9110: the scheme in any case; RFC 6750: one space.
  return /^bearer ([^ ]+)$/i.exec(value)?.[1] ?? "";
}

// Unknown, revoked and expired keys are alike to the caller (api.md 130).
async function authenticate(store: Store, pepper: Buffer, key: string, now: number): Promise<ApiKey | undefined> {
  if (!isWellFormedKey(key)) return undefined;
  // Looked up by its digest: how long the index takes tells nothing of a key to one who lacks the pepper.
  const found = await findKey(store, digest(pepper, key));
  if (found === undefined || found.revoked_at !== null) return undefined;
  if (found.expires_at !== null && found.expires_at <= now) return undefined;
  return found;
}

function noteUse(store: Store, key: ApiKey, request: FastifyRequest, now: number): void {
  if (key.last_used_at !== null && now - key.last_used_at < LAST_USED_THROTTLE_MS) return;
  // Not awaited: the answer need not wait for a disk, and is right without it.
  store
    .transaction((session) => touchKey(session, key.id, now))
    .catch((error: unknown) => {
      request.log.warn({ err: error, key: key.public_id }, "the last use of a key was not stored");
    });
}

function newKey(): string {
  let key = PREFIX;
  for (let letter = 0; letter < SECRET_LETTERS; letter += 1) key += BASE62.charAt(randomInt(BASE62.length));
  return key + checksum(key);
}

function checksum(text: string): string {
  let rest = crc32(text);
  let letters = "";
  while (letters.length < CHECKSUM_LETTERS) {
    letters = BASE62.charAt(rest % BASE62.length) + letters;
    rest = Math.floor(rest / BASE62.length);
  }
  return letters;
}

function digest(pepper: Buffer, key: string): string {
  return createHmac("sha256", pepper).update(key).digest("hex");
}

function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
