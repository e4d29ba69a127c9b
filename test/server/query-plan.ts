import { join } from "node:path";
import Sqlite from "better-sqlite3";
import {
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";
import { Client } from "pg";
import { openStore } from "../../server/database/open.ts";
import { filled, type Query, sqlBuilder } from "../../server/database/query.ts";
import { onPostgres, temporaryDatabase } from "./harness.ts";

/** @returns the plan of a query in a database of its own, which the statements `fill` */
export async function planOf<P>(fill: string, query: Query<P, unknown>, parameters: P): Promise<string> {
  const database = await temporaryDatabase();
  await (await openStore(database)).close();
  const compiled = query.compile(onPostgres() ? POSTGRES : SQLITE);
  const values = filled(compiled.values, parameters);
  return onPostgres()
    ? postgresPlan(database, fill, compiled.sql, values)
    : sqlitePlan(database, fill, compiled.sql, values);
}

function sqlitePlan(folder: string, fill: string, sql: string, values: readonly unknown[]): string {
  const file = new Sqlite(join(folder, "vetwire.db"));
  file.exec(fill);
  const steps = file.prepare(`explain query plan ${sql}`).all(...values) as { detail: string }[];
  file.close();
  return steps.map(({ detail }) => detail).join("\n");
}

/** The plan without the values, which PostgreSQL takes once a connection has run the query a few times. */
async function postgresPlan(database: string, fill: string, sql: string, values: readonly unknown[]): Promise<string> {
  const client = new Client({ connectionString: database });
  await client.connect();
  await client.query(fill);
  await client.query("set plan_cache_mode = force_generic_plan");
  await client.query(`prepare asked as ${sql}`);
  const literals = values.map((value) =>
    value === null ? "null" : client.escapeLiteral(`${value as string | number}`),
  );
  const { rows } = await client.query(
    `explain execute asked ${literals.length === 0 ? "" : `(${literals.join(", ")})`}`,
  );
  await client.end();
  return (rows as { "QUERY PLAN": string }[]).map((row) => row["QUERY PLAN"]).join("\n");
}

const SQLITE = sqlBuilder({
  createAdapter: () => new SqliteAdapter(),
  createIntrospector: (db) => new SqliteIntrospector(db),
  createQueryCompiler: () => new SqliteQueryCompiler(),
});

const POSTGRES = sqlBuilder({
  createAdapter: () => new PostgresAdapter(),
  createIntrospector: (db) => new PostgresIntrospector(db),
  createQueryCompiler: () => new PostgresQueryCompiler(),
});
