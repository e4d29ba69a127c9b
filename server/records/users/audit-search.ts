import { setImmediate } from "node:timers/promises";
import { sql } from "kysely";
import { type AuditDescription, clinicOfRow, described } from "../audit/audit.ts";
import { query, type Session } from "../../database/query.ts";
import { signInName } from "./users.ts";

// Searches the audit, the newest rows first. The audit has no index but its id, so a search reads it in slices of ids, and other
// requests run between two slices.

/** Ids in a slice. A slice takes about 20 ms. */
const SLICE = 20_000;

/** Slices that one call reads at most. The caller goes on with `next`. */
const SLICES_MAX = 10;

const ROWS_MAX = 100;

/** Rows are written in the order of time, but for the rows of one flush and a database that was locked for a while. */
const DISORDER_MS = 600_000;

export interface AuditSearch {
  clinicId: number;
  /** Milliseconds since 1970; `until` is exclusive. */
  since: number;
  until: number;
  /** Part of the user's name; empty for all rows. */
  user: string;
  /** Id of a key; empty for all rows. It finds requests with the key, and commands on it. */
  key: string;
  /** Part of method and route; empty for all rows. */
  text: string;
  /** Fp of a record; empty for all rows. */
  fp: string;
}

/** Rows of the clinic, the newest first. */
export interface AuditPage {
  rows: AuditDescription[];
  /** Continues the search with `before`; null at its end. */
  next: number | null;
}

/** Finds at most 100 rows before an id; without `before` the newest ones. A page may hold fewer though more rows follow. */
export async function searchAudit(session: Session, search: AuditSearch, before?: number): Promise<AuditPage> {
  const { since, until } = search;
  const words = { user: like(signInName(search.user)), text: like(search.text.toLowerCase()) };
  const rows: AuditDescription[] = [];
  let end = before ?? Number.MAX_SAFE_INTEGER;
  for (let slices = 0; slices < SLICES_MAX; ) {
    const newest = await session.first(rowBefore, { id: end });
    if (newest === undefined || newest.at < since - DISORDER_MS) return { rows, next: null };
    const start = newest.id - SLICE;
    const older = await session.first(rowBefore, { id: start + 1 });
    // Skips slices that are too new, for the price of two look-ups.
    if (older === undefined || older.at < until + DISORDER_MS) {
      const limit = ROWS_MAX - rows.length;
      const found: FoundRow[] = await session.all(slice, { ...search, ...words, start, end, limit });
      for (const { id: _id, at, ...row } of found) rows.push({ at: new Date(at).toISOString(), ...row });
      if (rows.length === ROWS_MAX) return { rows, next: found.at(-1)?.id ?? null };
      slices += 1;
      await setImmediate();
    }
    end = start + 1;
  }
  return { rows, next: end };
}

type FoundRow = { id: number; at: number } & Omit<AuditDescription, "at">;

/** Finds all rows, the newest first. Holds 100 rows in memory. */
export async function* searchWholeAudit(session: Session, search: AuditSearch): AsyncGenerator<AuditDescription> {
  let before: number | undefined;
  do {
    const { rows, next }: AuditPage = await searchAudit(session, search, before);
    yield* rows;
    before = next ?? undefined;
  } while (before !== undefined);
}

/** Makes a pattern that finds the text anywhere. */
function like(text: string): string {
  return `%${text.replaceAll(/[!%_]/g, "!$&")}%`;
}

const rowBefore = query((db, p: { id: number }) =>
  db.selectFrom("audit").select(["id", "at"]).where("id", "<", p.id).orderBy("id", "desc").limit(1),
);

type Slice = AuditSearch & { start: number; end: number; limit: number };

const slice = query((db, p: Slice) =>
  described(db)
    .where("audit.id", ">", p.start)
    .where("audit.id", "<", p.end)
    .where(clinicOfRow, "=", p.clinicId)
    .where("audit.at", ">=", p.since)
    .where("audit.at", "<", p.until)
    .where(sql<boolean>`coalesce("user".sign_in_name, '') like ${p.user} escape '!'`)
    .where(
      sql<boolean>`lower(coalesce(audit.method, '') || ' ' || coalesce(audit.route, '')) like ${p.text} escape '!'`,
    )
    .where(sql<boolean>`(${p.key} = '' or ${p.key} in (api_key.public_id, audit.fp))`)
    .where(sql<boolean>`(${p.fp} = '' or audit.fp = ${p.fp})`)
    .orderBy("audit.id", "desc")
    .limit(p.limit),
);
