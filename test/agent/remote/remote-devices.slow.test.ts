import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import net from "node:net";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { stringify } from "yaml";
import { checkConfig } from "../../../agent/config/check.ts";
import { OwnProfiles } from "../../../agent/devices/own/own-profiles.ts";
import { readProfileText } from "../../../agent/devices/table/load.ts";
import { newFp } from "../../../shared/api/fp.ts";
import type { AgentDevices, DevicesBody } from "../../../server/dashboard/types/devices/devices.ts";
import { makeUser } from "../../dashboard/harness.ts";
import { clinic, startServer } from "../../server/harness.ts";
import { AGENT, freePort, until } from "../../support/machine/processes.ts";
import { TestAgent } from "../../support/peers/running-agent.ts";

// Method: a real agent and a real server. Devices that wait at the server reach the agent with its first heartbeat.

const clinicFp = newFp("clinic");

beforeAll(() => void vi.stubEnv("VETWIRE_HURRY", "10"));
afterAll(() => void vi.unstubAllEnvs());

/** Kills of a starting agent, and kills once the new file is there. */
const [EARLY, LATE] = process.env["ALL"] === "1" ? [9, 3] : [3, 2];

async function startDesk() {
  const server = await startServer(clinic(clinicFp));
  await server.app.listen({ port: 0, host: "127.0.0.1" });
  Object.defineProperty(server.clock, "now", { get: () => Date.now() });
  const url = `http://127.0.0.1:${(server.app.server.address() as AddressInfo).port}`;
  const admin = await makeUser(server, "admin", clinicFp);
  const permissions = ["clinic.lab.ingest", "clinic.patient.view", "clinic.calendar.view"] as const;
  const key = await server.makeFreshKey(clinicFp, [...permissions], { name: "Lab PC", type: "device" });
  const shown = async () => (await admin.call<DevicesBody>("GET", "/devices")).body.agents[0];
  const devicesPath = async () =>
    `/agents/${(await until("the agent", async () => (await shown())?.fp)) ?? ""}/devices`;
  const read = async () => (await admin.call<AgentDevices>("GET", await devicesPath())).body;
  async function save(devices: string) {
    const { devices: edited } = await read();
    expect((await admin.call("PUT", await devicesPath(), { devices, edited })).status).toBe(200);
  }
  /** Reports the devices to the server, as a first run of the agent would. */
  async function introduce(devices: string) {
    const payload = { configuration: { managed: true, version: null, problems: [], devices } };
    await server.app.inject({ method: "POST", url: "/agent/v1/heartbeat", headers: { "x-api-key": key }, payload });
  }
  const tried = (state: AgentDevices["state"]) =>
    until(state, async () => {
      const now = await read();
      return now.state === state ? now : null;
    });
  return { ...server, url, key, admin, shown, read, save, introduce, tried };
}

const device = (id: string, listen: string, more: object = {}) => ({
  id,
  profile: "generic-astm",
  connection: { listen },
  ...more,
});

async function places(count: number): Promise<string[]> {
  return Promise.all(Array.from({ length: count }, async () => `127.0.0.1:${await freePort()}`));
}

function isOpen(place: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(Number(place.split(":")[1]), "127.0.0.1");
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    onTestFinished(() => void socket.destroy());
  });
}

async function testAgent(key: string): Promise<TestAgent> {
  const agent = new TestAgent();
  fs.writeFileSync(path.join(agent.folder, "agent.key"), key);
  onTestFinished(() => agent.close());
  return agent;
}

test("devices that an admin saved run at the agent, which reports it, also after a restart", async () => {
  const desk = await startDesk();
  const [first = "", second = ""] = await places(2);
  await desk.introduce(stringify([device("chem-1", first)]));
  await desk.save(stringify([device("chem-1", first), device("chem-2", second, { model: "New one" })]));
  const agent = await testAgent(desk.key);
  await agent.runWith(desk.url, [device("chem-1", first)]);
  const { devices } = await desk.tried("applied");
  expect(devices).toContain("New one");
  expect([await isOpen(first), await isOpen(second)]).toEqual([true, true]);
  const shown = await desk.shown();
  expect(shown?.devices.map(({ id }) => id)).toEqual(["chem-1", "chem-2"]);
  await agent.stop();
  const text = fs.readFileSync(path.join(agent.folder, "agent.yaml"), "utf8");
  expect("config" in checkConfig(text, agent.folder)).toBe(true);
  expect(text).toContain("chem-2");
});

