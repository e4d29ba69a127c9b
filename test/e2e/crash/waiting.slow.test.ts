import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { MessageSummary } from "../../../agent/spool/queries/messages/message-summaries.ts";
import { session, vetScanRecords } from "../../support/protocols/astm.ts";
import {
  CLINIC,
  freePort,
  runAgentCommand,
  runServerCommand,
  studyResponse,
  until,
  World,
} from "../../support/machine/processes.ts";

// Goal: a result that arrives before its patient is filed once a file brings the patient, without `reprocess`. Method: processes of
// server, agent and simulator.

/** Max time between the import of a patient and the filed study. */
const A_MINUTE = 60_000;
const TEST_MS = 5 * A_MINUTE;

let world: World;
let port: number;
let sessions = 0;

beforeAll(async () => {
  world = await World.create(4);
  port = await freePort();
  world.writeConfig([{ id: "chem-1", profile: "abaxis-vetscan-vs2", connection: { listen: `127.0.0.1:${port}` } }]);
  vi.stubEnv("VETWIRE_HURRY", "10");
  await world.startAgent();
  await world.waitForPatients();
});

afterAll(async () => {
  vi.unstubAllEnvs();
  await world.end();
});

/** Simulates a run of the analyzer for a dog. */
function run(patient: string): void {
  const collected = `2026112009${String(10 + sessions++)}00`;
  const file = path.join(world.folder, "run.astm");
  fs.writeFileSync(file, session(vetScanRecords({ patient, species: "Dog", collected, alt: 220 })));
  runAgentCommand("simulate", file, "--to", `tcp://127.0.0.1:${port}`);
}

const server = (...command: string[]) => runServerCommand(...command, "--data", world.serverData);

function importLines(...lines: object[]): void {
  const file = path.join(world.folder, "lines.ndjson");
  fs.writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  server("import", file);
}

/** @returns the import lines of a new dog with a card number */
function newDog(fp: string, card: string): object[] {
  const at = new Date().toISOString();
  const patient = { name: "New dog", species: "dog", breed: null, sex: "male", date_of_birth: "2020-01-01" };
  const rest = { weight_kg: 9, owner_customer_fp: "customer_01K9TEST000000000000000D01", deleted_at: null };
  return [
    { type: "patient", fp, ...patient, ...rest, external_ids: [card], created_at: at, updated_at: at },
    { type: "connection", patient_fp: fp, clinic_fp: CLINIC, active: true },
  ];
}

async function untilState(id: string, state: MessageSummary["state"]): Promise<MessageSummary> {
  return until(
    `${id} is ${state}`,
    () => world.messages().find((one) => one.id === id && one.state === state),
    A_MINUTE,
  );
}

const study = (fp: string, patient_fp: string) =>
  studyResponse({
    fp,
    patient_fp,
    modality: "BIOCHEMISTRY",
    device_name: "Abaxis VetScan VS2",
    acquired_at: expect.any(String),
    results: [
      { analyte: "ALT", value: 220, unit: "U/L", reference_range: "10-118", flag: "high" },
      { analyte: "GLU", value: 95, unit: "mg/dL", reference_range: "60-110", flag: "normal" },
    ],
    comments: ["INST QC: OK    CHEM QC: OK"],
  });

test("a result is filed within a minute of its patient's import", { timeout: TEST_MS }, async () => {
  const card = "7001";
  run(card);
  const [message] = await world.drained();
  expect([message?.state, message?.reason]).toEqual(["unmatched", `no patient has the identifier "${card}"`]);

  const fp = `patient_01K9TEST0000000000000${card}0`;
  importLines(...newDog(fp, card));
  const { study_fps } = await untilState(message!.id, "filed");
  expect(study_fps).toEqual(message!.study_fps);
  const { status, body } = study(study_fps[0]!, fp);
  expect(await world.getStudy(study_fps[0]!)).toEqual({
    status,
    body: { ...body, data: { ...body.data, revision: 2 } },
  });
});

test("a result is filed within a minute of a list that brings its patient", { timeout: TEST_MS }, async () => {
  const card = "7002";
  run(card);
  const waiting = (await world.drained()).at(-1);
  expect([waiting?.state, waiting?.reason]).toEqual(["unmatched", `no patient has the identifier "${card}"`]);

  const file = path.join(world.folder, "list.csv");
  fs.writeFileSync(file, `Patient Id;Name;Species;Owner;Card number\n1;Zeytin;Dog;Ada;${card}\n`);
  server("import", file, "--clinic", CLINIC);
  const { study_fps } = await untilState(waiting!.id, "filed");
  expect(await world.getStudy(study_fps[0]!)).toMatchObject({ status: 200 });
});
