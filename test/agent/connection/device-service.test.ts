import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type RunningAgent, startAgent } from "../../../agent/agent.ts";
import { checkConfig } from "../../../agent/config/check.ts";
import { encodeReleaseRequest } from "../../../agent/protocols/dicom/pdu-encoder.ts";
import { readSpool } from "../../../agent/spool/access.ts";
import { listMessages } from "../../../agent/spool/queries/messages/message-summaries.ts";
import { type DeviceStatus, readStatus } from "../../../agent/spool/queries/status.ts";
import type { Readiness } from "../../../agent/status/readiness.ts";
import { playDevice } from "../../../agent/tools/simulator/analyzer.ts";
import { openLine, type SimulatorLine } from "../../../agent/tools/simulator/line.ts";
import { playHl7Device } from "../../../agent/tools/simulator/hl7.ts";
import { playPoct1Device } from "../../../agent/tools/simulator/poct1.ts";
import { fixturesFolder } from "../../make-fixtures.ts";
import { Peer } from "../../support/dicom.ts";
import { observation, Poct1Client } from "../../support/poct1.ts";
import { freePort, temporaryFolder, until } from "../../support/processes.ts";
import { newCable, socat } from "../../support/pty.ts";
import { type ScriptedRequest, scriptedServer, type Step } from "../../support/scripted-server.ts";

// Goal: every state of a device and of the server shows in `status` and /readyz. Method: the test causes each one for real.

let folder: string;
let agent: RunningAgent | null = null;
const children: ChildProcess[] = [];
const servers: { close(): unknown }[] = [];

beforeEach(() => {
  folder = temporaryFolder();
  fs.writeFileSync(path.join(folder, "agent.key"), "sk_live_test\n", { mode: 0o600 });
});

afterEach(async () => {
  await agent?.stop();
  agent = null;
  for (const child of children.splice(0)) child.kill("SIGKILL");
  for (const server of servers.splice(0)) await server.close();
  fs.rmSync(folder, { recursive: true });
});

const NO_LOG = pino({ enabled: false });
const EMPTY_PAGE: Step = { status: 200, body: { data: { items: [], total: 0, has_more: false } } };

function answers({ url }: ScriptedRequest): Step {
  if (url.startsWith("/agent/v1/ranges")) return { status: 200, body: { data: null } };
  return url.startsWith("/api/v1/calendar") ? { status: 200, body: [] } : EMPTY_PAGE;
}

interface Device {
  readonly id?: string;
  readonly profile?: string;
  readonly connection: object;
  readonly tls?: object;
}

/** Starts an agent with the given devices, by default with a working server. */
async function run(devices: readonly Device[], answer: (request: ScriptedRequest) => Step = answers, log = NO_LOG) {
  const server = await scriptedServer(answer);
  servers.push(server);
  await runWith(server.url, devices, log);
}

async function runWith(url: string, devices: readonly Device[], log = NO_LOG) {
  const described = devices.map((device) => ({ id: "chem-1", profile: "generic-astm", ...device }));
  const statusPort = await freePort();
  const status = { listen: `127.0.0.1:${statusPort}` };
  const settings = { server: { url, keyFile: "agent.key" }, data: "data", timeZone: "UTC", status, devices: described };
  const checked = checkConfig(JSON.stringify(settings), folder);
  if ("problems" in checked) throw new Error(JSON.stringify(checked.problems));
  agent = await startAgent(checked.config, "test", log);
}

async function ready(): Promise<Readiness & { readonly status: number }> {
  const response = await fetch(`http://127.0.0.1:${agent?.statusPort}/readyz`);
  return { status: response.status, ...((await response.json()) as Readiness) };
}

const status = () => readSpool(path.join(folder, "data"), (db) => readStatus(db, path.join(folder, "data")));
/** @returns the status of the first device; null until the agent has stored it */
const device = () => status().devices[0] ?? null;

/** Waits for a state. @returns the status of the device in it */
const deviceIn = (state: DeviceStatus["state"]) =>
  until(state, () => {
    const now = device();
    return now?.state === state ? now : null;
  });

/** Runs another program until the test ends. @returns the process after its first output */
async function program(command: string, ...args: readonly string[]): Promise<ChildProcess> {
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
  children.push(child);
  await new Promise((resolve) => child.stdout?.once("data", resolve));
  return child;
}

const LISTENS = "require('net').createServer().listen(+process.argv[1], '127.0.0.1', () => console.log('listening'))";

