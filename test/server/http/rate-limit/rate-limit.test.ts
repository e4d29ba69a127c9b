import { describe, expect, test } from "vitest";
import { buildApp } from "../../../../server/app.ts";
import type { Permission } from "../../../../server/http/auth/api-keys.ts";
import { defaultLimits } from "../../../../server/http/rate-limit/rate-limiter.ts";
import type { KeyHolder } from "../../../../server/dashboard/types/settings/keys.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import { type Body, clinic, noon, startLimitedServer, study, type TestServer } from "../../harness.ts";

const ours = newFp("clinic");
const reads: Permission[] = ["clinic.patient.view"];
const limits = {
  integration: { minute: 3, hour: 5 },
  device: { minute: 4, hour: 100 },
  partner: { minute: 5, hour: 100 },
  addressMinute: 3,
  ingest: { minute: 4, hour: 100 },
};

describe("the budget of a key", () => {
  test("a key gets 429 after its requests of a minute, and 200 when the minute ends", async () => {
    const server = await startLimitedServer(limits, clinic(ours));
    const key = await server.makeKey(ours, reads);
    const seen = [];
    for (let count = 0; count < 5; count += 1) {
      const { status, headers } = await server.get(key, "/api/v1/patients");
      seen.push([status, headers["x-ratelimit-remaining"], headers["x-ratelimit-reset"], headers["retry-after"]]);
      server.clock.now += 10_500;
    }
    expect(seen).toEqual([
      [200, "2", "60", undefined],
      [200, "1", "50", undefined],
      [200, "0", "39", undefined],
      [429, "0", "29", "29"],
      [429, "0", "18", "18"],
    ]);

    server.clock.now = noon + 59_999;
    const { status, headers, body } = await server.get(key, "/api/v1/patients");
    expect(status).toBe(429);
    expect(headers).toMatchObject({
      "retry-after": "1",
      "x-ratelimit-limit": "3",
      "ratelimit-policy": '"minute";q=3;w=60, "hour";q=5;w=3600',
      ratelimit: '"minute";r=0;t=1, "hour";r=2;t=3541',
    });
    expect(body).toEqual({
      success: false,
      error: {
        code: "API_KEY.RATE_LIMIT_EXCEEDED",
        message: "Rate limit exceeded. Retry after 1 second.",
        severity: "error",
      },
    });
    server.clock.now += 1;
    expect((await server.get(key, "/api/v1/patients")).status).toBe(200);
  });

  test("a key gets 429 after its requests of an hour, without the refused ones", async () => {
    const server = await startLimitedServer(limits, clinic(ours));
    const key = await server.makeKey(ours, reads);
    const spend = async (times: number) => {
      const statuses = [];
      for (let count = 0; count < times; count += 1) statuses.push((await server.get(key, "/api/v1/patients")).status);
      return statuses;
    };
    expect(await spend(10)).toEqual([200, 200, 200, ...Array(7).fill(429)]);
    server.clock.now += 60_000;
    expect(await spend(3)).toEqual([200, 200, 429]);
    const { headers, body } = await server.get(key, "/api/v1/patients");
    expect(headers).toMatchObject({ "retry-after": "3540", "x-ratelimit-limit": "5", "x-ratelimit-reset": "3540" });
    expect(body.error.message).toBe("Rate limit exceeded. Retry after 3540 seconds.");
    server.clock.now += 3_540_000;
    expect(await spend(4)).toEqual([200, 200, 200, 429]);
  });

  test("SOAP and diagnostics share the budget, and refuse with AUTH.RATE_LIMITED and severity warning", async () => {
    const server = await startLimitedServer(limits, clinic(ours));
    const key = await server.makeKey(ours, reads);
    for (let count = 0; count < 3; count += 1) await server.get(key, "/api/v1/patients");
    server.clock.now += 23_000;
    const { status, headers, body } = await server.get(key, `/api/v1/lab/diagnostics/${newFp("cds")}`);
    expect([status, headers["retry-after"]]).toEqual([429, "37"]);
    expect(body).toEqual({
      success: false,
      error: { code: "AUTH.RATE_LIMITED", message: "Too many requests. Wait 37 seconds.", severity: "warning" },
    });
  });

  test("each key has its own budget, by its type", async () => {
    const server = await startLimitedServer(limits, clinic(ours));
    for (const [type, minute] of [
      ["integration", 3],
      ["device", 4],
      ["partner", 5],
      ["integration", 3],
    ] as [KeyHolder, number][]) {
      const key = await server.makeFreshKey(ours, reads, { type });
      expect(await allowed(server, key, "/api/v1/patients")).toBe(minute);
    }
  });

  test("a request without permission, with an invalid parameter or without a record spends budget", async () => {
    const server = await startLimitedServer(limits, clinic(ours));
    const key = await server.makeKey(ours, reads);
    const answers = [];
    for (const url of ["/agent/v1/identifiers", "/api/v1/patients?page=0", `/api/v1/patients/${newFp("patient")}`]) {
      const { status, headers } = await server.get(key, url);
      answers.push([status, headers["x-ratelimit-remaining"]]);
    }
    // The agent's directory has its own budget, so the first request is not counted here.
    expect(answers).toEqual([
      [403, "2"],
      [400, "2"],
      [404, "1"],
    ]);
    expect((await server.get(key, "/api/v1/patients")).status).toBe(200);
    expect((await server.get(key, "/api/v1/patients?page=0")).status).toBe(429);
    expect((await server.get(key, "/nothing")).headers).not.toHaveProperty("x-ratelimit-limit");
    expect((await server.get(key, "/healthz")).headers).not.toHaveProperty("x-ratelimit-limit");
  });

  test("the directory sync of an agent spends no budget of its pushes and heartbeats", async () => {
    const server = await startLimitedServer(limits, clinic(ours));
    const key = await server.makeFreshKey(ours, [...reads, "clinic.lab.ingest"], { type: "device" });
    expect(await allowed(server, key, "/api/v1/patients")).toBe(4);
    expect(await allowed(server, key, "/agent/v1/identifiers")).toBe(4);
    expect((await server.push(key, study())).map(({ outcome }) => outcome)).toEqual(["unmatched"]);
    const heartbeat = async () =>
      server.app.inject({ method: "POST", url: "/agent/v1/heartbeat", headers: { "x-api-key": key }, payload: {} });
    for (let count = 0; count < 3; count += 1) expect((await heartbeat()).statusCode).toBe(200);
    const refused = await heartbeat();
    expect([refused.statusCode, refused.headers["retry-after"]]).toEqual([429, "60"]);
    expect(refused.json<Body>().error.code).toBe("API_KEY.RATE_LIMIT_EXCEEDED");
  });

  test("a device key can sync 6,000 patients and their identifiers within a minute", async () => {
    const server = await startLimitedServer(defaultLimits, clinic(ours));
    const key = await server.makeFreshKey(ours, [...reads, "clinic.lab.ingest"], { type: "device" });
    for (let page = 1; page <= 60; page += 1) {
      for (const path of ["/api/v1/patients", "/agent/v1/identifiers"]) {
        expect((await server.get(key, `${path}?page=${page}&page_size=100`)).status).toBe(200);
      }
    }
  });
});

