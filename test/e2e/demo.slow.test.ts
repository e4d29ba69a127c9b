import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ROOT, temporaryFolder, until } from "../support/processes.ts";
import { browserTests } from "./demo-browser.ts";
import { setupCodeTests } from "./demo-setup-code.ts";

// Goal: server and agent end with the demo in every case, and two demos do not share a folder. Method: the demo of the build, as
// `npm start` runs it, in a temporary folder. The test finds its processes by their working folder in /proc.

let folder: string;
const started: ChildProcess[] = [];

beforeEach(() => {
  folder = fs.realpathSync(temporaryFolder());
  fs.symlinkSync(path.join(ROOT, "fixtures"), path.join(folder, "fixtures"));
});

afterEach(async () => {
  for (const child of started.splice(0)) child.kill("SIGKILL");
  await allHaveEnded();
  fs.rmSync(folder, { recursive: true, force: true });
});

/** Runs a command in a shell, as npm does. */
function shell(command: string): ChildProcess {
  const child = spawn("sh", ["-c", command], { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  started.push(child);
  return child;
}

const demo = `exec node ${path.join(ROOT, "dist/server/demo/main.js")}`;

/** @returns the processes in the test's folder (demo, server and agent) with their main modules */
function programs(): { pid: number; module: string }[] {
  return fs.readdirSync("/proc").flatMap((name) => {
    try {
      if (!/^\d+$/.test(name) || fs.readlinkSync(`/proc/${name}/cwd`) !== folder) return [];
      const module = /dist\/(\w+\/(?:demo\/)?main)\.js\0/.exec(fs.readFileSync(`/proc/${name}/cmdline`, "utf8"))?.[1];
      return module === undefined ? [] : [{ pid: Number(name), module }];
    } catch {
      return []; // the process has ended
    }
  });
}

function modules(): string[] {
  return programs()
    .map(({ module }) => module)
    .toSorted();
}

async function allHaveEnded(): Promise<void> {
  await until("all processes end", () => programs().length === 0, 60_000);
}

async function untilPrinted(child: ChildProcess, words: string): Promise<void> {
  let output = "";
  child.stdout?.on("data", (text) => (output += String(text)));
  child.stderr?.on("data", (text) => (output += String(text)));
  await until(
    `the demo prints ${words}`,
    () => {
      if (child.exitCode !== null) throw new Error(`the demo ended: ${output}`);
      return output.includes(words);
    },
    60_000,
  );
}

const RUNNING = ["agent/main", "server/demo/main", "server/main"];

describe("the demo", { timeout: 300_000 }, () => {
  test.each([
    ["SIGINT", "Running until Ctrl-C."],
    ["SIGTERM", "Server on"],
    ["SIGHUP", "Server on"],
  ] as const)("the demo ends its server and agent on %s after it prints %s", async (signal, words) => {
    const child = shell(demo);
    await untilPrinted(child, words);
    expect(modules()).toEqual(expect.arrayContaining(RUNNING));
    child.kill(signal);
    expect(await once(child, "exit")).toEqual([0, null]);
    expect(modules()).toEqual([]);
  });

  test("the demo ends its server and agent when the reader of its output closes the pipe", async () => {
    const child = shell(`node ${path.join(ROOT, "dist/server/demo/main.js")} | head -n 2`);
    await once(child, "exit");
    await allHaveEnded();
    expect(modules()).toEqual([]);
  });

  test("server and agent end when the demo is killed", async () => {
    const child = shell(demo);
    await untilPrinted(child, "Server on");
    child.kill("SIGKILL");
    await allHaveEnded();
    expect(modules()).toEqual([]);
  });

  test("the demo ends when its parent process is killed", async () => {
    // The shell waits for the demo, as npm does.
    const child = shell(`node ${path.join(ROOT, "dist/server/demo/main.js")}; true`);
    await untilPrinted(child, "Server on");
    child.kill("SIGKILL");
    await allHaveEnded();
    expect(modules()).toEqual([]);
  });

  test("a second demo in the same folder exits 1 and changes nothing, and starts once the first is killed", async () => {
    const first = shell(demo);
    await untilPrinted(first, "Server on");
    const key = path.join(folder, "data/demo/agent.key");
    const before = fs.readFileSync(key, "utf8");
    const second = shell(demo);
    let output = "";
    second.stdout?.on("data", (text) => (output += String(text)));
    second.stderr?.on("data", (text) => (output += String(text)));
    expect(await once(second, "close")).toEqual([1, null]);
    const data = path.join(folder, "data/demo");
    expect(output).toBe(`another demo is running with the data folder ${data}: end it with Ctrl-C first\n`);
    expect(fs.readFileSync(key, "utf8")).toBe(before);

    first.kill("SIGKILL");
    await allHaveEnded();
    await untilPrinted(shell(demo), "Server on");
  });
});

setupCodeTests();
browserTests();