describe("the agent is not ready if a local fault stops a device", () => {
  /** Waits for a state, and checks it in status and /readyz. */
  async function problemIn(state: DeviceStatus["state"]) {
    const { since, connected, reason } = await deviceIn(state);
    const problems = [{ what: "chem-1", reason: `${state}: ${reason}`, since }];
    expect(await ready()).toEqual({ status: 503, ready: false, problems, warnings: [] });
    return { reason, connected };
  }

  test.each(["generic-astm", "dicom"])(
    "a port in use makes the agent unready and names the program: %s",
    async (profile) => {
      const port = await freePort();
      const { pid } = await program(process.execPath, "-e", LISTENS, String(port));
      await run([{ profile, connection: { listen: `127.0.0.1:${port}` } }]);
      expect(await problemIn("cannot listen")).toEqual({
        reason: `port ${port} is in use by node (process ${pid}): end that program, or choose another port`,
        connected: false,
      });
    },
  );

  test("an address of another machine makes the agent unready", async () => {
    await run([{ connection: { listen: "192.0.2.1:4001" } }]);
    const { reason } = await deviceIn("cannot listen");
    expect(reason).toMatch(/^192\.0\.2\.1 is not an address of this machine, which has .*127\.0\.0\.1.*: take one of/);
    expect((await ready()).status).toBe(503);
  });

  test("a missing serial port makes the agent unready", async () => {
    const tty = path.join(folder, "usb-Tester");
    await run([{ connection: { serial: { path: tty } } }]);
    expect(await problemIn("cannot open")).toEqual({
      reason: `no such port ${tty}: plug its adapter in, or take a path that "agent ports" lists`,
      connected: false,
    });
  });

  test("a path that is not a serial port makes the agent unready", async () => {
    const file = path.join(folder, "agent.key");
    await run([{ connection: { serial: { path: file } } }]);
    expect(await problemIn("cannot open")).toEqual({
      reason: `${file} is not a serial port: take a path that "agent ports" lists`,
      connected: false,
    });
  });

  test.skipIf(!socat)("a serial port in use makes the agent unready and names the program", async () => {
    const cable = await newCable(folder);
    const [end] = cable.ends;
    const { pid } = await program("flock", "--no-fork", "-x", end, "sh", "-c", "echo locked; exec sleep 60");
    await run([{ connection: { serial: { path: end } } }]);
    const { reason } = await deviceIn("cannot open");
    await cable.pull();
    // socat keeps both ends of the pseudo-terminal open.
    expect(reason).toMatch(new RegExp(`^${end} is in use by .*sleep \\(process ${pid}\\).*: close that program$`));
  });

  test("a device without TLS makes the agent unready", async () => {
    const plain = net.createServer((socket) => socket.once("data", () => socket.end("I speak plainly\r\n")));
    servers.push(plain);
    const port = await freePort();
    await new Promise<void>((resolve) => plain.listen(port, "127.0.0.1", resolve));
    await run([{ connection: { dial: `127.0.0.1:${port}` }, tls: {} }]);
    expect(await problemIn("cannot connect")).toEqual({
      reason: `TLS with 127.0.0.1:${port} failed: the device does not speak TLS, or closed the connection: compare its settings with tls`,
      connected: false,
    });
  });
});

test("a dialled device that is switched off causes a warning and leaves the agent ready", async () => {
  const port = await freePort();
  await run([{ connection: { dial: `127.0.0.1:${port}` } }]);
  const { reason, since } = await deviceIn("cannot connect");
  expect(reason).toBe(`refused by 127.0.0.1:${port}: switch the device on, and compare its port with ${port}`);
  const warnings = [{ what: "chem-1", reason: `cannot connect: ${reason}`, since }];
  expect(await ready()).toEqual({ status: 200, ready: true, problems: [], warnings });
});

test("status shows each connection state of a device with its counters", async () => {
  const port = await freePort();
  await run([{ connection: { listen: `127.0.0.1:${port}` } }]);
  const none = { bytes: 0, messages: 0, warnings: 0, noise_bytes: 0 };
  expect(await deviceIn("listening")).toEqual({
    ...{ id: "chem-1", connected: false, last_message_at: null, last_bytes_at: null, last_warning: null, reason: null },
    ...{ state: "listening", since: expect.any(String) as string, counters: none },
    counts: { pending: 0, filed: 0, unmatched: 0, "not-for-patients": 0, quarantined: 0 },
  });
  const socket = net.connect(port, "127.0.0.1");
  expect(await deviceIn("connected")).toMatchObject({ connected: true, reason: null });
  socket.write(`\vMSH|^~\\&|Analyzer${"\rOBX|1|NM|GLU||95".repeat(200)}\x1c\r`);
  const noisy = await until("the warning", () => (device()?.last_warning ? device() : null));
  expect(noisy).toMatchObject({
    counters: { bytes: 3420, messages: 0, warnings: 1, noise_bytes: 3219 },
    last_warning: {
      reason: "3219 bytes outside a session: ignored; they look like HL7 over MLLP: compare the profile generic-astm",
    },
  });
  expect(noisy.last_bytes_at).not.toBe(null);
  socket.destroy();
  expect(await deviceIn("listening")).toMatchObject({ connected: false, reason: null });
  await agent?.stop();
  agent = null;
  expect([device()?.state, device()?.last_bytes_at, device()?.counters]).toEqual([
    "not served",
    noisy.last_bytes_at,
    null,
  ]);
});

