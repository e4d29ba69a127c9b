import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { dataFolder } from "../../../agent/doctor/machine/data-folder.ts";
import { readFacts } from "../../../agent/doctor/check/check.ts";
import { describeStep } from "../../../agent/setup/view.ts";
import type { Host } from "../../../agent/host.ts";
import { temporaryFolder } from "../../support/machine/processes.ts";

test.runIf(fs.existsSync("/dev/shm"))(
  "a data folder in memory is warned of by the doctor, check and the set-up, and by nobody on a disk",
  async () => {
    const [folder, disk] = [temporaryFolder(), fs.mkdtempSync("/var/tmp/vetwire-place-")];
    onTestFinished(() => [folder, disk].forEach((each) => fs.rmSync(each, { recursive: true })));
    fs.writeFileSync(path.join(folder, "agent.key"), "sk_live_test\n", { mode: 0o600 });
    const configFile = path.join(folder, "agent.yaml");
    const told = async (data: string) => {
      const server = { url: "http://127.0.0.1:9", keyFile: "agent.key" };
      fs.writeFileSync(configFile, JSON.stringify({ server, data, timeZone: "UTC", devices: [] }));
      const facts = readFacts({ configFile, isOffline: true });
      const step = await describeStep({ at: "line" }, { config: facts.config, host: {} as Host, listening: null });
      const { stderr } = spawnSync(process.execPath, ["agent/main.ts", "check", "--config", configFile], {
        encoding: "utf8",
      });
      return {
        doctor: (await dataFolder.run(facts)).map(({ id, status }) => `${status} ${id}`),
        setUp: step.at === "line" ? step.folder : undefined,
        check: stderr.includes("is in memory (tmpfs)"),
      };
    };
    expect(await told("data")).toEqual({
      doctor: ["warning folder.memory", "ok folder.new"],
      setUp: { code: "folder.memory", by: "tmpfs" },
      check: true,
    });
    expect(await told(path.join(disk, "data"))).toEqual({ doctor: ["ok folder.new"], setUp: null, check: false });
  },
);
