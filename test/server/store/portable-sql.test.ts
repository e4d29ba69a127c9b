import { readFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, expect, test } from "vitest";
import { ROOT } from "../../support/processes.ts";
import { type Collected, collectStatements, type Statement } from "./sql-statements.ts";

// Goal: the SQL stays within what CockroachDB, YugabyteDB and Citus share, but for the uses that the ADR lists. None of the three
// runs here, so that each statement is compared with a table of constructs.

const ADR = readFileSync(path.join(ROOT, ".github/adr/0016-distributed-postgresql.md"), "utf8");

/** Constructs that at least one of the three lacks, runs otherwise, or runs on one node only. */
const CONSTRUCTS: Readonly<Record<string, RegExp>> = {
  "LISTEN, NOTIFY": /\b(?:un)?listen\s+\w|\bnotify\s+\w|\bpg_notify\b/,
  "advisory lock": /\bpg_(?:try_)?advisory/,
  "LOCK TABLE": /\block\s+table\b/,
  "row lock (FOR UPDATE, SKIP LOCKED)": /\bfor\s+(?:no\s+key\s+)?update\b|\bfor\s+(?:key\s+)?share\b|\bskip\s+locked\b/,
  "trigger, plpgsql": /\bcreate\s+trigger\b|\bplpgsql\b|\bcreate\s+function\b/,
  "counted id": /\bgenerated\s+\w+(?:\s+default)?\s+as\s+identity\b|\b(?:big)?serial\b|\bnextval\b/,
  SERIALIZABLE: /\bisolation\s+level\s+serializable\b/,
  "snapshot (REPEATABLE READ)": /\bisolation\s+level\s+repeatable\s+read\b/,
  "partial index": /\bcreate\s+(?:unique\s+)?index\b[\s\S]*\bwhere\b/,
  "partial index in ON CONFLICT": /\bon\s+conflict\s*\([^)]*\)\s*where\b/,
  "index on an expression": /\bcreate\s+(?:unique\s+)?index\b[^(]*\([^()]*\w\(/,
  collation: /\bcollate\b/,
  "temporary table": /\bcreate\s+(?:local\s+|global\s+)?temp(?:orary)?\b/,
  "unlogged table": /\bunlogged\b/,
  "deferrable constraint": /\bdeferrable\b|\bset\s+constraints\b/,
  "exclusion, inheritance, partition": /\bexclude\s+using\b|\binherits\b|\bpartition\s+(?:by|of)\b/,
  "generated column": /\bgenerated\s+always\s+as\s*\(/,
  "recursive or modifying CTE": /\bwith\s+recursive\b|\bas\s+\(\s*(?:insert|update|delete)\b/,
  "window, DISTINCT ON, LATERAL, grouping set":
    /\bover\s*\(|\bdistinct\s+on\b|\blateral\b|\bgrouping\s+sets\b|\brollup\s*\(/,
  "JSON, array, text search": /\bjsonb?\b|\bjsonb?_\w+|\barray\b|\barray_agg\b|\bunnest\b|\btsvector\b|@>|->/,
  "subquery in ON CONFLICT": /\bdo\s+update\s+set\b[\s\S]*\(\s*select\b/,
  "subquery in INSERT": /\binsert\s+into\b(?:(?!\bon\s+conflict\b|;)[\s\S])*\bselect\b/,
  division: /[\w)"]\s*\/\s*[\w("$]/,
  "state of the server": /\bpg_(?:stat|is_in|last|current|wal|control)\w*|\bto_regclass\b|\binet_server_addr\b/,
  "copy, cursor, prepared transaction": /^\s*copy\b|\bdeclare\s+\w+\s+cursor\b|\bprepare\s+transaction\b/,
  TRUNCATE: /\btruncate\b/,
  rename: /\brename\b/,
  "change of a column's type or of a primary key": /\balter\s+column\b[\s\S]*\btype\b|\bdrop\s+constraint\b/,
};

let collected: Collected;

beforeAll(async () => {
  collected = await collectStatements();
});

function usesIn(statements: readonly Statement[]): Record<string, string[]> {
  const uses = Object.entries(CONSTRUCTS).map(([name, pattern]) => {
    const found = statements.filter(({ sql }) => pattern.test(sql.toLowerCase().replaceAll(/'[^']*'/g, "''")));
    return [name, [...new Set(found.map(({ where }) => where.replace("server/", "")))].toSorted()] as const;
  });
  return Object.fromEntries(uses.filter(([, files]) => files.length > 0));
}

/** Returns the uses that the ADR lists: `| construct | files | why | ...`. */
function usesOfAdr(): Record<string, string[]> {
  const table = ADR.slice(ADR.indexOf("| construct |"));
  const rows = [...table.slice(0, table.indexOf("\n\n")).matchAll(/^\| ([^|]+) \| ((?:`[^`]+`(?:, )?)+) \|/gm)];
  return Object.fromEntries(
    rows.map(([, name = "", files = ""]) => [name, files.replaceAll("`", "").split(", ").toSorted()]),
  );
}

test("every query of the store is known after its modules are imported", () => {
  expect(collected.unseen).toEqual([]);
  expect(collected.statements.length).toBeGreaterThan(400);
});

test("a construct that a distributed PostgreSQL lacks is used only where the ADR lists it", () => {
  expect(usesIn(collected.statements)).toEqual(usesOfAdr());
});

test.each([
  ["LISTEN, NOTIFY", "select pg_notify('changed', '')"],
  ["LISTEN, NOTIFY", "listen changes"],
  ["advisory lock", "select pg_try_advisory_lock(1)"],
  ["LOCK TABLE", "begin; lock table study in exclusive mode"],
  ["row lock (FOR UPDATE, SKIP LOCKED)", 'select "id" from "webhook_delivery" limit $1 for update skip locked'],
  ["trigger, plpgsql", "create trigger t before update on study for each row execute function f()"],
  ["counted id", "create table t (id bigserial)"],
  ["partial index", "create index i on study (id)\n where patient_id is null"],
  ["partial index in ON CONFLICT", 'insert into "t" ("a") values ($1) on conflict ("a") where "a" > 1 do nothing'],
  ["index on an expression", "create unique index i on batch (id, coalesce(lot, ''))"],
  ["collation", 'order by "name" collate "C"'],
  ["temporary table", "create temporary table t (a integer)"],
  ["unlogged table", "create unlogged table t (a integer)"],
  ["deferrable constraint", "unique (a) deferrable initially deferred"],
  ["recursive or modifying CTE", 'with "moved" as (delete from "t" returning *) select * from "moved"'],
  ["window, DISTINCT ON, LATERAL, grouping set", 'select distinct on ("fp") * from "study"'],
  ["JSON, array, text search", 'select "results"::jsonb -> 0 from "study"'],
  ["subquery in INSERT", 'insert into "a" ("x") select "x" from "b"'],
  ["division", 'select "at" / $1 from "audit"'],
  ["TRUNCATE", "truncate study"],
])("the lint finds: %s", (name, sql) => {
  expect(Object.keys(usesIn([{ where: "x", sql }]))).toContain(name);
});

test("the lint finds nothing in plain statements, and nothing in their texts", () => {
  const plain = [
    'insert into "t" ("a") values ($1) on conflict ("a") do update set "a" = "excluded"."a" returning "id"',
    `select "a" from "t" left join "u" on "u"."id" = "t"."id" where "a" like '%lock table%' order by "a" desc limit $1`,
    "create index i on study (patient_id, acquired_at desc)",
  ];
  expect(usesIn(plain.map((sql) => ({ where: "x", sql })))).toEqual({});
});
