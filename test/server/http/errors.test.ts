import { type AddressInfo, connect, createServer } from "node:net";
import tls from "node:tls";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { newFp } from "../../../shared/api/fp.ts";
import { type Body, clinic, connectTo, heldWriteLock, startServer, type TestServer } from "../harness.ts";

const ours = newFp("clinic");

describe("every response", () => {
  test("a TLS handshake gets an error that names http://", async () => {
    const port = await listen(await startServer(clinic(ours)));
    const hello = await new Promise<Buffer>((resolve) => {
      const silent = createServer((socket) => {
        socket.once("data", (bytes) => {
          resolve(bytes);
          socket.destroy();
          silent.close();
        });
      });
      silent.listen(0, "127.0.0.1", () => {
        const { port: silentPort } = silent.address() as AddressInfo;
        tls.connect(silentPort, "127.0.0.1").on("error", () => undefined);
      });
    });
    // The first packet may hold a part of the handshake.
    for (const bytes of [hello, hello.subarray(0, 1)]) {
      const answer = await exchange(port, bytes.toString("latin1"));
      expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
      expect(JSON.parse(answer.slice(answer.indexOf("\r\n\r\n")))).toEqual({
        success: false,
        error: {
          code: "REQUEST.MALFORMED",
          message: "This is a TLS handshake, but this port speaks plain HTTP: expected a URL with http://.",
          severity: "error",
        },
      });
    }
  });

  test("an exception in a handler gets 500 with the request id only, and is logged", async () => {
    const server = await startServer(clinic(ours));
    server.app.route({
      method: "GET",
      url: "/broken",
      handler: () => {
        throw new Error("secret detail");
      },
    });
    const response = await server.app.inject({ url: "/broken" });
    expect(response.statusCode).toBe(500);
    expect(response.json<Body>().error).toMatchObject({
      code: "SERVER.INTERNAL",
      details: { request_id: response.headers["x-request-id"] },
    });
    expect(response.body).not.toContain("secret");
    expect(server.log.join("")).toContain("secret detail");
  });

  test("a write to a locked database gets 503 with Retry-After, while reads succeed", async () => {
    const server = await startServer(clinic(ours));
    const key = await server.makeKey(ours, ["clinic.lab.ingest"]);
    // Another program holds the write lock longer than the server waits.
    await holdWriteLock(server, async () => {
      const response = await server.app.inject({
        method: "POST",
        url: "/agent/v1/heartbeat",
        headers: { "x-api-key": key },
        payload: {},
      });
      expect([response.statusCode, response.headers["retry-after"]]).toEqual([503, "5"]);
      expect(response.json<Body>().error).toMatchObject({
        code: "SERVER.UNAVAILABLE",
        details: { request_id: response.headers["x-request-id"] },
      });
      expect((await server.app.inject({ url: "/readyz" })).statusCode).toBe(200);
    });
    expect((await server.app.inject({ url: "/healthz" })).json()).toEqual({ status: "ok" });
  });
});

describe("a body", () => {
  test("a body that is not JSON, not gzip, of another type or without a list of studies gets 400", async () => {
    const server = await startServer(clinic(ours));
    const json = "application/json";
    for (const [payload, type, encoding] of [
      ["{not json", json, undefined],
      ["", json, undefined],
      ["[]", json, undefined],
      ["null", json, undefined],
      ['{"studies":{}}', json, undefined],
      [`{"studies":[${Array(101).fill("{}").join(",")}]}`, json, undefined],
      ['{"studies":[]}', "text/plain", undefined],
      ['{"studies":[]}', json, "gzip"],
      ['{"studies":[]}', json, "br"],
    ] as const) {
      const { status, body } = await postStudies(server, payload, { "content-type": type, ...encoded(encoding) });
      expect([payload.slice(0, 40), status, body.error?.code]).toEqual([
        payload.slice(0, 40),
        400,
        "REQUEST.INVALID_BODY",
      ]);
    }
  });

  test("a body over 5 MB gets 413, as sent and as unpacked", async () => {
    const server = await startServer(clinic(ours));
    const large = JSON.stringify({ studies: [], filler: "a".repeat(5 * 1024 * 1024) });
    const plain = await postStudies(server, large, { "content-type": "application/json" });
    expect([plain.status, plain.body.error.code]).toEqual([413, "REQUEST.TOO_LARGE"]);
    const headers = { "content-type": "application/json", "content-encoding": "gzip" };
    const packed = await postStudies(server, gzipSync(large), headers);
    expect([packed.status, packed.body.error.code]).toEqual([413, "REQUEST.TOO_LARGE"]);
    const small = await postStudies(server, gzipSync('{"studies":[]}'), headers);
    expect([small.status, small.body]).toEqual([200, { outcomes: [] }]);
  });

  const names = (count: number, name: (index: number) => string) =>
    `{${Array.from({ length: count }, (_, index) => `"${name(index)}":0`).join()}}`;
  test.each([
    ["more than 500000 values", `[${Array.from({ length: 500_000 }, () => "{}").join()}]`],
    ["more than 2000 different names", names(300_000, (index) => `k${index}`)],
    [
      "more than 2000 different names",
      `[${Array.from({ length: 600 }, (_, list) => names(500, (index) => `${list}_${index}`)).join()}]`,
    ],
    ["a name of more than 200 characters", names(1, () => "a".repeat(1_000_000))],
  ])("a body with %s is refused before it is parsed", async (limit, values) => {
    const server = await startServer(clinic(ours));
    // The body is not JSON, so a parser would respond 400.
    const packed = gzipSync(`{"studies":[{"results":${values}`);
    const headers = { "content-type": "application/json", "content-encoding": "gzip" };
    const { status, body } = await postStudies(server, packed, headers);
    expect([status, body.error.message]).toEqual([413, `The body has ${limit}.`]);
  });
});

function encoded(encoding: string | undefined): Record<string, string> {
  return encoding === undefined ? {} : { "content-encoding": encoding };
}

async function postStudies(server: TestServer, payload: string | Buffer, headers: Record<string, string>) {
  const key = await server.makeKey(ours, ["clinic.lab.ingest"]);
  const response = await server.app.inject({
    method: "POST",
    url: "/agent/v1/studies",
    headers: { "x-api-key": key, ...headers },
    payload,
  });
  return { status: response.statusCode, body: response.json<Body>() };
}

async function listen(server: TestServer): Promise<number> {
  return Number(new URL(await server.app.listen({ port: 0, host: "127.0.0.1" })).port);
}

async function exchange(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = "";
    const socket = connect(port, "127.0.0.1", () => socket.end(bytes, "latin1"));
    socket.on("data", (chunk) => (answer += chunk.toString("utf8")));
    socket.on("close", () => resolve(answer));
    socket.on("error", reject);
  });
}

async function holdWriteLock(server: TestServer, work: () => Promise<void>): Promise<void> {
  const other = await connectTo(server.database);
  await other.run(heldWriteLock());
  try {
    await work();
  } finally {
    await other.run("rollback");
    await other.close();
  }
}
