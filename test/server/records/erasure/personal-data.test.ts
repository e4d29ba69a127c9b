import { readFileSync } from "node:fs";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { query } from "../../../../server/database/query.ts";
import { ERASED_KINDS } from "../../../../server/dashboard/types/animals.ts";
import { onPostgres, startServer } from "../../harness.ts";

// The list of columns that may have personal data of an owner, beside the schema.

interface PersonalData {
  readonly erased: Readonly<Record<string, readonly string[]>>;
  readonly kept: Readonly<Record<string, string>>;
  readonly other: Readonly<Record<string, readonly string[]>>;
}

const folder = new URL("../../../../server/records/erasure/", import.meta.url);
const list = JSON.parse(readFileSync(new URL("personal-data.json", folder), "utf8")) as PersonalData;
const personal = [...Object.values(list.erased).flat(), ...Object.keys(list.kept)];

const inSqlite = query((db) =>
  db
    .selectFrom(
      sql<{ column: string }>`(select tables.name || '.' || columns.name as "column" from sqlite_schema as tables
        join pragma_table_info(tables.name) as columns
        where tables.type = 'table' and tables.name not like 'sqlite_%' and lower(columns.type) = 'text')`.as("found"),
    )
    .select("found.column"),
);

// PostgreSQL alone has `request_count`, whose names are digests, keys and addresses of the network.
const inPostgres = query((db) =>
  db
    .selectFrom(
      sql<{ column: string }>`(select table_name || '.' || column_name as "column" from information_schema.columns
        where table_schema = current_schema() and data_type = 'text' and table_name <> 'request_count')`.as("found"),
    )
    .select("found.column"),
);

test("every text column of the schema is classified: erased with an owner, kept for a reason, or without its data", async () => {
  const { store } = await startServer();
  const columns = (await store.all(onPostgres() ? inPostgres : inSqlite, {})).map(({ column }) => column);
  const other = Object.entries(list.other).flatMap(([table, names]) => names.map((name) => `${table}.${name}`));
  expect([...personal, ...other].toSorted()).toEqual(columns.toSorted());
  expect(Object.keys(list.erased)).toEqual([...ERASED_KINDS]);
});

test("the README names each column that may have data of an owner", () => {
  const text = readFileSync(new URL("README.md", folder), "utf8");
  expect(personal.filter((column) => !text.includes(`\`${column}\``))).toEqual([]);
});
