import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { Load, studiesOf } from "../../support/machine/crash.ts";
import { AGENT, ROOT, runAgentCommand, runServerCommand, SERVER, type World } from "../../support/machine/processes.ts";

// Goal: a restored backup has every message that was acknowledged before it, and a kill at any moment leaves no half state.
// Method: analyzers send without pause while backups are made and killed. The data folder is lost, restored with kills, and
// the studies are compared with the acknowledgements.

const KILLS = 8;
const DRAIN_MS = 180_000;
/** Megabytes that make the database large enough for a kill in the middle. */
const FILLER_MB = 60;

async function loadedWorld(): Promise<{ world: World; load: Load }> {
  const { world, load } = await Load.create();
  onTestFinished(async () => {
    await load.stop();
    await world.end();
  });
  await world.startAgent();
  return { world, load };
}

/** Makes a database large. Its filler has no meaning for the program. */
function fill(file: string): void {
  const db = new Database(file, { timeout: 10_000 });
  db.exec("CREATE TABLE filler (body BLOB NOT NULL)");
  const add = db.prepare("INSERT INTO filler VALUES (randomblob(1000000))");
  for (let number = 0; number < FILLER_MB; number++) add.run();
  db.close();
}

/** Runs a command and kills it after some ms. @returns whether it ended by itself before */
async function killedAfter(ms: number, script: string, ...args: readonly string[]): Promise<boolean> {
  const child = spawn(process.execPath, [script, ...args], { cwd: ROOT, stdio: "ignore" });
  const ended = once(child, "exit");
  const timer = setTimeout(() => child.kill("SIGKILL"), ms);
  const [code] = (await ended) as [number | null];
  clearTimeout(timer);
  return code === 0;
}

/** @returns what the command prints, and its duration */
function timed(run: () => string): { output: string; ms: number } {
  const from = performance.now();
  return { output: run(), ms: performance.now() - from };
}

/** Kills backups at moments up to the duration of a full one. Each leaves no file, or a complete one. */
async function killBackups(
  folder: string,
  wholeMs: number,
  script: string,
  ...options: readonly string[]
): Promise<void> {
  let killed = 0;
  for (let kill = 1; kill <= KILLS; kill++) {
    const file = path.join(folder, `killed-${kill}.backup`);
    const isEnded = await killedAfter((wholeMs * kill) / (KILLS + 1), script, "backup", file, ...options);
    if (!isEnded) killed += 1;
    expect(fs.existsSync(file) || !isEnded).toBe(true);
    if (fs.existsSync(file)) execFileSync(process.execPath, [script, "restore", file, "--check"], { stdio: "pipe" });
  }
  // A busy machine makes some of them slower than the first.
  expect(killed).toBeGreaterThan(0);
  // The name of a killed backup is free, and the next backup removes its part.
  const again = path.join(folder, "killed-2.backup");
  fs.rmSync(again, { force: true });
  execFileSync(process.execPath, [script, "backup", again, ...options], { stdio: "pipe" });
  expect(fs.readdirSync(folder).filter((name) => name.startsWith("killed-2."))).toEqual(["killed-2.backup"]);
}

/** Restores with kills, then without one. */
async function restoreWithKills(wholeMs: number, script: string, ...args: readonly string[]): Promise<void> {
  for (let kill = 1; kill <= KILLS; kill++)
    await killedAfter((wholeMs * kill) / (KILLS + 1), script, "restore", ...args);
  const { status, stderr } = spawnSync(process.execPath, [script, "restore", ...args], { encoding: "utf8" });
  // A kill may come after the last step of a restore, which is complete then.
  expect(status === 0 ? "has data already" : stderr).toContain("has data already");
}

