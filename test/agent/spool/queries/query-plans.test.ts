import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { operationsOn } from "../../../../agent/spool/queries/operations.ts";
import { migrate } from "../../../../agent/spool/thread/schema.ts";

// A spool holds months of messages. An operation per message must not read all of them, because every acknowledgement
// waits for it.

/** Tables that grow with the messages. */
const GROWING = [
  "session",
  "event",
  "message",
  "study",
  "message_study",
  "instance",
  "forward",
  "pending_match",
  "quality_record",
];
/** Statements that run rarely, or read the first row or a bounded number alone. */
const SELDOM = [
  "SELECT DISTINCT device FROM message WHERE truncation_reason IS NOT NULL",
  "SELECT state, COUNT(*) AS count FROM message GROUP BY state",
  "SELECT id AS session, first_event AS event FROM session ORDER BY id LIMIT 1",
  "SELECT id FROM event ORDER BY id LIMIT 1 OFFSET ?",
  "DELETE FROM study WHERE settled_at < ? RETURNING CASE WHEN json_valid(body) THEN json_extract(body, '$.source.device_id') END AS device, length(body) + length(snapshot) + 400 AS bytes",
  "SELECT destination, state, COUNT(*) AS count FROM forward GROUP BY destination, state ORDER BY destination, state",
  "UPDATE pending_match SET due = 1 WHERE due = 0",
  "SELECT device, SUM(bytes) AS bytes FROM session WHERE finished_at < ? GROUP BY device",
  "DELETE FROM session WHERE finished_at < ?",
  "SELECT id, first_event AS firstEvent, last_event AS lastEvent FROM session s WHERE last_event IS NOT NULL AND device IN (SELECT value FROM json_each(@devices)) AND NOT EXISTS ( SELECT 1 FROM message m WHERE m.session = s.id AND m.state NOT IN ('filed', 'not-for-patients')) ORDER BY id LIMIT @limit",
  "DELETE FROM preview WHERE fp IN (SELECT COALESCE(existing_fp, fp) FROM study WHERE settled_at >= ?)",
  "UPDATE study SET state = 'queued', reason = NULL, existing_fp = NULL, settled_at = NULL WHERE settled_at >= ?",
  "DELETE FROM quality_record WHERE settled_at < ? RETURNING device, length(body) + 400 AS bytes",
  "UPDATE quality_record SET state = 'queued', reason = NULL, settled_at = NULL WHERE settled_at >= ?",
  "UPDATE quality_record SET state = 'queued', reason = NULL, settled_at = NULL WHERE state = 'rejected' AND json_extract(reason, '$.code') = 'QUALITY.AFTER_CLOCK' AND COALESCE(json_extract(body, '$.measured_at'), json_extract(body, '$.at')) <= ?",
  "UPDATE study AS s SET state = 'queued', reason = NULL, settled_at = NULL WHERE state = 'rejected' AND code = @code AND json_extract(body, '$.acquired_at') <= @until AND NOT EXISTS (SELECT 1 FROM study WHERE fp = s.fp AND revision > s.revision) RETURNING fp, revision",
];

test("no frequent operation scans a growing table", () => {
  const db = new Database(":memory:");
  migrate(db);
  expect(wholeReads(db).toSorted()).toEqual(SELDOM.toSorted());
  db.close();
});

/** @returns the statements whose query plan scans a growing table without an index that narrows it */
function wholeReads(db: Database.Database): string[] {
  const prepare = db.prepare.bind(db);
  const statements: string[] = [];
  Object.assign(db, {
    prepare: (sql: string) => {
      statements.push(sql);
      return prepare(sql);
    },
  });
  operationsOn(db);
  const scans = /^SCAN (\w+)$/;
  return statements
    .filter((sql) => {
      const names = aliases(sql);
      return planOf(prepare, sql).some((step) => {
        const table = scans.exec(step)?.[1];
        return table !== undefined && GROWING.includes(names.get(table) ?? table);
      });
    })
    .map((sql) => sql.replaceAll(/\s+/g, " ").trim());
}

/** Maps the aliases in `FROM instance i JOIN message m` to their tables. */
function aliases(sql: string): Map<string, string> {
  const pairs = [...sql.matchAll(/(?:FROM|JOIN|UPDATE) (\w+) (?:AS )?([a-z])\b/g)];
  return new Map(pairs.map(([, table, alias]) => [alias!, table!]));
}

function planOf(prepare: Database.Database["prepare"], sql: string): string[] {
  // EXPLAIN does not run the statement, so any value does.
  const named = Object.fromEntries([...sql.matchAll(/@(\w+)/g)].map(([, name]) => [name!, 0]));
  const places = Array.from({ length: sql.match(/\?/g)?.length ?? 0 }, () => 0);
  const values = Object.keys(named).length > 0 ? [named] : places;
  return (prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values) as { detail: string }[]).map(({ detail }) => detail);
}
