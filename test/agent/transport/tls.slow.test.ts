import { once } from "node:events";
import fs from "node:fs";
import net from "node:net";
import tls from "node:tls";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { readTls } from "../../../agent/config/values/tls-files.ts";
import { dialTransport, listenTransport } from "../../../agent/transport/tcp.ts";
import type { Transport, Wire } from "../../../agent/transport/transport.ts";
import { type Certificates, makeCertificates } from "../../support/peers/certificates.ts";
import { freePort, temporaryFolder, until } from "../../support/machine/processes.ts";

// Goal: TLS from 1.2 on for configured devices, with their certificates checked if agent.yaml names an authority.

const HOST = "127.0.0.1";
let folder: string;
let certificates: Certificates;
const transports: Transport[] = [];

beforeAll(() => {
  folder = temporaryFolder();
  certificates = makeCertificates(folder);
});

afterAll(() => fs.rmSync(folder, { recursive: true }));

afterEach(async () => {
  await Promise.all(transports.splice(0).map((transport) => transport.close()));
});

function open(transport: Transport) {
  transports.push(transport);
  const seen = { wires: [] as Wire[], bytes: "", ended: 0, closed: 0, problems: [] as string[] };
  transport.open(
    (wire) => {
      seen.wires.push(wire);
      return {
        chunk: (bytes) => (seen.bytes += Buffer.from(bytes).toString("latin1")),
        ended: () => (seen.ended += 1),
        closed: () => (seen.closed += 1),
      };
    },
    (reason) => seen.problems.push(reason),
  );
  return seen;
}

const ca = () => fs.readFileSync(certificates.ca);
const pem = ({ certificate, key }: Certificates["agent"]) => ({
  cert: fs.readFileSync(certificate),
  key: fs.readFileSync(key),
});

async function silentPeers(port: number, count: number): Promise<void> {
  const sockets = Array.from({ length: count }, () => net.connect(port, HOST));
  for (const socket of sockets) socket.on("error", () => undefined);
  await Promise.all(sockets.map((socket) => once(socket, "connect")));
}

/** @returns the bytes that the device receives until its connection closes, or the error of the connection */
async function device(port: number, options: tls.ConnectionOptions, says: string): Promise<string> {
  let heard = "";
  const socket = await until(
    "the agent listens",
    () =>
      new Promise<tls.TLSSocket | null>((resolve) => {
        const attempt = tls.connect({ host: HOST, port, ca: ca(), ...options }, () => resolve(attempt));
        attempt.once("error", (error: NodeJS.ErrnoException) => {
          heard = error.message;
          resolve(error.code === "ECONNREFUSED" ? null : attempt);
        });
      }),
  );
  socket.on("error", (error) => (heard ||= error.message));
  socket.on("data", (chunk: Buffer) => (heard += chunk.toString("latin1")));
  const gone = new Promise<void>((resolve) => (socket.destroyed ? resolve() : socket.once("close", () => resolve())));
  socket.end(says);
  await gone;
  return heard;
}

