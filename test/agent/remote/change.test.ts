import fs from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { pino } from "pino";
import { AgentUpgrade } from "../../../agent/remote/agent-upgrade.ts";
import { readText } from "../../../agent/config/config-file.ts";
import type { RunningAgent } from "../../../agent/agent.ts";
import { copyName } from "../../../shared/platform/upgrade/database-copy.ts";
import type { Parent } from "../../../shared/platform/upgrade/parent.ts";
import { VERSION } from "../../../shared/files/program-files.ts";
import { writeUpgrades } from "../../../shared/platform/upgrade/version-store.ts";
import { freePort, until } from "../../support/machine/processes.ts";
import { type TestAgent, useAgent } from "../../support/peers/running-agent.ts";

// Method: an upgrade of a real agent to a version that is unpacked already. The launcher is the test, and starts nothing.

const LATER = "99.0.0";

let agent: TestAgent;
useAgent((created) => (agent = created));

/** Starts the agent under a launcher that notes the requested versions. */
async function start() {
  const port = await freePort();
  await agent.run([{ profile: "abaxis-vetscan-vs2", connection: { listen: `127.0.0.1:${port}` } }]);
  const folder = path.join(agent.folder, "versions");
  fs.mkdirSync(path.join(folder, LATER), { recursive: true });
  const asked: string[] = [];
  const refused: string[] = [];
  const parent: Parent = {
    folder,
    tell: () => undefined,
    async ask(version) {
      asked.push(version);
      return null;
    },
    refused: (_, reason) => refused.push(reason),
  };
  const upgrade = new AgentUpgrade(parent, VERSION, pino({ enabled: false }));
  upgrade.start(agent.host);
  return { upgrade, folder, asked, refused };
}

/** Makes the stop of an agent last. @returns the end of the pause */
function heldStop(running: RunningAgent): () => void {
  const stop = running.stop.bind(running);
  let release = () => undefined as void;
  const held = new Promise<void>((resolve) => (release = resolve));
  Object.assign(running, {
    async stop() {
      await held;
      await stop();
    },
  });
  return release;
}

test("an upgrade during a change of the configuration waits for its end, and copies the spool", async () => {
  const { upgrade, asked, refused } = await start();
  const { host } = agent;
  const spool = path.join(host.agent!.config.data, "spool.db");
  const release = heldStop(host.agent!);
  const text = readText(host.file) ?? "";
  const applied = host.apply(text.replace('"UTC"', '"Europe/Istanbul"'));
  await until("the change is under way", () => host.agent === null);
  upgrade.answered(LATER);
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect([asked, refused]).toEqual([[], []]);
  release();
  expect(await applied).toEqual({ outcome: "applied" });
  await until("the launcher has the request", () => asked.length > 0);
  expect([asked, refused, fs.existsSync(copyName(spool))]).toEqual([[LATER], [], true]);
});

test("a refused version is tried again after the pause, while the server wants it", async () => {
  const { upgrade, folder, refused } = await start();
  fs.rmdirSync(path.join(folder, LATER));
  upgrade.answered(LATER);
  await until("the version is refused", () => refused.length === 1);
  // The refusal is reported before the pause starts.
  await new Promise((resolve) => setImmediate(resolve));
  upgrade.answered(LATER);
  const now = performance.now.bind(performance);
  const clock = vi.spyOn(performance, "now").mockImplementation(() => now() + 9 * 60_000);
  onTestFinished(() => clock.mockRestore());
  upgrade.answered(LATER);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(refused.length).toBe(1);
  clock.mockImplementation(() => now() + 11 * 60_000);
  upgrade.answered(LATER);
  await until("it is tried again", () => refused.length === 2);
});

test("the reason that leaves the PC names no folder of it", async () => {
  const { upgrade, folder } = await start();
  const state = agent.folder;
  for (const [reason, told] of [
    [`${folder} has 3 MB free: make room there`, "versions has 3 MB free: make room there"],
    [
      "it ended with code 1: Error: ENOENT, open '/home/ayse/x.yaml'",
      "it ended with code 1: Error: ENOENT, open 'x.yaml'",
    ],
    [`${state}/data/spool.db is damaged: restore a backup`, "data/spool.db is damaged: restore a backup"],
  ] as const) {
    const record = { from: VERSION, to: LATER, at: new Date(0).toISOString(), outcome: "rolled back" as const, reason };
    writeUpgrades(folder, [record]);
    expect(upgrade.report()).toEqual({ to: LATER, state: "rolled back", reason: told, at: record.at });
  }
});
