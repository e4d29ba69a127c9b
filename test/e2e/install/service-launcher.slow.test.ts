import { spawn } from "node:child_process";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import {
  type InstalledService,
  launcherWords,
  logFile,
  type ServiceProgram,
  versionsFolder,
} from "../../../shared/platform/service/description.ts";
import { serviceStatus, statusLines } from "../../../shared/platform/service/status.ts";
import { VERSION } from "../../../shared/files/program-files.ts";
import { readRunning, readStarts } from "../../../shared/platform/upgrade/version-store.ts";
import { WAIT_MS } from "../../support/runner/patience.ts";
import { ROOT, temporaryFolder } from "../../support/machine/processes.ts";

// Goal: a service leaves its log and the reason of its end where `service status` and `service logs` read them, also on platforms
// without a journal. Method: the command line of the service is run by hand.

function serviceIn(folder: string, program: ServiceProgram, options: readonly string[]): InstalledService {
  const main = path.join(ROOT, "dist/shared/main.js");
  const config = program === "agent" ? path.join(folder, "agent.yaml") : null;
  const name = `vetwire-${program}`;
  return { program, name, node: process.execPath, main, config, state: path.join(folder, "state"), options };
}

/** Runs the command line of a service as its manager does. */
function runByHand(service: InstalledService, log: string | null) {
  const [program = "", ...words] = launcherWords(service, log);
  const launcher = spawn(program, words, { cwd: "/", stdio: ["ignore", "pipe", "pipe"] });
  let printed = "";
  for (const output of [launcher.stdout, launcher.stderr]) output.on("data", (bytes) => (printed += String(bytes)));
  const ended = new Promise<{ code: number | null; printed: string }>((resolve) =>
    launcher.once("close", (code) => resolve({ code, printed })),
  );
  return { launcher, ended };
}

test("the log file has the lines of launcher and program, and the running process is noted", async () => {
  const service = serviceIn(temporaryFolder(), "server", ["--port", "0"]);
  const log = logFile(service.state);
  const { launcher, ended } = runByHand(service, log);
  await vi.waitFor(() => expect(fs.readFileSync(log, "utf8")).toContain("listening on http://127.0.0.1:"), WAIT_MS);
  const running = readRunning(versionsFolder(service.state));
  expect(running).toEqual({ version: VERSION, started_at: expect.any(String), process: expect.any(Number) });
  expect(fs.readFileSync(`/proc/${running?.process}/cmdline`, "utf8")).toContain("server\0run\0--data");
  launcher.kill("SIGTERM");
  expect(await ended).toEqual({ code: 0, printed: "" });
  const messages = fs
    .readFileSync(log, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => (JSON.parse(line) as { msg: string }).msg);
  expect([messages[0], messages.at(-1)]).toEqual(["starts the server", "closing"]);
});

test("a server that closes under the launcher responds to its slow request, and ends with 0", async () => {
  const service = serviceIn(temporaryFolder(), "server", ["--port", "0"]);
  const log = logFile(service.state);
  const { launcher, ended } = runByHand(service, log);
  const port = await vi.waitFor(() => {
    const [, found] = /listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(fs.readFileSync(log, "utf8")) ?? [];
    expect(found).toBeDefined();
    return Number(found);
  }, WAIT_MS);
  const socket = net.connect(port, "127.0.0.1");
  let answer = "";
  socket.on("data", (bytes) => (answer += String(bytes)));
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  socket.on("error", () => undefined);
  const head = ["POST /agent/v1/pair HTTP/1.1", "Host: x", "Content-Type: application/json", "Content-Length: 2"];
  socket.write([...head, "Expect: 100-continue", "", "{"].join("\r\n"));
  // The server has read the head.
  await vi.waitFor(() => expect(answer).toBe("HTTP/1.1 100 Continue\r\n\r\n"), WAIT_MS);
  answer = "";
  launcher.kill("SIGTERM");
  // Longer than the interval of the server's reports to the launcher, and shorter than its patience with open requests.
  await sleep(3_500);
  socket.write("}");
  await closed;
  expect(answer).toMatch(/^HTTP\/1\.1 401 /);
  expect(await ended).toEqual({ code: 0, printed: "" });
});

test("the reason of a refused configuration is in the state of the service", async () => {
  const folder = temporaryFolder();
  const service = serviceIn(folder, "agent", []);
  fs.writeFileSync(service.config ?? "", "data: data\ndevices: []\n");
  const { code, printed } = await runByHand(service, null).ended;
  expect([code, printed]).toEqual([78, expect.stringContaining("server is missing")]);
  const notes = { running: null, starts: readStarts(versionsFolder(service.state)), upgrades: [] };
  const found = { is: "installed", service, startsWithMachine: true, packaged: null } as const;
  const status = serviceStatus({ ...found, state: { is: "failed", code } }, notes);
  expect(statusLines(status, Date.now()).at(-1)).toMatch(
    /, less than a minute ago: it ended with code 78: .*agent\.yaml:1: server is missing/,
  );
});
