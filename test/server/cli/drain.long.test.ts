import fs from "node:fs";
import http from "node:http";
import { rmSync } from "node:fs";
import { describe, expect, onTestFinished, test } from "vitest";
import { CLINIC, isFree, SERVER, start, until, World } from "../../support/machine/processes.ts";

// Goal: a stop is announced before it happens, and cuts no request. Method: a server process gets signals, while connections to it
// are kept open.

const DRAIN_S = 3;
/** Longer than the test of its end needs on a busy machine. */
const LONG_DRAIN_S = 15;

let world: World;

async function startWorld(drainS: number): Promise<void> {
  world = await World.create(1, ["--drain-seconds", String(drainS)]);
  onTestFinished(async () => {
    await world.server.end("SIGKILL");
    rmSync(world.folder, { recursive: true, force: true });
  });
}

const get = async (path: string) => {
  const response = await fetch(`${world.serverUrl}${path}`, { headers: { "x-api-key": world.key } });
  await response.arrayBuffer();
  return { status: response.status, connection: response.headers.get("connection") };
};

/** Signs up the first user. @returns the Cookie header of the session */
async function signIn(): Promise<string> {
  const file = await until(
    "the code is there",
    () => /with the code in (\S+setup-code)/.exec(world.server.output())?.[1],
  );
  const code = fs.readFileSync(file, "utf8").trim();
  const response = await fetch(`${world.serverUrl}/clinic/v1/set-up`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ code, name: "Ayşe", password: "a long password" }),
  });
  expect(response.status).toBe(200);
  return response.headers.get("set-cookie")?.split(";")[0] ?? "";
}

/** Opens the stream of a page. `ended` resolves to whether the server ended it completely. */
async function openStream(cookie: string) {
  const asked = http.get(`${world.serverUrl}/clinic/v1/clinics/${CLINIC}/events`, {
    headers: { cookie },
    agent: false,
  });
  const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
    asked.once("response", resolve).once("error", reject);
  });
  const ended = new Promise<boolean>((resolve) => response.once("close", () => resolve(response.complete)));
  response.on("error", () => undefined).resume();
  return { status: response.statusCode, ended, close: () => asked.destroy() };
}

/** Sends a heartbeat but for its last byte. @returns a function that sends it and returns the status */
async function beginHeartbeat(): Promise<() => Promise<number | undefined>> {
  const headers = { "x-api-key": world.key, "content-type": "application/json", "content-length": "2" };
  const request = http.request(`${world.serverUrl}/agent/v1/heartbeat`, { method: "POST", headers, agent: false });
  const status = new Promise<number | undefined>((resolve, reject) => {
    request.once("response", (response) => resolve(response.resume().statusCode)).once("error", reject);
  });
  await new Promise<void>((resolve) => request.write("{", () => resolve()));
  return async () => {
    request.end("}");
    return status;
  };
}

describe("SIGTERM with --drain-seconds", () => {
  test("a server immediately fails /readyz, serves on, completes streams and requests, and its pages connect again", async () => {
    await startWorld(DRAIN_S);
    const cookie = await signIn();
    const stream = await openStream(cookie);
    expect(stream.status).toBe(200);
    expect(await get("/readyz")).toMatchObject({ status: 200 });
    const begun = performance.now();
    const ending = world.server.end();
    await expect.poll(async () => (await get("/readyz")).status, { timeout: DRAIN_S * 1000, interval: 20 }).toBe(503);
    expect(await get("/api/v1/patients")).toEqual({ status: 200, connection: "close" });
    const finish = await beginHeartbeat();
    expect(await stream.ended).toBe(true);
    // The port is closed, and the request from before is still served.
    await expect.poll(() => isFree(world.serverPort), { timeout: 5000, interval: 20 }).toBe(true);
    expect(await finish()).toBe(200);
    expect(await ending).toBe(0);
    expect(performance.now() - begun).toBeGreaterThan(DRAIN_S * 1000);

    await world.startServer();
    const again = await openStream(cookie);
    expect(again.status).toBe(200);
    again.close();
  });

  test("a second signal ends the server immediately, and a copy of the first one does not", async () => {
    await startWorld(LONG_DRAIN_S);
    const begun = performance.now();
    const ending = world.server.end();
    // npm passes on a Ctrl-C that the server has already got from the terminal.
    world.server.process.kill("SIGINT");
    await expect.poll(async () => (await get("/readyz")).status, { timeout: 10_000, interval: 20 }).toBe(503);
    await until("a further signal ends the server", () => {
      world.server.process.kill("SIGINT");
      return world.server.process.exitCode !== null;
    });
    expect(await ending).toBe(1);
    expect(performance.now() - begun).toBeLessThan(LONG_DRAIN_S * 1000);
    expect(world.server.output()).toContain("ended by a second signal");
  });

  test("the server ends within a second of the drain although a page is open", async () => {
    await startWorld(DRAIN_S);
    const stream = await openStream(await signIn());
    const begun = performance.now();
    expect(await world.server.end()).toBe(0);
    expect(performance.now() - begun).toBeLessThan(DRAIN_S * 1000 + 3000);
    expect(await stream.ended).toBe(true);
  });
});

test.each([
  [["--drain-seconds", "16"], "expected 0 to 15 seconds"],
  [["--drain-seconds", "1.5"], "expected 0 to 15 seconds"],
  [["--metrics", "9090x"], "expected a port of this machine or host:port, such as 127.0.0.1:9090"],
  [["--metrics", "127.0.0.1:65536"], "expected a port of this machine or host:port, such as 127.0.0.1:9090"],
])("run %j is refused with what it takes", async (options, expected) => {
  const refused = start(SERVER, ["run", ...options]);
  await until("the command ends", () => refused.process.exitCode !== null);
  expect([refused.process.exitCode === 0, refused.output()]).toEqual([false, expect.stringContaining(expected)]);
});
