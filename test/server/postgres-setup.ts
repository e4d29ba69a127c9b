import type { TestProject } from "vitest/node";
import { openStore } from "../../server/database/open.ts";
import { createDatabase, keepRows, Postgres } from "../support/machine/postgres.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** URL of the PostgreSQL of the tests. Absent on SQLite. */
    postgres: string | undefined;
    /** Name of a database with the schema, which the servers of the tests copy. Absent on SQLite. */
    template: string | undefined;
  }
}

/**
 * Four test files share the cluster. While one of them has a long transaction, PostgreSQL keeps the finished ones of all databases in
 * ten places a connection; beyond them it refuses transactions without a conflict (40001).
 */
const SETTINGS = ["max_connections=1000", "max_pred_locks_per_transaction=256"];

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const postgres = await Postgres.start(SETTINGS);
  const template = await createDatabase(postgres.url());
  await (await openStore(template)).close();
  await keepRows(template);
  project.provide("postgres", postgres.url());
  project.provide("template", template.replace(/.*\//, ""));
  return () => postgres.end();
}