describe("silent peers", () => {
  const kinds = [
    ["generic-astm", "generic-astm/one-frame.astm", playDevice],
    [
      "generic-hl7",
      "generic-hl7/oru-r01.hl7",
      (bytes: Uint8Array, to: SimulatorLine) => playHl7Device(bytes, to, () => undefined),
    ],
    ["generic-poct1a", "generic-poct1a/dog.poct1", playPoct1Device],
  ] as const;
  const cases = kinds.flatMap(([profile, fixture, play]) =>
    [
      { sent: "nothing", first: "" },
      { sent: "one byte each", first: "\v" },
    ].map((silent) => ({ profile, fixture, play, ...silent })),
  );

  async function connectAll(port: number, count: number, first = ""): Promise<net.Socket[]> {
    const sockets = Array.from({ length: count }, () => net.connect(port, "127.0.0.1"));
    servers.push({ close: () => sockets.forEach((socket) => socket.destroy()) });
    for (const socket of sockets) socket.on("error", () => undefined);
    await Promise.all(sockets.map((socket) => once(socket, "connect")));
    if (first !== "") for (const socket of sockets) socket.write(first);
    return sockets;
  }

  const messages = () => readSpool(path.join(folder, "data"), listMessages);

  test.each(cases)(
    "16 peers that have sent $sent do not lock out a device of profile $profile",
    async ({ profile, fixture, play, first }) => {
      const port = await freePort();
      await run([{ profile, connection: { listen: `127.0.0.1:${port}` } }]);
      await connectAll(port, 16, first);
      if (first !== "") await until("their bytes", () => device()?.counters?.bytes === 16);
      const line = await openLine(`tcp://127.0.0.1:${port}`);
      const played = await play(fs.readFileSync(path.join(fixturesFolder, fixture)), line);
      expect(played).toMatchObject({ accepted: true, reason: null });
      await line.close();
      await until("its result", () => messages().length > 0);
      const { gave_way } = await until("the sentence", () => (device()?.gave_way ? device() : null));
      expect(gave_way).toEqual({ connections: 1, last_address: "127.0.0.1" });
    },
  );

  test("silent peers never displace a device with a message, and the log sums them up", async () => {
    const port = await freePort();
    const logged: unknown[] = [];
    const log = pino({ base: null, timestamp: false }, { write: (text) => logged.push(JSON.parse(text)) });
    await run([{ profile: "generic-hl7", connection: { listen: `127.0.0.1:${port}` } }], answers, log);
    const line = await openLine(`tcp://127.0.0.1:${port}`);
    const result = fs.readFileSync(path.join(fixturesFolder, "generic-hl7/oru-r01.hl7"));
    const send = () => playHl7Device(result, line, () => undefined);
    expect(await send()).toMatchObject({ accepted: true });
    await connectAll(port, 40);
    const { gave_way } = await until("the last", () => (device()?.gave_way?.connections === 24 ? device() : null));
    expect(gave_way).toEqual({ connections: 24, last_address: "127.0.0.1" });
    // A fragment before the start of the next frame is stored but does not protect its connection.
    await connectAll(port, 16, "\vMSH|^~\\&|x\r\v");
    await until("the fragments", () => messages().length === 17);
    expect(await send()).toMatchObject({ accepted: true, resent: 0 });
    await line.close();
    const warnings = logged.filter((entry) => /to make room/.test(String((entry as { reason?: string }).reason)));
    expect(warnings).toHaveLength(10);
    expect(warnings[1]).toEqual({
      level: 40,
      device: "chem-1",
      stage: "chunk",
      reason:
        "2 silent connections were closed to make room for new ones, the last from 127.0.0.1: if that is not the device, keep it out with allow",
      msg: "a silent connection was closed to make room",
    });
  });

  test("silent peers never displace a POCT1-A device that has identified itself", async () => {
    const port = await freePort();
    await run([{ profile: "generic-poct1a", connection: { listen: `127.0.0.1:${port}` } }]);
    const named = await Poct1Client.connect(port, "S1");
    await connectAll(port, 40);
    await until("the last", () => device()?.gave_way?.connections === 24);
    const measured = { patient: "4711", at: "2026-11-21T09:30:00+00:00", sequence: 1, value: 4.2 };
    expect(await named?.say((id) => observation(id, measured))).toBe(true);
    named?.close();
  });

  test("128 silent peers neither lock out a modality nor close an association", async () => {
    const port = await freePort();
    await run([{ id: "xray", profile: "dicom", connection: { listen: `127.0.0.1:${port}` } }]);
    await connectAll(port, 128);
    const modality = await Peer.associate(port);
    await until("the sentence", () => device()?.gave_way?.connections === 1);
    await connectAll(port, 140);
    const { gave_way } = await until("the last", () => (device()?.gave_way?.connections === 140 ? device() : null));
    expect(gave_way).toEqual({ connections: 140, last_address: "127.0.0.1" });
    modality.send(encodeReleaseRequest());
    expect((await modality.next())?.is).toBe("release-response");
    modality.end();
  });
});

