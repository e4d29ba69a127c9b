import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ROOT, temporaryFolder, until } from "../support/processes.ts";

// Method: the demo of the build, as `npm start` runs it, in a temporary folder.

/** Starts the demo and waits until it is up. @returns its line about the dashboard */
async function startDemo(folder: string): Promise<{ child: ChildProcess; line: string }> {
  const child = spawn(process.execPath, [path.join(ROOT, "dist/server/demo/main.js")], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGTERM"));
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (output += String(text)));
  await until(
    "the demo is up",
    () => {
      if (child.exitCode !== null) throw new Error(`the demo ended: ${output}`);
      return output.includes("Running until Ctrl-C.");
    },
    120_000,
  );
  return { child, line: output.split("\n").find((one) => one.startsWith("Dashboard: ")) ?? "" };
}

async function stop(child: ChildProcess): Promise<void> {
  child.kill("SIGTERM");
  await once(child, "exit");
}

/** Registers the tests of the set-up code, for demo.slow.test.ts: two demos at once would want the same ports. */
export function setupCodeTests(): void {
  test("npm start prints the dashboard's address with a set-up code until a user exists, then the address alone", async () => {
    const folder = fs.realpathSync(temporaryFolder());
    onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }));
    fs.symlinkSync(path.join(ROOT, "fixtures"), path.join(folder, "fixtures"));
    const withCode = /^Dashboard: (http:\/\/127\.0\.0\.1:\d+)\/dashboard, set it up with the code ([A-Z\d-]{14})$/;

    const first = await startDemo(folder);
    expect(first.line).toMatch(withCode);
    await stop(first.child);

    const second = await startDemo(folder);
    const [, url = "", code = ""] = withCode.exec(second.line) ?? [];
    expect(second.line).not.toBe(first.line);
    const page = await fetch(`${url}/dashboard`);
    expect([page.status, (await page.text()).includes('<div id="app">')]).toEqual([200, true]);
    const response = await fetch(`${url}/clinic/v1/set-up`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ code, name: "First admin", password: "a long password" }),
    });
    expect(response.status).toBe(200);
    await stop(second.child);

    const third = await startDemo(folder);
    expect(third.line).toMatch(/^Dashboard: http:\/\/127\.0\.0\.1:\d+\/dashboard$/);
    await stop(third.child);
  }, 400_000);
}
