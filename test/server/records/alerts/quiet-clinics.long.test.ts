import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { openStore } from "../../../../server/database/open.ts";
import { Postgres, postgresProblem } from "../../../support/machine/postgres.ts";
import { temporaryFolder } from "../../harness.ts";
import { fillOf, watchQuietClinics } from "../../quiet-clinics.ts";

const CLINICS = 10_000;

async function sqlite() {
  const folder = temporaryFolder();
  const store = await openStore(folder);
  const file = new Sqlite(join(folder, "vetwire.db"));
  onTestFinished(() => void file.close());
  return { store, run: async (sql: string) => void file.exec(sql) };
}

async function postgres() {
  const cluster = await Postgres.start();
  onTestFinished(() => cluster.end());
  const store = await openStore(cluster.url());
  const client = new Client({ connectionString: cluster.url() });
  await client.connect();
  onTestFinished(() => client.end());
  return { store, run: async (sql: string) => void (await client.query(sql)) };
}

const noPostgres = postgresProblem();
if (noPostgres !== null) process.stderr.write(`10 000 quiet clinics are not watched on PostgreSQL: ${noPostgres}\n`);
const engines = noPostgres === null ? [sqlite, postgres] : [sqlite];

test.each(engines)(
  "10 000 quiet clinics cost fewer than 50 queries a pass, and the news of one is an alert in the next pass (%o)",
  async (open) => {
    const { store, run } = await open();
    await run(fillOf(CLINICS));
    await run("analyze");
    const { first, quiet, news } = await watchQuietClinics(store, run, CLINICS);
    process.stdout.write(`${open.name}: ${JSON.stringify({ first, quiet, news })}\n`);
    expect(first.queries).toBeGreaterThan(CLINICS * 5);
    expect(quiet.queries).toBeLessThan(50);
    expect(news.queries).toBeLessThan(50);
    await store.close();
  },
  900_000,
);
