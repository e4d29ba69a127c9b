import { spawn } from "node:child_process";
import fs from "node:fs";
import net from "node:net";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { AGENT, ROOT, SERVER, until, World } from "../../support/machine/processes.ts";

// Goal: no program depends on its log. Method: processes with output to /dev/full, where every write fails with "no space left",
// and floods of requests and faults.

function startOnFullDisk(script: string, args: readonly string[]) {
  const full = fs.openSync("/dev/full", "w");
  const child = spawn(process.execPath, [script, ...args], { cwd: ROOT, stdio: ["ignore", full, "ignore"] });
  fs.closeSync(full);
  onTestFinished(() => void child.kill("SIGKILL"));
  return {
    async stop() {
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      return (await ended)[0] as number;
    },
  };
}

const accepts = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = net.connect(port, "127.0.0.1", () => socket.end(() => resolve(true)));
    socket.once("error", () => resolve(false));
  });

/** Sends `bytes` to a port. @returns the received text up to `last` */
function exchange(port: number, bytes: string, last: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(port, "127.0.0.1", () => socket.write(bytes));
    let received = "";
    socket.on("data", (part) => {
      received += part.toString();
      if (received.includes(last)) socket.destroy();
    });
    socket.once("close", () => resolve(received));
    socket.once("error", reject);
  });
}

test("server and agent work while the disk of their log is full, and end on a signal with exit code 0", async () => {
  const world = await World.create(2);
  onTestFinished(() => world.end());
  await world.server.end();
  const server = startOnFullDisk(SERVER, ["run", "--port", String(world.serverPort), "--data", world.serverData]);
  await until("the server listens", () => accepts(world.serverPort));
  const requestStatus = async () => (await fetch(`http://127.0.0.1:${world.serverPort}/api/v1/patients`)).status;
  for (let request = 0; request < 50; request++) expect(await requestStatus()).toBe(401);

  const [port = 0] = await world.configureDevices(1, "generic-hl7");
  const agent = startOnFullDisk(AGENT, ["run", "--config", world.config]);
  await until("the agent listens", () => accepts(port));
  await world.waitForPatients();
  const result = ["MSH|^~\\&|LAB|V|||20261101090000||ORU^R01|17|P|2.3.1", "PID|1||5000", "OBX|1|NM|ALT||50|U/L|||||F"];
  expect(await exchange(port, `\x0b${result.join("\r")}\r\x1c\r`, "\x1c\r")).toContain("MSA|AA|17");
  await world.drained();
  expect(world.messages().map(({ state }) => state)).toEqual(["filed"]);
  expect([await agent.stop(), await server.stop()]).toEqual([0, 0]);
});

test("a flood of refused requests or device faults writes only a few lines to the log", async () => {
  const world = await World.create(1);
  onTestFinished(() => world.end());
  const [port = 0] = await world.configureDevices(1, "generic-hl7");
  await world.startAgent();
  const before = [world.server.output().length, world.agent.output().length] as const;
  const url = `http://127.0.0.1:${world.serverPort}/api/v1/patients`;
  for (let round = 0; round < 20; round++) await Promise.all(Array.from({ length: 50 }, () => fetch(url)));
  await new Promise<void>((resolve, reject) => {
    const socket = net.connect(port, "127.0.0.1", () => socket.end("\x0b\x1c\r".repeat(20_000)));
    socket.once("close", () => resolve()).once("error", reject);
    socket.resume();
  });
  expect(world.server.output().length - before[0]).toBeLessThan(20_000);
  expect(world.agent.output().length - before[1]).toBeLessThan(20_000);
});
