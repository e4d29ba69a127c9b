import { type ChildProcess, spawn } from "node:child_process";
import path from "node:path";
import { Compile } from "typebox/compile";
import { expect, onTestFinished, test } from "vitest";
import {
  type FromLauncher,
  ToLauncher,
  VERSIONS_VARIABLE,
} from "../../../../shared/platform/upgrade/launcher-messages.ts";
import { ROOT } from "../../../support/machine/processes.ts";

// The program's side in a real process. The test is its launcher.

const LONG = "x".repeat(3_000);

/** Starts a program that requests 0.3.0 and sends what it learns. Its timers of 30 s last 300 ms. */
function startAsking(): ChildProcess {
  const module = JSON.stringify(path.join(ROOT, "shared/platform/upgrade/parent.ts"));
  const script = `
    const late = setTimeout;
    globalThis.setTimeout = (work, ms) => late(work, ms === 30_000 ? 300 : ms);
    const { findParent } = await import(${module});
    const known = ["${LONG}"];
    const reason = await findParent().ask("0.3.0", { heartbeat: true, known }, false);
    process.send({ learnt: reason, listeners: process.listenerCount("message") }, () => process.exit(0));`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
    cwd: ROOT,
    env: { ...process.env, [VERSIONS_VARIABLE]: "/nowhere" },
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

function next(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve) => child.once("message", resolve));
}

test("the launcher takes an order with long texts, and its response arrives", async () => {
  const child = startAsking();
  const order = await next(child);
  expect(Compile(ToLauncher).Check(order)).toBe(true);
  const answer = { is: "answer", reason: "y".repeat(1_000) } satisfies FromLauncher;
  child.send(answer);
  expect(await next(child)).toEqual({ learnt: answer.reason, listeners: 0 });
});

test("a launcher that does not respond is given up", async () => {
  const child = startAsking();
  await next(child);
  expect(await next(child)).toEqual({ learnt: "the launcher does not respond: restart the service", listeners: 0 });
});
