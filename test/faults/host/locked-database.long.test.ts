import path from "node:path";
import Database from "better-sqlite3";
import { afterEach, beforeEach, expect, test } from "vitest";
import { bloodCount, frameOf, MllpClient, verdict } from "../../support/protocols/hl7.ts";
import { freePort, until, World } from "../../support/machine/processes.ts";
import { soakCount } from "../../support/runner/soak.ts";

// Goal: a database that another process locks, such as a backup program, costs no acknowledged result. Method: this process
// holds the write lock of the spool, or of the server's database, while a device sends to an agent process.

/** Longer than the agent's commits wait for the lock. */
const LONG_LOCK_MS = Math.max(8_000, soakCount(60_000));
const LONG_TEST = { timeout: 3 * LONG_LOCK_MS + 60_000 };

let world: World;
let port: number;
let lock: Database.Database | null = null;

beforeEach(async () => {
  world = await World.create(1);
  port = await freePort();
  world.writeConfig([{ id: "hema-1", profile: "generic-hl7", connection: { listen: `127.0.0.1:${port}` } }]);
  await world.startAgent();
});

afterEach(async () => {
  lock?.close();
  lock = null;
  await world.end();
});

/** Takes the write lock of a database for that time, and longer until `seen` resolves. */
async function lockFor(file: string, ms: number, seen: () => Promise<unknown> = async () => null): Promise<void> {
  const db = new Database(file, { timeout: 5_000 });
  lock = db;
  db.exec("BEGIN IMMEDIATE");
  await new Promise((resolve) => setTimeout(resolve, ms));
  await seen();
  db.close();
  lock = null;
}

const spool = () => path.join(world.agentData, "spool.db");

let lastId = 0;

/** Sends a result of another minute each. @returns MSA-1 of the reply, or "nothing" */
async function send(): Promise<string> {
  const id = (lastId += 1);
  const minute = String(id).padStart(2, "0");
  const client = await MllpClient.connect(port);
  client.send(frameOf(bloodCount({ id: `M${id}`, patient: "5000", measured: `2026010109${minute}00`, wbc: id })));
  const [code = ""] = verdict(await client.nextReply(15_000)).split(" ");
  client.close();
  return code;
}

/** @returns the results at the server, by their count of leukocytes */
function results(): number[] {
  const values = world.serverStudies().flatMap(({ results: rows }) => rows.filter(({ analyte }) => analyte === "WBC"));
  return values.map(({ value }) => value).toSorted((one, other) => one - other);
}

test("a spool that is locked for 3 s delays an acknowledgement until the result is stored", async () => {
  const locked = lockFor(spool(), 3_000);
  const reply = send();
  const early = await Promise.race([reply, locked.then(() => "released")]);
  expect(early).toBe("released");
  expect(await reply).toBe("AA");
  await until("the result is at the server", () => results().includes(lastId));
});

test(
  "a spool that is locked for long acknowledges nothing, and takes results after the release",
  LONG_TEST,
  async () => {
    const locked = lockFor(spool(), LONG_LOCK_MS);
    const reply = send();
    expect(await Promise.race([reply, locked.then(() => "released")])).not.toBe("AA");
    await Promise.all([locked, reply]);
    const id = await until("a result is accepted again", async () => ((await send()) === "AA" ? lastId : null));
    await until("the result is at the server", () => results().includes(id));
    expect(new Set(results()).size).toBe(results().length);
  },
);

test(
  "results stay with the agent while the server's database is locked, and are filed once after the release",
  LONG_TEST,
  async () => {
    // The server waits for its lock before it refuses a push. A shorter lock would not show what the agent does then.
    const refused = () => until("a push is refused", () => world.agent.output().includes("the server answered 503"));
    const locked = lockFor(path.join(world.serverData, "vetwire.db"), LONG_LOCK_MS, refused);
    const id = lastId + 1;
    expect(await send()).toBe("AA");
    expect(await send()).toBe("AA");
    expect(results()).toEqual([]);
    await locked;
    await until("the results are at the server", () => results().length === 2, LONG_LOCK_MS + 45_000);
    expect(results()).toEqual([id, id + 1]);
  },
);

test("control: without a lock the result is acknowledged before any release", async () => {
  expect(await Promise.race([send(), new Promise((resolve) => setTimeout(resolve, 20_000, "late"))])).toBe("AA");
});
