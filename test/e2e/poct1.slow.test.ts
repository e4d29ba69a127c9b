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

// Goal: a POCT1-A device's words become a study that the read API serves. Server, agent and simulated device are processes
// of their own.

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

/** A strict device's conversation in this process, and all that was said to it. */
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

test("a strict device's stored observation is acknowledged, filed and read back with the flags of a dog", async () => {
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

test("resent again by a device that lost the answer it is the same study, and another value is its second revision", async () => {
  const [dog] = world.patients;
  const resent = (value: number) =>
    session([measurement(3, { patient: dog!.externalId, at, sequence: 1 }, [potassium(value)])]);
  simulate("again.poct1", resent(7.9), "--repeat", "2");
  await world.drained();
  expect(world.serverStudies()).toMatchObject([{ revision: 1 }]);
  simulate("corrected.poct1", resent(5.0));
  const messages = await world.drained();
  expect(messages).toHaveLength(4);
  expect(new Set(messages.flatMap(({ study_fps }) => study_fps)).size).toBe(1);
  expect(world.serverStudies()).toMatchObject([{ revision: 2, results: [{ analyte: "K", value: 5 }] }]);
});

test("a control whose lot is a patient's number stays out", async () => {
  const before = world.serverStudies();
  const wire = fs.readFileSync(path.join(fixturesFolder, "generic-poct1a/quality-control.poct1"), "latin1");
  simulate("control.poct1", wire.replaceAll("4711", world.patients[0]!.externalId));
  const messages = await world.drained();
  expect(messages.at(-1)).toMatchObject({ state: "not-for-patients", study_fps: [] });
  expect(world.serverStudies()).toEqual(before);
});

describe("a device asks and is resent", () => {
  test("who a patient is: one, with name and weight, or nobody", async () => {
    const one = await converse(continuousSession({ queriedId: world.patients[0]!.externalId }));
    expect(one.reason).toBe(null);
    expect(one.received).toContain(
      `<PT><PT.patient_id V="${world.patients[0]!.externalId}"/><PT.name V="Test animal"><GIV V="Test animal"/></PT.name>` +
        '<PT.birth_date V="2020-01-01"/><PT.gender_cd V="M"/><PT.weight V="12.5" U="kg"/></PT></PTL.R01>',
    );
    const nobody = await converse(continuousSession({ queriedId: "99999" }));
    expect(nobody.reason).toBe(null);
    expect(nobody.received).toMatch(/<PTL\.R01><HDR>.*<\/HDR><\/PTL\.R01>/);
    const [last] = (await world.drained()).slice(-1);
    expect(last).toMatchObject({ state: "not-for-patients", reason: "the device asks for a patient" });
  });

  test.each(["RPVI", "PVI"] as const)("whether a patient is one of ours (%s): one, or nobody", async (by) => {
    const [dog] = world.patients;
    const one = await converse(continuousSession({ by, queriedId: dog!.externalId }));
    expect(one.reason).toBe(null);
    expect(one.received).toContain(
      `<PVF></PVF><PT><PT.patient_id V="${dog!.externalId}"/><PT.name V="Test animal"><GIV V="Test animal"/></PT.name>` +
        '<PT.birth_date V="2020-01-01"/><PT.gender_cd V="M"/><PT.weight V="12.5" U="kg"/></PT></PVR.R01>',
    );
    // By its ULID too, as results are matched; and in the name that the device asked by.
    const ulid = dog!.fp.slice("patient_".length);
    expect((await converse(continuousSession({ by, queriedId: ulid }))).received).toContain(
      `<PVF></PVF><PT><PT.patient_id V="${ulid}"/>`,
    );
    const nobody = await converse(continuousSession({ by, queriedId: "99999" }));
    expect(nobody.reason).toBe(null);
    expect(nobody.received).toMatch(/<PVR\.R01><HDR>.*<\/HDR><PVF><\/PVF><\/PVR\.R01>/);
  });

  test("who may use it: everybody in pieces, then only what changed, also after a restart of the agent", async () => {
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

describe("a person locks a device", () => {
  const run = promisify(execFile);
  const typed = (command: "lock" | "unlock", device = "poc-1") =>
    run(process.execPath, [AGENT, command, "--config", world.config, "--device", device]);
  const waits = (command: "LOCK" | "UNLOCK") =>
    until(`${command} waits`, () =>
      readSpool(world.agentData, (db) => {
        const last = deviceCommandOperationsOn(db).deviceCommandOf("poc-1");
        return last?.command === command && last.state === "waiting";
      }),
    );

  test("that is connected: it is resent at once, by the agent that runs beside", async () => {
    const device = await Poct1Client.connect(port, "SN90");
    const from = performance.now();
    expect((await typed("lock")).stdout).toBe("poc-1 accepted LOCK\n");
    expect(performance.now() - from).toBeLessThan(10_000);
    expect(device?.directives).toEqual(["START_CONTINUOUS", "LOCK"]);
    device?.close();
  });

  test("that is away: it is resent when it comes, and the last word counts", async () => {
    const lock = start(AGENT, ["lock", "--config", world.config, "--device", "poc-1"]);
    await waits("LOCK");
    await lock.end();
    const unlock = typed("unlock");
    await waits("UNLOCK");
    // By then the agent has looked, and whoever connects is resent before its turn ends.
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    const { reason, received } = await converse(continuousSession({}));
    expect(reason).toBe(null);
    const commands = [...received.matchAll(/DTV\.command_cd V="(\w+)"/g)].map(([, command]) => command);
    expect(commands).toEqual(["UNLOCK", "START_CONTINUOUS"]);
    expect((await unlock).stdout).toBe("poc-1 accepted UNLOCK\n");
  });

  test("that is not there at all: a sentence", async () => {
    await expect(typed("lock", "poc-9")).rejects.toThrow("--device is poc-9, did you mean poc-1?");
  });
});

test("what the device says of itself is shown by status", async () => {
  expect((await converse(continuousSession({ events: ["Door opened", "Door closed"] }))).reason).toBe(null);
  const shown = (): SpoolStatus["devices"] =>
    (JSON.parse(runAgentCommand("status", "--config", world.config, "--json")) as SpoolStatus).devices;
  const [instrument] = await until("the events", () => {
    const { instruments = [] } = shown()[0]!;
    return instruments[0]?.events.length === 2 ? instruments : null;
  });
  expect(instrument).toMatchObject({ name: "ACME|BG1|SN77", status: { condition: "R", new_events: 2 } });
  const resent = { at: "2026-11-21T12:00:00", severity: "W" };
  expect(instrument!.events).toEqual(
    expect.arrayContaining([
      { ...resent, description: "Door opened" },
      { ...resent, description: "Door closed" },
    ]),
  );
  const text = runAgentCommand("status", "--config", world.config);
  expect(text).toMatch(/ACME\|BG1\|SN77 {2}\S+ {2}condition R, new_observations 0, new_events 2, clock_skew_s -?\d+/);
  expect(text).toContain("description Door opened, severity W");
});
