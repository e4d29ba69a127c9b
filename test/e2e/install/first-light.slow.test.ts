import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { session, vetScanRecords } from "../../support/protocols/astm.ts";
import { freePort, runAgentCommand, studyResponse, until, World } from "../../support/machine/processes.ts";

// Goal: an analyzer's bytes become JSON of the read API. Method: processes of server, agent and simulator.

let world: World;
let port: number;
let statusPort: number;

beforeAll(async () => {
  world = await World.create(4);
  port = await freePort();
  statusPort = await freePort();
  world.writeConfig(
    [{ id: "chem-1", profile: "abaxis-vetscan-vs2", connection: { listen: `127.0.0.1:${port}` } }],
    statusPort,
  );
  await world.startAgent();
  await world.waitForPatients();
});

afterAll(() => world.end());

function simulate(name: string, bytes: Uint8Array): string {
  const file = path.join(world.folder, name);
  fs.writeFileSync(file, bytes);
  return runAgentCommand("simulate", file, "--to", `tcp://127.0.0.1:${port}`);
}

describe("an analyzer's bytes become a study that the read API serves", () => {
  test("the API returns a dog's results with the flags of a dog", async () => {
    const [dog] = world.patients;
    const bytes = session(
      vetScanRecords({ patient: dog!.externalId, species: "Dog", collected: "20261120093000", alt: 220 }),
    );
    expect(simulate("dog.astm", bytes)).toBe("session 1: 7 frames acknowledged\n");
    const fp = await world.firstFiled("chem-1");
    expect(await world.getStudy(fp)).toEqual(
      studyResponse({
        fp,
        patient_fp: dog!.fp,
        modality: "BIOCHEMISTRY",
        device_name: "Abaxis VetScan VS2",
        acquired_at: "2026-11-20T06:30:00.000Z", // 09:30 in Istanbul
        results: [
          { analyte: "ALT", value: 220, unit: "U/L", reference_range: "10-118", flag: "high" },
          { analyte: "GLU", value: 95, unit: "mg/dL", reference_range: "60-110", flag: "normal" },
        ],
        comments: ["INST QC: OK    CHEM QC: OK"],
      }),
    );
  });

  test("the commands messages and status print the content of the spool", async () => {
    await until("the simulator has left", () => world.status().devices[0]?.connected === false);
    const listed = JSON.parse(runAgentCommand("messages", "--config", world.config, "--json")) as { id: string }[];
    expect(listed).toEqual(world.messages());
    const status = JSON.parse(runAgentCommand("status", "--config", world.config, "--json")) as object;
    expect(status).toMatchObject({
      devices: [
        {
          id: "chem-1",
          connected: false,
          state: "listening",
          reason: null,
          counts: { pending: 0, filed: 1, unmatched: 0, "not-for-patients": 0, quarantined: 0 },
        },
      ],
      outbox: { depth: 0, oldest_at: null },
      server: { state: "reached", reason: null },
    });
  });

  test("/healthz, /readyz and /metrics respond, and /metrics contains no patient numbers or fps", async () => {
    const get = async (route: string) => {
      const response = await fetch(`http://127.0.0.1:${statusPort}${route}`);
      return { status: response.status, text: await response.text() };
    };
    expect(await get("/healthz")).toEqual({ status: 200, text: "ok\n" });
    const ready = await get("/readyz");
    expect([ready.status, JSON.parse(ready.text)]).toEqual([200, { ready: true, problems: [], warnings: [] }]);
    const { text } = await get("/metrics");
    expect(text).toContain('vetwire_messages{state="filed"} 1');
    expect(text).toContain("vetwire_outbox_depth 0");
    for (const { externalId, fp } of world.patients)
      expect(text).not.toMatch(new RegExp(`="[^"]*(${externalId}|${fp})[^"]*"`));
    expect((await get("/local/v1/nothing")).status).toBe(404);
  });

  test("the agent's log contains no data of patients or owners and no key", () => {
    const log = world.agent.output();
    expect(log).toContain("the outcome of a message was stored");
    for (const secret of [world.key, "Test^6 Yrs", world.patients[0]!.externalId, "220"]) {
      expect(log).not.toContain(`"${secret}`);
    }
    expect(log).not.toContain("sk_live_");
    expect(log).not.toContain("Test");
  });

  test("a second agent on the same data folder is refused, and SIGTERM ends the first with exit code 0", async () => {
    expect(() => runAgentCommand("run", "--config", world.config)).toThrow(/another agent is running/);
    expect(await world.agent.end("SIGTERM")).toBe(0);
    expect(world.status().running).toBe(false);
    await world.startAgent();
    await until("the agent is running again", () => world.status().running);
  });
});
