import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { DebianRoot, debianRootProblem } from "../support/debian-root.ts";
import { makePackages } from "../support/packages.ts";
import { freePort, isFree, temporaryFolder, until } from "../support/processes.ts";
import { blocksOf } from "../support/readme.ts";
import { Windows, wine, wixl } from "../support/wine.ts";

// Goal: the lines of the README install the packages. Method: a Debian without Node and a Windows run the lines as written, with
// the packages of this version in the current folder. readme.slow.test.ts runs the lines for the source.

const STEP_MS = 900_000;

let folder: string;

beforeAll(() => {
  folder = temporaryFolder();
});

afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

/** @returns the lines of the README for a system */
function linesFor(system: string): string[] {
  const blocks = blocksOf("README.md").filter(({ file }) => file === system);
  return blocks.flatMap(({ text }) => text.split("\n"));
}

test("the README has three lines for each system", () => {
  expect([linesFor("windows").length, linesFor("debian").length]).toEqual([3, 3]);
});

const problem = debianRootProblem();
if (problem !== null) process.stderr.write(`install: Debian is skipped, ${problem}\n`);

describe.skipIf(problem !== null)("Debian", { timeout: STEP_MS }, () => {
  test("the lines install both programs, show the code of the dashboard, and the units start", async () => {
    const root = DebianRoot.create();
    onTestFinished(() => root.end());
    for (const file of makePackages("deb", folder)) fs.copyFileSync(file, root.at(`/root/${path.basename(file)}`));
    // The Debian of the test has one user, root.
    const run = (line = "") => root.run("timeout", "300", "sh", "-c", `sudo() { "$@"; }; cd /root; ${line}`);
    const [server, code, agent] = linesFor("debian");
    run(server);
    fs.appendFileSync(root.at("/etc/default/vetwire-server"), `RUN_OPTIONS="--port ${await freePort()}"\n`);
    const startedServer = startUnit(root, "vetwire-server");
    // The server has just started: the line waits for its file.
    const shown = run(code).trim();
    const [, printed] = await until("the server prints its code", () =>
      /with the code ([A-Z\d-]{14})/.exec(startedServer.output()),
    );
    expect(shown).toBe(printed);
    run(agent);
    await until("no other agent has port 8081", () => isFree(8081), 180_000);
    const startedAgent = startUnit(root, "vetwire-agent");
    await until("the page of the set-up", () => startedAgent.output().includes("the page sets this agent up"));
    expect(startedAgent.output()).toContain("http://127.0.0.1:8081");
  });
});

/** Starts what a unit starts, as its user and with the variables of its file. systemd itself does not run here. */
function startUnit(root: DebianRoot, name: string) {
  const unit = fs.readFileSync(root.at(`/usr/lib/systemd/system/${name}.service`), "utf8");
  const [, words = ""] = /^ExecStart=(.+)$/m.exec(unit) ?? [];
  const state = `/var/lib/${/^StateDirectory=(.+)$/m.exec(unit)?.[1]}`;
  root.run("install", "-d", "-m", "0700", "-o", "vetwire", "-g", "vetwire", state);
  const user = "setpriv --reuid=vetwire --regid=vetwire --clear-groups";
  const started = root.start(["sh", "-c", `set -a; . /etc/default/${name}; exec ${user} ${words}`]);
  onTestFinished(async () => {
    await started.end();
  });
  return started;
}

describe.skipIf(!wine || !wixl)("Windows", { timeout: STEP_MS }, () => {
  test("the lines install the agent as a running service, whose page is there", async () => {
    makePackages("msi", folder, "--program", "agent");
    const windows = await Windows.start();
    onTestFinished(() => windows.end());
    const run = (line = "") => windows.run("cmd", "/c", `cd /d ${Windows.pathOf(folder)} && ${line}`);
    const [install, query, open = ""] = linesFor("windows");
    expect(await run(install)).toMatchObject({ code: 0 });
    await until("the service runs", async () => (await run(query)).output.includes("RUNNING"), STEP_MS, 500);
    // wine has no browser for the third line. The address in it is that of the page.
    const log = windows.drive("ProgramData/Vetwire/agent/service.log");
    const isServed = () => fs.existsSync(log) && fs.readFileSync(log, "utf8").includes("the page sets this agent up");
    await until("the page of the set-up", isServed, STEP_MS, 200);
    expect(fs.readFileSync(log, "utf8")).toContain(open.replace("start ", ""));
  });
});
