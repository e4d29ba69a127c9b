import fs from "node:fs";
import path from "node:path";
import { pino } from "pino";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startAgent } from "../../../agent/agent.ts";
import { checkConfig } from "../../../agent/config/check.ts";
import { makePrivate } from "../../../shared/files/private-folder.ts";
import { freePort, temporaryFolder } from "../../support/machine/processes.ts";

// Goal: only the user of the agent reads its data folder, for any umask and any owner. Windows has no file modes.

let folder: string;
let data: string;
let lines: { msg: string; reason?: string; files?: number }[];

beforeEach(() => {
  folder = temporaryFolder();
  data = path.join(folder, "data");
  fs.writeFileSync(path.join(folder, "agent.key"), "sk_live_test\n", { mode: 0o600 });
  lines = [];
});

afterEach(() => fs.rmSync(folder, { recursive: true }));

async function runOnce() {
  const devices = [{ id: "xray", profile: "dicom", connection: { listen: `127.0.0.1:${await freePort()}` } }];
  const server = { url: `http://127.0.0.1:${await freePort()}`, keyFile: "agent.key" };
  const checked = checkConfig(JSON.stringify({ server, data: "data", timeZone: "UTC", devices }), folder);
  if ("problems" in checked) throw new Error(JSON.stringify(checked.problems));
  const log = pino(
    { level: "warn" },
    { write: (line: string) => lines.push(JSON.parse(line) as (typeof lines)[number]) },
  );
  const agent = await startAgent(checked.config, "test", log);
  const rights = modes();
  await agent.stop();
  return rights;
}

/** @returns the modes of the folder and its files, in octal */
function modes(): Record<string, string> {
  const names = ["", ...fs.readdirSync(data, { recursive: true, encoding: "utf8" })];
  return Object.fromEntries(names.map((name) => [name, (fs.statSync(path.join(data, name)).mode & 0o777).toString(8)]));
}

const PRIVATE = {
  "": "700",
  "spool.db": "600",
  "spool.db-wal": "600",
  "spool.db-shm": "600",
  "lock.db": "600",
  images: "700",
};

const logged = () => lines.filter(({ msg }) => /folder|secret/.test(msg)).map(({ msg, files }) => [msg, files]);

test.skipIf(process.platform === "win32")("a new folder and its files are private to the agent's user", async () => {
  const umask = process.umask(0);
  try {
    expect(await runOnce()).toMatchObject(PRIVATE);
  } finally {
    process.umask(umask);
  }
  expect(logged()).toEqual([]);
});

test.skipIf(process.platform === "win32")(
  "a folder that others can read becomes private at the start, with one log line",
  async () => {
    await runOnce();
    const image = path.join(data, "images", "01.dcm");
    fs.writeFileSync(image, "");
    for (const name of ["spool.db", "lock.db", "images/01.dcm"]) fs.chmodSync(path.join(data, name), 0o644);
    for (const name of ["images", ""]) fs.chmodSync(path.join(data, name), 0o755);
    expect(await runOnce()).toMatchObject({ ...PRIVATE, "images/01.dcm": "600" });
    expect(logged()).toEqual([["other users could read the data folder: the agent closed it to them", 5]]);
    await runOnce();
    expect(logged()).toHaveLength(1);
  },
);

test.skipIf(process.platform === "win32")(
  "a key file that others can read causes a warning with the command to fix it",
  async () => {
    const file = path.join(folder, "agent.key");
    fs.chmodSync(file, 0o644);
    await runOnce();
    expect(lines.filter(({ msg }) => /leaves something open/.test(msg)).map(({ reason }) => reason)).toEqual([
      `other users of this machine can read ${file}, which holds a secret: chmod 600 ${file}`,
    ]);
  },
);

test.skipIf(process.platform !== "linux")(
  "file modes that cannot be changed are reported, and the start continues",
  () => {
    // /proc lets no user change modes, not even root.
    const { failed, tightened } = makePrivate("/proc/self", ["comm"]);
    expect([tightened, failed.length]).toEqual([[], 2]);
  },
);
