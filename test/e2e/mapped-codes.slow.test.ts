import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readSpool } from "../../agent/spool/access.ts";
import { listClinicCodes } from "../../agent/spool/queries/clinic-codes.ts";
import type { CodeList } from "../../shared/dashboard/codes.ts";
import { frameOf } from "../support/hl7.ts";
import { CLINIC, runAgentCommand, until, World } from "../support/processes.ts";

// Goal: a clinic maps a device's code in the dashboard, and the agent files the next result under the analyte. Method: processes
// of agent and server, and the dashboard's API over HTTP.

let world: World;
let port: number;
let cookie: string;

beforeAll(async () => {
  world = await World.create(2);
  const [first] = await world.configureDevices(1, "generic-hl7");
  port = first!;
  world.agentEnv = { VETWIRE_HURRY: "10" };
  await world.startAgent();
  cookie = await setUp();
});

afterAll(() => world.end());

async function dashboard(method: string, url: string, body?: unknown): Promise<Response> {
  return fetch(`http://127.0.0.1:${world.serverPort}/clinic/v1${url}`, {
    method,
    headers: { "content-type": "application/json", cookie },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

/** Makes the first admin with the set-up code. @returns the Cookie header of the session */
async function setUp(): Promise<string> {
  cookie = "";
  const code = fs.readFileSync(path.join(world.serverData, "setup-code"), "utf8").trim();
  const response = await dashboard("POST", "/set-up", { code, name: "Ayşe", password: "a long password" });
  expect(response.status).toBe(200);
  return response.headers.get("set-cookie")?.split(";")[0] ?? "";
}

const codes = async () => (await (await dashboard("GET", `/clinics/${CLINIC}/codes`)).json()) as CodeList;

/** Sends a dog's sample with one result. @returns the results of its study on the server, once it is filed */
async function run(minute: number, value: string): Promise<unknown> {
  const time = `2026112009${10 + minute}00`;
  const segments = [
    `MSH|^~\\&|LAB-1|Vendor|||${time}||ORU^R01|${minute}|P|2.3.1||||||UNICODE`,
    `PID|1||${world.patients[0]!.externalId}^^^^MR`,
    `OBR|1||S-${minute}|CHEM|||${time}`,
    `OBX|1|NM|Q413^Glukoz X^L||${value}|mg/dL|||||F`,
  ];
  const file = path.join(world.folder, `run-${minute}.hl7`);
  fs.writeFileSync(file, frameOf(segments));
  runAgentCommand("simulate", file, "--to", `tcp://127.0.0.1:${port}`);
  const fp = (await world.drained()).at(-1)?.study_fps[0] ?? "";
  const { body } = await world.getStudy(fp);
  return (body as { data?: { results: object[] } }).data?.results;
}

test("a code that the clinic maps in the dashboard is filed under the analyte from the next result on", async () => {
  await world.waitForPatients();
  const result = { analyte: "Q413", value: 118, unit: "mg/dL", reference_range: null, flag: null };
  expect(await run(1, "118")).toEqual([{ ...result, code_source: "device" }]);
  const device_id = "device-0";
  expect(await codes()).toMatchObject({ unknown: [{ device_id, code: "Q413", value: "118", studies: 1 }], mapped: [] });

  const mapping = { device_id, code: "Q413", analyte: "GLU" };
  expect((await dashboard("PUT", `/clinics/${CLINIC}/codes`, mapping)).status).toBe(200);
  expect(await codes()).toMatchObject({ unknown: [], mapped: [{ analyte: "GLU", by: "Ayşe", seen: { studies: 1 } }] });
  const fetched = () => readSpool(world.agentData, listClinicCodes);
  await until("the agent has the code", () => fetched().length);
  expect(fetched()).toEqual([mapping]);

  expect(await run(2, "140")).toEqual([
    {
      analyte: "GLU",
      value: 140,
      unit: "mg/dL",
      reference_range: expect.stringMatching(/^\d+-\d+$/) as string,
      flag: "high",
      code_source: "clinic",
    },
  ]);
  expect(await codes()).toMatchObject({ unknown: [], mapped: [{ analyte: "GLU", seen: null }] });
});
