import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { ApiFailure } from "../../../../shared/client/client.ts";
import { mirror } from "../../../../shared/client/mirror.ts";
import { diceOf } from "../../../support/runner/dice.ts";
import { MIRRORED, mirrored, readEverything, startMirrored } from "../../mirrored.ts";

// As mirror.test.ts, for ten minutes: the server gets SIGKILL every few seconds, and starts again with a clock that is up to an hour
// ahead or behind.

const SERVER = join(import.meta.dirname, "../../../support/clinic/mirrored-server.ts");
const FOR_MS = 600_000;
const SKEW_MS = 3_600_000;

test("the mirror equals the database after ten minutes of changes, kills and wrong clocks", {
  timeout: 2 * FOR_MS,
}, async () => {
  const { server, facts } = await startMirrored(60);
  const { database, folder } = server;
  const key = await server.makeKey(facts.own, [...MIRRORED]);
  writeFileSync(join(folder, "facts.json"), JSON.stringify(facts));
  const file = join(folder, "clinic.db");
  const dice = diceOf(11);
  let url = "";
  let kill = async () => Promise.resolve();
  async function startServer(skewMs: number, seed: number): Promise<void> {
    const child = spawn(process.execPath, [SERVER, database, folder, String(skewMs), String(seed)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const ended = once(child, "exit");
    const [port] = (await once(child.stdout, "data")) as [Buffer];
    url = `http://127.0.0.1:${port.toString().trim()}`;
    kill = async () => {
      child.kill("SIGKILL");
      await ended;
    };
  }
  onTestFinished(async () => kill());

  let isChanging = true;
  let runs = 0;
  async function copy(): Promise<void> {
    while (isChanging) {
      // A run that a kill interrupts goes on with the next one.
      await mirror(file, { url, key, timeoutMs: 10_000 }).then(
        () => (runs += 1),
        (error: unknown) => {
          if (error instanceof ApiFailure && error.status < 500) throw error;
        },
      );
      await wait(100);
    }
  }
  const end = Date.now() + FOR_MS;
  await startServer(0, 1);
  const copying = copy();
  for (let start = 2; Date.now() < end; start += 1) {
    await wait(2000 + dice(4000));
    await kill();
    await startServer(dice(2 * SKEW_MS) - SKEW_MS, start);
  }
  isChanging = false;
  await kill();
  await copying;

  await startServer(0, 0);
  await mirror(file, { url, key });
  const truth = await readEverything(server, facts);
  expect(truth.size).toBeGreaterThan(20);
  expect(mirrored(file)).toEqual(truth);
  expect(runs).toBeGreaterThan(0);
});