describe("a TLS listener", () => {
  test("a device receives its reply over TLS after it has half-closed the connection", async () => {
    const port = await freePort();
    const seen = open(listenTransport({ host: HOST, port }, ["127.0.0.0/8"], readTls(certificates.agent)));
    const heard = device(port, { allowHalfOpen: true } as tls.ConnectionOptions, "result");
    await until("the device's end", () => seen.ended);
    seen.wires[0]!.write(Buffer.from("taken"));
    seen.wires[0]!.close();
    expect(await heard).toBe("taken");
    expect(seen).toMatchObject({ bytes: "result", problems: [] });
    expect(seen.wires[0]!.peer).toMatch(/^127\.0\.0\.1:\d+$/);
  });

  test("peers without a TLS handshake neither lock out a device nor displace one with a message", async () => {
    const port = await freePort();
    const seen = open(listenTransport({ host: HOST, port }, [], readTls(certificates.agent)));
    await silentPeers(port, 16);
    const first = device(port, {}, "result");
    await until("the first wire", () => seen.wires[0]);
    seen.wires[0]!.heardMessage?.();
    await silentPeers(port, 40);
    const second = device(port, {}, "result");
    await until("the second wire", () => seen.wires[1]);
    for (const wire of seen.wires) {
      wire.write(Buffer.from("taken"));
      wire.close();
    }
    expect(await Promise.all([first, second])).toEqual(["taken", "taken"]);
  });

  test("a listener with an authority serves only devices with its certificates", async () => {
    const port = await freePort();
    const seen = open(
      listenTransport({ host: HOST, port }, [], readTls({ ...certificates.agent, ca: certificates.ca })),
    );
    await device(port, pem(certificates.untrusted), "x");
    await device(port, {}, "x");
    await until("both are reported", () => seen.problems.length === 2);
    expect(seen.wires).toEqual([]);
    expect(seen.problems).toEqual([
      "TLS with a refused device failed: its certificate is not valid here (DEPTH_ZERO_SELF_SIGNED_CERT), expected one that tls.ca signed",
      expect.stringMatching(/^TLS with .* failed: it showed no certificate, expected one that tls.ca signed/),
    ]);
    const heard = device(port, pem(certificates.device), "result");
    await until("the wire", () => seen.wires[0]?.close() ?? seen.ended);
    await heard;
    expect(seen.bytes).toBe("result");
  });

  test("a listener refuses TLS 1.1 and plain text", async () => {
    const port = await freePort();
    const seen = open(listenTransport({ host: HOST, port }, [], readTls(certificates.agent)));
    const old = { minVersion: "TLSv1.1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" } as const;
    expect(await device(port, old, "x")).toMatch(/protocol version/);
    const clear = net.connect(port, HOST, () => clear.write("\x0bMSH|^~\\&|\x1c\r"));
    clear.on("error", () => undefined);
    await new Promise((resolve) => clear.once("close", resolve));
    await until("both are reported", () => seen.problems.length === 2);
    expect(seen.wires).toEqual([]);
    expect(seen.problems).toEqual([
      expect.stringMatching(/ it offered a version of TLS before 1\.2, expected TLS 1\.2 or 1\.3: update the device$/),
      expect.stringMatching(
        / it sent plain bytes, expected TLS: switch TLS on at the device, or remove tls from agent\.yaml$/,
      ),
    ]);
  });

  test("an address outside the allow list is refused before the TLS handshake", async () => {
    const port = await freePort();
    const seen = open(listenTransport({ host: HOST, port }, ["192.168.1.0/24"], readTls(certificates.agent)));
    await device(port, {}, "x");
    expect(seen).toMatchObject({
      wires: [],
      problems: [
        "connection refused from 127.0.0.1, expected 192.168.1.0/24 as in allow: add the address if it is the device",
      ],
    });
  });
});

describe("a TLS dialler", () => {
  async function analyzer(options: tls.TlsOptions) {
    const port = await freePort();
    const heard: string[] = [];
    const server = tls.createServer(options, (socket) => {
      socket.on("data", (chunk: Buffer) => heard.push(chunk.toString("latin1")));
      socket.on("error", () => undefined);
      socket.write("result");
    });
    server.on("tlsClientError", (error) => heard.push(error.message));
    await new Promise<void>((resolve) => server.listen(port, HOST, resolve));
    return { port, heard, server };
  }

  test("a dialler presents its certificate and verifies the analyzer's", async () => {
    const { port, heard, server } = await analyzer({
      ...pem(certificates.device),
      ca: ca(),
      requestCert: true,
      rejectUnauthorized: true,
    });
    const seen = open(dialTransport({ host: HOST, port }, readTls({ ...certificates.agent, ca: certificates.ca })));
    await until("the result", () => seen.bytes);
    seen.wires[0]!.write(Buffer.from("taken"));
    await until("the reply", () => heard.length);
    expect([seen.bytes, heard, seen.problems]).toEqual(["result", ["taken"], []]);
    server.close();
  });

  test("a dialler refuses an analyzer with an untrusted certificate", async () => {
    const { port, server } = await analyzer(pem(certificates.untrusted));
    const seen = open(dialTransport({ host: HOST, port }, readTls({ ca: certificates.ca })));
    await until("the problem", () => seen.problems.length);
    expect(seen).toMatchObject({ wires: [], bytes: "", problems: [expect.stringMatching(/self-signed certificate/)] });
    server.close();
  });
});
