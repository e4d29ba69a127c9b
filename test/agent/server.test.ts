import http from "node:http";
import type net from "node:net";
import { gunzipSync } from "node:zlib";
import { expect, onTestFinished, test, vi } from "vitest";
import { httpServer, SendError } from "../../agent/server.ts";

async function serving(listener: http.RequestListener): Promise<string> {
  const server = http.createServer(listener).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as net.AddressInfo).port}`;
}

test("a long body is compressed, a key is read anew for each request, and what is not there is null", async () => {
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
  const server = httpServer(`${url}/base/`, () => `key ${++keys}`);
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
  ["that does not answer", () => undefined, "the server cannot be reached: no answer in time"],
  [
    "that breaks off",
    (_, response) => void response.writeHead(200, { "content-length": 10 }).write("{", () => response.destroy()),
    "the server cannot be reached: ECONNRESET",
  ],
  [
    "that stops within its answer",
    (_, response) => void response.writeHead(200, { "content-length": 10 }).write("{"),
    "the server cannot be reached: no answer in time",
  ],
])("a server %s may have taken what it was sent", async (_, listener, message) => {
  const server = httpServer(await serving(listener), () => "key", 200);
  await expect(server.post("/some", {})).rejects.toEqual(new SendError("uncertain", message));
});

test("a 404 that is not our server's is no answer to what is there", async () => {
  const url = await serving((_, response) => void response.writeHead(404).end("<html>nginx</html>"));
  await expect(httpServer(url, () => "key").get("/some")).rejects.toEqual(
    new SendError("uncertain", "the server answered 404: no error envelope, so it is not our server's", {
      status: 404,
    }),
  );
});

test("an answer without end is broken off", async () => {
  let closed = false;
  const url = await serving((_, response) => {
    const part = Buffer.alloc(1024 * 1024, " ");
    const more = () => void (response.destroyed || response.write(part, more));
    response.on("close", () => (closed = true));
    more();
  });
  await expect(httpServer(url, () => "key").get("/some")).rejects.toEqual(
    new SendError("uncertain", "the server's answer is longer than 16777216 bytes"),
  );
  await vi.waitFor(() => expect(closed).toBe(true));
});
