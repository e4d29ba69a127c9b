import fs from "node:fs";
import path from "node:path";
import Database from "better-sqlite3";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Behaviour, simulateReceiver, type SimulatedReceiver } from "../../../agent/tools/simulator/receiver.ts";
import { readSpool } from "../../../agent/spool/access.ts";
import { MllpClient } from "../../support/protocols/hl7.ts";
import { freePort, until, World } from "../../support/machine/processes.ts";

// Results reach practice software that is down, slow, refuses and loses acknowledgements, while agent and server are killed. Method:
// processes of server and agent, an analyzer's socket, a simulated receiver. The ALT value of a result is its number.

let world: World;
let receiver: SimulatedReceiver | undefined;
let [chemPort, pimsPort] = [0, 0];
let folder = "";
/** What the receiver does with its messages; then "aa". */
let behaviours: Behaviour[] = [];
/** Each message at the receiver: its number and what became of it. */
const got: string[] = [];
const stored: number[] = [];

beforeAll(async () => {
  world = await World.create(1);
  [chemPort, pimsPort] = [await freePort(), await freePort()];
  folder = path.join(world.folder, "results");
  fs.mkdirSync(folder);
  const chem = { id: "chem-1", profile: "generic-hl7", connection: { listen: `127.0.0.1:${chemPort}` } };
  const pims = { id: "pims", kind: "hl7", dial: `127.0.0.1:${pimsPort}`, facility: "CLINIC" };
  world.writeConfig([chem], undefined, { destinations: [pims, { id: "sheet", kind: "csv", folder }] });
  await world.startAgent();
  await world.waitForPatients();
  await until("the destination is registered", () => destination()?.waiting === 0);
});

afterAll(async () => {
  await receiver?.close();
  await world.end();
});

const destination = () => world.status().destinations.find(({ id }) => id === "pims");

async function measure(number: number): Promise<void> {
  const at = `2026010100${String(number).padStart(2, "0")}00`;
  const client = await MllpClient.connect(chemPort);
  await client.exchange([
    `MSH|^~\\&|CHEM|Vendor|||${at}||ORU^R01|${number}|P|2.3.1`,
    `PID|1||${world.patients[0]!.externalId}`,
    `OBR|1|||CHEM|||${at}`,
    `OBX|1|NM|1742-6^ALT^LN||${number}|U/L|10-118|N|||F`,
  ]);
  client.close();
}

async function startReceiver(onMessage: (number: number) => void = () => undefined): Promise<void> {
  receiver = await simulateReceiver(
    { host: "127.0.0.1", port: pimsPort },
    () => behaviours.shift() ?? "aa",
    ({ message, behaviour, isStored }) => {
      const number = Number(/\rOBX\|1\|NM\|[^|]*\|[^|]*\|([\d.]+)/.exec(message.toString())?.[1]);
      got.push(`${number} ${behaviour}`);
      if (isStored) stored.push(number);
      onMessage(number);
    },
  );
}

const attempts = () => {
  const db = new Database(path.join(world.serverData, "vetwire.db"), { readonly: true });
  const rows = db
    .prepare(
      `SELECT number, outcome, code FROM destination_attempt WHERE delivery_id IN (SELECT d.id FROM destination_delivery d
        JOIN destination ON destination.id = d.destination_id AND slug = 'pims') ORDER BY delivery_id, number`,
    )
    .all() as { number: number; outcome: string | null; code: string | null }[];
  db.close();
  return rows;
};

test("nothing is lost, the order is kept, and only a lost acknowledgement brings a result twice", async () => {
  for (const number of [1, 2, 3]) await measure(number);
  await until("the fault is shown", () => destination()?.code === "DIAL.REFUSED");

  behaviours = ["ae", "split", "ar", "lose", "late:1"];
  await startReceiver();
  await until(
    "the third result is acknowledged",
    () => got.includes("3 late:1") && destination()?.state === "connected",
  );
  expect(got).toEqual(["1 ae", "1 split", "2 ar", "3 lose", "3 late:1"]);

  // The server dies while the receiver takes its time, and the agent after it has stored the acknowledgement.
  await receiver?.close();
  behaviours = ["late:1"];
  await startReceiver((number) => {
    if (number === 4) void world.server.end("SIGKILL");
  });
  await measure(4);
  const outcome = () =>
    readSpool(world.agentData, (db) =>
      db.prepare("SELECT outcome, reported FROM result_destination WHERE id = 'pims'").get(),
    );
  await until("the acknowledgement is stored", () => {
    const last = outcome() as { outcome: string; reported: number };
    return got.includes("4 late:1") && last.outcome === "acknowledged" && last.reported === 0;
  });
  await world.agent.end("SIGKILL");
  await world.startServer();
  await world.startAgent();
  await measure(5);
  await until("the last result arrives", () => stored.includes(5));
  await until("its outcome is reported", () => attempts().at(-1)?.outcome === "acknowledged");

  expect(stored).toEqual([1, 3, 3, 4, 5]);
  const fps = world.serverStudies().map(({ fp }) => fp);
  const files = fps.map((fp) => `sheet_${fp}_r1.csv`).toSorted();
  await until("all files are in the folder, under their names", () => fs.readdirSync(folder).join() === files.join());
  const ended = attempts().filter(({ code }) => code !== "DIAL.REFUSED");
  expect(ended.map(({ outcome: how, code }) => `${how} ${code}`)).toEqual([
    "failed AE",
    "acknowledged AA",
    "refused AR",
    "failed ACK.CLOSED",
    "acknowledged AA",
    "acknowledged AA",
    "acknowledged AA",
  ]);
});
