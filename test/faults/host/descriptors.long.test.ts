import { spawnSync } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { afterEach, expect, test } from "vitest";
import { STATUS } from "../../../agent/protocols/dicom/dimse.ts";
import { dataset, Peer, storeRequest } from "../../support/protocols/dicom.ts";
import { bloodCount, frameOf, MllpClient, verdict } from "../../support/protocols/hl7.ts";
import { AGENT, freePort, SERVER, startProgram, until, World } from "../../support/machine/processes.ts";
import { soakCount } from "../../support/runner/soak.ts";

// Goal: few descriptors stop no device that is connected, and no result. Method: agent and server processes under
// `prlimit --nofile`, and 200 clients that connect again as soon as they are refused.

const LIMIT = 128;
const CLIENTS = 200;
const FLOOD_MS = soakCount(60_000);
const RSS_MB_MAX = 400;

let world: World;
afterEach(() => world?.end());

function limited(limit: number, ...args: readonly string[]) {
  return startProgram("prlimit", [`--nofile=${limit}`, process.execPath, ...args], process.env);
}

/** Clients that connect to the ports in turn, send `bytes`, and connect again after a close. */
class Flood {
  #isOver = false;
  readonly #sockets = new Set<net.Socket>();

  constructor(ports: readonly number[], bytes: string) {
    for (let client = 0; client < CLIENTS; client++) this.#connect(ports[client % ports.length]!, bytes);
  }