test("faulty devices and taken ports leave the agent with the last good ones, and the server has the lines", async () => {
  const desk = await startDesk();
  const [first = "", second = ""] = await places(2);
  const other = net.createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  onTestFinished(() => void other.close());
  const taken = `127.0.0.1:${(other.address() as AddressInfo).port}`;
  const cases: [string, { line: number; message: string }][] = [
    [
      `- id: chem-1\n  profile: generic-astmm\n  connection: { listen: "${first}" }\n`,
      { line: 2, message: expect.stringContaining("generic-astm") as string },
    ],
    [
      `# two\n- id: chem-1\n  profile: generic-astm\n  connection: { listen: "${first}" }\n${stringify([device("chem-2", taken)])}`,
      { line: 7, message: expect.stringMatching(/^chem-2: port \d+ is in use/) as string },
    ],
    [
      `- id: chem-1\n  profile: generic-astm\n  connection: { listen: "${second}" }\n  tls: { key: /etc/shadow }\n`,
      { line: 4, message: expect.stringContaining("names a file of the PC") as string },
    ],
  ];
  await desk.introduce("[]\n");
  for (const [document, problem] of cases) {
    await desk.save(document);
    const agent = await testAgent(desk.key);
    await agent.runWith(desk.url, [device("chem-1", first)]);
    const { devices, problems } = await desk.tried("refused");
    expect([devices, problems]).toEqual([document, [problem]]);
    expect([await isOpen(first), await isOpen(second)]).toEqual([true, false]);
    const text = fs.readFileSync(path.join(agent.folder, "agent.yaml"), "utf8");
    expect(text).not.toContain("chem-2");
    await agent.stop();
  }
});

test("an agent with managed: false takes nothing and reports that", async () => {
  const desk = await startDesk();
  const [first = "", second = ""] = await places(2);
  await desk.introduce("[]\n");
  await desk.save(stringify([device("chem-2", second)]));
  const agent = await testAgent(desk.key);
  await agent.runWith(desk.url, [device("chem-1", first)], undefined, { managed: false });
  await desk.tried("local");
  await sleep(500);
  expect([await isOpen(first), await isOpen(second)]).toEqual([true, false]);
});

test("an agent that is killed while it applies devices has the old file or the new one, and applies them in the end", async () => {
  const desk = await startDesk();
  const [first = "", second = ""] = await places(2);
  const agent = await testAgent(desk.key);
  const file = path.join(agent.folder, "agent.yaml");
  const head = `# ours\nserver: { url: "${desk.url}", keyFile: agent.key }\ndata: data\ntimeZone: UTC\n`;
  const before = `${head}devices:\n${stringify([device("chem-1", first)])}`;
  await desk.introduce("[]\n");
  const found = { old: 0, new: 0 };
  for (let round = 0; round < EARLY + LATE; round += 1) {
    fs.writeFileSync(file, before);
    await desk.save(stringify([device("chem-1", first), device("chem-2", second, { model: `Round ${round}` })]));
    const child = spawn(process.execPath, [AGENT, "run", "--config", file], { stdio: ["ignore", "pipe", "ignore"] });
    const ended = once(child, "exit");
    let log = "";
    child.stdout.on("data", (chunk: Buffer) => (log += chunk.toString()));
    await until("the agent runs", () => log.includes("the agent is running"), 90_000, 1);
    // The last rounds die between the new file and the note that it was tried.
    if (round < EARLY) await sleep(round * 60);
    else await until("the new file", () => fs.readFileSync(file, "utf8") !== before, 90_000, 1);
    child.kill("SIGKILL");
    await ended;
    const text = fs.readFileSync(file, "utf8");
    expect(text).toContain("# ours");
    const checked = checkConfig(text, agent.folder);
    const ids = "config" in checked ? checked.config.devices.map(({ id }) => id) : checked.problems;
    expect([["chem-1"], ["chem-1", "chem-2"]]).toContainEqual(ids);
    found[text === before ? "old" : "new"] += 1;
  }
  process.stderr.write(`killed agents left: ${JSON.stringify(found)}\n`);
  expect(found.new).toBeGreaterThan(0);
  const last = spawn(process.execPath, [AGENT, "run", "--config", file], { stdio: "ignore" });
  const ended = once(last, "exit");
  await desk.tried("applied");
  expect(await isOpen(second)).toBe(true);
  last.kill("SIGTERM");
  await ended;
  expect(fs.readFileSync(file, "utf8")).toContain(`Round ${EARLY + LATE - 1}`);
}, 240_000);

