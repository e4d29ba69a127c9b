import { timestampOrNull } from "../../../shared/runtime/timestamp.ts";
import type { KeyEntry, KeyHolder } from "../../dashboard/types/settings/keys.ts";
import { query, type Session, uncachedWrite } from "../../database/query.ts";
import { parseStored } from "../../database/schema.ts";
import { forgetFileTimes } from "../../database/stamps.ts";
import type { Versions } from "../../database/cache-versions.ts";

// API keys. The store holds a digest of each key, and enough characters for a user to recognise it.

/** A key that authenticates requests. */
export interface ApiKey {
  id: number;
  public_id: string;
  clinic_id: number;
  name: string;
  type: KeyHolder;
  permissions: string[];
  expires_at: number | null;
  revoked_at: number | null;
  last_used_at: number | null;
  /** Row id of the first key of its line: the key that was rolled into it, itself or through others. Null for a first key. */
  rolled_from: number | null;
}

/** A key in the output of `keys list`. */
export type KeyDescription = Omit<KeyEntry, "state">;

export interface NewKey {
  public_id: string;
  clinic_id: number;
  name: string;
  type: KeyHolder;
  permissions: string[];
  digest: string;
  prefix: string;
  last_four: string;
  created_at: number;
  expires_at: number | null;
  rolled_from: number | null;
}

export async function insertKey(session: Session, key: NewKey): Promise<void> {
  await session.all(insert, { ...key, permissions: JSON.stringify(key.permissions) });
}

/** A key with what its clinic is at the same instant. */
export interface FoundKey {
  readonly key: ApiKey;
  readonly versions: Versions;
  readonly isClinicSuspended: boolean;
  /** Studies that the clinic may store; null for the limit of the server. */
  readonly studiesMax: number | null;
}

/** Finds a key by digest, revoked and expired keys included. Reads its clinic in the same statement. */
export async function findKey(session: Session, digest: string): Promise<FoundKey | undefined> {
  const row = await session.first(byDigest, { digest });
  if (row === undefined) return undefined;
  const { version, lists_version, suspended_at, studies_max, ...key } = row;
  return {
    key: { ...key, permissions: parseStored(key.permissions) },
    versions: { answers: version, lists: lists_version },
    isClinicSuspended: suspended_at !== null,
    studiesMax: studies_max,
  };
}

/** Finds a key by public id, revoked and expired keys included. */
export async function findKeyById(session: Session, publicId: string): Promise<ApiKey | undefined> {
  const row = await session.first(byPublicId, { publicId });
  return row && { ...row, permissions: parseStored(row.permissions) };
}

/** Counts the keys of a clinic that are neither revoked nor expired. */
export async function countActiveKeys(session: Session, clinicId: number, now: number): Promise<number> {
  return (await session.first(countActive, { clinicId, now }))?.total ?? 0;
}

export async function expireKey(session: Session, { id, clinic_id }: ApiKey, expiresAt: number): Promise<void> {
  await session.all(expire, { id, clinicId: clinic_id, expiresAt });
}

/** Keys that one statement touches. */
const TOUCHED_AT_ONCE = 100;

/** Stores that keys were used. */
export async function touchKeys(session: Session, ids: readonly number[], now: number): Promise<void> {
  for (let first = 0; first < ids.length; first += TOUCHED_AT_ONCE) {
    // The statement takes that many.
    const some = Array.from({ length: TOUCHED_AT_ONCE }, (_, index) => ({ id: ids[first + index] ?? 0, now }));
    await session.all(touch, some);
  }
}

/**
 * Stores the first use of a key. A concurrent import into its clinic is serialised with it. If the first use was `since`,
 * and could not be stored then, imports since may have kept the times of their files: they are news for the key's client.
 */
export async function touchNewKey(
  session: Session,
  { id, clinic_id }: ApiKey,
  { now, since }: { now: number; since: number },
): Promise<void> {
  await touchKeys(session, [id], now);
  await session.all(writeClinic, { id: clinic_id });
  if (since < now) await session.all(forgetFileTimes, { clinicId: clinic_id, since });
}

/** @returns the ids of the clinics with a used key */
export async function servedClinics(session: Session): Promise<Set<number>> {
  return new Set((await session.all(clinicsOfUsedKeys, {})).map(({ clinic_id }) => clinic_id));
}

/**
 * Revokes a key by public id. With `clinicId`, a key of another clinic is unknown. A second call keeps the first time.
 * @returns false if the key is unknown
 */
export async function revokeKey(session: Session, publicId: string, now: number, clinicId?: number): Promise<boolean> {
  const key = await findKeyById(session, publicId);
  if (key === undefined || (clinicId !== undefined && key.clinic_id !== clinicId)) return false;
  await session.all(revoke, { id: key.id, clinicId: key.clinic_id, now });
  return true;
}

/** Revokes a key with its predecessors and successors by rolls, which are the keys of one agent. */
export async function revokeKeyLine(session: Session, publicId: string, now: number): Promise<void> {
  const key = await findKeyById(session, publicId);
  if (key === undefined) return;
  await session.all(revokeLine, { first: key.rolled_from ?? key.id, clinicId: key.clinic_id, now });
}