  end(): void {
    this.#isOver = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  #connect(port: number, bytes: string): void {
    if (this.#isOver) return;
    const socket = net.connect(port, "127.0.0.1", () => socket.write(bytes));
    this.#sockets.add(socket);
    socket.on("error", () => undefined); // "close" follows
    socket.on("close", () => {
      this.#sockets.delete(socket);
      setTimeout(() => this.#connect(port, bytes), 5);
    });
  }
}

/** @returns the open descriptors and the resident memory of a process */
function usage(pid: number): { descriptors: number; rssMb: number } {
  const status = fs.readFileSync(`/proc/${pid}/status`, "utf8");
  return {
    descriptors: fs.readdirSync(`/proc/${pid}/fd`).length,
    rssMb: Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024,
  };
}

/** Samples the usage of a process during a flood, while `act` runs over and over. @returns the highest values */
async function during(flood: Flood, pid: number, act: () => Promise<void>) {
  const highest = { descriptors: 0, rssMb: 0 };
  try {
    for (const end = Date.now() + FLOOD_MS; Date.now() < end; ) {
      await act();
      const now = usage(pid);
      highest.descriptors = Math.max(highest.descriptors, now.descriptors);
      highest.rssMb = Math.max(highest.rssMb, now.rssMb);
    }
  } finally {
    flood.end();
  }
  return highest;
}

interface Ports {
  readonly hl7: number;
  readonly all: readonly number[];
  readonly dicom: number;
  readonly status: number;
}

/** Starts an agent with five devices and a page under the limit. */
async function startLimitedAgent(...node: readonly string[]): Promise<Ports> {
  world = await World.create(1);
  const [hl7, other, astm, poct1, dicom, status] = await Promise.all(Array.from({ length: 6 }, () => freePort()));
  const listen = (port: number) => ({ listen: `127.0.0.1:${port}` });
  const devices = [
    { id: "hema-1", profile: "generic-hl7", connection: listen(hl7!) },
    { id: "hema-2", profile: "generic-hl7", connection: listen(other!) },
    { id: "chem-1", profile: "abaxis-vetscan-vs2", connection: listen(astm!) },
    { id: "poc-1", profile: "generic-poct1a", connection: listen(poct1!) },
    { id: "xray", profile: "dicom", connection: listen(dicom!), aeTitle: "VETWIRE", quietSeconds: 1 },
  ];
  world.writeConfig(devices, status);
  world.agent = limited(LIMIT, ...node, AGENT, "run", "--config", world.config);
  await until("the agent runs", () => world.agent.output().includes("the agent is running"));
  return { hl7: hl7!, all: [hl7!, other!, astm!, poct1!, dicom!, status!], dicom: dicom!, status: status! };
}

let lastId = 0;
/** Sends a result of another minute each. @returns whether it was acknowledged */
async function sendResult(device: MllpClient): Promise<boolean> {
  const id = (lastId += 1);
  const measured = `202601${String(10 + Math.floor(id / 1440)).padStart(2, "0")}${String(Math.floor(id / 60) % 24).padStart(2, "0")}${String(id % 60).padStart(2, "0")}00`;
  device.send(frameOf(bloodCount({ id: `M${id}`, patient: "5000", measured, wbc: 9.8 })));
  return verdict(await device.nextReply()) === `AA M${id}`;
}

/** Sends an image. @returns the status of the response */
async function statusOfImage(port: number): Promise<number | string> {
  const uid = "1.2.3.1";
  const sender = await Peer.associate(port);
  sender.send(storeRequest(1, uid, dataset(uid, [[0x7fe0_0010, "OW", new Uint8Array(1_000)]])));
  return sender.status();
}

test.each([AGENT, SERVER])("%s reports that 64 descriptors are too few, and ends", (program) => {
  const { status, stderr } = spawnSync("prlimit", ["--nofile=64", process.execPath, program, "run"], {
    encoding: "utf8",
  });
  expect(stderr).toBe(
    "vetwire needs 128 open files or more, this process may have 64: raise ulimit -n, or LimitNOFILE of the service\n",
  );
  expect(status).toBe(1);
});

test("an agent with few descriptors serves its connected device during a flood, and every device afterwards", async () => {
  const ports = await startLimitedAgent();
  const device = await MllpClient.connect(ports.hl7);
  expect(await sendResult(device)).toBe(true);
  expect(world.agent.output()).toContain(
    "this process may have 128 open files, which leaves each listener 4 connections",
  );
  const first = lastId;
  const highest = await during(new Flood(ports.all, "x"), world.agent.process.pid!, async () => {
    expect(await sendResult(device)).toBe(true);
  });
  expect(highest.descriptors).toBeLessThan(LIMIT);
  expect(highest.rssMb).toBeLessThan(RSS_MB_MAX);
  expect(lastId).toBeGreaterThan(first);
  expect(world.agent.output()).not.toContain("EMFILE");

  const newcomer = await MllpClient.connect(ports.hl7);
  expect(await sendResult(newcomer)).toBe(true);
  expect(await statusOfImage(ports.dicom)).toBe(STATUS.success);
  expect((await fetch(`http://127.0.0.1:${ports.status}/healthz`)).status).toBe(200);
  await until("every acknowledged result is at the server", () => {
    const blood = world.serverStudies().filter(({ results }) => results.some(({ analyte }) => analyte === "WBC"));
    return blood.length === lastId;
  });
  expect(await world.agent.end()).toBe(0);
});

test("control: an agent that does not know its limit takes every descriptor", async () => {
  const blind = path.join(os.tmpdir(), `vetwire-blind-${process.pid}.cjs`);
  fs.writeFileSync(
    blind,
    `const fs = require("node:fs"), read = fs.readFileSync;
     fs.readFileSync = (file, ...rest) => {
       if (file === "/proc/self/limits") throw new Error("not here");
       return read(file, ...rest);
     };
     require("node:module").syncBuiltinESMExports();`,
  );
  try {
    const ports = await startLimitedAgent("--require", blind);
    const flood = new Flood(ports.all, "x");
    const pid = world.agent.process.pid!;
    try {
      const taken = await until("no descriptor is left", () => Math.max(0, usage(pid).descriptors - LIMIT + 1), 20_000);
      expect(taken).toBeGreaterThan(0);
    } finally {
      flood.end();
    }
  } finally {
    fs.rmSync(blind);
  }
});

/** Requests a page on a connection of its own. @returns the status; null without a response */
function statusOf(port: number, agent: http.Agent, url: string, headers = {}): Promise<number | null> {
  return new Promise((resolve) => {
    const request = http.get({ host: "127.0.0.1", port, path: url, agent, headers }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode ?? null));
    });
    request.on("error", () => resolve(null));
  });
}

test("a server with few descriptors reads its database during a flood, and serves everyone afterwards", async () => {
  world = await World.create(1);
  await world.server.end();
  world.server = limited(LIMIT, SERVER, "run", "--port", String(world.serverPort), "--data", world.serverData);
  await until("the server listens", () => world.server.output().includes("listening on"));
  const connected = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const authorization = { authorization: `Bearer ${world.key}` };
  const read = () => statusOf(world.serverPort, connected, "/api/v1/lab/diagnostics/cds_none", authorization);
  try {
    expect(await read()).toBe(404);
    expect(world.server.output()).toContain("which leaves each listener 15 connections");
    const flood = new Flood([world.serverPort], "GET /healthz HTTP/1.1\r\n");
    const highest = await during(flood, world.server.process.pid!, async () => {
      expect(await statusOf(world.serverPort, connected, "/healthz")).toBe(200);
      expect([404, 429]).toContain(await read());
      await new Promise((resolve) => setTimeout(resolve, 20));
    });
    expect(highest.descriptors).toBeLessThan(LIMIT);
    expect(highest.rssMb).toBeLessThan(RSS_MB_MAX);
    expect(world.server.output()).not.toContain("EMFILE");
    const another = new http.Agent();
    await until("a new client is served", async () => (await statusOf(world.serverPort, another, "/healthz")) === 200);
  } finally {
    connected.destroy();
  }
});
