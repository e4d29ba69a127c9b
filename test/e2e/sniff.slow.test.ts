import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { fixturesFolder } from "../make-fixtures.ts";
import { temporaryFolder, until } from "../support/processes.ts";

// Goal: `agent sniff` names the protocol of a device and sends nothing. Method: the agent of the build, and a device that only
// sends.

const AGENT = path.join(import.meta.dirname, "../../dist/agent/main.js");
const run = promisify(execFile);
const socat = hasSocat();
if (!socat) process.stdout.write("sniff: serial line: skipped, socat is not installed (apt-get install socat)\n");

function hasSocat(): boolean {
  try {
    execFileSync("socat", ["-V"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

let folder: string;
let cable: ChildProcess | undefined;

beforeEach(() => {
  folder = temporaryFolder();
});

afterEach(() => {
  cable?.kill();
  fs.rmSync(folder, { recursive: true, force: true });
});

const sniff = (connection: string) =>
  run(process.execPath, [AGENT, "sniff", "--connection", connection, "--duration", "10"]);

test("agent sniff dials and recognizes a device that listens on TCP, and sends nothing", async () => {
  let receivedBytes = 0;
  const device = net.createServer((socket) => {
    socket.on("data", (chunk: Buffer) => (receivedBytes += chunk.length));
    socket.on("error", () => undefined);
    socket.write(fs.readFileSync(path.join(fixturesFolder, "abaxis-vetscan-vs2/dog.astm")));
  });
  await new Promise<void>((resolve) => device.listen(0, "127.0.0.1", resolve));
  const { stdout } = await sniff(`tcp://127.0.0.1:${(device.address() as net.AddressInfo).port}`);
  device.close();
  expect(stdout.split("\n")[0]).toBe(
    " 95  LIS01-A2 frames  abaxis-vetscan-vs2 or generic-astm  27 of 27 frames have the right checksum",
  );
  expect(receivedBytes).toBe(0);
});

test("agent sniff reports a refused connection and an invalid --connection", async () => {
  await expect(sniff("tcp://127.0.0.1:1")).rejects.toThrow(/refused/);
  await expect(sniff("127.0.0.1:1")).rejects.toThrow(/--connection is 127\.0\.0\.1:1, expected tcp:\/\/host:port/);
});

test.skipIf(!socat)("agent sniff tries serial settings in turn until it recognizes a protocol", async () => {
  const port = path.join(folder, "port");
  const fixture = path.join(fixturesFolder, "arkray-spotchem-ez/multi.astm");
  cable = spawn("socat", [`pty,raw,echo=0,link=${port}`, `SYSTEM:while cat ${fixture}; do sleep 3; done`]);
  await until("the port exists", () => fs.existsSync(port));
  const { stdout, stderr } = await sniff(`serial:${port}`);
  expect(stdout.split("\n")[0]).toMatch(/^ 95 {2}9600 8N1 {2}SPOTCHEM lines {2}arkray-spotchem-ez {2}10 of 10 lines/);
  expect(stderr).toContain("suggestions only: the agent sent no reply and changed nothing");
});
