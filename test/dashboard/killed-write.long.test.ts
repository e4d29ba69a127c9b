import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { openStore } from "../../server/database/open.ts";
import { newFp } from "../../shared/api/fp.ts";
import type { Consumed } from "../../server/dashboard/types/stock.ts";
import { clinic, importEntities, temporaryFolder } from "../server/harness.ts";
import { item } from "../server/records.ts";
import { createDatabase, Postgres, postgresProblem } from "../support/machine/postgres.ts";
import { ROOT } from "../support/machine/processes.ts";
import { makeUser } from "./harness.ts";

// Method: a real server from the build is killed with SIGKILL while it takes from the stock, and started again; the page repeats.

/** Time from the request to the kill, in milliseconds. */
const KILLED_AFTER_MS = [0, 4, 9, 18];

async function startServer(data: string, database?: string): Promise<{ child: ChildProcess; address: string }> {
  const command = ["dist/server/main.js", "run", "--port", "0", "--data", data];
  const env = { ...process.env, ...(database !== undefined && { DATABASE_URL: database }) };
  const child = spawn(process.execPath, command, { cwd: ROOT, env, stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let log = "";
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    log += String(chunk);
    const address = /listening on (http:[^"]+)/.exec(log)?.[1];
    if (address === undefined) continue;
    child.stdout.resume();
    return { child, address };
  }
  throw new Error(`the server ended: ${log}`);
}

async function databaseOf(engine: string): Promise<string | undefined> {
  if (engine === "SQLite") return undefined;
  const postgres = await Postgres.start();
  onTestFinished(() => postgres.end());
  return createDatabase(postgres.url());
}

const engines = ["SQLite", ...(postgresProblem() === null ? ["PostgreSQL"] : [])];

test.each(engines)("a write on %s that a kill cut off is done once when it is repeated", async (engine) => {
  const folder = temporaryFolder();
  const database = await databaseOf(engine);
  const ours = newFp("clinic");
  const vial = item(ours, { quantity_on_hand: 100 });
  const store = await openStore(database ?? folder);
  await importEntities(store, clinic(ours), vial);
  const app = { inject: () => Promise.reject(new Error("not called")) } as never;
  const { cookie } = await makeUser({ store, app, clock: { now: Date.now() } }, "staff", ours);
  await store.close();

  const consume = async (address: string, id: string) => {
    const response = await fetch(`${address}/clinic/v1/clinics/${ours}/stock/${vial.fp}/consume`, {
      method: "POST",
      headers: { cookie, "sec-fetch-site": "same-origin", "content-type": "application/json", "idempotency-key": id },
      body: JSON.stringify({ quantity: 1 }),
    });
    expect(response.status).toBe(200);
    return ((await response.json()) as Consumed).item.quantity_on_hand;
  };
  let running = await startServer(folder, database);
  const left: number[] = [];
  for (const delay of KILLED_AFTER_MS) {
    const id = randomBytes(16).toString("base64url");
    const ended = once(running.child, "close");
    const first = consume(running.address, id).catch(() => null);
    await sleep(delay);
    running.child.kill("SIGKILL");
    const answered = await first;
    await ended;
    running = await startServer(folder, database);
    const again = await consume(running.address, id);
    expect(answered ?? again).toBe(again);
    left.push(again);
  }
  expect(left).toEqual(KILLED_AFTER_MS.map((_, index) => 99 - index));
});
