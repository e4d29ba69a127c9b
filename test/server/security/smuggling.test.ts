import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { permissions } from "../../../server/http/auth/api-keys.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { clinic, connection, patient, startServer } from "../harness.ts";
import { listen } from "./wire.ts";

// Request smuggling (RFC 9112 §11.2): a proxy and the server that find the end of a request at different bytes let an attacker
// put a request into somebody else's connection. Each attack carries a request for /healthz where a lenient server finds one.

const ours = newFp("clinic");
const animal = patient();

/** The request that must never get a response. */
const HIDDEN = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";
const hex = (text: string) => text.length.toString(16);
const chunked = (text: string) => `${hex(text)}\r\n${text}\r\n0\r\n\r\n`;

/** Headers and body of a POST, by the name of the attack. `KEY` is replaced by the headers of a valid key. */
const attacks: Record<string, string> = {
  "both lengths, TE last": `Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n${chunked("{}")}${HIDDEN}`,
  "both lengths, TE first": `Transfer-Encoding: chunked\r\nContent-Length: 6\r\n\r\n0\r\n\r\n${HIDDEN}`,
  "two different lengths": `Content-Length: 2\r\nContent-Length: 40\r\n\r\n{}${HIDDEN}`,
  "two equal lengths": `Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}${HIDDEN}`,
  "a list of lengths": `Content-Length: 2, 2\r\n\r\n{}${HIDDEN}`,
  "a length with a sign": `Content-Length: +2\r\n\r\n{}${HIDDEN}`,
  "a negative length": `Content-Length: -2\r\n\r\n{}${HIDDEN}`,
  "a hexadecimal length": `Content-Length: 0x2\r\n\r\n{}${HIDDEN}`,
  "a length with a space inside": `Content-Length: 2 0\r\n\r\n{}${HIDDEN}`,
  "a length beyond 64 bits": `Content-Length: 18446744073709551618\r\n\r\n{}${HIDDEN}`,
  "an empty length": `Content-Length: \r\n\r\n{}${HIDDEN}`,
  "a space before the colon": `Content-Length : 2\r\n\r\n{}${HIDDEN}`,
  "TE with a space before the colon": `Transfer-Encoding : chunked\r\n\r\n${chunked("{}")}${HIDDEN}`,
  "TE of another word": `Transfer-Encoding: xchunked\r\nContent-Length: 2\r\n\r\n{}${HIDDEN}`,
  "TE chunked, then identity": `Transfer-Encoding: chunked, identity\r\n\r\n${chunked("{}")}${HIDDEN}`,
  "two TE headers": `Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n${chunked("{}")}${HIDDEN}`,
  "TE with a vertical tab": `Transfer-Encoding: \x0bchunked\r\n\r\n${chunked("{}")}${HIDDEN}`,
  "TE in quotes": `Transfer-Encoding: "chunked"\r\n\r\n${chunked("{}")}${HIDDEN}`,
  "a folded header": `X-A: b\r\n Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n{}${HIDDEN}`,
  "a folded TE": `Transfer-Encoding:\r\n chunked\r\n\r\n${chunked("{}")}${HIDDEN}`,
  "a bare line feed after a header": `X-A: b\nContent-Length: 2\r\n\r\n{}${HIDDEN}`,
  "a bare carriage return in a header": `X-A: b\rContent-Length: 2\r\n\r\n{}${HIDDEN}`,
  "a NUL in a header": `X-A: b\0c\r\nContent-Length: 2\r\n\r\n{}${HIDDEN}`,
  "a header without a name": `: b\r\nContent-Length: 2\r\n\r\n{}${HIDDEN}`,
  "a chunk size with 0x": `Transfer-Encoding: chunked\r\n\r\n0x2\r\n{}\r\n0\r\n\r\n${HIDDEN}`,
  "a negative chunk size": `Transfer-Encoding: chunked\r\n\r\n-2\r\n{}\r\n0\r\n\r\n${HIDDEN}`,
  "a chunk size beyond 64 bits": `Transfer-Encoding: chunked\r\n\r\n10000000000000002\r\n{}\r\n0\r\n\r\n${HIDDEN}`,
  "a chunk that is longer than its size": `Transfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n${HIDDEN}`,
  "a chunk that ends with a line feed": `Transfer-Encoding: chunked\r\n\r\n2\n{}\n0\n\n${HIDDEN}`,
  "a chunk extension of 64 kB": `Transfer-Encoding: chunked\r\n\r\n2;x=${"a".repeat(65_536)}\r\n{}\r\n0\r\n\r\n${HIDDEN}`,
  "a line feed in a chunk extension": `Transfer-Encoding: chunked\r\n\r\n2;x\n${hex(HIDDEN)}\r\n{}\r\n0\r\n\r\n${HIDDEN}`,
};

async function start() {
  const server = await startServer(clinic(ours), animal, connection(animal.fp, ours));
  const key = await server.makeKey(ours, [...permissions]);
  return { port: await listen(server.app), key };
}

/** Sends bytes, and closes this side. @returns the statuses of all responses */
async function statusesOf(port: number, bytes: string): Promise<number[]> {
  const socket = connect(port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => undefined);
  let received = "";
  socket.on("data", (chunk: Buffer) => (received += chunk.toString("latin1")));
  socket.end(bytes, "latin1");
  await new Promise<void>((resolve) => socket.on("close", () => resolve()));
  return [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
}

/** The bytes of an attack on the heartbeat of a valid key. */
function bytesOf(attack: string, key: string): string {
  const head = `POST /agent/v1/heartbeat HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Type: application/json`;
  return `${head}\r\n${attack}`;
}

test("each attack gets one refusal, and no response to the request inside", async () => {
  const { port, key } = await start();
  const honest = `Content-Length: 2\r\n\r\n{}${HIDDEN}`;
  expect(await statusesOf(port, bytesOf(honest, key))).toEqual([200, 200]);
  for (const [name, attack] of Object.entries(attacks)) {
    expect([name, await statusesOf(port, bytesOf(attack, key))]).toEqual([name, [400]]);
  }
});

test("a doubled header that may occur once is refused, so that no proxy goes by the other one", async () => {
  const { port, key } = await start();
  for (const twice of [
    "Host: evil.example",
    "host: x",
    "X-API-Key: sk_live_x",
    `x-api-key: ${key}`,
    "Content-Type: text/plain",
  ]) {
    const [status] = await statusesOf(port, bytesOf(`${twice}\r\nContent-Length: 2\r\n\r\n{}`, key));
    expect([twice, status]).toEqual([twice, 400]);
  }
  const bearer = `Authorization: Bearer ${key}\r\n`;
  const head = `GET /api/v1/lab/diagnostics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n`;
  expect(await statusesOf(port, `${head}${bearer}\r\n`)).toEqual([200]);
  expect(await statusesOf(port, `${head}${bearer}${bearer}\r\n`)).toEqual([400]);
});
