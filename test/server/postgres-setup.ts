import type { TestProject } from "vitest/node";
import { Postgres } from "../support/postgres.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The URL of the PostgreSQL that the tests run on; on SQLite where it is not given. */
    postgres: string | undefined;
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const postgres = await Postgres.start();
  project.provide("postgres", postgres.url());
  return () => postgres.end();
}
