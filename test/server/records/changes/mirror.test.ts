import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { mirror } from "../../../../shared/client/mirror.ts";
import { changeClinic } from "../../../support/clinic/changing-clinic.ts";
import { diceOf } from "../../../support/runner/dice.ts";
import { temporaryFolder } from "../../harness.ts";
import { MIRRORED, mirrored, readEverything, startMirrored } from "../../mirrored.ts";

// The example of shared/client has what the database has, while everything changes. mirror.long.test.ts kills the server too.

const ROUNDS = 8;

test("the mirror has what the clinic reads, after changes, removals, merges and connections, within its rate limit", async () => {
  const { server, facts } = await startMirrored(5);
  const { app, clock, store } = server;
  await app.listen({ port: 0, host: "127.0.0.1" });
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  const key = await server.makeKey(facts.own, [...MIRRORED]);
  let waits = 0;
  const wait = async (ms: number) => {
    waits += 1;
    clock.now += ms;
    return Promise.resolve();
  };
  const folder = temporaryFolder();
  const file = join(folder, "clinic.db");
  const sync = async () => mirror(file, { url, key, wait });
  const dice = diceOf(7);
  for (let round = 0; round < ROUNDS; round += 1) {
    // The clock goes forth and back.
    clock.now += (dice(5) - 2) * 600_000;
    const changing = changeClinic(store, facts, { dice, round, folder, clock: () => clock.now });
    await Promise.all([changing, sync()]);
  }
  await sync();
  const truth = await readEverything(server, facts);
  expect(truth.size).toBeGreaterThan(40);
  expect(mirrored(file)).toEqual(truth);
  expect(waits).toBeGreaterThan(0);
});
