import type { Kysely } from "kysely";
import { newUlid } from "../../shared/api/fp.ts";
import { noInvalidation, query, type Session } from "./database/query.ts";
import type { AuditColumns, Tables } from "./database/schema.ts";

// The audit: one row for a request, or for several alike. Rows are added at the end and go by age.

export type AuditRow = AuditColumns;

/** In one statement, which takes two thirds of the time. */
const ROWS_AT_ONCE = 20;

/** A row as `audit` shows it. */
export interface AuditDescription extends Omit<AuditColumns, "at" | "api_key_id"> {
  at: string;
  clinic_fp: string | null;
  key: string | null;
}

export async function insertRows(session: Session, rows: readonly AuditRow[]): Promise<void> {
  const groups: AuditRow[][] = [];
  let grouped = 0;
  for (; grouped + ROWS_AT_ONCE <= rows.length; grouped += ROWS_AT_ONCE) {
    groups.push(rows.slice(grouped, grouped + ROWS_AT_ONCE));
  }
  await session.each(insertGroup, groups);
  await session.each(insert, rows.slice(grouped));
}

/** Adds a row; its id, to count on with. */
export async function insertRow(session: Session, row: AuditRow): Promise<number | undefined> {
  return (await session.first(insertCounted, row))?.id;
}

export async function setTimes(session: Session, id: number, times: number): Promise<void> {
  await session.all(update, { id, times });
}

/** Removes rows that are older, a thousand at most: whoever adds some now and then keeps the table at its age. */
export async function removeOldest(session: Session, before: number): Promise<void> {
  const oldest = await session.first(firstRow, {});
  if (oldest !== undefined && oldest.at < before) await session.all(remove, { before, end: oldest.id + 1000 });
}

export interface AuditFilter {
  /** Milliseconds since 1970; the end itself is not in it. */
  since: number;
  until: number;
  /** Only what was asked with this key, or with any key of this clinic. */
  keyId?: number;
  clinicId?: number;
}

/** The rows about one record, in the order in which they were written. */
export async function listRowsOf(session: Session, fp: string): Promise<AuditDescription[]> {
  const rows: ({ at: number } & Omit<AuditDescription, "at">)[] = await session.all(ofRecord, { fp });
  return rows.map(({ at, ...row }) => ({ ...row, at: new Date(at).toISOString() }));
}

/** The rows in the order in which they were written, a thousand in memory at a time. */
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

const insert = query((db, p: AuditRow) => db.insertInto("audit").values(columnsOf(p)), noInvalidation);

const insertGroup = query((db, p: AuditRow[]) => {
  const rows = Array.from({ length: ROWS_AT_ONCE }, (_, index) => columnsOf(p[index] as AuditRow));
  return db.insertInto("audit").values(rows);
}, noInvalidation);

const insertCounted = query(
  (db, p: AuditRow) => db.insertInto("audit").values(columnsOf(p)).returning("id"),
  noInvalidation,
);

// By name: the parameters of a query cannot be listed.
function columnsOf(p: AuditRow): AuditRow {
  const { at, request_id, api_key_id, method, route, fp, count, status, address, times } = p;
  return { at, request_id, api_key_id, method, route, fp, count, status, address, times };
}

const update = query(
  (db, p: { id: number; times: number }) => db.updateTable("audit").set({ times: p.times }).where("id", "=", p.id),
  noInvalidation,
);

const firstRow = query((db) => db.selectFrom("audit").select(["id", "at"]).orderBy("id").limit(1));

const remove = query(
  (db, p: { before: number; end: number }) => db.deleteFrom("audit").where("id", "<", p.end).where("at", "<", p.before),
  noInvalidation,
);

const selections = { all: selection(), key: selection("audit.api_key_id"), clinic: selection("api_key.clinic_id") };

const ofRecord = query((db, p: { fp: string }) => described(db).where("audit.fp", "=", p.fp).orderBy("audit.id"));

function described(db: Kysely<Tables>) {
  return db
    .selectFrom("audit")
    .leftJoin("api_key", "api_key.id", "audit.api_key_id")
    .leftJoin("clinic", "clinic.id", "api_key.clinic_id")
    .select(["audit.id", "audit.at", "clinic.fp as clinic_fp", "api_key.public_id as key", "audit.method"])
    .select(["audit.route", "audit.fp", "audit.count", "audit.status", "audit.address", "audit.request_id"])
    .select("audit.times");
}

function selection(column?: "audit.api_key_id" | "api_key.clinic_id") {
  return query((db, p: { after: number; since: number; until: number; id: number }) => {
    const rows = described(db)
      .where("audit.id", ">", p.after)
      .where("audit.at", ">=", p.since)
      .where("audit.at", "<", p.until)
      .orderBy("audit.id")
      .limit(1000);
    return column === undefined ? rows : rows.where(column, "=", p.id);
  });
}

/** Actor and time of a change, for the audit. */
export interface AuditActor {
  by: string;
  now: number;
}

/** One row of the audit for each record that a command of a person touches; the request id holds them together. */
export async function auditCommand(
  session: Session,
  command: string,
  fps: readonly (string | null)[],
  { by, now }: AuditActor,
): Promise<void> {
  const request_id = newUlid();
  for (const fp of fps) {
    if (fp === null) continue;
    const row = { at: now, request_id, api_key_id: null, method: "COMMAND", route: command, fp, count: null };
    await insertRow(session, { ...row, status: null, address: by, times: 1 });
  }
}
