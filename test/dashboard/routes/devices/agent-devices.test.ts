import { expect, test } from "vitest";
import { newFp } from "../../../../shared/api/fp.ts";
import type { Heartbeat } from "../../../../shared/api/study.ts";
import type { AgentDevices, DevicesBody } from "../../../../server/dashboard/types/devices/devices.ts";
import { listRowsOf } from "../../../../server/records/audit/audit.ts";
import { clinic, startServer } from "../../../server/harness.ts";
import { makeUser } from "../../harness.ts";

const ours = newFp("clinic");
const theirs = newFp("clinic");

const RUNNING = "- id: chem-1\n";
const report = (changes: Partial<NonNullable<Heartbeat["configuration"]>> = {}) => ({
  configuration: { managed: true, version: null, problems: [], devices: RUNNING, ...changes },
});

async function start() {
  const server = await startServer(clinic(ours), clinic(theirs));
  const key = await server.makeFreshKey(ours, ["clinic.lab.ingest"], { name: "Lab PC", type: "device" });
  const admin = await makeUser(server, "admin", ours);

  /** @returns the version that the response names */
  async function beat(payload: Heartbeat, by = key): Promise<number | undefined> {
    const headers = { "x-api-key": by };
    const response = await server.app.inject({ method: "POST", url: "/agent/v1/heartbeat", headers, payload });
    expect(response.statusCode).toBe(200);
    return response.json<{ configuration_version?: number }>().configuration_version;
  }

  const agents = async () => (await admin.call<DevicesBody>("GET", "/devices")).body.agents;
  await beat(report());
  const fp = (await agents())[0]?.fp ?? "";
  const path = `/agents/${fp}/devices`;
  const read = async () => (await admin.call<AgentDevices>("GET", path)).body;
  const save = async (devices: string, edited: string) => (await admin.call("PUT", path, { devices, edited })).status;
  const pull = async (by = key) => (await server.get(by, "/agent/v1/configuration")).body;
  return { ...server, key, admin, beat, agents, fp, path, read, save, pull };
}

test("saved devices wait for the agent, which fetches them and reports that it applied or refused them", async () => {
  const { beat, agents, read, save, pull, store, fp, clock } = await start();
  expect(await read()).toEqual({ state: "applied", devices: RUNNING, problems: [] });
  expect(await pull()).toEqual({ success: true, data: null });
  const wanted = "- id: chem-2\n";
  expect(await save(wanted, RUNNING)).toBe(200);
  expect(await read()).toEqual({ state: "waiting", devices: wanted, problems: [] });
  const version = await beat(report());
  expect(await pull()).toEqual({ success: true, data: { version, devices: wanted } });
  const problems = [{ line: 1, message: "devices[0].profile is missing" }];
  await beat(report({ version: version ?? 0, problems }));
  expect(await read()).toEqual({ state: "refused", devices: wanted, problems });
  expect((await agents())[0]?.configuration).toBe("refused");
  // The clock may not advance between two saves.
  expect(await save("- id: chem-3\n", wanted)).toBe(200);
  const next = await beat(report());
  expect(next).toBeGreaterThan(version ?? Infinity);
  await beat(report({ version: next ?? 0, devices: "- id: chem-3\n  profile: x\n" }));
  expect(await read()).toEqual({ state: "applied", devices: "- id: chem-3\n  profile: x\n", problems: [] });
  const commands = ["agents add by its first heartbeat", "agents configure", "agents configure"];
  expect((await listRowsOf(store, fp)).map(({ route }) => route)).toEqual(commands);
  expect(next).toBeGreaterThanOrEqual(clock.now);
});

test("nobody overwrites what somebody else wrote meanwhile, at the dashboard or on the PC", async () => {
  const { beat, read, save } = await start();
  expect(await save("- id: a\n", RUNNING)).toBe(200);
  expect(await save("- id: b\n", RUNNING)).toBe(409);
  const version = await beat(report());
  await beat(report({ version: version ?? 0, devices: "- id: by-hand\n" }));
  expect(await save("- id: b\n", "- id: a\n")).toBe(409);
  expect((await read()).devices).toBe("- id: by-hand\n");
});

test("an agent that is switched off for changes, or too old, is not edited", async () => {
  const { beat, agents, read, save } = await start();
  await beat(report({ managed: false, devices: null }));
  expect(await read()).toEqual({ state: "local", devices: null, problems: [] });
  expect((await agents())[0]?.configuration).toBe("local");
  expect(await save("- id: a\n", RUNNING)).toBe(409);
  await beat({});
  expect((await read()).state).toBe("unknown");
  expect(await save("- id: a\n", RUNNING)).toBe(409);
});

test("texts and reports have bounds", async () => {
  const { admin, app, key, path, save } = await start();
  expect((await admin.call("PUT", path, { devices: "x".repeat(70_000), edited: RUNNING })).status).toBe(400);
  expect(await save("- id: a\0\n", RUNNING)).toBe(400);
  expect(await save("x".repeat(65_536), RUNNING)).toBe(200);
  const beat = async (configuration: object) => {
    const headers = { "x-api-key": key };
    const payload = { configuration };
    return (await app.inject({ method: "POST", url: "/agent/v1/heartbeat", headers, payload })).statusCode;
  };
  const told = report().configuration;
  expect(await beat({ ...told, devices: "x".repeat(70_000) })).toBe(400);
  expect(await beat({ ...told, problems: Array.from({ length: 51 }, () => ({ line: 1, message: "x" })) })).toBe(400);
  expect(await beat({ ...told, problems: [{ line: 0, message: "x" }] })).toBe(400);
});
