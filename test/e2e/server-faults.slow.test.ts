import http from "node:http";
import type net from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { playDevice } from "../../agent/tools/simulator/analyzer.ts";
import { openLine } from "../../agent/tools/simulator/line.ts";
import { session, vetScanRecords } from "../support/astm.ts";
import { freePort, World } from "../support/processes.ts";

// Goal: every study is filed exactly once despite faults of the server. Method: a proxy between agent and server applies one
// fault per push. "lost" lets the server commit and then cuts the response.

const faults = ["500", "lost", "429", "slow", "cut", "503", "garbage", "lost", "401", "half", "500"] as const;
type Fault = (typeof faults)[number] | "none";

let world: World;
let proxy: http.Server;
let devicePort: number;
/** Fault of the next push. */
let next: Fault = "none";
const played: Fault[] = [];
let down = false;

beforeAll(async () => {
  world = await World.create(6);
  proxy = http.createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      if (down) return request.socket.destroy();
      const isPush = request.url === "/agent/v1/studies";
      const fault = isPush ? next : "none";
      if (isPush && fault !== "none") {
        next = "none";
        played.push(fault);
      }
      play(fault, request, Buffer.concat(parts), response);
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  world.serverUrl = `http://127.0.0.1:${(proxy.address() as net.AddressInfo).port}`;
  devicePort = await freePort();
  world.writeConfig([
    { id: "chem-1", profile: "abaxis-vetscan-vs2", connection: { listen: `127.0.0.1:${devicePort}` } },
  ]);
  await world.startAgent();
});

afterAll(async () => {
  proxy.closeAllConnections();
  proxy.close();
  await world.end();
});

function play(fault: Fault, request: http.IncomingMessage, body: Buffer, response: http.ServerResponse): void {
  switch (fault) {
    case "500":
      response.writeHead(500).end("oops");
      return;
    case "503":
      response.writeHead(503, { "retry-after": "1" }).end();
      return;
    case "429":
      response.writeHead(429, { "retry-after": "1" }).end("{}");
      return;
    case "401":
      response.writeHead(401, { "retry-after": "1" }).end("{}");
      return;
    case "garbage":
      response.writeHead(200).end("<html>a captive portal</html>");
      return;
    case "cut":
      request.socket.destroy();
      return;
    case "lost":
      forward(request, body, () => request.socket.destroy());
      return;
    case "half":
      forward(request, body, (status, content) => {
        response.writeHead(status, { "content-type": "application/json", "content-length": content.length });
        response.write(content.subarray(0, 10), () => request.socket.destroy());
      });
      return;
    case "slow":
      setTimeout(() => play("none", request, body, response), 500);
      return;
    case "none":
      forward(request, body, (status, content) =>
        response.writeHead(status, { "content-type": "application/json" }).end(content),
      );
  }
}

function forward(request: http.IncomingMessage, body: Buffer, done: (status: number, content: Buffer) => void): void {
  const { method, url, headers } = request;
  const onward = http.request({ port: world.serverPort, host: "127.0.0.1", method, path: url, headers }, (incoming) => {
    const parts: Buffer[] = [];
    incoming.on("data", (part: Buffer) => parts.push(part));
    incoming.on("end", () => done(incoming.statusCode ?? 500, Buffer.concat(parts)));
  });
  onward.on("error", () => request.socket.destroy());
  onward.end(body);
}

async function send(count: number, from: number): Promise<void> {
  const line = await openLine(`tcp://127.0.0.1:${devicePort}`);
  for (let number = from; number < from + count; number++) {
    const { externalId, species } = world.patients[number % world.patients.length]!;
    const records = vetScanRecords({
      patient: externalId,
      species: species === "dog" ? "Dog" : "Cat",
      alt: number,
      collected: new Date(Date.UTC(2026, 10, 20) + number * 1000).toISOString().replace(/\D/g, "").slice(0, 14),
    });
    const { accepted } = await playDevice(session(records), line);
    expect(accepted).toBe(true);
  }
  await line.close();
}

function expectEachOnce(numbers: number): void {
  const values = world.serverStudies().map(({ results }) => results[0]!.value);
  expect(values.toSorted((a, b) => a - b)).toEqual(Array.from({ length: numbers }, (_, index) => index + 1));
}

test("every study is filed once despite error, slow, cut, invalid and lost responses", {
  timeout: 120_000,
}, async () => {
  for (const [index, fault] of faults.entries()) {
    next = fault;
    await send(1, index + 1);
    await world.drained();
  }
  expect(played).toEqual(faults);
  expectEachOnce(faults.length);
});

test("results are accepted while the server is down, and filed once it runs again", async () => {
  down = true;
  await world.server.end("SIGKILL");
  await send(20, faults.length + 1);
  expect(world.status().outbox.depth).toBeGreaterThan(0);
  await world.startServer();
  down = false;
  const messages = await world.drained();
  expect(messages.every(({ state }) => state === "filed")).toBe(true);
  expectEachOnce(faults.length + 20);
});
