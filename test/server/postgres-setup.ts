import type { TestProject } from "vitest/node";
import { Postgres } from "../support/postgres.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** URL of the PostgreSQL of the tests. Absent on SQLite. */
    postgres: string | undefined;
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const postgres = await Postgres.start();
  project.provide("postgres", postgres.url());
  return () => postgres.end();
}