test("bytes of another protocol at an imaging port cause a warning with its name", async () => {
  const port = await freePort();
  await run([{ id: "xray", profile: "dicom", connection: { listen: `127.0.0.1:${port}` } }]);
  await deviceIn("listening");
  const socket = net.connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  socket.end("GET / HTTP/1.1\r\n\r\n");
  const warned = await until("the warning, and the bytes", () => {
    const now = device();
    return now?.last_warning && now.counters?.bytes ? now : null;
  });
  expect([warned.last_warning?.reason, warned.counters]).toEqual([
    "18 bytes outside an association: unknown PDU type 47; they look like HTTP: compare the profile dicom",
    { bytes: 18, messages: 0, warnings: 1, noise_bytes: 18 },
  ]);
});

describe("the status of the server", () => {
  const listening = async () => [{ connection: { listen: `127.0.0.1:${await freePort()}` } }];
  const refusal = (code: string, message: string) => ({ success: false, error: { code, message } });
  const serverIn = (state: string) =>
    until(state, () => {
      const { server } = status();
      return server?.state === state ? server : null;
    });

  test("a reached server leaves the agent ready", async () => {
    await run(await listening());
    expect(await serverIn("reached")).toMatchObject({ reason: null });
    expect(await ready()).toEqual({ status: 200, ready: true, problems: [], warnings: [] });
  });

  test("an unreachable server causes a warning", async () => {
    await runWith(`http://127.0.0.1:${await freePort()}`, await listening());
    const { reason, since } = await serverIn("cannot be reached");
    expect(reason).toBe("the server cannot be reached: ECONNREFUSED");
    const warnings = [{ what: "server", reason: `cannot be reached: ${reason}`, since }];
    expect(await ready()).toEqual({ status: 200, ready: true, problems: [], warnings });
  });

  test("a refused key makes the agent unready", async () => {
    await run(await listening(), () => ({ status: 401, body: refusal("AUTH.UNAUTHORIZED", "no such key") }));
    const { reason, since } = await serverIn("wrong key");
    const problems = [{ what: "server", reason: `wrong key: ${reason}`, since }];
    expect(reason).toBe("the server answered 401: AUTH.UNAUTHORIZED no such key");
    expect(await ready()).toEqual({ status: 503, ready: false, problems, warnings: [] });
  });

  test.each([
    ["for patients makes the agent unready", "/api/v1/patients", 503],
    ["for appointments alone causes a warning", "/api/v1/calendar/events", 200],
  ])("a key without the permission %s", async (_, route, code) => {
    await run(await listening(), (request) =>
      request.url.startsWith(route) ? { status: 403, body: refusal("AUTH.FORBIDDEN", "no right") } : answers(request),
    );
    const { reason, since } = await serverIn("key lacks permission");
    const found = [{ what: "server", reason: `key lacks permission: ${reason}`, since }];
    const [problems, warnings] = code === 200 ? [[], found] : [found, []];
    expect(await ready()).toEqual({ status: code, ready: code === 200, problems, warnings });
  });

  test.each([401, 403, 404])(
    "a proxy that responds with %i causes a warning that does not blame the key",
    async (code) => {
      await run(await listening(), () => ({ status: code, body: "<html>" }));
      const reason = `the server answered ${code}: no error envelope, so another program responded`;
      expect(await serverIn("does not work")).toMatchObject({ reason });
      expect(await ready()).toMatchObject({ status: 200, ready: true, problems: [] });
    },
  );

  test("a response of another program causes a warning that quotes it", async () => {
    await run(await listening(), () => ({ status: 502, body: "<html>" }));
    const reason = "the server answered 502: no error envelope, so another program responded";
    expect(await serverIn("does not work")).toMatchObject({ reason });
    expect((await ready()).warnings).toHaveLength(1);
  });
});
