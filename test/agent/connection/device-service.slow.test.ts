import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { pino } from "pino";
import { describe, expect, test } from "vitest";
import { encodeReleaseRequest } from "../../../agent/protocols/dicom/network/pdu-encoder.ts";
import { readSpool } from "../../../agent/spool/access.ts";
import { listMessages } from "../../../agent/spool/queries/messages/message-summaries.ts";
import type { DeviceStatus } from "../../../agent/spool/queries/status.ts";
import { playDevice } from "../../../agent/tools/simulator/analyzer.ts";
import { playHl7Device } from "../../../agent/tools/simulator/hl7.ts";
import { openLine, type SimulatorLine } from "../../../agent/tools/simulator/line.ts";
import { playPoct1Device } from "../../../agent/tools/simulator/poct1.ts";
import { fixturesFolder } from "../../support/runner/fixtures.ts";
import { Peer } from "../../support/protocols/dicom.ts";
import { observation, Poct1Client } from "../../support/protocols/poct1.ts";
import { freePort, until } from "../../support/machine/processes.ts";
import { newCable, socat } from "../../support/machine/pty.ts";
import { emptyServer, type TestAgent, useAgent } from "../../support/peers/running-agent.ts";

// Goal: every state of a device and of the server shows in `status` and /readyz. Method: the test causes each one for real.

let agent: TestAgent;
useAgent((created) => (agent = created));

/** Runs another program until the test ends. @returns the process after its first output */
async function program(command: string, ...args: readonly string[]): Promise<ChildProcess> {
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
  agent.resources.push({ close: () => child.kill("SIGKILL") });
  await new Promise((resolve) => child.stdout?.once("data", resolve));
  return child;
}

const LISTENS = "require('net').createServer().listen(+process.argv[1], '127.0.0.1', () => console.log('listening'))";

describe("the agent is not ready if a local fault stops a device", () => {
  /** Waits for a state, and checks it in status and /readyz. */
  async function problemIn(state: DeviceStatus["state"]) {
    const { since, connected, reason } = await agent.deviceIn(state);
    const problems = [{ what: "chem-1", reason: `${state}: ${reason}`, since }];
    expect(await agent.readiness()).toEqual({ status: 503, ready: false, problems, warnings: [] });
    return { reason, connected };
  }

  test.each(["generic-astm", "dicom"])(
    "a port in use makes the agent unready and names the program: %s",
    async (profile) => {
      const port = await freePort();
      const { pid } = await program(process.execPath, "-e", LISTENS, String(port));
      await agent.run([{ profile, connection: { listen: `127.0.0.1:${port}` } }]);
      expect(await problemIn("cannot listen")).toEqual({
        reason: `port ${port} is in use by node (process ${pid}): end that program, or choose another port`,
        connected: false,
      });
    },
  );

  test("an address of another machine makes the agent unready", async () => {
    await agent.run([{ connection: { listen: "192.0.2.1:4001" } }]);
    const { reason } = await agent.deviceIn("cannot listen");
    expect(reason).toMatch(/^192\.0\.2\.1 is not an address of this machine, which has .*127\.0\.0\.1.*: take one of/);
    expect((await agent.readiness()).status).toBe(503);
  });

  test("a path that is not a serial port makes the agent unready", async () => {
    const file = path.join(agent.folder, "agent.key");
    await agent.run([{ connection: { serial: { path: file } } }]);
    expect(await problemIn("cannot open")).toEqual({
      reason: `${file} is not a serial port: take a path that "agent ports" lists`,
      connected: false,
    });
  });

  test.skipIf(!socat)("a serial port in use makes the agent unready and names the program", async () => {
    const cable = await newCable(agent.folder);
    const [end] = cable.ends;
    const { pid } = await program("flock", "--no-fork", "-x", end, "sh", "-c", "echo locked; exec sleep 600");
    await until("the shell is sleep", () => fs.readFileSync(`/proc/${pid}/comm`, "utf8") === "sleep\n");
    await agent.run([{ connection: { serial: { path: end } } }]);
    const { reason } = await agent.deviceIn("cannot open");
    await cable.pull();
    // socat keeps both ends of the pseudo-terminal open.
    expect(reason).toMatch(new RegExp(`^${end} is in use by .*sleep \\(process ${pid}\\).*: close that program$`));
  });

  test("a device without TLS makes the agent unready", async () => {
    const plain = net.createServer((socket) => socket.once("data", () => socket.end("I speak plainly\r\n")));
    agent.resources.push(plain);
    const port = await freePort();
    await new Promise<void>((resolve) => plain.listen(port, "127.0.0.1", resolve));
    await agent.run([{ connection: { dial: `127.0.0.1:${port}` }, tls: {} }]);
    expect(await problemIn("cannot connect")).toEqual({
      reason: `TLS with 127.0.0.1:${port} failed: the device does not speak TLS, or closed the connection: compare its settings with tls`,
      connected: false,
    });
  });
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
    agent.resources.push({ close: () => sockets.forEach((socket) => socket.destroy()) });
    for (const socket of sockets) socket.on("error", () => undefined);
    await Promise.all(sockets.map((socket) => once(socket, "connect")));
    if (first !== "") for (const socket of sockets) socket.write(first);
    return sockets;
  }

  const messages = () => readSpool(path.join(agent.folder, "data"), listMessages);

  test.each(cases)(
    "16 peers that have sent $sent do not lock out a device of profile $profile",
    async ({ profile, fixture, play, first }) => {
      const port = await freePort();
      await agent.run([{ profile, connection: { listen: `127.0.0.1:${port}` } }]);
      await connectAll(port, 16, first);
      if (first !== "") await until("their bytes", () => agent.device()?.counters?.bytes === 16);
      const line = await openLine(`tcp://127.0.0.1:${port}`);
      const played = await play(fs.readFileSync(path.join(fixturesFolder, fixture)), line);
      expect(played).toMatchObject({ accepted: true, reason: null });
      await line.close();
      await until("its result", () => messages().length > 0);
      const { gave_way } = await until("the sentence", () => (agent.device()?.gave_way ? agent.device() : null));
      expect(gave_way).toEqual({ connections: 1, last_address: "127.0.0.1" });
    },
  );

  test("silent peers never displace a device with a message, and the log sums them up", async () => {
    const port = await freePort();
    const logged: unknown[] = [];
    const log = pino({ base: null, timestamp: false }, { write: (text) => logged.push(JSON.parse(text)) });
    await agent.run([{ profile: "generic-hl7", connection: { listen: `127.0.0.1:${port}` } }], emptyServer, log);
    const line = await openLine(`tcp://127.0.0.1:${port}`);
    const result = fs.readFileSync(path.join(fixturesFolder, "generic-hl7/oru-r01.hl7"));
    const send = () => playHl7Device(result, line, () => undefined);
    expect(await send()).toMatchObject({ accepted: true });
    await connectAll(port, 40);
    const { gave_way } = await until("the last", () =>
      agent.device()?.gave_way?.connections === 24 ? agent.device() : null,
    );
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
    await agent.run([{ profile: "generic-poct1a", connection: { listen: `127.0.0.1:${port}` } }]);
    const named = await Poct1Client.connect(port, "S1");
    await connectAll(port, 40);
    await until("the last", () => agent.device()?.gave_way?.connections === 24);
    const measured = { patient: "4711", at: "2026-11-21T09:30:00+00:00", sequence: 1, value: 4.2 };
    expect(await named?.send((id) => observation(id, measured))).toBe(true);
    named?.close();
  });

  test("128 silent peers neither lock out a modality nor close an association", async () => {
    const port = await freePort();
    await agent.run([{ id: "xray", profile: "dicom", connection: { listen: `127.0.0.1:${port}` } }]);
    await connectAll(port, 128);
    const modality = await Peer.associate(port);
    await until("the sentence", () => agent.device()?.gave_way?.connections === 1);
    await connectAll(port, 140);
    const { gave_way } = await until("the last", () =>
      agent.device()?.gave_way?.connections === 140 ? agent.device() : null,
    );
    expect(gave_way).toEqual({ connections: 140, last_address: "127.0.0.1" });
    modality.send(encodeReleaseRequest());
    expect((await modality.next())?.is).toBe("release-response");
    modality.end();
  });
});

