import { execFile } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readSpool } from "../../../agent/spool/access.ts";
import { deviceCommandOperationsOn } from "../../../agent/spool/queries/devices/device-commands.ts";
import type { SpoolStatus } from "../../../agent/spool/queries/status.ts";
import { type SimulatorLine, openLine } from "../../../agent/tools/simulator/line.ts";
import { playPoct1Device } from "../../../agent/tools/simulator/poct1.ts";
import { continuousSession } from "../../support/protocols/poct1-session.ts";
import { patiently } from "../../support/runner/patience.ts";
import { Poct1Client } from "../../support/protocols/poct1.ts";
import { AGENT, freePort, runAgentCommand, start, until, World } from "../../support/machine/processes.ts";

// Goal: observations of a POCT1-A device become studies of the read API. Method: processes of server, agent and simulated
// device.

let world: World;
let port: number;

beforeAll(async () => {
  world = await World.create(4);
  port = await freePort();
  fs.writeFileSync(path.join(world.folder, "operators.yaml"), operators(40));
  const connection = { listen: `127.0.0.1:${port}` };
  world.writeConfig([{ id: "poc-1", profile: "generic-poct1a", connection, operatorListFile: "./operators.yaml" }]);
  await world.startAgent();
  await world.waitForPatients();
});

afterAll(() => world.end());

function operators(count: number): string {
  return Array.from({ length: count }, (_, index) => `- { id: vt${index}, name: Operator ${index} }\n`).join("");
}

/** Plays a strict device in this process. @returns all bytes that it received, and the reason of a failure */
async function converse(wire: string): Promise<{ reason: string | null; received: string }> {
  const line = await openLine(`tcp://127.0.0.1:${port}`);
  let received = "";
  const listening: SimulatorLine = {
    get isOpen() {
      return line.isOpen;
    },
    send: (bytes) => line.send(bytes),
    close: () => line.close(),
    async reply(ms) {
      const byte = await line.reply(ms);
      if (byte !== null) received += String.fromCharCode(byte);
      return byte;
    },
  };
  const { reason } = await playPoct1Device(Buffer.from(wire, "latin1"), listening, { strict: true });
  await line.close();
  return { reason, received };
}

describe("the commands lock and unlock", () => {
  const run = promisify(execFile);
  const runCommand = (command: "lock" | "unlock", device = "poc-1") =>
    run(process.execPath, [AGENT, command, "--config", world.config, "--device", device]);
  const untilPending = (command: "LOCK" | "UNLOCK") =>
    until(`${command} is pending`, () =>
      readSpool(world.agentData, (db) => {
        const last = deviceCommandOperationsOn(db).deviceCommandOf("poc-1");
        return last?.command === command && last.state === "waiting";
      }),
    );

  test("a connected device gets LOCK from the running agent immediately", async () => {
    const device = await Poct1Client.connect(port, "SN90");
    const from = performance.now();
    expect((await runCommand("lock")).stdout).toBe("poc-1 accepted LOCK\n");
    expect(performance.now() - from).toBeLessThan(patiently(10_000));
    expect(device?.directives).toEqual(["START_CONTINUOUS", "LOCK"]);
    device?.close();
  });

  test("a disconnected device gets only the latest command when it connects", async () => {
    const lock = start(AGENT, ["lock", "--config", world.config, "--device", "poc-1"]);
    await untilPending("LOCK");
    await lock.end();
    const unlock = runCommand("unlock");
    await untilPending("UNLOCK");
    // The agent polls for commands within this time, so the device gets the command when it connects.
    await new Promise((resolve) => setTimeout(resolve, patiently(3_000)));
    const { reason, received } = await converse(continuousSession({}));
    expect(reason).toBe(null);
    const commands = [...received.matchAll(/DTV\.command_cd V="(\w+)"/g)].map(([, command]) => command);
    expect(commands).toEqual(["UNLOCK", "START_CONTINUOUS"]);
    expect((await unlock).stdout).toBe("poc-1 accepted UNLOCK\n");
  });

  test("an unknown device is refused, and the error names the nearest one", async () => {
    await expect(runCommand("lock", "poc-9")).rejects.toThrow("--device is poc-9, did you mean poc-1?");
  });
});

test("the command status shows the device's condition and events", async () => {
  expect((await converse(continuousSession({ events: ["Door opened", "Door closed"] }))).reason).toBe(null);
  const shown = (): SpoolStatus["devices"] =>
    (JSON.parse(runAgentCommand("status", "--config", world.config, "--json")) as SpoolStatus).devices;
  const [instrument] = await until("the status has both events", () => {
    const { instruments = [] } = shown()[0]!;
    return instruments[0]?.events.length === 2 ? instruments : null;
  });
  expect(instrument).toMatchObject({ name: "ACME|BG1|SN77", status: { condition: "R", new_events: 2 } });
  const event = { at: "2026-11-21T12:00:00", severity: "W" };
  expect(instrument!.events).toEqual(
    expect.arrayContaining([
      { ...event, description: "Door opened" },
      { ...event, description: "Door closed" },
    ]),
  );
  const text = runAgentCommand("status", "--config", world.config);
  expect(text).toMatch(/ACME\|BG1\|SN77 {2}\S+ {2}condition R, new_observations 0, new_events 2, clock_skew_s -?\d+/);
  expect(text).toContain("description Door opened, severity W");
});