test("a clinic's own profile travels with the devices that name it, is stored first, and never reaches an agent that forbids it", async () => {
  const desk = await startDesk();
  const [first = "", second = ""] = await places(2);
  const text = "schema: 1\nprofile: own/acme-x1\nrevision: 3\nextends: generic-astm@1\ndevice: { name: Acme X1 }\n";
  const add = async (content: string) => (await desk.admin.call("POST", "/profiles", { text: content })).status;
  expect(await add(text)).toBe(200);
  expect(await add(text)).toBe(200);
  expect(await add(text.replace("X1", "X2"))).toBe(409);
  expect(await add(text.replace("own/", ""))).toBe(409);
  expect(await add(text.replace("revision: 3", "revision: 4").replace("device:", "divice:"))).toBe(200);
  const stored = (agent: TestAgent) => path.join(agent.folder, "data/profiles/own/acme-x1/3.yaml");
  const agent = await testAgent(desk.key);
  await desk.introduce(stringify([device("chem-1", first)]));
  const wanted = [device("chem-1", first), device("chem-2", second, { profile: "own/acme-x1@3" })];
  await desk.save(stringify(wanted));

  await agent.runWith(desk.url, [device("chem-1", first)], undefined, { managed: false });
  await until("the refusal", async () => (await desk.read()).state === "local");
  expect([fs.existsSync(stored(agent)), await isOpen(second)]).toEqual([false, false]);
  await agent.stop();

  await agent.runWith(desk.url, [device("chem-1", first)]);
  await desk.tried("applied");
  expect(fs.readFileSync(stored(agent), "utf8")).toContain("name: Acme X1");
  expect(await isOpen(second)).toBe(true);

  await desk.save(stringify([device("chem-1", first), device("chem-2", second, { profile: "own/acme-x1@4" })]));
  const { problems } = await desk.tried("refused");
  expect(problems).toEqual([{ line: 6, message: "own/acme-x1@4:5 divice is an unknown key, did you mean device?" }]);
  expect(agent.host.agent?.config.devices[1]?.profile).toBe("own/acme-x1@3");
});

test("a profile that one PC sends to the dashboard runs at another PC of the clinic, with the same text", async () => {
  const desk = await startDesk();
  const [first = "", second = ""] = await places(2);
  const maker = await testAgent(
    await desk.makeFreshKey(clinicFp, ["clinic.lab.ingest", "clinic.patient.view", "clinic.calendar.view"], {
      name: "Other PC",
      type: "device",
    }),
  );
  const text = "schema: 1\nprofile: own/acme-x1\nrevision: 1\nextends: generic-astm@1\ndevice: { name: Acme X1 }\n";
  const read = readProfileText(text, "x.yaml");
  if ("problems" in read) throw new Error(JSON.stringify(read.problems));
  const profile = new OwnProfiles(path.join(maker.folder, "data")).save(read.form);
  await maker.runWith(desk.url, [device("chem-1", first, { profile })]);
  const sent = await fetch(`http://127.0.0.1:${maker.host.port}/local/v1/profiles/sent`, {
    method: "POST",
    body: JSON.stringify({ profile }),
    headers: { "content-type": "application/json", origin: `http://127.0.0.1:${maker.host.port}` },
  });
  expect(await sent.json()).toEqual({ outcome: "stored", code: null });

  await desk.introduce("[]\n");
  await desk.save(stringify([device("chem-2", second, { profile })]));
  const agent = await testAgent(desk.key);
  await agent.runWith(desk.url, []);
  await desk.tried("applied");
  expect(await isOpen(second)).toBe(true);
  const stored = ({ folder }: TestAgent) => new OwnProfiles(path.join(folder, "data")).textOf(profile);
  expect(stored(agent)).toEqual(stored(maker));
});
