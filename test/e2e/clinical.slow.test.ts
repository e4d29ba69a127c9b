import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { session, vetScanRecords } from "../support/astm.ts";
import { CLINIC, freePort, runAgentCommand, runServerCommand, until, World } from "../support/processes.ts";

// Goal: agent and server flag alike, with the clinic's own intervals, whether the agent matches a result or a user assigns it.
// Both explain every study. Method: processes of agent and server.

let world: World;
let port: number;
let sessions = 0;

beforeAll(async () => {
  world = await World.create(4);
  const rows = path.join(world.folder, "ranges.ndjson");
  const about = { id: "alt-dog", species: "dog", analyte: "ALT", unit: "U/L", low: "20", high: "90" };
  fs.writeFileSync(rows, `${JSON.stringify({ ...about, effective_from: "2026-01-01" })}\n`);
  runServerCommand("ranges", "import", rows, "--clinic", CLINIC, "--data", world.serverData);
  port = await freePort();
  world.writeConfig([{ id: "chem-1", profile: "abaxis-vetscan-vs2", connection: { listen: `127.0.0.1:${port}` } }]);
  await world.startAgent();
});

afterAll(() => world.end());

/** Simulates a run of an analyzer. @returns the fp of its study once it is settled */
async function run(patient: string, species: "Dog" | "Cat"): Promise<string> {
  const collected = `2026112009${String(10 + sessions++)}00`;
  const file = path.join(world.folder, "run.astm");
  fs.writeFileSync(file, session(vetScanRecords({ patient, species, collected, alt: 95 })));
  runAgentCommand("simulate", file, "--to", `tcp://127.0.0.1:${port}`);
  return (await world.drained()).at(-1)?.study_fps[0] ?? "";
}

const server = (...command: string[]) => runServerCommand(...command, "--data", world.serverData);
const agent = (...command: string[]) => runAgentCommand(...command, "--config", world.config);

async function results(fp: string): Promise<unknown> {
  const { body } = await world.getStudy(fp);
  return (body as { data?: { results: object[] } }).data?.results[0];
}

const high = { analyte: "ALT", value: 95, unit: "U/L", reference_range: "20-90", flag: "high" };

test("equal values of a dog and a cat are flagged by their own interval, the clinic's in preference to the device's", async () => {
  const [dog, cat] = world.patients;
  expect(await results(await run(dog!.externalId, "Dog"))).toEqual(high);
  expect(await results(await run(cat!.externalId, "Cat"))).toEqual({
    ...high,
    reference_range: "10-118",
    flag: "normal",
  });
});

test("the server flags an assigned study as the agent does, and both programs explain it", async () => {
  const [, , dog] = world.patients;
  const fp = await run("77777", "Dog");
  expect(server("unmatched", "list")).toContain(fp);
  server("unmatched", "assign", fp, "--patient", dog!.fp);
  expect(await results(fp)).toEqual(high);

  expect(server("explain", fp)).toMatch(
    /revision 1, pushed by chem-1[^]*revision 2, assigned[^]*COMMAND unmatched assign[^]*clinic:alt-dog: alt-dog {2}ALT 20-90/,
  );
  expect(agent("explain", fp)).toMatch(
    /chunk {5}\d+ bytes[^]*replied <ACK>[^]*message [^]*Report [^]*unmatched: no patient has the identifier "77777"[^]*push [^]*server {4}revision 1 is unmatched/,
  );
});

test("reprocess shows the difference after a patient gets the number, then files the same study", async () => {
  const [, , , cat] = world.patients;
  const fp = await run("88888", "Cat");
  expect((await world.getStudy(fp)).status).toBe(404);
  const file = path.join(world.folder, "late.ndjson");
  const at = "2026-01-01T00:00:00.000Z";
  const line = {
    type: "patient",
    fp: cat!.fp,
    name: "Test animal",
    species: "cat",
    breed: null,
    sex: "male",
    date_of_birth: "2020-01-01",
    weight_kg: 12.5,
    owner_customer_fp: "customer_01K9TEST000000000000000D01",
    external_ids: [cat!.externalId, "88888"],
    created_at: at,
    updated_at: new Date().toISOString(),
    deleted_at: null,
  };
  fs.writeFileSync(file, `${JSON.stringify(line)}\n`);
  server("import", file);
  await world.agent.end();
  await world.startAgent(); // fetches the patients
  const shown = await until("the agent has the new number", () => {
    const diff = agent("reprocess", "--state", "unmatched", "--since", "1h", "--dry-run");
    return diff.includes(`+ for ${cat!.fp}`) ? diff : null;
  });
  expect(shown).toContain("- ALT  95  U/L  no range  no flag");
  expect(shown).toContain("+ ALT  95  U/L  10-118  normal");
  expect((await world.getStudy(fp)).status).toBe(404);

  agent("reprocess", "--state", "unmatched", "--since", "1h");
  await run(world.patients[0]!.externalId, "Dog"); // the next message triggers the push
  expect(await results(fp)).toEqual({ ...high, reference_range: "10-118", flag: "normal" });
  expect(server("study", "history", fp)).toMatch(/revision 1 [^]*unmatched[^]*revision 2 [^]*pushed/);
});