/** @returns the numbers of the messages whose studies an agent holds */
function numbersInSpool(data: string): Set<number> {
  const db = new Database(path.join(data, "spool.db"), { readonly: true });
  try {
    const bodies = db.prepare("SELECT body FROM study").pluck().all() as string[];
    const results = bodies.map(
      (body) => (JSON.parse(body) as { results: { analyte: string; value: number }[] }).results,
    );
    return new Set(results.map((rows) => rows.find(({ analyte }) => analyte === "ALT")?.value ?? -1));
  } finally {
    db.close();
  }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test("an agent restored from a backup has every message that was acknowledged before it, and files none twice", {
  timeout: 600_000,
}, async () => {
  const { world, load } = await loadedWorld();
  fill(path.join(world.agentData, "spool.db"));
  load.start();
  await pause(1500);
  const backup = (file: string) => runAgentCommand("backup", path.join(world.folder, file), "--config", world.config);
  const first = timed(() => backup("first.backup"));
  await killBackups(world.folder, first.ms, AGENT, "--config", world.config);

  const before = load.acknowledged.length;
  const file = path.join(world.folder, "last.backup");
  const last = timed(() => backup("last.backup"));
  await pause(1000);
  const inUse = () => runAgentCommand("restore", file, "--config", world.config, "--force");
  expect(inUse).toThrow(`the agent is running with ${world.agentData}: stop it, then restore`);
  await world.agent.end("SIGKILL");
  await load.stop();

  // The machine is lost, with its configuration and key.
  fs.rmSync(world.agentData, { recursive: true });
  const config = fs.readFileSync(world.config, "utf8");
  fs.rmSync(world.config);
  fs.rmSync(path.join(world.folder, "agent.key"));
  await restoreWithKills(first.ms, AGENT, file, "--config", world.config);
  expect(fs.readFileSync(world.config, "utf8")).toBe(config);

  await world.startAgent();
  await world.placed(DRAIN_MS);
  const held = numbersInSpool(world.agentData);
  const acknowledged = load.acknowledged.slice(0, before);
  expect(acknowledged.length).toBeGreaterThan(20);
  expect(acknowledged.filter(({ number }) => !held.has(number))).toEqual([]);

  // The operators send again what came after the backup, and the last results before it.
  for (const message of load.acknowledged.slice(Math.max(0, before - 10))) await load.resend(message);
  await world.placed(DRAIN_MS);
  const found = studiesOf(world);
  expect(load.acknowledged.filter(({ number }) => !found.numbers.has(number))).toEqual([]);
  expect(found).toMatchObject({ twice: [], wrongPatient: [] });
  const size = fs.statSync(file).size;
  const after = load.acknowledged.length - before;
  process.stdout.write(`agent: ${JSON.stringify({ before, after, size, backupMs: Math.round(last.ms) })}\n`);
});

test("a server restored from a backup gets the later studies from its agents again, each once", {
  timeout: 600_000,
}, async () => {
  const { world, load } = await loadedWorld();
  fill(path.join(world.serverData, "vetwire.db"));
  load.start();
  await pause(1500);
  const backup = (file: string) =>
    runServerCommand("backup", path.join(world.folder, file), "--data", world.serverData);
  const first = timed(() => backup("first.backup"));
  await killBackups(world.folder, first.ms, SERVER, "--data", world.serverData);
  const file = path.join(world.folder, "last.backup");
  const at = new Date().toISOString();
  const last = timed(() => backup("last.backup"));
  await pause(1000);
  const inUse = () => runServerCommand("restore", file, "--data", world.serverData, "--force");
  expect(inUse).toThrow(`the server is running with ${world.serverData}: stop it, then restore`);
  await load.stop();
  await world.placed(DRAIN_MS);
  await world.server.end("SIGKILL");

  // The existing data is kept, and moved aside by force.
  const newer = () => runServerCommand("restore", file, "--data", world.serverData);
  expect(newer).toThrow("has data already");
  await restoreWithKills(first.ms, SERVER, file, "--data", world.serverData, "--force");
  const kept = fs.readdirSync(world.serverData).filter((name) => name.startsWith("before-restore-"));
  const rows = kept.map((name) => {
    const db = new Database(path.join(world.serverData, name, "vetwire.db"), { readonly: true });
    const count = db.prepare("SELECT COUNT(*) FROM study").pluck().get() as number;
    db.close();
    return count;
  });
  expect(Math.max(...rows)).toBe(load.acknowledged.length);

  await world.startServer();
  const missing = load.acknowledged.filter(({ number }) => !studiesOf(world).numbers.has(number)).length;
  expect(missing).toBeGreaterThan(0);
  expect(runAgentCommand("resend", "--since", at, "--config", world.config)).toMatch(/^\d+ study revisions queued/);
  await world.placed(DRAIN_MS);
  const found = studiesOf(world);
  expect(load.acknowledged.filter(({ number }) => !found.numbers.has(number))).toEqual([]);
  expect(found).toMatchObject({ twice: [], wrongPatient: [] });
  const size = fs.statSync(file).size;
  process.stdout.write(`server: ${JSON.stringify({ missing, size, backupMs: Math.round(last.ms) })}\n`);
});
