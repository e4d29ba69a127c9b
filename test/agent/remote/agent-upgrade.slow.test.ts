import fs from "node:fs";
import path from "node:path";
import { pino } from "pino";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { AgentUpgrade } from "../../../agent/remote/agent-upgrade.ts";
import type { Health } from "../../../shared/platform/upgrade/versions.ts";
import type { Parent } from "../../../shared/platform/upgrade/parent.ts";
import { askService } from "../../../shared/platform/upgrade/requests.ts";
import { writeUpgrades } from "../../../shared/platform/upgrade/version-store.ts";
import { temporaryFolder, until } from "../../support/machine/processes.ts";
import { type TestAgent, useAgent } from "../../support/peers/running-agent.ts";

// The running agent without a launcher: the test replaces it, and notes the requests.

let agent: TestAgent;
useAgent((created) => (agent = created));

let folder: string;
let asked: { readonly version: string; readonly heartbeat: boolean; readonly byPerson: boolean }[];
let told: Health[];
let upgrade: AgentUpgrade;

beforeEach(async () => {
  folder = temporaryFolder();
  asked = [];
  told = [];
  const parent: Parent = {
    folder,
    tell: (health) => void told.push(health),
    ask(version, { heartbeat }, byPerson) {
      asked.push({ version, heartbeat, byPerson });
      return Promise.resolve("the test refuses");
    },
    refused: () => undefined,
  };
  upgrade = new AgentUpgrade(parent, "0.2.0", pino({ enabled: false }));
  await agent.run([]);
  upgrade.start(agent.host);
  // A version that is unpacked already is not fetched.
  fs.mkdirSync(path.join(folder, "0.3.0"));
});

afterEach(() => {
  vi.restoreAllMocks();
  fs.rmSync(folder, { recursive: true });
});

test.each<[number, boolean]>([
  [119, true],
  [121, false],
])("a server whose last response is %i s old has to acknowledge the new version: %s", async (seconds, heartbeat) => {
  upgrade.answered(null);
  const now = performance.now();
  vi.spyOn(performance, "now").mockReturnValue(now + seconds * 1_000);
  askService(folder, "0.3.0", null, false);
  expect(await until("the launcher has the request", () => asked[0])).toEqual({
    version: "0.3.0",
    heartbeat,
    byPerson: true,
  });
});

test("a version that was rolled back is tried again for a person, and not for the server", async () => {
  const at = new Date().toISOString();
  writeUpgrades(folder, [{ from: "0.2.0", to: "0.3.0", at, outcome: "rolled back", reason: "a blip" }]);
  upgrade.answered("0.3.0");
  expect(upgrade.report()?.state).toBe("rolled back");
  const request = askService(folder, "0.3.0", null, false);
  await until("the person has the response", () => request.answer()?.is === "refused");
  expect(asked).toEqual([{ version: "0.3.0", heartbeat: true, byPerson: true }]);
});

test("a change of the configuration is not a fault of the version, and a missing configuration is one", () => {
  vi.useFakeTimers({ toFake: ["setInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  upgrade.start(agent.host);
  vi.spyOn(agent.host, "agent", "get").mockReturnValue(null);
  told = [];
  vi.advanceTimersByTime(60_000);
  expect(told).toEqual([]);
  vi.spyOn(agent.host, "text").mockReturnValue(null);
  vi.advanceTimersByTime(60_000);
  expect(told.flatMap(({ problems }) => problems)).toEqual([{ what: "agent", reason: "it is not set up" }]);
});
