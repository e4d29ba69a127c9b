import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { afterAll, beforeAll, expect, onTestFailed, onTestFinished, test } from "vitest";
import { addRelease } from "../../server/releases/release-folder.ts";
import { newFp } from "../../shared/api/fp.ts";
import type { DevicesBody } from "../../shared/dashboard/devices.ts";
import type { RolloutBody } from "../../shared/dashboard/rollout.ts";
import { makeUser, startDashboard } from "../dashboard/harness.ts";
import { clinic, temporaryFolder } from "../server/harness.ts";
import { freePort, startProgram, until } from "../support/processes.ts";
import { releaseProblem, Releases } from "../support/staged-release.ts";

// Goal: the whole way of an update from the dashboard. Method: three staged agents run under their launchers, and fetch a signed
// release from a real server. The new version crashes on the second PC alone.

/** The probation of the tests. A minute for each upgrade is too long. */
const PROBATION_MS = 8_000;
const WAIT_MS = 90_000;
const CRASH = 'if (process.env.VETWIRE_TEST_PC === "B") throw new Error("planted: it does not start");';

const problem = releaseProblem();
if (problem !== null) process.stderr.write(`no PC is updated from the dashboard: ${problem}\n`);

let releases: Releases;
beforeAll(async () => {
  if (problem === null) releases = await Releases.create();
}, 300_000);
afterAll(() => releases?.remove());

/** Starts the agent of a PC as its service does. */
async function startPc(name: string, url: string, key: string) {
  const folder = temporaryFolder();
  const [port, status] = [await freePort(), await freePort()];
  fs.writeFileSync(path.join(folder, "agent.key"), key, { mode: 0o600 });
  const config = path.join(folder, "agent.yaml");
  const settings = {
    ...{
      server: { url, keyFile: "./agent.key" },
      data: "./data",
      timeZone: "UTC",
      status: { listen: `127.0.0.1:${status}` },
    },
    devices: [{ id: "chem-1", profile: "abaxis-vetscan-vs2", connection: { listen: `127.0.0.1:${port}` } }],
  };
  fs.writeFileSync(config, JSON.stringify(settings));
  const service = ["service", "run", "agent", "--name", `pc-${name}`, "--versions", path.join(folder, "versions")];
  const env = { ...process.env, VETWIRE_PROBATION_MS: String(PROBATION_MS), VETWIRE_TEST_PC: name };
  let strangers = 1;
  const agent = startProgram(releases.node, [releases.main, ...service, "--", "--config", config], env);
  onTestFinished(async () => void (await agent.end()));
  return {
    output: () => agent.output(),
    /** Makes the agent send a heartbeat now, in place of within a minute: it tells of a stranger at once. */
    nudge: () =>
      new Promise<void>((resolve) => {
        strangers += 1;
        const from = { port, host: "127.0.0.1", localAddress: `127.0.0.${strangers}` };
        const socket = net.connect(from, () => socket.end("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
        socket.resume().on("error", () => undefined);
        socket.once("close", () => resolve());
      }),
  };
}

test.skipIf(problem !== null)(
  "an update from the dashboard reaches one PC after the other, and stops at the first that rolled back",
  { timeout: 600_000 },
  async () => {
    const fp = newFp("clinic");
    const dashboard = await startDashboard(clinic(fp));
    Object.defineProperty(dashboard.clock, "now", { get: () => Date.now() });
    const admin = await makeUser(dashboard, "admin", fp);
    const keyOf = (name: string) =>
      dashboard.makeFreshKey(fp, ["clinic.lab.ingest", "clinic.patient.view", "clinic.calendar.view"], {
        ...{ name, type: "device" },
      });
    const names = ["A", "B", "C"];
    const pcs = new Map<string, Awaited<ReturnType<typeof startPc>>>();
    for (const name of names) pcs.set(name, await startPc(name, dashboard.url, await keyOf(name)));
    const said = () => names.map((name) => pcs.get(name)?.output()).join("\n");
    const read = async () => (await admin.call<RolloutBody>("GET", "/rollout")).body;
    const states = async () => (await read()).rollout?.pcs.map(({ name, state }) => `${name} ${state}`) ?? [];

    const release = releases.make(temporaryFolder(), "0.2.0", { code: CRASH });
    const publicKey = fs.readFileSync(path.join(releases.program, "app/release.pub"), "utf8");
    await addRelease(dashboard.releaseFolder, release, publicKey);
    // What the agents said, if a step takes too long.
    onTestFailed(() => void process.stderr.write(`${said()}\n`));
    await until("all PCs can be updated", async () => (await read()).plan?.pcs.length === 3, WAIT_MS);
    expect((await admin.call("POST", "/rollout", { version: "0.2.0" })).status).toBe(200);

    await pcs.get("A")?.nudge();
    await until("A is done", async () => (await states()).includes("A done"), WAIT_MS);
    expect(await states()).toEqual(["A done", "B waiting", "C waiting"]);
    await pcs.get("B")?.nudge();
    await until("B has rolled back", async () => (await states()).includes("B rolled back"), WAIT_MS);
    const { rollout, plan } = await read();
    expect([rollout?.is, rollout?.pcs[1]?.reason]).toEqual([
      "rolled back",
      expect.stringMatching(/planted: it does not start/),
    ]);
    await pcs.get("C")?.nudge();
    await until("B runs its old version again", async () => {
      const { agents } = (await admin.call<DevicesBody>("GET", "/devices")).body;
      return agents.map(({ key, version }) => `${key.name} ${version}`).join() === "A 0.2.0,B 0.1.0,C 0.1.0";
    });
    expect([plan?.pcs.map(({ name }) => name), plan?.left.map(({ name, why }) => `${name} ${why}`)]).toEqual([
      ["C"],
      ["B rolled back"],
    ]);
    expect(await states()).toEqual(["A done", "B rolled back", "C kept"]);

    // An archive that the disk of the server spoiled is refused, and the PC keeps its turn. Put right and started again, it is taken.
    const next = releases.make(temporaryFolder(), "0.3.0");
    await addRelease(dashboard.releaseFolder, next, publicKey);
    const offered = path.join(dashboard.releaseFolder, path.basename(next));
    fs.appendFileSync(offered, "x");
    expect((await admin.call("POST", "/rollout", { version: "0.3.0" })).status).toBe(200);
    await pcs.get("A")?.nudge();
    await until("A refuses the archive", async () => (await states()).includes("A refused"), WAIT_MS);
    const { rollout: kept } = await read();
    expect([kept?.is, kept?.pcs[0]?.reason]).toEqual([
      "running",
      expect.stringMatching(/does not match its signature/),
    ]);
    fs.copyFileSync(next, offered);
    expect((await admin.call("POST", "/rollout/stop")).status).toBe(200);
    // The agent hears that the update is over.
    const seen = async () => {
      const { agents } = (await admin.call<DevicesBody>("GET", "/devices")).body;
      return agents.find(({ key }) => key.name === "A")?.last_seen_at;
    };
    const before = await seen();
    await pcs.get("A")?.nudge();
    await until("A has sent a heartbeat", async () => (await seen()) !== before, WAIT_MS);
    expect((await admin.call("POST", "/rollout", { version: "0.3.0" })).status).toBe(200);
    await pcs.get("A")?.nudge();
    await until("A is done again", async () => (await states()).includes("A done"), WAIT_MS);
    expect(await states()).toEqual(["A done", "B waiting", "C waiting"]);
  },
);
