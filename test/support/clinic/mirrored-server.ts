import { readFileSync, writeSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { buildApp } from "../../../server/app.ts";
import { openStore } from "../../../server/database/open.ts";
import { loadPepper } from "../../../server/http/auth/pepper.ts";
import { changeClinic, type ClinicFacts } from "./changing-clinic.ts";
import { diceOf } from "../runner/dice.ts";

// A server whose clinic changes, with a wrong clock, for tests that kill it: node mirrored-server.ts DATABASE FOLDER SKEW SEED. It
// writes its port. The folder has the pepper and the records. The seed 0 changes nothing.

const [database = "", folder = "", skew = "0", seed = "0"] = process.argv.slice(2);
const clock = () => Date.now() + Number(skew);
const facts = JSON.parse(readFileSync(`${folder}/facts.json`, "utf8")) as ClinicFacts;
const store = await openStore(database, 30_000, clock);
const app = buildApp(store, { pepper: loadPepper(folder, true), now: clock });
await app.listen({ port: 0, host: "127.0.0.1" });
writeSync(1, `${(app.server.address() as AddressInfo).port}\n`);
const dice = diceOf(Number(seed));
// A study that was pushed before has a greater revision in each process.
for (let round = Number(seed) * 1000; seed !== "0"; round += 1) {
  await changeClinic(store, facts, { dice, round, folder, clock });
  await wait(dice(200));
}