/** Lists all keys of a clinic, the oldest first. */
export async function listKeys(session: Session, clinicId: number): Promise<KeyDescription[]> {
  const rows = await session.all(byClinic, { clinicId });
  return rows.map((row) => ({
    id: row.public_id,
    name: row.name,
    type: row.type,
    permissions: parseStored(row.permissions),
    key: `${row.prefix}...${row.last_four}`,
    created_at: new Date(row.created_at).toISOString(),
    expires_at: timestampOrNull(row.expires_at),
    revoked_at: timestampOrNull(row.revoked_at),
    last_used_at: timestampOrNull(row.last_used_at),
  }));
}

export async function countKeys(session: Session): Promise<number> {
  return (await session.first(count, {}))?.total ?? 0;
}

export async function findClinic(session: Session, fp: string): Promise<{ id: number } | undefined> {
  return session.first(clinicByFp, { fp });
}

const insert = query(
  (db, p: Omit<NewKey, "permissions"> & { permissions: string }) =>
    db.insertInto("api_key").values({
      public_id: p.public_id,
      clinic_id: p.clinic_id,
      name: p.name,
      type: p.type,
      permissions: p.permissions,
      digest: p.digest,
      prefix: p.prefix,
      last_four: p.last_four,
      created_at: p.created_at,
      expires_at: p.expires_at,
      rolled_from: p.rolled_from,
    }),
  ({ clinic_id }) => ({ clinics: [clinic_id] }),
);

const columns = [
  "api_key.id",
  "public_id",
  "clinic_id",
  "api_key.name",
  "type",
  "permissions",
  "expires_at",
  "revoked_at",
  "last_used_at",
  "rolled_from",
] as const;

const byDigest = query((db, p: { digest: string }) =>
  db
    .selectFrom("api_key")
    .innerJoin("clinic", "clinic.id", "api_key.clinic_id")
    .select(columns)
    .select(["clinic.version", "clinic.lists_version", "clinic.suspended_at", "clinic.studies_max"])
    .where("digest", "=", p.digest),
);

const byPublicId = query((db, p: { publicId: string }) =>
  db.selectFrom("api_key").select(columns).where("public_id", "=", p.publicId),
);

const countActive = query((db, p: { clinicId: number; now: number }) =>
  db
    .selectFrom("api_key")
    .select((select) => select.fn.countAll<number>().as("total"))
    .where("clinic_id", "=", p.clinicId)
    .where("revoked_at", "is", null)
    .where((where) => where.or([where("expires_at", "is", null), where("expires_at", ">", p.now)])),
);

const expire = query(
  (db, p: { id: number; clinicId: number; expiresAt: number }) =>
    db.updateTable("api_key").set({ expires_at: p.expiresAt }).where("id", "=", p.id),
  ({ clinicId }) => ({ clinics: [clinicId] }),
);

const touch = uncachedWrite((db, p: { id: number; now: number }[]) => {
  const keys = Array.from({ length: TOUCHED_AT_ONCE }, (_, index) => p[index] as { id: number; now: number });
  const ids = keys.map(({ id }) => id);
  return db
    .updateTable("api_key")
    .set({ last_used_at: (keys[0] as { now: number }).now })
    .where("id", "in", ids);
});

/** Changes no value. On PostgreSQL it conflicts with other transactions that write this or bump the versions. */
export const writeClinic = uncachedWrite((db, p: { id: number }) =>
  db
    .updateTable("clinic")
    .set((set) => ({ version: set.ref("version") }))
    .where("id", "=", p.id),
);

const clinicsOfUsedKeys = query((db) =>
  db.selectFrom("api_key").select("clinic_id").distinct().where("last_used_at", "is not", null),
);

const revoke = query(
  (db, p: { id: number; clinicId: number; now: number }) =>
    db
      .updateTable("api_key")
      .set((set) => ({ revoked_at: set.fn.coalesce("revoked_at", set.val(p.now)) }))
      .where("id", "=", p.id),
  ({ clinicId }) => ({ clinics: [clinicId] }),
);

const revokeLine = query(
  (db, p: { first: number; clinicId: number; now: number }) =>
    db
      .updateTable("api_key")
      .set((set) => ({ revoked_at: set.fn.coalesce("revoked_at", set.val(p.now)) }))
      .where((where) => where.or([where("id", "=", p.first), where("rolled_from", "=", p.first)])),
  ({ clinicId }) => ({ clinics: [clinicId] }),
);

const byClinic = query((db, p: { clinicId: number }) =>
  db.selectFrom("api_key").selectAll().where("clinic_id", "=", p.clinicId).orderBy("created_at").orderBy("id"),
);

const count = query((db) => db.selectFrom("api_key").select((select) => select.fn.countAll<number>().as("total")));

const clinicByFp = query((db, p: { fp: string }) => db.selectFrom("clinic").select("id").where("fp", "=", p.fp));
