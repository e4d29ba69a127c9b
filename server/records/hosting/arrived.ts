import { sql } from "kysely";
import { query } from "../../database/query.ts";

/**
 * Counts the studies of each clinic that arrived in a span of time. It groups by an expression, since SQLite groups by a column in the
 * order of its index, for which it reads all studies ever stored.
 */
export const arrivedIn = query((db, p: { since: number; until: number }) =>
  db
    .selectFrom("study")
    .select([sql<number>`+clinic_id`.as("clinic_id"), sql<number>`count(*)`.as("studies")])
    .where("received_at", ">=", p.since)
    .where("received_at", "<", p.until)
    .groupBy(sql`+clinic_id`),
);
