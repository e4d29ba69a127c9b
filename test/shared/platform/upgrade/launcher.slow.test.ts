import fs from "node:fs";
import path from "node:path";
import { pino } from "pino";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { Launcher } from "../../../../shared/platform/upgrade/launcher.ts";
import {
  readStarts,
  readUpgrades,
  readVersions,
  unpackedVersions,
} from "../../../../shared/platform/upgrade/version-store.ts";
import { patiently } from "../../../support/runner/patience.ts";
import { temporaryFolder, until } from "../../../support/machine/processes.ts";

// The launcher with small programs in place of the real one: each version is a script in the versions folder.

const OWN = "0.0.1";
/** A probation that a test awaits. A slow machine starts a program within it. */
const PROBATION_MS = patiently(1_500);
/** A probation that ends within no test. */
const LONG_MS = 3_600_000;

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }));
});

/**
 * Start of each script: it prints its version on request, notes its start, stops as ordered, and can send messages and wait for
 * the response.
 */
const PRELUDE = `
import fs from "node:fs";
if (process.argv.includes("--version")) { console.log(VERSION); process.exit(0); }
const note = (text) => fs.appendFileSync(${JSON.stringify("FOLDER")} + "/notes", text + "\\n");
note(VERSION + (process.env.VETWIRE_ROLLED_BACK === "1" ? " after a rollback" : ""));
process.on("disconnect", () => { note(VERSION + " lost its launcher"); process.exit(0); });
process.on("message", ({ is }) => { if (is === "stop") setImmediate(() => process.exit(0)); });
const send = (message) => process.send(message);
const healthy = () => send({ is: "health", problems: [], heartbeat: true });
const order = (version, byPerson) => new Promise((resolve) => {
  process.on("message", (message) => { if (message.is === "answer") resolve(message.reason); });
  send({ is: "upgrade", version, expects: { heartbeat: true, known: [] }, byPerson });
});
const orderOnce = async (version) => {
  if (fs.existsSync(${JSON.stringify("FOLDER")} + "/ordered-" + version)) return;
  fs.writeFileSync(${JSON.stringify("FOLDER")} + "/ordered-" + version, "");
  const reason = await order(version);
  note(VERSION + (reason === null ? " orders " + version : " is refused: " + reason));
  if (reason === null) process.exit(0);
};
`;

/** Unpacks a version whose program is this script. */
function unpack(version: string, script: string): void {
  const [runtime, shared] = ["runtime", "app/shared"].map((name) => path.join(folder, version, name)) as [
    string,
    string,
  ];
  for (const each of [runtime, shared]) fs.mkdirSync(each, { recursive: true });
  fs.writeFileSync(path.join(runtime, "node"), `#!/bin/sh\nexec ${process.execPath} "$@"\n`, { mode: 0o755 });
  const prelude = `const VERSION = ${JSON.stringify(version)};${PRELUDE}`.replaceAll(
    '"FOLDER"',
    JSON.stringify(folder),
  );
  fs.writeFileSync(path.join(shared, "main.js"), `${prelude}\n${script}\n`);
  fs.writeFileSync(path.join(folder, version, "app/package.json"), '{"type":"module"}');
}

/** Makes an unpacked version the current one. */
function isCurrent(version: string): void {
  fs.writeFileSync(path.join(folder, "current.json"), JSON.stringify({ current: version }));
}

function launcher(probationMs = LONG_MS): Launcher {
  const log = pino({ enabled: false });
  const of = { program: "agent", options: [], folder, version: OWN, probationMs, log } as const;
  return new Launcher({ ...of, output: () => undefined });
}

function notes(): string[] {
  const file = path.join(folder, "notes");
  return fs.existsSync(file) ? fs.readFileSync(file, "utf8").trim().split("\n") : [];
}

/** Runs until a note, then stops. @returns the exit code */
async function runUntil(note: string, probationMs = LONG_MS): Promise<number> {
  const running = launcher(probationMs);
  const ended = running.run();
  await until(note, () => notes().includes(note));
  running.stop();
  return ended;
}

const IDLE = "setInterval(() => undefined, 1000);";

test("a healthy version stays after its probation, and the one before it is kept alone", async () => {
  unpack("0.1.0", IDLE);
  unpack("0.2.0", `healthy(); ${IDLE} await orderOnce("0.3.0");`);
  unpack("0.3.0", `healthy(); setTimeout(() => note("0.3.0 has lived"), ${2 * PROBATION_MS}); ${IDLE}`);
  isCurrent("0.2.0");
  expect(await runUntil("0.3.0 has lived", PROBATION_MS)).toBe(0);
  expect(notes()).toEqual(["0.2.0", "0.2.0 orders 0.3.0", "0.3.0", "0.3.0 has lived"]);
  expect(readVersions(folder)).toEqual({ current: "0.3.0", pending: null, rolledBack: false });
  expect(readUpgrades(folder)).toMatchObject([{ from: "0.2.0", to: "0.3.0", outcome: "done", reason: null }]);
  expect(unpackedVersions(folder).toSorted()).toEqual(["0.2.0", "0.3.0"]);
  expect(readStarts(folder)).toEqual([]);
});

