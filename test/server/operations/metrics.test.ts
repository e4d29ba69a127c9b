import { request } from "node:http";
import net from "node:net";
import os from "node:os";
import { expect, onTestFinished, test } from "vitest";
import { buildApp } from "../../../server/app.ts";
import { AuditQueue, ENTRIES_MAX } from "../../../server/records/audit/audit-queue.ts";
import { Drain } from "../../../server/http/drain.ts";
import { defaultLimits } from "../../../server/http/rate-limit/rate-limiter.ts";
import { Metrics } from "../../../server/operations/metrics.ts";
import { serveMetrics } from "../../../server/operations/metrics-server.ts";
import { SteadyTime } from "../../../server/database/steady-time.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { pino } from "pino";
import { clinic, connection, patient, startServer } from "../harness.ts";

const ours = newFp("clinic");
const karabas = patient();

/** Starts a server with metrics on a port of its own. */
async function start(limits = defaultLimits) {
  const server = await startServer(clinic(ours), karabas, connection(karabas.fp, ours));
  const [metrics, drain] = [new Metrics(), new Drain()];
  const app = buildApp(server.store, { pepper: server.pepper, now: () => server.clock.now, limits, metrics, drain });
  onTestFinished(() => app.close());
  const url = await app.listen({ port: 0, host: "127.0.0.1" });
  const key = await server.makeKey(ours, ["clinic.patient.view"]);
  const get = async (path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(`${url}${path}`, { headers: { "x-api-key": key, ...headers } });
    return { status: response.status, connection: response.headers.get("connection"), text: await response.text() };
  };
  /** Returns the value of a metric with its labels; undefined without one. */
  const value = async (name: string) =>
    (await metrics.text())
      .split("\n")
      .find((line) => line.startsWith(`${name} `))
      ?.slice(name.length + 1);
  return { ...server, app, url, key, drain, metrics, get, value };
}

const count = (route: string, method: string, status: string) =>
  `vetwire_server_request_seconds_count{route="${route}",method="${method}",status="${status}"}`;

test("requests count by the pattern of their route, their method and the class of their status", async () => {
  const { get, url, value, metrics, key } = await start();
  for (let times = 0; times < 3; times += 1) await get(`/api/v1/patients/${karabas.fp}`);
  await get(`/api/v1/patients/${newFp("patient")}`);
  await fetch(`${url}/api/v1/patients`, { method: "HEAD", headers: { "x-api-key": key } });
  await get("/clinic_secret/name");
  await expect.poll(() => value(count("/api/v1/patients/:fp", "GET", "2xx"))).toBe("3");
  await expect.poll(() => value(count("/api/v1/patients/:fp", "GET", "4xx"))).toBe("1");
  await expect.poll(() => value(count("/api/v1/patients", "HEAD", "2xx"))).toBe("1");
  await expect.poll(() => value(count("none", "any", "4xx"))).toBe("1");
  expect(await value('vetwire_server_cache_reads_total{result="hit"}')).toBe("2");
  expect(await value('vetwire_server_cache_reads_total{result="miss"}')).toBe("3");
  expect(Number(await value("vetwire_server_cache_bytes"))).toBeGreaterThan(1000);
  const text = await metrics.text();
  for (const secret of [key, ours, karabas.fp, karabas.name, "secret"]) expect(text).not.toContain(secret);
});

test("the buckets of a duration are cumulative and end with the count", async () => {
  const { get, value } = await start();
  for (let times = 0; times < 5; times += 1) await get("/healthz");
  await expect.poll(() => value(count("/healthz", "GET", "2xx"))).toBe("5");
  const ofHealth = 'route="/healthz",method="GET",status="2xx"';
  const bounds = ["0.001", "0.0025", "0.005", "0.01", "0.025", "0.05", "0.1", "0.25", "0.5", "1", "2.5", "10", "+Inf"];
  const buckets = await Promise.all(
    bounds.map(async (bound) =>
      Number(await value(`vetwire_server_request_seconds_bucket{le="${bound}",${ofHealth}}`)),
    ),
  );
  expect(buckets).toEqual(buckets.toSorted((a, b) => a - b));
  expect(buckets.at(-1)).toBe(5);
  // Five requests of loopback end within ten seconds, and their sum is above the bound of no more than all of them.
  expect(buckets.at(-2)).toBe(5);
  const sum = Number(await value(`vetwire_server_request_seconds_sum{${ofHealth}}`));
  expect(sum).toBeGreaterThan(0);
  expect(sum).toBeLessThan(50);
});

test("a client that leaves before its response counts under the status none", async () => {
  const { url, store, value, key } = await start();
  let release = (): void => undefined;
  const isHeld = new Promise<void>((resolve) => {
    const all = store.refreshVersions.bind(store);
    store.refreshVersions = async () => {
      resolve();
      await new Promise<void>((go) => (release = go));
      return all();
    };
  });
  await fetch(`${url}/api/v1/patients`, { headers: { "x-api-key": key } });
  const leaving = request(`${url}/api/v1/patients`, { headers: { "x-api-key": key } });
  leaving.on("error", () => undefined);
  leaving.end();
  await isHeld;
  leaving.destroy();
  await expect.poll(() => value(count("/api/v1/patients", "GET", "none"))).toBe("1");
  release();
});

