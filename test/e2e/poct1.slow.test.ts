import { execFile } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readSpool } from "../../agent/spool/access.ts";
import { deviceCommandOperationsOn } from "../../agent/spool/queries/devices/device-commands.ts";
import type { SpoolStatus } from "../../agent/spool/queries/status.ts";
import { type SimulatorLine, openLine } from "../../agent/tools/simulator/line.ts";
import { playPoct1Device } from "../../agent/tools/simulator/poct1.ts";
import { fixturesFolder } from "../make-fixtures.ts";
import { measurement, potassium, session, continuousSession } from "../poct1-fixtures.ts";
import { Poct1Client } from "../support/poct1.ts";
import { AGENT, freePort, runAgentCommand, start, studyResponse, until, World } from "../support/processes.ts";

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

function simulate(name: string, wire: string, ...options: readonly string[]): string {
  const file = path.join(world.folder, name);
  fs.writeFileSync(file, wire);
  return runAgentCommand("simulate", file, "--to", `tcp://127.0.0.1:${port}`, "--dialect", "strict", ...options);
}

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

const at = "2026-11-20T09:30:00+03:00";

test("a stored observation of a strict device is acknowledged, filed and served with the flags of a dog", async () => {
  const [dog] = world.patients;
  const wire = session([measurement(3, { patient: dog!.externalId, at, sequence: 1 }, [potassium(7.9)])]);
  expect(simulate("dog.poct1", wire)).toBe("session 1: 5 documents acknowledged\n");
  const fp = await world.firstFiled("poc-1");
  expect(await world.getStudy(fp)).toEqual(
    studyResponse({
      fp,
      patient_fp: dog!.fp,
      modality: "BIOCHEMISTRY",
      device_name: "BG1 SN77",
      acquired_at: "2026-11-20T06:30:00.000Z",
      results: [{ analyte: "K", value: 7.9, unit: "mmol/L", reference_range: "4.10-5.40", flag: "high" }],
    }),
  );
});

test("a resend keeps the study, and a changed value becomes revision 2", async () => {
  const [dog] = world.patients;
  const recording = (value: number) =>
    session([measurement(3, { patient: dog!.externalId, at, sequence: 1 }, [potassium(value)])]);
  simulate("again.poct1", recording(7.9), "--repeat", "2");
  await world.drained();
  expect(world.serverStudies()).toMatchObject([{ revision: 1 }]);
  simulate("corrected.poct1", recording(5.0));
  const messages = await world.drained();
  expect(messages).toHaveLength(4);
  expect(new Set(messages.flatMap(({ study_fps }) => study_fps)).size).toBe(1);
  expect(world.serverStudies()).toMatchObject([{ revision: 2, results: [{ analyte: "K", value: 5 }] }]);
});

test("a control result is not filed, even if its lot equals a patient's number", async () => {
  const before = world.serverStudies();
  const wire = fs.readFileSync(path.join(fixturesFolder, "generic-poct1a/quality-control.poct1"), "latin1");
  simulate("control.poct1", wire.replaceAll("4711", world.patients[0]!.externalId));
  const messages = await world.drained();
  expect(messages.at(-1)).toMatchObject({ state: "not-for-patients", study_fps: [] });
  expect(world.serverStudies()).toEqual(before);
});

describe("queries and lists", () => {
  test("a patient query gets the patient with name and weight, or an empty list", async () => {
    const reply = await converse(continuousSession({ queriedId: world.patients[0]!.externalId }));
    expect(reply.reason).toBe(null);
    expect(reply.received).toContain(
      `<PT><PT.patient_id V="${world.patients[0]!.externalId}"/><PT.name V="Test animal"><GIV V="Test animal"/></PT.name>` +
        '<PT.birth_date V="2020-01-01"/><PT.gender_cd V="M"/><PT.weight V="12.5" U="kg"/></PT></PTL.R01>',
    );
    const unknown = await converse(continuousSession({ queriedId: "99999" }));
    expect(unknown.reason).toBe(null);
    expect(unknown.received).toMatch(/<PTL\.R01><HDR>.*<\/HDR><\/PTL\.R01>/);
    const [last] = (await world.drained()).slice(-1);
    expect(last).toMatchObject({ state: "not-for-patients", reason: "the device asks for a patient" });
  });

  test.each(["RPVI", "PVI"] as const)("a patient validation (%s) gets the patient, or no patient", async (by) => {
    const [dog] = world.patients;
    const reply = await converse(continuousSession({ by, queriedId: dog!.externalId }));
    expect(reply.reason).toBe(null);
    expect(reply.received).toContain(
      `<PVF></PVF><PT><PT.patient_id V="${dog!.externalId}"/><PT.name V="Test animal"><GIV V="Test animal"/></PT.name>` +
        '<PT.birth_date V="2020-01-01"/><PT.gender_cd V="M"/><PT.weight V="12.5" U="kg"/></PT></PVR.R01>',
    );
    // A ULID matches too, as it does for results. The response repeats the identifier of the query.
    const ulid = dog!.fp.slice("patient_".length);
    expect((await converse(continuousSession({ by, queriedId: ulid }))).received).toContain(
      `<PVF></PVF><PT><PT.patient_id V="${ulid}"/>`,
    );
    const unknown = await converse(continuousSession({ by, queriedId: "99999" }));
    expect(unknown.reason).toBe(null);
    expect(unknown.received).toMatch(/<PVR\.R01><HDR>.*<\/HDR><PVF><\/PVF><\/PVR\.R01>/);
  });

  test("a device gets the operator list in parts, then only changes, even after a restart of the agent", async () => {
    const offer = { topics: ["OP_LST", "OP_LST_I"], bytesMax: 1_000 };
    const first = await converse(continuousSession(offer));
    expect(first.reason).toBe(null);
    expect(first.received.match(/<OPL\.R01>/g)!.length).toBeGreaterThan(3);
    expect(first.received.match(/OPR\.operator_id V="vt\d+"/g)).toHaveLength(40);
    expect(first.received).toContain('<EOT.topic_cd V="OP_LST"/>');
    expect((await converse(continuousSession(offer))).received).not.toContain("OPL");

    await world.agent.end("SIGTERM");
    fs.writeFileSync(path.join(world.folder, "operators.yaml"), operators(39));
    await world.startAgent();
    const changed = await converse(continuousSession(offer));
    expect(changed.reason).toBe(null);
    expect(changed.received.match(/<UPD>.*?<\/UPD>/g)).toEqual([
      '<UPD><UPD.action_cd V="D"/><OPR><OPR.operator_id V="vt39"/></OPR></UPD>',
    ]);
  });
});

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

  test("a connected device gets LOCK from the running agent at once", async () => {
    const device = await Poct1Client.connect(port, "SN90");
    const from = performance.now();
    expect((await runCommand("lock")).stdout).toBe("poc-1 accepted LOCK\n");
    expect(performance.now() - from).toBeLessThan(10_000);
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
    await new Promise((resolve) => setTimeout(resolve, 3_000));
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