describe("requests without a valid key", () => {
  test("requests without a valid key are limited by address, and spend no budget of a key", async () => {
    const server = await startLimitedServer(limits, clinic(ours));
    const key = await server.makeKey(ours, reads);
    const flood = async (remoteAddress: string, headers = {}) => {
      const { statusCode } = await server.app.inject({ url: "/api/v1/patients", remoteAddress, headers });
      return statusCode;
    };
    const statuses = [];
    for (const value of ["", key.slice(0, -1), "sk_live_", `${key}x`, key]) {
      statuses.push(await flood("192.0.2.1", { "x-api-key": value }));
    }
    expect(statuses).toEqual([401, 401, 401, 429, 200]);
    const { headers } = await server.app.inject({
      url: "/api/v1/patients",
      remoteAddress: "192.0.2.1",
      headers: { "x-api-key": key },
    });
    expect(headers["x-ratelimit-remaining"]).toBe("1");

    const refused = await server.app.inject({ url: "/api/v1/lab/diagnostics/x", remoteAddress: "192.0.2.1" });
    expect([refused.statusCode, refused.headers["retry-after"]]).toEqual([429, "60"]);
    expect(refused.json()).toEqual({
      success: false,
      error: { code: "AUTH.RATE_LIMITED", message: "Too many requests. Wait 60 seconds.", severity: "warning" },
    });
    expect(refused.headers).not.toHaveProperty("x-ratelimit-limit");

    expect(await flood("192.0.2.2")).toBe(401);
    server.clock.now += 60_000;
    expect(await flood("192.0.2.1")).toBe(401);
  });
});

describe("X-Forwarded-For", () => {
  const proxies = ["192.0.2.1", "2001:db8::/32"];

  /** Returns a function that counts the requests of a client before the first 429. `forwarded` makes X-Forwarded-For. */
  async function counterBehind(trustProxy: readonly string[]) {
    const server = await startLimitedServer(limits, clinic(ours));
    const { store, pepper, clock } = server;
    const app = buildApp(store, { pepper, now: () => clock.now, limits, trustProxy });
    return async (remoteAddress: string, forwarded: (count: number) => string) => {
      for (let count = 0; count < 10; count += 1) {
        const headers = { "x-forwarded-for": forwarded(count), "x-real-ip": forwarded(count) };
        const { statusCode } = await app.inject({ url: "/api/v1/patients", remoteAddress, headers });
        if (statusCode === 429) return count;
        expect(statusCode).toBe(401);
      }
      return Number.POSITIVE_INFINITY;
    };
  }

  test("X-Forwarded-For is ignored without a trusted proxy", async () => {
    const count = await counterBehind([]);
    for (const address of ["127.0.0.1", "192.0.2.1", "10.0.0.1"]) {
      expect(await count(address, (request) => `198.51.100.${request}`)).toBe(3);
    }
  });

  test("a request through a trusted proxy counts for the client, whatever header the client sends", async () => {
    const count = await counterBehind(proxies);
    for (const proxy of ["192.0.2.1", "2001:db8::9"]) {
      const client = proxy.includes(":") ? "198.51.100.8" : "198.51.100.7";
      expect(await count(proxy, (request) => `203.0.113.${request}`)).toBe(Number.POSITIVE_INFINITY);
      // A proxy appends the address of its client to the header.
      expect(await count(proxy, (request) => `203.0.113.9${request}, 192.0.2.1, ${client}`)).toBe(3);
      expect(await count(proxy, () => client)).toBe(0);
    }
    // A client that bypasses the proxy is not trusted.
    expect(await count("192.0.2.2", (request) => `203.0.113.${request}`)).toBe(3);
  });

  test("invalid addresses in X-Forwarded-For share one limit", async () => {
    const count = await counterBehind(proxies);
    expect(await count("192.0.2.1", (request) => `${"x".repeat(1000)}${request}`)).toBe(3);
  });
});

/** Counts the requests before the first 429. */
async function allowed(server: TestServer, key: string, url: string): Promise<number> {
  for (let count = 0; ; count += 1) {
    if ((await server.get(key, url)).status === 429) return count;
  }
}
