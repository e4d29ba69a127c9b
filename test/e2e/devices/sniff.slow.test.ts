import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { fixturesFolder } from "../../support/runner/fixtures.ts";
import { freePort, startProgram, temporaryFolder, until } from "../../support/machine/processes.ts";

// Goal: `agent sniff` names the protocol of a device and sends nothing. Method: the agent of the build, and a device that only
// sends.

const AGENT = path.join(import.meta.dirname, "../../../dist/agent/main.js");
const run = promisify(execFile);
const DOG = path.join(fixturesFolder, "abaxis-vetscan-vs2/dog.astm");
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

test.skipIf(!socat)("agent sniff tries serial settings in turn until it recognizes a protocol", async () => {
  const port = path.join(folder, "port");
  const fixture = path.join(fixturesFolder, "arkray-spotchem-ez/multi.astm");
  cable = spawn("socat", [`pty,raw,echo=0,link=${port}`, `SYSTEM:while cat ${fixture}; do sleep 3; done`]);
  await until("the port exists", () => fs.existsSync(port));
  const { stdout, stderr } = await sniff(`serial:${port}`);
  expect(stdout.split("\n")[0]).toMatch(/^ 95 {2}9600 8N1 {2}SPOTCHEM lines {2}arkray-spotchem-ez {2}10 of 10 lines/);
  expect(stderr).toContain("suggestions only: the agent sent no reply and changed nothing");
});

test("agent sniff reads what a configured device sent outside its messages, also before its last message", async () => {
  const port = await freePort();
  const config = path.join(folder, "agent.yaml");
  fs.writeFileSync(path.join(folder, "agent.key"), "sk_live_test\n", { mode: 0o600 });
  fs.writeFileSync(
    config,
    `server: { url: "http://127.0.0.1:1", keyFile: ./agent.key }\ndata: ./data\ntimeZone: UTC\nstatus: { listen: "127.0.0.1:${await freePort()}" }
devices:\n  - { id: chem-1, profile: abaxis-vetscan-vs2, connection: { listen: "127.0.0.1:${port}" } }\n`,
  );
  const agent = startProgram(process.execPath, [AGENT, "run", "--config", config], process.env);
  const stored = (...options: string[]) =>
    run(process.execPath, [AGENT, "sniff", "--config", config, "--device", "chem-1", ...options]);
  const message = fs.readFileSync(path.join(fixturesFolder, "generic-hl7/oru-r01.hl7"));
  try {
    await until("the agent runs", () => agent.output().includes("the agent is running"));
    expect((await stored()).stderr).toContain("chem-1 has sent nothing outside its messages");
    await send(port, message);
    const short = await until("the short noise", async () => {
      const output = await stored("--bytes");
      return output.stdout.includes("HL7") ? output : null;
    });
    expect(short.stderr).toContain(`chem-1 has sent ${message.length} bytes outside its messages: the first at 20`);
    expect(short.stdout).toMatch(/^  [\dA-F ]{47} .*MSH/m);
    expect(short.stdout).toMatch(/generic-hl7/);

    await send(port, Buffer.concat(Array.from({ length: 2_000 }, () => message)));
    await run(process.execPath, [AGENT, "simulate", DOG, "--to", `tcp://127.0.0.1:${port}`]);
    const kept = await until("the noise before the message", async () => {
      const output = await stored();
      return output.stdout.includes("HL7") ? output : null;
    });
    expect(kept.stderr).toMatch(/chem-1 has sent \d{4,} bytes outside its messages/);
  } finally {
    await agent.end();
  }
  await expect(stored("--connection", "tcp://127.0.0.1:1")).rejects.toThrow(
    "expected one of --connection and --device, got both",
  );
  await expect(run(process.execPath, [AGENT, "sniff"])).rejects.toThrow(
    "expected one of --connection and --device, got none",
  );
  await expect(run(process.execPath, [AGENT, "sniff", "--config", config, "--device", "other"])).rejects.toThrow(
    "--device is other, expected one of chem-1",
  );
});

/** Sends bytes over a connection of their own. */
async function send(port: number, bytes: Uint8Array): Promise<void> {
  const socket = net.connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  socket.end(bytes);
  await new Promise((resolve) => socket.once("close", resolve));
}
