import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { session } from "../support/astm.ts";
import { freePort, runAgentCommand, until, World } from "../support/processes.ts";

// Goal: a clinic teaches a device's code without a release, and the study on the server gets the analyte. Method: processes of
// agent and server.

let world: World;
let port: number;

beforeAll(async () => {
  world = await World.create(2);
  port = await freePort();
  configure({});
  await world.startAgent();
});

afterAll(() => world.end());

const agent = (...command: string[]) => runAgentCommand(...command, "--config", world.config);

function configure(codes: Readonly<Record<string, string>>): void {
  world.writeConfig([{ id: "chem-1", profile: "generic-astm", connection: { listen: `127.0.0.1:${port}` } }]);
  const text = fs.readFileSync(world.config, "utf8");
  // The code stands as a number, as a user writes it.
  const written = Object.entries(codes).map(([code, analyte]) => `${code}: ${analyte}`);
  fs.writeFileSync(world.config, text.replace('"chem-1",', `"chem-1", codes: { ${written.join(", ")} },`));
}

/** Sends a dog's sample with one result. @returns the fp of its study once it is settled */
async function run(minute: number, code: string, value: string): Promise<string> {
  const file = path.join(world.folder, "run.astm");
  const time = `2026112009${10 + minute}00`;
  const records = [
    "H|\\^&|||Analyzer^1|||||||P|LIS2-A2|20261120120000",
    `P|1|${world.patients[0]!.externalId}`,
    `O|1|S-${minute}||^^^Panel|R||${time}`,
    `R|1|^^^${code}|${value}|mg/dL||||F||||${time}`,
    "L|1|N",
  ];
  fs.writeFileSync(file, session(records));
  runAgentCommand("simulate", file, "--to", `tcp://127.0.0.1:${port}`);
  return (await world.drained()).at(-1)?.study_fps[0] ?? "";
}

async function resultsOf(fp: string): Promise<unknown> {
  const { body } = await world.getStudy(fp);
  return (body as { data?: { results: object[] } }).data?.results;
}

const codes = () => JSON.parse(agent("codes", "--json")) as Record<string, unknown>[];

test("an unknown code is listed, mapped in agent.yaml, and reprocessed into the study on the server", async () => {
  const fp = await run(1, "413", "118");
  const asSent = {
    analyte: "413",
    value: 118,
    unit: "mg/dL",
    reference_range: null,
    flag: null,
    code_source: "device",
  };
  expect(await resultsOf(fp)).toEqual([asSent]);
  expect(codes()).toEqual([
    expect.objectContaining({
      device: "chem-1",
      code: "413",
      count: 1,
      unknown_count: 1,
      last_value: "118",
      last_unit: "mg/dL",
      mapped_to: null,
    }),
  ]);
  expect(agent("codes")).toMatch(/^chem-1 +413 +- +118 mg\/dL .* unknown$/m);

  configure({ "413": "GLU" });
  await world.agent.end();
  await world.startAgent();
  expect(await resultsOf(fp)).toEqual([asSent]);
  expect(agent("reprocess", "--state", "filed", "--dry-run")).toMatch(/- 413 [^]*\+ GLU /);
  agent("reprocess", "--state", "filed");
  await run(2, "413", "90"); // the next message triggers the push
  const glucose = await until("the server has the analyte", async () => {
    const [result] = (await resultsOf(fp)) as { analyte: string }[];
    return result?.analyte === "GLU" ? result : null;
  });
  expect(glucose).toEqual({
    analyte: "GLU",
    value: 118,
    unit: "mg/dL",
    reference_range: expect.stringMatching(/^\d+-\d+$/) as string,
    flag: "high",
    code_source: "clinic",
  });
  expect(codes()).toEqual([expect.objectContaining({ code: "413", count: 2, unknown_count: 0, mapped_to: "GLU" })]);
});
