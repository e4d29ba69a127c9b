import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, onTestFailed, onTestFinished, test } from "vitest";
import { addRelease } from "../../../server/operations/release-folder.ts";
import { newFp } from "../../../shared/api/fp.ts";
import type { DevicesBody } from "../../../server/dashboard/types/devices/devices.ts";
import type { RolloutBody } from "../../../server/dashboard/types/devices/rollout.ts";
import { makeUser, startDashboard } from "../../dashboard/harness.ts";
import { clinic, temporaryFolder } from "../../server/harness.ts";
import { freePort, startProgram, until } from "../../support/machine/processes.ts";
import { releaseProblem, Releases } from "../../support/releases/staged-release.ts";

// Goal: the complete roll-out of a version from the dashboard. Method: two staged agents run under their launchers, and fetch a
// signed release from a real server. The new version does not start on the second PC alone.

/** The probation of the tests. A minute for each upgrade is too long. */
const PROBATION_MS = 8_000;
const WAIT_MS = 180_000;
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
  const status = await freePort();
  fs.writeFileSync(path.join(folder, "agent.key"), key, { mode: 0o600 });
  const config = path.join(folder, "agent.yaml");
  const settings = {
    server: { url, keyFile: "./agent.key" },
    data: "./data",
    timeZone: "UTC",
    status: { listen: `127.0.0.1:${status}` },
    devices: [],
  };
  fs.writeFileSync(config, JSON.stringify(settings));
  const service = ["service", "run", "agent", "--name", `pc-${name}`, "--versions", path.join(folder, "versions")];
  const hurry = { VETWIRE_PROBATION_MS: String(PROBATION_MS), VETWIRE_HURRY: "10" };
  const env = { ...process.env, ...hurry, VETWIRE_TEST_PC: name };
  const agent = startProgram(releases.node, [releases.main, ...service, "--", "--config", config], env);
  onTestFinished(async () => void (await agent.end()));
  return { folder, output: () => agent.output() };
}

test.skipIf(problem !== null)(
  "an update from the dashboard reaches one PC after the other, and stops at the first that rolled back",
  { timeout: 600_000 },
  async () => {
    const fp = newFp("clinic");
    const dashboard = await startDashboard(clinic(fp));
    Object.defineProperty(dashboard.clock, "now", { get: () => Date.now() });
    const admin = await makeUser(dashboard, "admin", fp);
    const permissions = ["clinic.lab.ingest", "clinic.patient.view", "clinic.calendar.view"] as const;
    const pcs: Awaited<ReturnType<typeof startPc>>[] = [];
    for (const name of ["A", "B"]) {
      const key = await dashboard.makeFreshKey(fp, [...permissions], { name, type: "device" });
      pcs.push(await startPc(name, dashboard.url, key));
    }
    const read = async () => (await admin.call<RolloutBody>("GET", "/rollout")).body;
    const states = async () => (await read()).rollout?.pcs.map(({ name, state }) => `${name} ${state}`) ?? [];

    const release = releases.make(temporaryFolder(), "0.2.0", { code: CRASH });
    const publicKey = fs.readFileSync(path.join(releases.program, "app/release.pub"), "utf8");
    await addRelease(dashboard.releaseFolder, release, publicKey);
    // The agents' output, if a step takes too long.
    onTestFailed(() => void process.stderr.write(`${pcs.map((pc) => pc.output()).join("\n")}\n`));
    await until("both PCs can be updated", async () => (await read()).plan?.pcs.length === 2);
    expect((await admin.call("POST", "/rollout", { version: "0.2.0" })).status).toBe(200);
    await until("A is done", async () => (await states()).includes("A done"), WAIT_MS);
    await until("B has rolled back", async () => (await states()).includes("B rolled back"), WAIT_MS);
    const { rollout } = await read();
    expect([rollout?.is, rollout?.pcs[1]?.reason]).toEqual([
      "rolled back",
      expect.stringMatching(/planted: it does not start/),
    ]);
    await until("B runs its old version again", async () => {
      const { agents } = (await admin.call<DevicesBody>("GET", "/devices")).body;
      return agents.map(({ key, version }) => `${key.name} ${version}`).join() === "A 0.2.0,B 0.1.0";
    });
    expect(fs.existsSync(path.join(pcs[0]?.folder ?? "", "data/spool.db.before-upgrade"))).toBe(true);
  },
);
