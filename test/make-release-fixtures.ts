import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { SCHEMA_VERSION } from "../agent/spool/thread/schema.ts";
import { VERSION } from "../shared/files/program-files.ts";
import { frozen } from "./support/runner/frozen.ts";
import { createDatabase, dump, Postgres, postgresProblem } from "./support/machine/postgres.ts";
import { readReleaseServer, RELEASE_AT, writeReleaseServer } from "./support/releases/release-server.ts";
import { readReleaseSpool, writeReleaseSpool } from "./support/releases/release-spool.ts";
import { dumpSqlite } from "./support/releases/sqlite-dump.ts";

// `node test/make-release-fixtures.ts` writes the databases of this version to test/releases/<version>, and what this version
// reads from them. A later version must open, migrate and read them: test/releases.long.test.ts.

const PARTS: Readonly<Record<string, (folder: string) => Promise<Record<string, unknown>>>> = {
  async spool(folder) {
    await frozen(RELEASE_AT, async () => writeReleaseSpool(folder));
    return { "spool.sql": dumpSqlite(path.join(folder, "spool.db")), "spool.json": readReleaseSpool(folder) };
  },
  async sqlite(folder) {
    const access = await frozen(RELEASE_AT, (clock) => writeReleaseServer(folder, folder, clock));
    const sql = dumpSqlite(path.join(folder, "vetwire.db"));
    const read = await readReleaseServer(folder, access);
    return { "server.sqlite.sql": sql, "server.access.json": access, "server.json": read };
  },
  async postgres(folder) {
    const cluster = await Postgres.start();
    try {
      const database = await createDatabase(cluster.url());
      await frozen(RELEASE_AT, (clock) => writeReleaseServer(database, folder, clock));
      return { "server.postgres.sql": dumpPostgres(database) };
    } finally {
      await cluster.end();
    }
  },
};

/** @returns the dump without what differs between versions and runs of pg_dump, and the rows of a table in order */
function dumpPostgres(database: string): string {
  const isOfTool = (line: string) => /^(--|SET |\\(un)?restrict |SELECT pg_catalog\.set_config)|^$/.test(line);
  const lines = dump(database, "--inserts", "--no-owner").split("\n");
  const statements = lines
    .filter((line) => !isOfTool(line))
    .join("\n")
    .split(/(?<=;)\n/);
  const tableOf = (statement: string) => /^INSERT INTO \S+/.exec(statement)?.[0];
  const order = new Intl.Collator("en", { numeric: true });
  const runs: string[][] = [];
  for (const statement of statements) {
    const last = runs.at(-1);
    const isSame = tableOf(statement) !== undefined && tableOf(statement) === tableOf(last?.[0] ?? "");
    if (isSame) last?.push(statement);
    else runs.push([statement]);
  }
  return `${runs.flatMap((run) => run.toSorted(order.compare)).join("\n")}\n`;
}

/** Writes the files of a part, or of each part in a process of its own: ULIDs count up within a process. */
async function main([part, folder]: readonly (string | undefined)[]): Promise<void> {
  const problem = postgresProblem();
  if (problem !== null) throw new Error(`expected PostgreSQL, because a release has its dump too: ${problem}`);
  const target = folder ?? path.join(import.meta.dirname, "releases", VERSION);
  const make = PARTS[part ?? ""];
  if (make === undefined) {
    refuseOtherSchema(target);
    for (const each of Object.keys(PARTS)) {
      execFileSync(process.execPath, [import.meta.filename, each, target], { stdio: "inherit" });
    }
    return;
  }
  const work = fs.mkdtempSync(path.join(os.tmpdir(), "vetwire-release-"));
  try {
    fs.mkdirSync(target, { recursive: true });
    for (const [name, value] of Object.entries(await make(work))) {
      const text = typeof value === "string" ? value : `${JSON.stringify(value, null, 1)}\n`;
      fs.writeFileSync(path.join(target, name), text);
    }
  } finally {
    fs.rmSync(work, { recursive: true });
  }
}

/** @throws Error if the folder has the databases of another schema, which a released version keeps */
function refuseOtherSchema(target: string): void {
  const file = path.join(target, "spool.sql");
  if (!fs.existsSync(file)) return;
  if (
    fs
      .readFileSync(file, "utf8")
      .includes(`INSERT INTO "migration" ("version", "applied_at", "program") VALUES (${SCHEMA_VERSION}, `)
  )
    return;
  throw new Error(`${target} has another schema than ${SCHEMA_VERSION}: raise the version in package.json first`);
}

await main(process.argv.slice(2));
