import type { RequestListener } from "node:http";
import dns from "node:dns";
import net from "node:net";
import os from "node:os";
import { expect, onTestFinished, test } from "vitest";
import { createMetrics } from "../../../agent/status/metrics.ts";
import { serveStatus } from "../../../agent/status/status-server.ts";
import { useSpool } from "../../support/spool.ts";

const used = useSpool();

async function serve(host: string): Promise<number> {
  const ready = () => ({ ready: true, problems: [], warnings: [] });
  const running = { spool: used.spool, metrics: createMetrics(), ready };
  const page: RequestListener = (_request, response) => response.writeHead(404).end("not found\n");
  const server = await serveStatus({ host, port: 0 }, () => running, page, 16);
  onTestFinished(() => server.close());
  return server.port;
}

/** Sends a request with exactly these header lines. @returns status and body */
async function get(address: string, port: number, path: string, ...headers: readonly string[]) {
  const socket = net.connect(port, address);
  socket.write([`GET ${path} HTTP/1.0`, ...headers, "", ""].join("\r\n"));
  let text = "";
  for await (const chunk of socket) text += String(chunk);
  const [head = "", body = ""] = text.split("\r\n\r\n");
  return { status: Number(head.split(" ")[1]), body };
}

const addresses = Object.values(os.networkInterfaces()).flatMap((of) => of ?? []);
const hasIpv6 = addresses.some(({ family }) => family === "IPv6");
const named = await dns.promises.lookup(os.hostname()).catch(() => null);
const own = addresses.find(({ family, internal }) => family === "IPv4" && !internal)?.address;

test.each(["localhost", "LOCALHOST:8081", "127.0.0.1", "127.0.0.1:8081", "[::1]:8081"])(
  "a request for %s gets a response",
  async (name) => {
    const port = await serve("127.0.0.1");
    expect(await get("127.0.0.1", port, "/healthz", `Host: ${name}`)).toEqual({ status: 200, body: "ok\n" });
  },
);

test.each(["evil.example", "evil.example:8081", "127.0.0.1.evil.example", "localhost.evil.example", "10.9.8.7:8081"])(
  "a request for the foreign name %s is refused",
  async (name) => {
    const port = await serve("127.0.0.1");
    for (const path of ["/healthz", "/readyz", "/metrics", "/nothing"]) {
      expect(await get("127.0.0.1", port, path, `Host: ${name}`)).toEqual({
        status: 421,
        body: `Host is ${name}, expected localhost, the address of this machine, or 127.0.0.1 as in status.listen\n`,
      });
    }
  },
);

test("a request without a Host is refused", async () => {
  const port = await serve("127.0.0.1");
  expect(await get("127.0.0.1", port, "/healthz")).toMatchObject({
    status: 421,
    body: expect.stringMatching(/^Host is missing, expected localhost/) as string,
  });
});

test.skipIf(named === null)("metrics are scraped by the name in the configuration", async () => {
  const name = os.hostname();
  const port = await serve(name.toUpperCase());
  for (const header of [name, `${name}:${port}`]) {
    const { status, body } = await get(name, port, "/metrics", `Host: ${header}`);
    expect([status, body]).toEqual([
      200,
      expect.stringMatching(/vetwire_outbox_depth 0\n[^]*vetwire_quality_records_waiting 0\n/),
    ]);
  }
});

test.skipIf(own === undefined).each(["0.0.0.0", "::"].slice(0, hasIpv6 ? 2 : 1))(
  "a listener on all addresses (%s) serves the address of the request",
  async (all) => {
    const port = await serve(all);
    const address = own ?? "";
    const { status, body } = await get(address, port, "/metrics", `Host: ${address}:${port}`);
    expect([status, body]).toEqual([200, expect.stringContaining("vetwire_outbox_depth 0\n")]);
    expect(await get(address, port, "/metrics", "Host: evil.example")).toMatchObject({ status: 421 });
    expect(await get("127.0.0.1", port, "/metrics", `Host: ${address}`)).toMatchObject({ status: 421 });
  },
);

test.skipIf(own === undefined)("256 idle connections of another host shut neither the page nor /healthz", async () => {
  const port = await serve("0.0.0.0");
  // The listener is reached by loopback, and the address of the connections is another one.
  const idle = Array.from({ length: 256 }, () => net.connect({ port, host: "127.0.0.1", localAddress: own }));
  onTestFinished(() => idle.forEach((socket) => socket.destroy()));
  for (const socket of idle) socket.on("error", () => undefined);
  await Promise.all(idle.map((socket) => new Promise((resolve) => socket.once("connect", resolve))));
  for (const path of ["/healthz", "/"]) {
    const { status } = await get("127.0.0.1", port, path, "Host: localhost");
    expect([path, status]).toEqual([path, path === "/" ? 404 : 200]);
  }
});
