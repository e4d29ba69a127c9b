import { readFileSync } from "node:fs";
import path from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openStore } from "../../../server/store/database/open.ts";
import { Postgres, postgresProblem } from "../../support/postgres.ts";
import { ROOT } from "../../support/processes.ts";

// Goal: the ADR tells for each table by which column a distributed PostgreSQL would spread it, and what stands against that in
// Citus. Method: the catalog of a migrated database. A table that a migration adds needs a row.

const ADR = readFileSync(path.join(ROOT, ".github/adr/0016-distributed-postgresql.md"), "utf8");

interface Key {
  readonly name: string;
  readonly columns: readonly string[];
}

interface Reference {
  readonly name: string;
  readonly columns: readonly string[];
  readonly target: string;
}

interface Table {
  readonly name: string;
  /** Whether each row belongs to one clinic. */
  readonly ofClinic: boolean;
  readonly keys: readonly Key[];
  readonly references: readonly Reference[];
}

const TABLES = `
  select c.relname as name,
    exists (
      select from pg_attribute a where a.attrelid = c.oid and a.attname = 'clinic_id' and a.attnotnull
    ) as "ofClinic",
    coalesce((
      select json_agg(json_build_object('name', k.relname, 'columns', (
        select coalesce(json_agg(a.attname order by a.attnum), '[]') from pg_attribute a
        where a.attrelid = c.oid and a.attnum = any (i.indkey)
      )) order by k.relname)
      from pg_index i join pg_class k on k.oid = i.indexrelid where i.indrelid = c.oid and i.indisunique
    ), '[]') as keys,
    coalesce((
      select json_agg(json_build_object('name', r.conname, 'target', (select relname from pg_class where oid = r.confrelid), 'columns', (
        select json_agg(a.attname order by a.attnum) from pg_attribute a
        where a.attrelid = c.oid and a.attnum = any (r.conkey)
      )) order by r.conname)
      from pg_constraint r where r.conrelid = c.oid and r.contype = 'f'
    ), '[]') as references
  from pg_class c where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace order by 1
`;

let postgres: Postgres;
let tables: readonly Table[] = [];

/** Returns the rows of the ADR's table, as far as they follow from the catalog. */
function rowOf({ name, ofClinic, keys, references }: Table): string {
  const lacking = ofClinic ? keys.filter(({ columns }) => !columns.includes("clinic_id")) : [];
  const isOfClinic = new Map(tables.map((table) => [table.name, table.ofClinic]));
  // A reference table is on every node. Between spread tables the reference must hold the column.
  const leaving = ofClinic
    ? references.filter(({ target, columns }) => isOfClinic.get(target) && !columns.includes("clinic_id"))
    : references.filter(({ target }) => isOfClinic.get(target));
  const list = (named: readonly { name: string }[]) => named.map((one) => `\`${one.name}\``).join(", ") || "-";
  return `| \`${name}\` | ${ofClinic ? "`clinic_id`" : "on every node"} | ${list(lacking)} | ${list(leaving)} |`;
}

const problem = postgresProblem();
if (problem !== null) process.stderr.write(`the distribution of tables is not compared: ${problem}\n`);

describe.skipIf(problem !== null)("a distributed PostgreSQL", () => {
  beforeAll(async () => {
    postgres = await Postgres.start();
    await (await openStore(postgres.url())).close();
    const client = new Client({ connectionString: postgres.url() });
    await client.connect();
    tables = (await client.query<Table>(TABLES)).rows;
    await client.end();
  });

  afterAll(() => postgres?.end());

  test("each table has its column, its keys and its references in the ADR", () => {
    expect(tables.length).toBeGreaterThan(30);
    const listed = [...ADR.matchAll(/^\| `\w+` \| (?:`clinic_id`|on every node) \|.*$/gm)].map(([row]) => row);
    expect(listed).toEqual(tables.map(rowOf));
  });
});