test("requests beyond the limit are counted", async () => {
  const { get, value } = await start({ ...defaultLimits, integration: { minute: 2, hour: 100 } });
  for (let times = 0; times < 5; times += 1) await get("/api/v1/patients");
  await expect.poll(() => value("vetwire_server_rate_limited_total")).toBe("3");
});

test("a database that does not respond is 0, and the other metrics stay readable", async () => {
  const { store, value } = await start();
  expect(await value("vetwire_server_database_up")).toBe("1");
  store.ping = () => Promise.reject(new Error("away"));
  expect(await value("vetwire_server_database_up")).toBe("0");
  expect(await value("vetwire_server_audit_waiting")).toBeDefined();
});

test("audit rows wait for the database, and the oldest are dropped and counted beyond the bound", async () => {
  const { store } = await startServer(clinic(ours));
  store.transaction = () => Promise.reject(new Error("away"));
  const queue = new AuditQueue(store, pino({ enabled: false }), () => 0, new SteadyTime({ wall: () => 0 }));
  const row = {
    ...{ at: 0, request_id: null, api_key_id: null, user_id: null, clinic_id: null, method: null, route: null },
    ...{ fp: null, count: null, status: 200, address: null, times: 1 },
  };
  for (let times = 0; times < 3; times += 1) queue.add(row);
  await queue.flush();
  expect([queue.waiting, queue.dropped]).toEqual([3, 0]);
  for (let times = 3; times <= ENTRIES_MAX; times += 1) queue.add(row);
  expect([queue.waiting, queue.dropped]).toEqual([ENTRIES_MAX * 0.9 + 1, ENTRIES_MAX / 10]);
});

test("a drain immediately fails /readyz and requests each client to close, while requests are served", async () => {
  const { get, drain, value } = await start();
  const cached = `/api/v1/patients/${karabas.fp}`;
  expect(await get("/readyz")).toMatchObject({ status: 200, connection: "keep-alive" });
  expect(await get(cached)).toMatchObject({ status: 200, connection: "keep-alive" });
  expect(await value("vetwire_server_draining")).toBe("0");
  drain.begin();
  const refused = await get("/readyz");
  expect(refused).toMatchObject({ status: 503, connection: "close" });
  expect(JSON.parse(refused.text)).toEqual({ status: "not ready", reason: "the server is stopping" });
  expect(await get("/healthz")).toMatchObject({ status: 200, connection: "close" });
  expect(await get(cached)).toMatchObject({ status: 200, connection: "close" });
  expect(await get("/api/v1/patients")).toMatchObject({ status: 200, connection: "close" });
  expect(await get("/nothing")).toMatchObject({ status: 404, connection: "close" });
  expect(await value("vetwire_server_draining")).toBe("1");
});

test("the listener serves /metrics alone, to names of this machine alone", async () => {
  const text = async () => "vetwire_up 1\n";
  const server = await serveMetrics({ host: "127.0.0.1", port: 0 }, { contentType: "text/plain; version=0.0.4", text });
  onTestFinished(() => server.close());
  expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/metrics$/);
  const ask = async (url: string, method = "GET", host = "localhost") =>
    new Promise((resolve, reject) => {
      const asked = request(url, { method, headers: { host } }, (response) => {
        let body = "";
        response.on("data", (part: Buffer) => (body += part.toString()));
        response.on("end", () => resolve([response.statusCode, body]));
      });
      asked.on("error", reject).end();
    });
  expect(await ask(server.url)).toEqual([200, "vetwire_up 1\n"]);
  expect(await ask(server.url, "HEAD")).toEqual([200, ""]);
  expect(await ask(server.url, "POST")).toEqual([405, "expected GET or HEAD\n"]);
  expect(await ask(server.url.replace("/metrics", "/api/v1/patients"))).toEqual([404, "expected /metrics\n"]);
  expect(await ask(server.url, "GET", "evil.example:9090")).toEqual([421, "expected localhost as Host\n"]);
  const { port } = new URL(server.url);
  await expect(serveMetrics({ host: "127.0.0.1", port: Number(port) }, { contentType: "", text })).rejects.toThrow(
    `--metrics cannot listen on 127.0.0.1:${port}: listen EADDRINUSE`,
  );
});

const own = Object.values(os.networkInterfaces())
  .flatMap((of) => of ?? [])
  .find(({ family, internal }) => family === "IPv4" && !internal)?.address;

test.skipIf(own === undefined)("idle connections of another host do not shut the metrics", async () => {
  const text = async () => "vetwire_up 1\n";
  const server = await serveMetrics({ host: "0.0.0.0", port: 0 }, { contentType: "text/plain", text });
  onTestFinished(() => server.close());
  const port = Number(new URL(server.url).port);
  // The listener is reached by loopback, and the address of the connections is another one.
  const idle = Array.from({ length: 50 }, () => net.connect({ port, host: "127.0.0.1", localAddress: own }));
  onTestFinished(() => idle.forEach((socket) => socket.destroy()));
  for (const socket of idle) socket.on("error", () => undefined);
  await Promise.all(idle.map((socket) => new Promise((resolve) => socket.once("connect", resolve))));
  expect(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()).toBe("vetwire_up 1\n");
});