test("the first start after a rollback takes the database back, and the failed version is refused", async () => {
  unpack("0.2.0", `healthy(); ${IDLE} await orderOnce("0.3.0"); const reason = await order("0.3.0"); note(reason);`);
  unpack("0.3.0", 'throw new Error("planted");');
  isCurrent("0.2.0");
  const reason = "version 0.3.0 was rolled back before (it ended with code 1: Error: planted): take a later version";
  await runUntil(reason);
  expect(notes()).toEqual(["0.2.0", "0.2.0 orders 0.3.0", "0.3.0", "0.2.0 after a rollback", reason]);
  expect(readVersions(folder)).toEqual({ current: "0.2.0", pending: null, rolledBack: false });
  expect(readStarts(folder)).toMatchObject([{ version: "0.3.0", code: 1 }]);
  expect(unpackedVersions(folder)).toEqual(["0.2.0"]);
  fs.rmSync(path.join(folder, "notes"));
  await runUntil(reason);
  expect(notes()[0]).toBe("0.2.0");
});

test("a refusal with a long reason reaches the program", async () => {
  unpack("0.2.0", `healthy(); ${IDLE} note(String((await order("0.3.0")).length));`);
  isCurrent("0.2.0");
  const reason = "x".repeat(1_000);
  const failed = { from: "0.2.0", to: "0.3.0", at: "2026-11-23T18:00:00.000Z", outcome: "rolled back", reason };
  fs.writeFileSync(path.join(folder, "upgrades.json"), JSON.stringify([failed]));
  expect(await runUntil("1000")).toBe(0);
});

test("a person may try a version again that was rolled back", async () => {
  unpack("0.2.0", `healthy(); ${IDLE} if (await order("0.3.0", true) === null) process.exit(0);`);
  unpack("0.3.0", `setTimeout(() => note("0.3.0 runs"), 100); ${IDLE}`);
  isCurrent("0.2.0");
  const failed = { from: "0.2.0", to: "0.3.0", at: "2026-11-23T18:00:00.000Z", outcome: "rolled back", reason: null };
  fs.writeFileSync(path.join(folder, "upgrades.json"), JSON.stringify([failed]));
  await runUntil("0.3.0 runs");
  expect(readVersions(folder).pending?.version).toBe("0.3.0");
});

test("a program that hangs in its stop after an accepted order is killed after 30 s", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"], shouldAdvanceTime: true });
  onTestFinished(() => void vi.useRealTimers());
  const hang = 'process.removeAllListeners("message"); process.on("message", ({ is }) => note("hears " + is));';
  unpack("0.2.0", `healthy(); ${IDLE} ${hang} await order("0.3.0");`);
  unpack("0.3.0", `setTimeout(() => note("0.3.0 runs"), 100); ${IDLE}`);
  isCurrent("0.2.0");
  const ended = runUntil("0.3.0 runs");
  await until("0.2.0 hears the stop", () => notes().includes("hears stop"));
  vi.advanceTimersByTime(29_000);
  expect(notes().at(-1)).toBe("hears stop");
  vi.advanceTimersByTime(1_000);
  expect(await ended).toBe(0);
  expect(notes()).toEqual(["0.2.0", "hears answer", "hears stop", "0.3.0", "0.3.0 runs"]);
});

test("a version that is not healthy in time is ended, and the reason names its problem", async () => {
  unpack("0.2.0", `healthy(); note("0.2.0 runs"); ${IDLE} await orderOnce("0.3.0"); note("0.2.0 runs again");`);
  unpack(
    "0.3.0",
    `send({ is: "health", problems: [{ what: "spool", reason: "it is full" }], heartbeat: true }); ${IDLE}`,
  );
  isCurrent("0.2.0");
  await runUntil("0.2.0 runs again", PROBATION_MS);
  expect(readUpgrades(folder)).toMatchObject([
    { outcome: "rolled back", reason: "it was not ready: spool: it is full" },
  ]);
});

test("a stop within the probation changes nothing, and the next start tries the version again", async () => {
  unpack("0.2.0", `healthy(); ${IDLE} await orderOnce("0.3.0");`);
  unpack("0.3.0", `setTimeout(() => note("0.3.0 runs"), 100); ${IDLE}`);
  isCurrent("0.2.0");
  for (let stop = 1; stop <= 5; stop++) {
    expect(await runUntil("0.3.0 runs")).toBe(0);
    expect(readVersions(folder).pending).toMatchObject({ version: "0.3.0", starts: 0 });
    fs.rmSync(path.join(folder, "notes"));
  }
});

