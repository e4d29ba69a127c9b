import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CREATININE, CREATININE_RUNS } from "../../support/clinic/creatinine-runs.ts";
import { CLINIC, freePort, runAgentCommand, runServerCommand, World } from "../../support/machine/processes.ts";

// Goal: over every protocol the agent flags a value by the interval of the patient's species, flags nothing for a species
// without intervals, and ignores the human range that the device sends. Method: processes of agent and server.

const UNKNOWN = "6000";

let world: World;
const ports = new Map<string, number>();
let samples = 0;

beforeAll(async () => {
  world = await World.create(2);
  const file = path.join(world.folder, "unknown.ndjson");
  const at = "2026-01-01T00:00:00.000Z";
  const fp = "patient_01K9TEST00000000000000ZZZZ";
  const patient = {
    type: "patient",
    fp,
    name: "Test animal",
    species: "exotic",
    breed: null,
    sex: "male",
    date_of_birth: "2020-01-01",
    weight_kg: 12.5,
    owner_customer_fp: "customer_01K9TEST000000000000000D01",
    external_ids: [UNKNOWN],
    created_at: at,
    updated_at: at,
    deleted_at: null,
  };
  const connection = { type: "connection", patient_fp: fp, clinic_fp: CLINIC, active: true };
  fs.writeFileSync(file, `${JSON.stringify(patient)}\n${JSON.stringify(connection)}\n`);
  runServerCommand("import", file, "--data", world.serverData);
  for (const profile of [...Object.keys(CREATININE_RUNS), "dicom"]) ports.set(profile, await freePort());
  world.writeConfig(
    [...ports].map(([profile, port]) => ({
      id: profile,
      profile,
      connection: { listen: `127.0.0.1:${port}` },
      ...(profile === "dicom" ? { quietSeconds: 1 } : {}),
    })),
  );
  await world.startAgent();
  await world.waitForPatients();
});

afterAll(() => world.end());

async function resultsOf(fp: string): Promise<object[]> {
  const { body } = await world.getStudy(fp);
  return (body as { data: { results: object[] } }).data.results;
}

/** Simulates a run of an analyzer. @returns the results of its study in the API */
async function run(profile: keyof typeof CREATININE_RUNS, patient: string): Promise<object[]> {
  const { extension, recording } = CREATININE_RUNS[profile];
  const file = path.join(world.folder, `run.${extension}`);
  fs.writeFileSync(file, recording({ patient, number: (samples += 1) }));
  runAgentCommand("simulate", file, "--to", `tcp://127.0.0.1:${ports.get(profile)}`);
  return resultsOf((await world.drained()).at(-1)!.study_fps[0]!);
}

const creatinine = { analyte: "CREA", value: CREATININE, unit: "mg/dL" };

describe.each(Object.keys(CREATININE_RUNS) as (keyof typeof CREATININE_RUNS)[])("%s", (profile) => {
  test("a dog and a cat get their own interval and flag", async () => {
    const [dog, cat] = world.patients;
    // Rows dog-any-any-crea-cornell_cobas_2017 and cat-any-any-crea-cornell_cobas_2017.
    expect(await run(profile, dog!.externalId)).toEqual([{ ...creatinine, reference_range: "0.6-1.4", flag: "high" }]);
    expect(await run(profile, cat!.externalId)).toEqual([
      { ...creatinine, reference_range: "0.8-2.1", flag: "normal" },
    ]);
  });

  test("a patient of a species without an interval gets neither", async () => {
    expect(await run(profile, UNKNOWN)).toEqual([{ ...creatinine, reference_range: null, flag: null }]);
  });
});

test("measurements of an ultrasound report get no interval and no flag, and agent explain shows them", async () => {
  const target = `dicom://DX1@127.0.0.1:${ports.get("dicom")}/VETWIRE`;
  runAgentCommand(
    "simulate",
    "us,sr",
    "--to",
    target,
    "--patient",
    world.patients[1]!.externalId,
    "--species",
    "Feline",
  );
  const messages = await world.drained();
  const fp = messages.at(-1)!.study_fps[0]!;
  const results = await resultsOf(fp);
  expect(results).toEqual([
    expect.objectContaining({ value: 3.85, unit: "cm", reference_range: null, flag: null }),
    expect.objectContaining({ value: 64, unit: "%", reference_range: null, flag: null }),
    expect.objectContaining({ value: 1.31, reference_range: null, flag: null }),
  ]);
  expect(runAgentCommand("explain", fp, "--config", world.config)).toMatch(
    /chunk {5}instance 2\.25\.\S+ from DX1, \d+ bytes, sha256 [^]*study {5}cds_\S+ revision 1 for patient_\S+; [^]*server {4}revision 1 is filed/,
  );
});
