import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ROOT, temporaryFolder, until } from "../support/processes.ts";

// Goal: whatever ends the demo, its server and its agent end with it, and two demos do not share a folder. Method: the demo
// of the build as `npm start` runs it, in a folder of its own; its processes are found by that folder in /proc.

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

/** The demo in a shell, as npm runs it. */
function shell(command: string): ChildProcess {
  const child = spawn("sh", ["-c", command], { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  started.push(child);
  return child;
}

const demo = `exec node ${path.join(ROOT, "dist/server/demo/main.js")}`;

/** The processes whose working folder is the test's: the demo, its server and its agent, by their main modules. */
function programs(): { pid: number; module: string }[] {
  return fs.readdirSync("/proc").flatMap((name) => {
    try {
      if (!/^\d+$/.test(name) || fs.readlinkSync(`/proc/${name}/cwd`) !== folder) return [];
      const module = /dist\/(\w+\/(?:demo\/)?main)\.js\0/.exec(fs.readFileSync(`/proc/${name}/cmdline`, "utf8"))?.[1];
      return module === undefined ? [] : [{ pid: Number(name), module }];
    } catch {
      return []; // it has ended meanwhile
    }
  });
}

function modules(): string[] {
  return programs()
    .map(({ module }) => module)
    .toSorted();
}

async function allHaveEnded(): Promise<void> {
  await until("all have ended", () => programs().length === 0, 60_000);
}

async function says(child: ChildProcess, words: string): Promise<void> {
  let output = "";
  child.stdout?.on("data", (text) => (output += String(text)));
  child.stderr?.on("data", (text) => (output += String(text)));
  await until(
    `the demo says ${words}`,
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
  ] as const)("ends its server and its agent on %s after it has said %s", async (signal, words) => {
    const child = shell(demo);
    await says(child, words);
    expect(modules()).toEqual(expect.arrayContaining(RUNNING));
    child.kill(signal);
    expect(await once(child, "exit")).toEqual([0, null]);
    expect(modules()).toEqual([]);
  });

  test("ends its server and its agent when nobody reads its output any more", async () => {
    const child = shell(`node ${path.join(ROOT, "dist/server/demo/main.js")} | head -n 2`);
    await once(child, "exit");
    await allHaveEnded();
    expect(modules()).toEqual([]);
  });

  test("takes its server and its agent with it when it is killed", async () => {
    const child = shell(demo);
    await says(child, "Server on");
    child.kill("SIGKILL");
    await allHaveEnded();
    expect(modules()).toEqual([]);
  });

  test("ends when the process that started it is killed", async () => {
    // A shell that waits for the demo, as npm does.
    const child = shell(`node ${path.join(ROOT, "dist/server/demo/main.js")}; true`);
    await says(child, "Server on");
    child.kill("SIGKILL");
    await allHaveEnded();
    expect(modules()).toEqual([]);
  });

  test("refuses to run twice in a folder, changes nothing there, and runs again after the first was killed", async () => {
    const first = shell(demo);
    await says(first, "Server on");
    const key = path.join(folder, "data/demo/agent.key");
    const before = fs.readFileSync(key, "utf8");
    const second = shell(demo);
    let said = "";
    second.stdout?.on("data", (text) => (said += String(text)));
    second.stderr?.on("data", (text) => (said += String(text)));
    expect(await once(second, "close")).toEqual([1, null]);
    const data = path.join(folder, "data/demo");
    expect(said).toBe(`another demo is running with the data folder ${data}: end it with Ctrl-C first\n`);
    expect(fs.readFileSync(key, "utf8")).toBe(before);

    first.kill("SIGKILL");
    await allHaveEnded();
    await says(shell(demo), "Server on");
  });
});
