import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { session, vetScanRecords } from "../../support/protocols/astm.ts";
import { patiently } from "../../support/runner/patience.ts";
import { CLINIC, runAgentCommand, runServerCommand, until, World } from "../../support/machine/processes.ts";

// Goal: practice software brings patients while the programs run, and a kill stores a request completely or not at all. Method:
// processes of server and agent, a played analyzer, and requests to /sync/v1.

const KILLS = 6;
const ITEMS = 500;

let world: World;
let port: number;
let key: string;

beforeAll(async () => {
  world = await World.create(1);
  const options = ["--clinic", CLINIC, "--name", "pims", "--type", "integration", "--permissions", "clinic.sync.write"];
  key = runServerCommand("keys", "create", ...options, "--data", world.serverData).trim();
  [port] = (await world.configureDevices(1, "abaxis-vetscan-vs2")) as [number];
  await world.startAgent();
  await world.waitForPatients();
});

afterAll(() => world.end());

async function send(items: readonly object[]): Promise<{ counts: Record<string, number>; items: { fp: string }[] }> {
  const response = await fetch(`http://127.0.0.1:${world.serverPort}/sync/v1/patients`, {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json" },
    body: JSON.stringify({ source: "pims", mode: "partial", items }),
  });
  expect(response.status).toBe(200);
  return (await response.json()) as { counts: Record<string, number>; items: { fp: string }[] };
}

function animal(id: string, more: object = {}): object {
  const owner = { external_id: "1", name: "Secret Owner", phone: "+905550001122" };
  return { external_id: id, name: `Animal ${id}`, species: "Pferd", sex: "Stute", owner, ...more };
}

test("a result that waits for its animal is filed by the agent once practice software sends it", {
  timeout: patiently(120_000),
}, async () => {
  const file = path.join(world.folder, "horse.astm");
  const records = vetScanRecords({ patient: "H-4711", species: "Equine", collected: "20261120093000", alt: 220 });
  fs.writeFileSync(file, session(records));
  runAgentCommand("simulate", file, "--to", `tcp://127.0.0.1:${port}`);
  const [waiting] = await world.drained();
  expect(waiting?.state).toBe("unmatched");

  const { items } = await send([animal("1", { identifiers: [{ type: "card", value: "H-4711" }] })]);
  const [study] = waiting?.study_fps ?? [];
  await until("the agent files the message", () => world.messages()[0]?.state === "filed");
  const { status, body } = await world.getStudy(study ?? "");
  expect([status, body]).toMatchObject([200, { data: { patient_fp: items[0]?.fp } }]);
  // The interval of horses, which the agent cannot know of an animal that the API serves as exotic.
  expect(JSON.stringify(body)).toContain('"analyte":"GLU","value":95,"unit":"mg/dL","reference_range":"');
  for (const output of [world.server.output(), world.agent.output()]) expect(output).not.toMatch(/Secret|90555/);
});

test(`a request that SIGKILL interrupts is stored completely or not at all, ${KILLS} times`, {
  timeout: patiently(180_000),
}, async () => {
  let interrupted = 0;
  for (let kill = 0; kill < KILLS; kill += 1) {
    const items = Array.from({ length: ITEMS }, (_, index) => animal(`${kill}-${index}`));
    const sent = send(items).then(
      ({ counts }) => counts["created"],
      () => null,
    );
    await new Promise((resolve) => setTimeout(resolve, kill * 40));
    await world.server.end("SIGKILL");
    const answered = await sent;
    await world.startServer();
    const again = await send(items);
    // What is there already is unchanged; what is not is created.
    expect([ITEMS, 0]).toContain(again.counts["created"]);
    expect((again.counts["created"] ?? 0) + (again.counts["unchanged"] ?? 0)).toBe(ITEMS);
    // An answered request is never lost.
    expect(answered === null || again.counts["created"] === 0).toBe(true);
    if (answered === null) interrupted += 1;
  }
  expect(interrupted).toBeGreaterThan(0);
});
