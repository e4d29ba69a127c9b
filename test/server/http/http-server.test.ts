import { EventEmitter } from "node:events";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { buildApp } from "../../../server/app.ts";
import { createFurtherServer, defaultTimeouts, type HttpTimeouts } from "../../../server/http/http-server.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { clinic, startServer } from "../harness.ts";

const ours = newFp("clinic");

/** Max delay of a timeout on a loaded machine, in milliseconds. */
const DELAY_MS_MAX = 10_000;

test("the default timeouts and limits are those of each port of the HTTP server", async () => {
  const { app } = await startServer(clinic(ours));
  const nobody = () => false;
  for (const server of [
    app.server,
    createFurtherServer(app, undefined, nobody),
    createFurtherServer(app, { cert: "", key: "" } as never, nobody),
  ]) {
    const { headersTimeout, requestTimeout, timeout, keepAliveTimeout } = server;
    expect({ headersTimeout, requestTimeout, timeout, keepAliveTimeout }).toEqual({
      headersTimeout: 15_000,
      requestTimeout: 60_000,
      timeout: 60_000,
      keepAliveTimeout: 72_000,
    });
    expect(server.listenerCount("clientError")).toBe(1);
  }
});

test("a host that holds all connections gives way to another one", async () => {
  const { app } = await startServer(clinic(ours));
  // The listener of the share alone, without HTTP, since the sockets have invented addresses.
  const listener = app.server.listeners("connection").at(-1);
  let closed = 0;
  const join = (remoteAddress: string) => {
    const socket = Object.assign(new EventEmitter(), {
      remoteAddress,
      localAddress: "10.0.0.1",
      destroy: () => closed++,
    });
    listener?.call(app.server, socket);
  };
  for (let index = 0; index < 17_000; index += 1) join("192.168.1.66");
  expect(closed).toBeGreaterThanOrEqual(1000);
  const before = closed;
  join("192.168.1.5");
  join("127.0.0.1");
  expect(closed).toBe(before + 2);
});

describe("with short timeouts", () => {
  const short: HttpTimeouts = { ...defaultTimeouts, headersMs: 200, requestMs: 400, checkMs: 20, lastResponseMs: 50 };

  async function listen(timeouts: HttpTimeouts) {
    const { store, pepper, clock, makeKey } = await startServer(clinic(ours));
    const app = buildApp(store, { pepper, now: () => clock.now, timeouts });
    onTestFinished(() => app.close());
    const { port } = new URL(await app.listen({ port: 0, host: "127.0.0.1" }));
    return { app, port: Number(port), key: await makeKey(ours, ["clinic.lab.ingest"]) };
  }

  test.each([
    ["no byte", ""],
    ["half of its headers", "GET /healthz HTTP/1.1\r\nHost: x\r\n"],
  ])("a connection with %s gets 408 after headersMs", async (_name, bytes) => {
    const { port } = await listen(short);
    const begun = performance.now();
    const response = await read(open(port, bytes));
    expect(response).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n.*"code":"REQUEST\.TIMEOUT"/s);
    expect(performance.now() - begun).toBeGreaterThan(150);
    expect(performance.now() - begun).toBeLessThan(DELAY_MS_MAX);
  });

  test("a request without its complete body gets 408 after requestMs", async () => {
    const { port, key } = await listen(short);
    const head = `POST /agent/v1/heartbeat HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\n`;
    const response = await read(open(port, `${head}Content-Length: 100\r\n\r\n{`));
    expect(response).toMatch(/^HTTP\/1\.1 408 /);
  });

  test("a connection without traffic is closed after idleMs", async () => {
    const { port } = await listen({ ...defaultTimeouts, idleMs: 100 });
    expect(await read(open(port, "GET /healthz HTTP/1.1\r\nHost: x"))).toBe("");
  });

  test("a client that keeps its side open after the error is disconnected after lastResponseMs", async () => {
    const { app, port } = await listen(short);
    const socket = open(port, "GET / HTTP/1.1\r\n", { allowHalfOpen: true });
    socket.resume();
    await once(socket, "end");
    const connections = promisify(app.server.getConnections.bind(app.server));
    await expect.poll(() => connections(), { timeout: DELAY_MS_MAX }).toBe(0);
  });
});

function open(port: number, bytes: string, options: { allowHalfOpen?: boolean } = {}): Socket {
  const socket = connect({ port, host: "127.0.0.1", ...options });
  socket.on("error", () => undefined);
  onTestFinished(() => void socket.destroy());
  socket.write(bytes);
  return socket;
}

async function read(socket: Socket): Promise<string> {
  let text = "";
  socket.on("data", (chunk) => (text += chunk.toString("latin1")));
  await once(socket, "close");
  return text;
}
