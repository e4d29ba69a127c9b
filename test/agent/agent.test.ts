import fs from "node:fs";
import path from "node:path";
import { pino } from "pino";
import { expect, test } from "vitest";
import { startAgent } from "../../agent/agent.ts";
import { checkConfig } from "../../agent/config.ts";
import { freePort, temporaryFolder } from "../support/processes.ts";

const OPEN_FILES = "/proc/self/fd";

/** Files below the folder that this process has open. */
function openIn(folder: string): string[] {
  return fs.readdirSync(OPEN_FILES).flatMap((name) => {
    try {
      const file = fs.readlinkSync(path.join(OPEN_FILES, name));
      return file.startsWith(folder) ? [path.relative(folder, file)] : [];
    } catch {
      return []; // the one that lists them
    }
  });
}

test.skipIf(!fs.existsSync(OPEN_FILES))("an agent that was stopped holds nothing of its data folder open", async () => {
  const folder = temporaryFolder();
  fs.writeFileSync(path.join(folder, "agent.key"), "sk_live_test\n");
  const device = { id: "xray", profile: "dicom", connection: { listen: `127.0.0.1:${await freePort()}` } };
  const server = { url: `http://127.0.0.1:${await freePort()}`, keyFile: "agent.key" };
  const text = JSON.stringify({ server, data: "data", timeZone: "UTC", devices: [device] });
  const checked = checkConfig(text, folder);
  if ("problems" in checked) throw new Error(JSON.stringify(checked.problems));
  const agent = await startAgent(checked.config, "test", pino({ enabled: false }));
  expect(openIn(folder)).toContain("data/images");
  await agent.stop();
  expect(openIn(folder)).toEqual([]);
  fs.rmSync(folder, { recursive: true });
});
