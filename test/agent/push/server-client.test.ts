import fs from "node:fs";
import http from "node:http";
import https from "node:https";
import type net from "node:net";
import { gunzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { SendError } from "../../../agent/runtime/send-error.ts";
import { createServerClient } from "../../../agent/push/server-client.ts";
import type { Exchange } from "../../../agent/push/clock-watch.ts";
import { makeCertificates } from "../../support/peers/certificates.ts";
import { temporaryFolder } from "../../support/machine/processes.ts";

async function serving(listener: http.RequestListener): Promise<string> {
  return `http://${await listening(http.createServer(listener))}`;
}

/** Starts a server until the end of the test. @returns its host and port */
async function listening(server: http.Server): Promise<string> {
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `127.0.0.1:${(server.address() as net.AddressInfo).port}`;
}

test("a long body is compressed, the key is read for each request, and a 404 returns null", async () => {
  const heard: unknown[] = [];
  const url = await serving((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const raw = Buffer.concat(parts);
      const bytes = request.headers["content-encoding"] === "gzip" ? gunzipSync(raw) : raw;
      heard.push([request.method, request.url, request.headers["x-api-key"], bytes.length > raw.length, bytes.length]);
      if (request.method === "GET") response.writeHead(404).end('{"success":false,"error":{"code":"ROUTE.NOT_FOUND"}}');
      else response.writeHead(200).end('{"fine":"ş"}');
    });
  });
  let keys = 0;
  const server = createServerClient(`${url}/base/`, () => `key ${++keys}`);
  expect(await server.post("/some", { text: "x".repeat(5_000) })).toEqual({ fine: "ş" });
  expect(await server.post("/some", {})).toEqual({ fine: "ş" });
  expect(await server.get("/none")).toBe(null);
  expect(heard).toEqual([
    ["POST", "/base/some", "key 1", true, 5_011],
    ["POST", "/base/some", "key 2", false, 2],
    ["GET", "/base/none", "key 3", false, 0],
  ]);
});

test.each<[string, http.RequestListener, string]>([
  ["that does not respond", () => undefined, "the server cannot be reached: no response in time"],
  [
    "that cuts the connection",
    (_, response) => void response.writeHead(200, { "content-length": 10 }).write("{", () => response.destroy()),
    "the server cannot be reached: the connection broke off (ECONNRESET)",
  ],
  [
    "that stops within its response",
    (_, response) => void response.writeHead(200, { "content-length": 10 }).write("{"),
    "the server cannot be reached: no response in time",
  ],
])("a server %s may have taken what it was sent", async (_, listener, message) => {
  const server = createServerClient(await serving(listener), () => "key", 200);
  await expect(server.post("/some", {})).rejects.toEqual(new SendError("uncertain", message));
});

test("an https url at a port without TLS fails with a hint, and may be retried", async () => {
  const place = await listening(http.createServer());
  const message = `the server at ${place} does not speak TLS: is the url http://?`;
  const server = createServerClient(`https://${place}`, () => "key");
  await expect(server.post("/some", {})).rejects.toEqual(new SendError("transient", message, { fault: "NO_TLS" }));
});

test("an http url at a port with TLS fails with a hint, however the port refuses it", async () => {
  const folder = temporaryFolder();
  onTestFinished(() => fs.rmSync(folder, { recursive: true }));
  const { certificate, key } = makeCertificates(folder).agent;
  const secure = https.createServer({ cert: fs.readFileSync(certificate), key: fs.readFileSync(key) });
  const place = await listening(secure);
  const message = `the server at ${place} speaks TLS: is the url https://?`;
  await expect(createServerClient(`http://${place}`, () => "key").get("/some")).rejects.toEqual(
    new SendError("transient", message, { fault: "SPEAKS_TLS" }),
  );

  for (const page of [
    "<center>The plain HTTP request was sent to HTTPS port</center>",
    "You're speaking plain HTTP to an SSL-enabled server port.",
    "Client sent an HTTP request to an HTTPS server.",
  ]) {
    const proxy = await serving((_, response) => void response.writeHead(400).end(page));
    await expect(createServerClient(proxy, () => "key").post("/some", {})).rejects.toEqual(
      new SendError("transient", "the server speaks TLS: is the url https://?", { status: 400, fault: "SPEAKS_TLS" }),
    );
  }
});

