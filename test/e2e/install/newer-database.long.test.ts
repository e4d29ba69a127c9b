import fs from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { afterAll, beforeAll, expect, test } from "vitest";
import { MIGRATIONS } from "../../../agent/spool/thread/migrations.ts";
import { migrationsFor } from "../../../server/database/migrations.ts";
import { sqlite } from "../../../server/database/sqlite-schema.ts";
import { migrateSqlite } from "../../../shared/platform/care/sqlite-schema.ts";
import { session, vetScanRecords } from "../../support/protocols/astm.ts";
import { AGENT, CLINIC, runAgentCommand, SERVER, start, until, World } from "../../support/machine/processes.ts";
import { dumpSqlite } from "../../support/releases/sqlite-dump.ts";

// Goal: a program never uses a database of a newer version, and goes back with it on the launcher's request. Method: a study is
// filed, a newer version migrates both databases, and processes of this version run on them.

const SENTENCE = "install version 9.8.7 or newer, or restore a backup from before its update";

let world: World;
let fp: string;

beforeAll(async () => {
  world = await World.create(2);
  const [port] = await world.configureDevices(1, "abaxis-vetscan-vs2");
  await world.startAgent();
  await world.waitForPatients();
  const file = path.join(world.folder, "dog.astm");
  const [dog] = world.patients;
  const records = vetScanRecords({ patient: dog!.externalId, species: "Dog", collected: "20261120093000", alt: 220 });
  fs.writeFileSync(file, session(records));
  runAgentCommand("simulate", file, "--to", `tcp://127.0.0.1:${port}`);
  fp = await world.firstFiled("device-0");
  await world.agent.end();
  await world.server.end();
  withFile(spoolFile(), (db) =>
    migrateSqlite(db, [...MIGRATIONS, "ALTER TABLE message ADD COLUMN operator TEXT NOT NULL DEFAULT 'nobody'"]),
  );
  withFile(serverFile(), (db) =>
    migrateSqlite(db, [
      ...migrationsFor(sqlite),
      "alter table study add column operator text not null default 'nobody'",
    ]),
  );
});

afterAll(() => world.end());

const spoolFile = () => path.join(world.agentData, "spool.db");
const serverFile = () => path.join(world.serverData, "vetwire.db");

/** Changes a database as version 9.8.7. */
function withFile(file: string, change: (db: Database.Database) => void): void {
  const db = new Database(file);
  change(db);
  db.exec("UPDATE migration SET program = '9.8.7' WHERE version = (SELECT MAX(version) FROM migration)");
  db.close();
}

async function ended(script: string, ...args: readonly string[]): Promise<{ code: number | null; output: string }> {
  const running = start(script, args);
  const code = await new Promise<number | null>((resolve) => running.process.once("close", resolve));
  return { code, output: running.output() };
}

test("every command refuses a newer database, names the version it needs, and changes nothing", async () => {
  const before = [spoolFile(), serverFile()].map(dumpSqlite);
  const config = ["--config", world.config];
  const data = ["--data", world.serverData];
  const backup = path.join(world.folder, "one.backup");
  const commands: readonly (readonly [script: string, ...args: readonly string[]])[] = [
    [AGENT, "run", ...config],
    [AGENT, "messages", ...config],
    [AGENT, "status", ...config],
    [AGENT, "codes", ...config],
    [AGENT, "explain", fp, ...config],
    [AGENT, "reprocess", "--state", "filed", ...config],
    [AGENT, "backup", backup, ...config],
    [SERVER, "run", "--port", "0", ...data],
    [SERVER, "export", ...data],
    [SERVER, "keys", "list", "--clinic", CLINIC, ...data],
    [SERVER, "audit", "--since", "24h", ...data],
    [SERVER, "backup", backup, ...data],
  ];
  for (const [script, ...args] of commands) {
    const { code, output } = await ended(script, ...args);
    expect([args[0], code, output]).toEqual([args[0], 1, expect.stringContaining(SENTENCE)]);
    expect(output).toMatch(
      /(spool|vetwire)\.db has schema \d+ of version 9\.8\.7, this version \S+ knows schemas up to /,
    );
  }
  expect(fs.existsSync(backup)).toBe(false);
  expect([spoolFile(), serverFile()].map(dumpSqlite)).toEqual(before);
});

test("after a rollback server and agent copy the databases into their own schema, and the study is there", async () => {
  const asked = { VETWIRE_ROLLED_BACK: "1" };
  const server = start(SERVER, ["run", "--port", String(world.serverPort), "--data", world.serverData], asked);
  await until("the server listens", () => server.output().includes("listening on"));
  const agent = start(AGENT, ["run", "--config", world.config], asked);
  await until("the agent runs", () => agent.output().includes("the agent is running"));
  expect((await world.getStudy(fp)).status).toBe(200);
  expect(world.messages().map(({ state, study_fps }) => [state, study_fps])).toEqual([["filed", [fp]]]);
  expect([await agent.end(), await server.end()]).toEqual([0, 0]);
});
