import net from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { createPageApp } from "../../../agent/page/page-app.ts";
import { waitingApp } from "../../../server/http/waiting-app.ts";
import { serveMetrics } from "../../../server/operations/metrics-server.ts";
import { StoreUnavailable } from "../../../server/database/query.ts";
import { builtPages } from "../../../shared/network/page-files.ts";
import { pino } from "pino";
import { headersAt, routesOf, startTwoClinics } from "../../server/security/two-clinics.ts";
import { listen } from "../../server/security/wire.ts";
import { TestAgent } from "../../support/peers/running-agent.ts";

// Goal: no browser guesses the type of a response of either program, at any door. Method: every route, and requests without a
// route, over real connections.

/**
 * Sends bytes, and ends the connection after the head of the response, because a stream has no end.
 * @returns status and headers
 */
function headOf(port: number, text: string): Promise<{ status: number; headers: Map<string, string> }> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(port, "127.0.0.1", () => socket.write(text));
    let head = "";
    socket.on("error", reject);
    socket.on("data", (part: Buffer) => {
      head += part.toString("latin1");
      const end = head.indexOf("\r\n\r\n");
      if (end < 0) return;
      socket.destroy();
      const [first = "", ...lines] = head.slice(0, end).split("\r\n");
      const pairs = lines.map((line) => [
        line.slice(0, line.indexOf(":")).toLowerCase(),
        line.slice(line.indexOf(":") + 2),
      ]);
      resolve({ status: Number(first.split(" ")[1]), headers: new Map(pairs as [string, string][]) });
    });
    socket.on("close", () => reject(new Error(`no response to ${text.slice(0, 60)}`)));
  });
}

interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function textOf({ method, url, headers = {} }: Asked): string {
  const body = ["POST", "PUT", "PATCH", "DELETE"].includes(method) ? "{}" : "";
  const more = body === "" ? {} : { "content-type": "application/json", "content-length": String(body.length) };
  const lines = Object.entries({ host: "localhost", ...more, ...headers }).map(([name, value]) => `${name}: ${value}`);
  return [`${method} ${url} HTTP/1.1`, ...lines, "", body].join("\r\n");
}

/** Requests without a route. */
const ODD: readonly string[] = [
  ...[
    "GET /nothing",
    "GET /%",
    "GET /%00",
    "DELETE /healthz",
    "HEAD /healthz",
    "OPTIONS /",
    "GET /readyz",
    "GET /assets/no.js",
  ].map((line) => `${line} HTTP/1.1\r\nhost: localhost\r\n\r\n`),
  "GET /healthz HTTP/1.1\r\n\r\n",
  "GET / HTTP/1.1\r\nhost: evil.example\r\n\r\n",
  "not HTTP at all\r\n\r\n",
  `GET / HTTP/1.1\r\nhost: localhost\r\nx: ${"a".repeat(20_000)}\r\n\r\n`,
  "POST /agent/v1/studies HTTP/1.1\r\nhost: localhost\r\ncontent-length: 999999999\r\n\r\n",
];

/** @returns the responses that lack a header, and all statuses */
async function lacking(port: number, requests: readonly string[]) {
  const found: string[] = [];
  const statuses = new Set<number>();
  for (const request of requests) {
    const { status, headers } = await headOf(port, request);
    statuses.add(status);
    const policy = headers.get("content-security-policy") ?? "";
    const isRight = policy.includes("default-src 'none'") && headers.get("x-content-type-options") === "nosniff";
    if (!isRight) found.push(`${status} ${request.split("\r\n")[0]?.slice(0, 80)}`);
  }
  return { found, statuses };
}

/** The files that a page of HTML names. */
async function assetsOf(port: number, url: string): Promise<string[]> {
  if (builtPages() === undefined) return [];
  const html = await (await fetch(`http://127.0.0.1:${port}${url}`)).text();
  return [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, file = ""]) => file);
}

describe("every response forbids to load and to guess", () => {
  test("of the server: each route with and without its caller, errors, HEAD, 304, files", async () => {
    const { server, ours, theirs } = await startTwoClinics();
    const port = await listen(server.app);
    const routes = routesOf(server.app).filter(({ url }) => !/sign-out/.test(url));
    expect(routes.length).toBeGreaterThan(100);
    const calls = routes.flatMap(({ method, url }): Asked[] => {
      const path = ours.pathTo(url).replace("*", "x");
      return [headersAt(url, ours), headersAt(url, theirs), {}].map((headers) => ({ method, url: path, headers }));
    });
    const read = { method: "GET", url: "/api/v1/patients", headers: headersAt("/api/v1/patients", ours) };
    const first = await headOf(port, textOf(read));
    const again = { ...read, headers: { ...read.headers, "if-none-match": first.headers.get("etag") ?? "" } };
    const files = (await assetsOf(port, "/dashboard")).flatMap((url) => [
      { method: "GET", url },
      { method: "HEAD", url },
    ]);
    const { found, statuses } = await lacking(port, [...[again, ...calls, ...files].map(textOf), ...ODD]);
    expect(found).toEqual([]);
    for (const status of [200, 304, 400, 401, 403, 404, 405, 431]) expect(statuses).toContain(status);
  });

  test("of a server without its database, and of its metrics", async () => {
    const reason = () => new StoreUnavailable("away", { cause: new Error("away") });
    const app = waitingApp({ logger: pino({ enabled: false }), certificate: undefined, reason });
    onTestFinished(() => app.close());
    const requests = [...["/", "/healthz", "/metrics"].map((url) => textOf({ method: "GET", url })), ...ODD];
    expect((await lacking(await listen(app), requests)).found).toEqual([]);
    const fails = async () => Promise.reject(new Error("no metrics"));
    const metrics = { contentType: "text/plain", text: async () => "up 1\n" };
    for (const source of [metrics, { ...metrics, text: fails }]) {
      const served = await serveMetrics({ host: "127.0.0.1", port: 0 }, source);
      onTestFinished(() => served.close());
      expect((await lacking(Number(new URL(served.url).port), requests)).found).toEqual([]);
    }
  });

  test("of the agent: each route of its page, the status port, streams, errors, files", async () => {
    const agent = new TestAgent();
    onTestFinished(() => agent.close());
    await agent.run([]);
    const port = agent.host.port ?? 0;
    const routes = routesOf(await createPageApp(agent.host)).filter(({ url }) => url.startsWith("/local/"));
    expect(routes.length).toBeGreaterThan(20);
    const calls = routes.flatMap(({ method, url }): Asked[] => {
      const path = url.replaceAll(/:\w+/g, "1").replace("*", "x");
      return [
        { method, url: path },
        { method, url: path, headers: { "sec-fetch-site": "cross-site" } },
      ];
    });
    const files = (await assetsOf(port, "/")).flatMap((url) => [
      { method: "GET", url },
      { method: "HEAD", url },
    ]);
    const others = ["/", "/healthz", "/readyz", "/metrics"].map((url) => ({ method: "GET", url }));
    const { found, statuses } = await lacking(port, [...[...calls, ...files, ...others].map(textOf), ...ODD]);
    expect(found).toEqual([]);
    for (const status of [200, 400, 403, 404, 405, 421]) expect(statuses).toContain(status);
  });
});
