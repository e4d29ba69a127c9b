import fs from "node:fs";
import path from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { ACK, ENQ, EOT, LF, STX } from "../../../agent/protocols/bytes.ts";
import { playDevice } from "../../../agent/tools/simulator/analyzer.ts";
import { type SimulatorLine, openLine } from "../../../agent/tools/simulator/line.ts";
import { session } from "../../support/protocols/astm.ts";
import { patiently } from "../../support/runner/patience.ts";
import { CLINIC, freePort, runAgentCommand, runServerCommand, until, World } from "../../support/machine/processes.ts";

// Goal: an analyzer queries an order from the command line, and its result is filed to the patient by the accession alone.
// Method: processes of server, agent and command line. The test is the analyzer on a TCP connection.

const HEADER = "H|\\^&|||Analyzer^1.0|||||||P|LIS2-A2|20261121120000";
const TODAY = new Date().toISOString();

let world: World;
let port: number;
let line: SimulatorLine;

beforeAll(async () => {
  world = await World.create(4);
  port = await freePort();
  const event = { type: "calendar_event", clinic_fp: CLINIC, fp: "calevt_01K9TEST000000000000000001", title: "Check" };
  const when = { event_type: "CHECKUP", status: "SCHEDULED", start_at: TODAY, end_at: TODAY };
  const participants = { patient_fp: world.patients[3]!.fp, assigned_user_fp: null };
  const file = path.join(world.folder, "today.ndjson");
  fs.writeFileSync(file, `${JSON.stringify({ ...event, ...when, ...participants })}\n`);
  runServerCommand("import", file, "--data", world.serverData);
  world.writeConfig([{ id: "chem-1", profile: "generic-astm", connection: { listen: `127.0.0.1:${port}` } }]);
  await world.startAgent();
  await world.waitForPatients();
});

afterAll(() => world.end());

beforeEach(async () => {
  line = await openLine(`tcp://127.0.0.1:${port}`, 9600);
});

afterEach(() => line.close());

const order = (patient: string, tests: string) =>
  runAgentCommand(
    "order",
    "--config",
    world.config,
    "--device",
    "chem-1",
    "--patient",
    patient,
    "--tests",
    tests,
  ).trim();

async function play(...records: readonly string[]): Promise<void> {
  expect(await playDevice(session([HEADER, ...records, "L|1|N"]), line)).toMatchObject({ accepted: true, resent: 0 });
}

/** Receives the next session of the host. @returns its records, and the milliseconds until ENQ */
async function receive(): Promise<{ readonly records: readonly string[]; readonly ms: number }> {
  const from = performance.now();
  const next = async () => {
    const byte = await line.reply(patiently(5_000));
    if (byte === null) throw new Error("expected a byte from the host in time, got none");
    return byte;
  };
  expect(await next()).toBe(ENQ);
  const ms = performance.now() - from;
  let text = "";
  for (let number = 1; ; number++) {
    line.send(Uint8Array.of(ACK));
    const first = await next();
    if (first === EOT) return { records: text.split("\r").slice(0, -1), ms };
    expect(first).toBe(STX);
    let frame = "";
    for (let byte = await next(); byte !== LF; byte = await next()) frame += String.fromCharCode(byte);
    const sum = Array.from(frame.slice(0, -3)).reduce((total, letter) => total + letter.charCodeAt(0), 0) % 256;
    const checksum = sum.toString(16).toUpperCase().padStart(2, "0");
    expect([frame[0], frame.slice(-3)]).toEqual([String(number % 8), `${checksum}\r`]);
    text += frame.slice(1, -4); // the rest is ETX or ETB, the checksum and CR
  }
}

const ulid = (index: number) => world.patients[index]!.fp.slice("patient_".length);

test("a queried and measured sample is filed to its patient by the accession alone", async () => {
  const accession = order(world.patients[0]!.fp, "ALT,CREA");
  expect(accession).toMatch(/^V[0-9A-Z]{7}$/);
  await play(`Q|1|^${accession}||ALL||||||||O`);
  const { records, ms } = await receive();
  expect(ms).toBeLessThan(patiently(2_000));
  expect(records.map((record) => record.split("|").slice(0, 6).join("|"))).toEqual([
    "H|\\^&|||Vetwire|",
    `P|1|${ulid(0)}|||Test animal`,
    `O|1|${accession}||^^^ALT\\^^^CREA|R`,
    "L|1|F",
  ]);
  // The result has no patient number, as from many devices.
  await play("P|1", `O|1|${accession}||^^^ALT\\^^^CREA`, "R|1|^^^ALT|220|U/L", "R|2|^^^CREA|1.2|mg/dL");
  const [query, result] = await world.drained();
  expect(query).toMatchObject({ state: "not-for-patients", reason: "host query", study_fps: [] });
  expect(result).toMatchObject({ state: "filed", reason: null });
  expect(await world.getStudy(result!.study_fps[0]!)).toMatchObject({
    status: 200,
    body: { data: { patient_fp: world.patients[0]!.fp, results: [{ analyte: "ALT", value: 220, flag: "high" }, {}] } },
  });
});

test("an order of practice software reaches the device that queries it, and its study comes back with the order", async () => {
  const key = runServerCommand(
    ...["keys", "create", "--clinic", CLINIC, "--name", "pims", "--permissions", "clinic.sync.write"],
    ...["--data", world.serverData],
  ).trim();
  const send = async (what: string, item: object) => {
    const response = await fetch(`http://127.0.0.1:${world.serverPort}/sync/v1/${what}`, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: JSON.stringify({ source: "pims", mode: "partial", items: [item] }),
    });
    const { items } = (await response.json()) as { items: { fp: string; accession: string; outcome: string }[] };
    expect(items).toMatchObject([{ outcome: "created" }]);
    return items[0]!;
  };
  const owner = { external_id: "3001", name: "Ada Örnek" };
  const { fp: patient } = await send("patients", { external_id: "00417", name: "Pamuk", species: "Kedi", owner });
  const ordered = {
    external_id: "10231",
    patient: "00417",
    tests: ["ALT", "CREA"],
    ordered_at: new Date().toISOString(),
  };
  const { fp, accession } = await send("orders", ordered);

  // The order names no device. The agent learns of animal and order by this query, a moment after its last sync by the next one.
  const replied = await until("the device gets the order", async () => {
    await play(`Q|1|^${accession}||ALL||||||||O`);
    const { records } = await receive();
    return records[2]?.endsWith("Z") === true ? null : records[2];
  });
  expect(replied).toMatch(`O|1|${accession}||^^^ALT\\^^^CREA|R`);
  await play("P|1", `O|1|${accession}||^^^ALT\\^^^CREA`, "R|1|^^^ALT|220|U/L", "R|2|^^^CREA|1.2|mg/dL");
  const result = (await world.drained()).at(-1)!;
  expect(result).toMatchObject({ state: "filed", reason: null });
  expect(await world.getStudy(result.study_fps[0]!)).toMatchObject({
    body: { data: { patient_fp: patient, order: { fp, placer_number: "10231" } } },
  });
});
