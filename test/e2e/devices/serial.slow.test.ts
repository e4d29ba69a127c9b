import { type ChildProcess, spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readSpool } from "../../../agent/spool/access.ts";
import { session, vetScanRecords } from "../../support/protocols/astm.ts";
import { patiently } from "../../support/runner/patience.ts";
import { runAgentCommand, until, World } from "../../support/machine/processes.ts";
import { socat } from "../../support/machine/pty.ts";

// Goal: results arrive over a serial line. Method: socat joins two pseudo-terminals. The agent opens one, the simulator the
// other.

let world: World;
let cable: ChildProcess | undefined;

beforeAll(async () => {
  if (!socat) return;
  world = await World.create(2);
});

afterAll(async () => {
  cable?.kill();
  await world?.end();
});

const agentEnd = () => path.join(world.folder, "agent-end");
const deviceEnd = () => path.join(world.folder, "device-end");

async function plugIn(): Promise<void> {
  cable = spawn("socat", [`pty,raw,echo=0,link=${agentEnd()}`, `pty,raw,echo=0,link=${deviceEnd()}`]);
  await until("both ends of the cable exist", () => fs.existsSync(agentEnd()) && fs.existsSync(deviceEnd()));
}

async function unplug(): Promise<void> {
  const exited = new Promise((resolve) => cable?.once("exit", resolve));
  cable?.kill();
  await exited;
  await until("the agent reports the disconnect", () => world.status().devices[0]?.connected === false);
}

test.skipIf(!socat)(
  "results arrive over a pty pair, before and after the cable is unplugged",
  { timeout: patiently(60_000) },
  async () => {
    world.writeConfig([
      { id: "chem-1", profile: "abaxis-vetscan-vs2", connection: { serial: { path: agentEnd(), baudRate: 9600 } } },
    ]);
    await world.startAgent(); // the port appears later
    await world.waitForPatients();
    await plugIn();
    const [dog, cat] = world.patients;
    const send = async (name: string, records: readonly string[]) => {
      await until("connected", () => world.status().devices[0]?.connected);
      const file = path.join(world.folder, name);
      fs.writeFileSync(file, session(records));
      return runAgentCommand("simulate", file, "--to", `serial:${deviceEnd()}`);
    };
    const first = vetScanRecords({ patient: dog!.externalId, species: "Dog", collected: "20261120093000", alt: 220 });
    expect(await send("dog.astm", first)).toBe("session 1: 7 frames acknowledged\n");
    await world.drained();

    await unplug();
    await plugIn();
    const second = vetScanRecords({ patient: cat!.externalId, species: "Cat", collected: "20261120094000", alt: 30 });
    expect(await send("cat.astm", second)).toBe("session 1: 7 frames acknowledged\n");
    const messages = await world.drained();
    expect(messages.map(({ state }) => state)).toEqual(["filed", "filed"]);
    expect(world.serverStudies().map(({ patient }) => patient)).toEqual([dog!.fp, cat!.fp]);
  },
);

test.skipIf(!socat)(
  "a cable unplugged within a frame loses no result, since the device resends",
  { timeout: patiently(60_000) },
  async () => {
    const [dog] = world.patients;
    const bytes = session(
      vetScanRecords({ patient: dog!.externalId, species: "Dog", collected: "20261120095000", alt: 77 }),
    );
    await until("connected", () => world.status().devices[0]?.connected);
    const stored = () =>
      readSpool(world.agentData, (db) => db.prepare("SELECT SUM(LENGTH(bytes)) FROM event").pluck().get()) as number;
    const before = stored();
    const half = fs.openSync(deviceEnd(), "w");
    fs.writeSync(half, bytes.subarray(0, 200));
    fs.closeSync(half);
    await until("the bytes before the cut are stored", () => stored() === before + 200);
    await unplug();
    await until("the incomplete message is stored", () =>
      world.messages().some(({ reason }) => reason?.startsWith("incomplete")),
    );
    await plugIn();
    await until("connected", () => world.status().devices[0]?.connected);
    const file = path.join(world.folder, "whole.astm");
    fs.writeFileSync(file, bytes);
    runAgentCommand("simulate", file, "--to", `serial:${deviceEnd()}`);
    const messages = await world.drained();
    expect(messages.slice(2).map(({ state, reason }) => [state, reason?.split(" by ")[0] ?? null])).toEqual([
      ["filed", "incomplete, completed"],
      ["filed", null],
    ]);
    expect(world.serverStudies().filter(({ results }) => results[0]?.value === 77)).toHaveLength(1);
  },
);