test("a port without TLS that closes the connection is an unreachable server", async () => {
  const place = await listening(http.createServer((request) => request.socket.destroy()));
  await expect(createServerClient(`http://${place}`, () => "key").post("/some", {})).rejects.toEqual(
    new SendError("uncertain", "the server cannot be reached: the connection broke off (ECONNRESET)"),
  );
});

test("an unreadable key fails the request before anything is sent", async () => {
  let requests = 0;
  const url = await serving((_, response) => {
    requests += 1;
    response.end("{}");
  });
  const server = createServerClient(url, () => {
    throw new Error("its character 9 is U+2019");
  });
  const message = "the key file cannot be read: its character 9 is U+2019";
  await expect(server.post("/some", {})).rejects.toEqual(new SendError("unauthorized", message));
  expect(requests).toBe(0);
});

test("each request reports the Date of its response and its times, also a failed one", async () => {
  const date = "Sun, 22 Nov 2026 10:00:00 GMT";
  let status = 200;
  const url = await serving((_, response) => void response.writeHead(status, { date }).end("{}"));
  const heard: Exchange[] = [];
  const before = Date.now();
  const server = createServerClient(
    url,
    () => "key",
    undefined,
    (exchange) => void heard.push(exchange),
  );
  await server.get("/some");
  for (status of [401, 403, 404]) await server.get("/some").catch(() => undefined);
  const away = createServerClient(
    "http://127.0.0.1:1",
    () => "key",
    undefined,
    (exchange) => void heard.push(exchange),
  );
  await away.get("/some").catch(() => undefined);
  expect(heard.map(({ date: told }) => told)).toEqual([date, date, date, date, undefined]);
  for (const { sentAt, receivedAt } of heard) {
    expect(before - 1 <= sentAt && sentAt <= receivedAt && receivedAt <= Date.now()).toBe(true);
  }
});

test("a 404 of another program is an error", async () => {
  const url = await serving((_, response) => void response.writeHead(404).end("<html>nginx</html>"));
  await expect(createServerClient(url, () => "key").get("/some")).rejects.toEqual(
    new SendError("uncertain", "the server answered 404: no error envelope, so another program responded", {
      status: 404,
    }),
  );
});

test("the fault of a response that is not JSON quotes none of it, since it is logged", async () => {
  for (const body of ['{"name":"Pamuk"Ada}', "Pamuk", '{"name":"Pamuk']) {
    const url = await serving((_, response) => void response.end(body));
    const fault: unknown = await createServerClient(url, () => "key")
      .get("/some")
      .catch((error: unknown) => error);
    expect(String(fault)).toMatch(/invalid JSON in the response: /);
    expect(String(fault)).not.toMatch(/amuk|Ad/);
  }
});

test("an endless response is aborted", async () => {
  let closed = false;
  const url = await serving((_, response) => {
    const part = Buffer.alloc(1024 * 1024, " ");
    const more = () => void (response.destroyed || response.write(part, more));
    response.on("close", () => (closed = true));
    more();
  });
  await expect(createServerClient(url, () => "key").get("/some")).rejects.toEqual(
    new SendError("uncertain", "response too long: expected at most 16777216 bytes", { fault: "TOO_LONG" }),
  );
  await expect.poll(() => closed).toBe(true);
});

test.each([
  ["has more than 2000 different names", `{${Array.from({ length: 300_000 }, (_, index) => `"k${index}":1`).join()}}`],
  ["has more than 1000000 values", `[${"[],".repeat(1_000_000)}[]]`],
  ["nests values more than 32 deep", `${"[".repeat(100_000)}1${"]".repeat(100_000)}`],
])("a response that %s is not parsed", async (fault, body) => {
  const url = await serving((_, response) => void response.end(body));
  await expect(createServerClient(url, () => "key").get("/some")).rejects.toEqual(
    new SendError("uncertain", `invalid response: it ${fault}`, { status: 200 }),
  );
});