test("a new version after which the machine failed three times is given up", async () => {
  unpack("0.2.0", `healthy(); note("0.2.0 runs"); ${IDLE}`);
  unpack("0.3.0", IDLE);
  const pending = { version: "0.3.0", starts: 3, expects: { heartbeat: true, known: [] } };
  fs.writeFileSync(path.join(folder, "current.json"), JSON.stringify({ current: "0.2.0", pending, rolledBack: false }));
  await runUntil("0.2.0 runs");
  expect(notes()).toEqual(["0.2.0 after a rollback", "0.2.0 runs"]);
  expect(readUpgrades(folder)).toMatchObject([
    {
      to: "0.3.0",
      outcome: "rolled back",
      reason: "the machine or the service ended again and again in its first minute",
    },
  ]);
});

test("an order whose files are missing is given up, and the next one is taken", async () => {
  unpack("0.2.0", `healthy(); ${IDLE} await orderOnce("0.4.0");`);
  unpack("0.4.0", `setTimeout(() => note("0.4.0 runs"), 100); ${IDLE}`);
  const pending = { version: "0.3.0", starts: 1, expects: { heartbeat: true, known: [] } };
  fs.writeFileSync(path.join(folder, "current.json"), JSON.stringify({ current: "0.2.0", pending, rolledBack: false }));
  await runUntil("0.4.0 runs");
  expect(notes()).toEqual(["0.2.0 after a rollback", "0.2.0 orders 0.4.0", "0.4.0", "0.4.0 runs"]);
  expect(readUpgrades(folder)).toMatchObject([
    { from: "0.2.0", to: "0.3.0", outcome: "refused", reason: "its files are missing: order the upgrade again" },
  ]);
});

test("a version that stayed can be upgraded in its turn, by the same process", async () => {
  unpack("0.2.0", `healthy(); ${IDLE} await orderOnce("0.3.0");`);
  const whenUnpacked = `const look = setInterval(() => {
    if (!fs.existsSync(${JSON.stringify(path.join(folder, "0.4.0"))})) return;
    clearInterval(look);
    void orderOnce("0.4.0");
  }, 20);`;
  unpack("0.4.0", `healthy(); ${IDLE}`);
  isCurrent("0.2.0");
  // The first upgrade removes versions that are neither the new one nor the one before.
  const later = path.join(folder, "later");
  fs.renameSync(path.join(folder, "0.4.0"), later);
  unpack("0.3.0", `healthy(); ${whenUnpacked} ${IDLE}`);
  const running = launcher(PROBATION_MS);
  const ended = running.run();
  await until("0.3.0 stays", () => readVersions(folder).current === "0.3.0");
  fs.renameSync(later, path.join(folder, "0.4.0"));
  await until("0.4.0 stays", () => readVersions(folder).current === "0.4.0");
  running.stop();
  await ended;
  expect(readUpgrades(folder).map(({ to, outcome }) => [to, outcome])).toEqual([
    ["0.3.0", "done"],
    ["0.4.0", "done"],
  ]);
});

test("the exit code of a program that ends by itself is passed on, with its last words kept", async () => {
  unpack("0.2.0", 'process.stderr.write("agent.yaml: no such file\\n"); process.exit(78);');
  isCurrent("0.2.0");
  expect(await launcher().run()).toBe(78);
  expect(readStarts(folder)).toMatchObject([
    { version: "0.2.0", code: 78, signal: null, sentence: "it ended with code 78: agent.yaml: no such file" },
  ]);
  expect(readVersions(folder).current).toBe("0.2.0");
});

test.each<[string, (node: string) => void]>([
  ["is missing", (node) => fs.rmSync(node)],
  ["is no program", (node) => fs.chmodSync(node, 0o600)],
  ["is full of zeros", (node) => fs.writeFileSync(node, Buffer.alloc(5_000))],
])("a version in force whose Node %s gives way to the package's own", async (_, damage) => {
  unpack("0.2.0", IDLE);
  damage(path.join(folder, "0.2.0/runtime/node"));
  isCurrent("0.2.0");
  // The package's own program finds no configuration here.
  expect(await launcher().run()).toBe(78);
  expect(readStarts(folder).map(({ version }) => version)).toEqual(["0.2.0", OWN]);
  expect(readVersions(folder)).toEqual({ current: null, pending: null, rolledBack: true });
  expect(readUpgrades(folder)).toMatchObject([{ from: OWN, to: "0.2.0", outcome: "rolled back" }]);
  expect(unpackedVersions(folder)).toEqual([]);
});

test("a version without its Node is given up, and damaged files of the launcher stop nothing", async () => {
  unpack("0.2.0", `healthy(); note("0.2.0 runs"); ${IDLE} await orderOnce("0.3.0"); note("0.2.0 runs again");`);
  unpack("0.3.0", IDLE);
  fs.rmSync(path.join(folder, "0.3.0/runtime/node"));
  isCurrent("0.2.0");
  for (const name of ["upgrades.json", "starts.json"]) fs.writeFileSync(path.join(folder, name), '[{"from":');
  await runUntil("0.2.0 runs again");
  expect(readUpgrades(folder).at(-1)?.reason).toMatch(/it does not start: spawn .* ENOENT/);
});
