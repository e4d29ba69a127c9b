import { type Kysely, sql } from "kysely";
import { newUlid } from "../../../shared/api/fp.ts";
import { query, type Session, uncachedWrite } from "../../database/query.ts";
import type { AuditColumns, Tables } from "../../database/schema.ts";

// The audit: one row for a request, or for several equal requests. Old rows are removed.

export type AuditRow = AuditColumns;

/** Rows of one INSERT statement. */
const ROWS_AT_ONCE = 20;

/** A row in the output of `audit`. */
export interface AuditDescription extends Omit<AuditColumns, "at" | "api_key_id" | "user_id" | "clinic_id"> {
  at: string;
  /** The clinic of the key, or in which the user acted. */
  clinic_fp: string | null;
  key: string | null;
  /** Name of the signed-in user. */
  user: string | null;
}

/** The columns of each row in files with the audit, next to time, clinic and user. */
export const requestColumns = [
  "key",
  "method",
  "route",
  "fp",
  "count",
  "status",
  "address",
  "request_id",
  "times",
] as const satisfies (keyof AuditDescription)[];

export async function insertRows(session: Session, rows: readonly AuditRow[]): Promise<void> {
  const groups: AuditRow[][] = [];
  let grouped = 0;
  for (; grouped + ROWS_AT_ONCE <= rows.length; grouped += ROWS_AT_ONCE) {
    groups.push(rows.slice(grouped, grouped + ROWS_AT_ONCE));
  }
  await session.each(insertGroup, groups);
  await session.each(insert, rows.slice(grouped));
}

/** Adds a row. @returns its id, for `setTimes` */
export async function insertRow(session: Session, row: AuditRow): Promise<number | undefined> {
  return (await session.first(insertCounted, row))?.id;
}

export async function setTimes(session: Session, id: number, times: number): Promise<void> {
  await session.all(update, { id, times });
}

/**
 * Removes rows that are older than `keptMs`, at most 1000 in a call. A row of the future was written while the clock was ahead; it
 * goes with its neighbours. @returns whether more may be old
 */
export async function removeOldest(session: Session, now: number, keptMs: number): Promise<boolean> {
  const before = now - keptMs;
  const oldest = await session.first(firstRow, { now });
  if (oldest === undefined || oldest.at >= before) return false;
  await session.all(remove, { before, now, end: oldest.id + 1000 });
  return true;
}

export interface AuditFilter {
  /** Milliseconds since 1970; `until` is exclusive. */
  since: number;
  until: number;
  /** Only requests with this key, or with any key and of any user of this clinic. */
  keyId?: number;
  clinicId?: number;
}

/** Lists the rows about one record, in the order of writing. */
export async function listRowsOf(session: Session, fp: string): Promise<AuditDescription[]> {
  const rows: ({ at: number } & Omit<AuditDescription, "at">)[] = await session.all(ofRecord, { fp });
  return rows.map(({ at, ...row }) => ({ ...row, at: new Date(at).toISOString() }));
}

/** Lists rows in the order of writing. Holds 1000 rows in memory. */
export async function* listRows(
  session: Session,
  { since, until, keyId, clinicId }: AuditFilter,
): AsyncGenerator<AuditDescription> {
  const selected = selections[keyId !== undefined ? "key" : clinicId !== undefined ? "clinic" : "all"];
  const id = keyId ?? clinicId ?? 0;
  let after: number | undefined = 0;
  while (after !== undefined) {
    const rows: { id: number; at: number }[] & Omit<AuditDescription, "at">[] = await session.all(selected, {
      after,
      since,
      until,
      id,
    });
    for (const { id: _id, at, ...row } of rows) yield { at: new Date(at).toISOString(), ...row };
    after = rows.at(-1)?.id;
  }
}

const insert = uncachedWrite((db, p: AuditRow) => db.insertInto("audit").values(columnsOf(p)));

const insertGroup = uncachedWrite((db, p: AuditRow[]) => {
  const rows = Array.from({ length: ROWS_AT_ONCE }, (_, index) => columnsOf(p[index] as AuditRow));
  return db.insertInto("audit").values(rows);
});

const insertCounted = uncachedWrite((db, p: AuditRow) => db.insertInto("audit").values(columnsOf(p)).returning("id"));

// Lists each column, because the parameters of a query cannot be spread.
function columnsOf(p: AuditRow): AuditRow {
  const { at, request_id, api_key_id, method, route, fp, count, status, address, times, user_id, clinic_id } = p;
  return { at, request_id, api_key_id, method, route, fp, count, status, address, times, user_id, clinic_id };
}

const update = uncachedWrite((db, p: { id: number; times: number }) =>
  db.updateTable("audit").set({ times: p.times }).where("id", "=", p.id),
);

const firstRow = query((db, p: { now: number }) =>
  db.selectFrom("audit").select(["id", "at"]).where("at", "<=", p.now).orderBy("id").limit(1),
);

const remove = uncachedWrite((db, p: { before: number; now: number; end: number }) =>
  db
    .deleteFrom("audit")
    .where("id", "<", p.end)
    .where((where) => where.or([where("at", "<", p.before), where("at", ">", p.now)])),
);

const selections = { all: selection(), key: selection("key"), clinic: selection("clinic") };

const ofRecord = query((db, p: { fp: string }) => described(db).where("audit.fp", "=", p.fp).orderBy("audit.id"));

/** Selects the rows with the names of their keys, clinics and users. */
export function described(db: Kysely<Tables>) {
  return db
    .selectFrom("audit")
    .leftJoin("api_key", "api_key.id", "audit.api_key_id")
    .leftJoin("clinic", (join) => join.on("clinic.id", "=", clinicOfRow))
    .leftJoin("dashboard_user as user", "user.id", "audit.user_id")
    .select(["audit.id", "audit.at", "clinic.fp as clinic_fp", "api_key.public_id as key", "audit.method"])
    .select(["audit.route", "audit.fp", "audit.count", "audit.status", "audit.address", "audit.request_id"])
    .select(["audit.times", "user.name as user"]);
}

/** The clinic of a row: that of its key, or in which its user acted. */
export const clinicOfRow = sql<number | null>`coalesce(api_key.clinic_id, audit.clinic_id)`;

function selection(by?: "key" | "clinic") {
  return query((db, p: { after: number; since: number; until: number; id: number }) => {
    const rows = described(db)
      .where("audit.id", ">", p.after)
      .where("audit.at", ">=", p.since)
      .where("audit.at", "<", p.until)
      .orderBy("audit.id")
      .limit(1000);
    if (by === "key") return rows.where("audit.api_key_id", "=", p.id);
    return by === "clinic" ? rows.where(clinicOfRow, "=", p.id) : rows;
  });
}

/** User and time of a command, for the audit. */
export interface AuditActor {
  by: string;
  now: number;
  /** The user of the dashboard and the clinic in which the user acts. */
  userId?: number;
  clinicId?: number;
}

/** Adds a row for each record that a command of a user changes. The rows have one request id. */
export async function auditCommand(
  session: Session,
  command: string,
  fps: readonly (string | null)[],
  { by, now, userId, clinicId }: AuditActor,
): Promise<void> {
  const request_id = newUlid();
  for (const fp of fps) {
    if (fp === null) continue;
    const row = { at: now, request_id, api_key_id: null, method: "COMMAND", route: command, fp, count: null };
    const actor = { user_id: userId ?? null, clinic_id: clinicId ?? null };
    await insertRow(session, { ...row, status: null, address: by, times: 1, ...actor });
  }
}
