import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { measurement, potassium, session } from "../poct1-fixtures.ts";
import { freePort, runAgentCommand, World } from "../support/processes.ts";

// Goal: a POCT1-A device's words become a study that the read API serves. Server, agent and simulated device are processes
// of their own.

let world: World;
let port: number;

beforeAll(async () => {
  world = await World.create(4);
  port = await freePort();
  world.writeConfig([{ id: "poc-1", profile: "generic-poct1a", connection: { listen: `127.0.0.1:${port}` } }]);
  await world.startAgent();
});

afterAll(() => world.end());

function simulate(name: string, wire: string, ...options: readonly string[]): string {
  const file = path.join(world.folder, name);
  fs.writeFileSync(file, wire);
  return runAgentCommand("simulate", file, "--to", `tcp://127.0.0.1:${port}`, "--habits", "strict", ...options);
}

const at = "2026-11-20T09:30:00+03:00";

test("a strict device's stored observation is acknowledged, filed and read back with the flags of a dog", async () => {
  const [dog] = world.patients;
  const wire = session([measurement(3, { patient: dog!.externalId, at, sequence: 1 }, [potassium(7.9)])]);
  expect(simulate("dog.poct1", wire)).toBe("session 1: 5 documents acknowledged\n");
  const [message] = await world.drained();
  expect(message).toMatchObject({ device: "poc-1", state: "filed", reason: null });
  const fp = message!.study_fps[0]!;
  expect(await world.getStudy(fp)).toEqual({
    status: 200,
    body: {
      success: true,
      data: {
        fp,
        patient_fp: dog!.fp,
        modality: "BIOCHEMISTRY",
        device_name: "BG1 SN77",
        status: "COMPLETED",
        acquired_at: "2026-11-20T06:30:00.000Z",
        results: [{ analyte: "K", value: 7.9, unit: "mmol/L", reference_range: "4.10-5.40", flag: "high" }],
      },
    },
  });
});
