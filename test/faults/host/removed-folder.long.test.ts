import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { STATUS } from "../../../agent/protocols/dicom/dimse.ts";
import { dataset, Peer, storeRequest } from "../../support/protocols/dicom.ts";
import { bloodCount, frameOf, MllpClient, verdict } from "../../support/protocols/hl7.ts";
import { AGENT, freePort, type Running, startProgram, until, World } from "../../support/machine/processes.ts";

// Goal: nothing is acknowledged that only a removed file holds. Method: an agent process without a server, whose data folder
// is removed, moved or replaced between two messages.

let world: World;
let ports: { hl7: number; dicom: number };
let folder: string;

beforeEach(async () => {
  world = await World.create(1);
  await world.server.end("SIGKILL");
  ports = { hl7: await freePort(), dicom: await freePort() };
  world.writeConfig([
    { id: "hema-1", profile: "generic-hl7", connection: { listen: `127.0.0.1:${ports.hl7}` } },
    {
      id: "xray",
      profile: "dicom",
      connection: { listen: `127.0.0.1:${ports.dicom}` },
      aeTitle: "VETWIRE",
      quietSeconds: 60,
    },
  ]);
  await world.startAgent();
  folder = world.agentData;
});

afterEach(() => world.end());

let lastId = 0;

/** Sends a result. @returns its id if the agent accepted it */
async function send(): Promise<string | null> {
  const id = `M${(lastId += 1)}`;
  const client = await MllpClient.connect(ports.hl7).catch(() => null);
  if (client === null) return null;
  client.send(frameOf(bloodCount({ id, patient: "5000", measured: "20260101090000", wbc: 9.8 })));
  const reply = await client.nextReply(2_000);
  client.close();
  return verdict(reply) === `AA ${id}` ? id : null;
}

/** Sends an image. @returns whether the agent accepted it */
async function sendImage(uid: string): Promise<boolean> {
  try {
    const sender = await Peer.associate(ports.dicom);
    sender.send(storeRequest(1, uid, dataset(uid, [[0x7fe0_0010, "OW", new Uint8Array(1_000)]])));
    return (await sender.status()) === STATUS.success;
  } catch {
    return false; // the agent has stopped
  }
}

/** Sends results for three seconds, or until the agent refuses. @returns the accepted ones */
async function acceptedNow(): Promise<string[]> {
  const accepted: string[] = [];
  for (const end = Date.now() + 3_000; Date.now() < end; ) {
    const id = await send();
    if (id === null) break;
    accepted.push(id);
  }
  return accepted;
}

const copyOf = () => path.join(world.folder, "copy");
const file = (name: string) => path.join(folder, name);

const faults: { readonly name: string; readonly path: () => string; readonly begin: () => void }[] = [
  { name: "removed", path: () => file("spool.db"), begin: () => fs.rmSync(folder, { recursive: true }) },
  { name: "moved", path: () => file("spool.db"), begin: () => fs.renameSync(folder, copyOf()) },
  {
    name: "replaced by a copy",
    path: () => file("spool.db"),
    begin() {
      fs.cpSync(folder, copyOf(), { recursive: true });
      fs.renameSync(folder, `${folder}.old`);
      fs.renameSync(copyOf(), folder);
    },
  },
  {
    name: "robbed of its log",
    path: () => file("spool.db-wal"),
    begin: () => fs.rmSync(file("spool.db-wal")),
  },
];

for (const { name, path: missing, begin } of faults) {
  test(`an agent whose data folder is ${name} acknowledges nothing more and ends with the reason`, async () => {
    expect(await send()).not.toBeNull();
    begin();
    expect(await acceptedNow()).toEqual([]);
    expect(await sendImage("1.2.3.1")).toBe(false);
    await until("the agent has ended", () => world.agent.process.exitCode !== null, 5_000);
    expect(world.agent.process.exitCode).toBe(1);
    const reason = `${missing()} was removed or replaced: the agent stops`;
    expect(world.agent.output()).toContain(`"reason":"${reason}","msg":"the agent ends"`);

    await world.startAgent();
    expect(await send()).not.toBeNull();
  });
}

test("an agent whose data folder is removed while no device sends ends too", async () => {
  expect(await send()).not.toBeNull();
  fs.rmSync(folder, { recursive: true });
  await until("the agent has ended", () => world.agent.process.exitCode !== null, 5_000);
  expect(world.agent.process.exitCode).toBe(1);
});

test("an agent whose image folder is replaced acknowledges no image and ends with the reason", async () => {
  expect(await sendImage("1.2.3.2")).toBe(true);
  fs.renameSync(file("images"), copyOf());
  fs.mkdirSync(file("images"));
  expect(await sendImage("1.2.3.3")).toBe(false);
  await until("the agent has ended", () => world.agent.process.exitCode !== null, 5_000);
  expect(world.agent.output()).toContain(`${file("images")} was removed or replaced: the agent stops`);
  await world.startAgent();
  expect(await sendImage("1.2.3.3")).toBe(true);
});

test("control: with a blind watch the agent acknowledges results that vanish with it", async () => {
  await world.agent.end("SIGKILL");
  // Every look sees what the first one saw.
  const blind = path.join(world.folder, "blind.cjs");
  fs.writeFileSync(
    blind,
    `const fs = require("node:fs"), seen = new Map(), look = fs.statSync;
     fs.statSync = (file, ...rest) => {
       const key = String(file) + JSON.stringify(rest[0] ?? null, (_, value) => String(value));
       if (!/spool|images/.test(key)) return look(file, ...rest);
       if (!seen.has(key)) seen.set(key, look(file, ...rest));
       return seen.get(key);
     };
     require("node:module").syncBuiltinESMExports();`,
  );
  const args = ["--require", blind, AGENT, "run", "--config", world.config];
  const agent: Running = startProgram(process.execPath, args, { ...process.env, NODE_OPTIONS: `--require ${blind}` });
  world.agent = agent;
  await until("the agent runs", () => agent.output().includes("the agent is running"));
  expect(await send()).not.toBeNull();
  fs.rmSync(folder, { recursive: true });
  const accepted = await acceptedNow();
  expect(accepted.length).toBeGreaterThan(0);
  await agent.end("SIGKILL");
  await world.startAgent();
  expect(world.messages()).toEqual([]); // all lost
});