test("bytes of another protocol at an imaging port cause a warning with its name", async () => {
  const port = await freePort();
  await agent.run([{ id: "xray", profile: "dicom", connection: { listen: `127.0.0.1:${port}` } }]);
  await agent.deviceIn("listening");
  const socket = net.connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  socket.end("GET / HTTP/1.1\r\n\r\n");
  const warned = await until("the warning, and the bytes", () => {
    const now = agent.device();
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

  test("a refused key makes the agent unready", async () => {
    await agent.run(await listening(), () => ({ status: 401, body: refusal("AUTH.UNAUTHORIZED", "no such key") }));
    const { reason, since } = await agent.serverIn("wrong key");
    const problems = [{ what: "server", reason: `wrong key: ${reason}`, since }];
    expect(reason).toBe("the server answered 401: AUTH.UNAUTHORIZED no such key");
    expect(await agent.readiness()).toEqual({ status: 503, ready: false, problems, warnings: [] });
  });

  test.each([
    ["for patients makes the agent unready", "/api/v1/patients", 503],
    ["for appointments alone causes a warning", "/api/v1/calendar/events", 200],
  ])("a key without the permission %s", async (_, route, code) => {
    await agent.run(await listening(), (request) =>
      request.url.startsWith(route)
        ? { status: 403, body: refusal("AUTH.FORBIDDEN", "no right") }
        : emptyServer(request),
    );
    const { reason, since } = await agent.serverIn("key lacks permission");
    const found = [{ what: "server", reason: `key lacks permission: ${reason}`, since }];
    const [problems, warnings] = code === 200 ? [[], found] : [found, []];
    expect(await agent.readiness()).toEqual({ status: code, ready: code === 200, problems, warnings });
  });

  test.each([401, 403, 404])(
    "a proxy that responds with %i causes a warning that does not blame the key",
    async (code) => {
      await agent.run(await listening(), () => ({ status: code, body: "<html>" }));
      const reason = `the server answered ${code}: no error envelope, so another program responded`;
      expect(await agent.serverIn("does not work")).toMatchObject({ reason });
      expect(await agent.readiness()).toMatchObject({ status: 200, ready: true, problems: [] });
    },
  );

  test("a response of another program causes a warning that quotes it", async () => {
    await agent.run(await listening(), () => ({ status: 502, body: "<html>" }));
    const reason = "the server answered 502: no error envelope, so another program responded";
    expect(await agent.serverIn("does not work")).toMatchObject({ reason });
    expect((await agent.readiness()).warnings).toHaveLength(1);
  });
});
