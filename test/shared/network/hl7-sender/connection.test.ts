import { X509Certificate } from "node:crypto";
import fs from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import tls from "node:tls";
import { expect, onTestFinished, test } from "vitest";
import { Hl7Connection, type Hl7LineState, type Hl7Tls } from "../../../../shared/network/hl7-sender/connection.ts";
import { pinOf } from "../../../../shared/network/public-key-pin.ts";
import { makeCertificates } from "../../../support/peers/certificates.ts";
import { patiently } from "../../../support/runner/patience.ts";

const message = (controlId: string, length = 0) =>
  Buffer.from(`MSH|^~\\&|VETWIRE|C|PIMS|C|20261121||ORU^R01|${controlId}|P|2.5.1\rNTE|1||${"x".repeat(length)}\r`);
const ack = (code: string, controlId: string) => `\vMSH|^~\\&|PIMS\rMSA|${code}|${controlId}\r\x1c\r`;
/** Long enough for a busy machine. */
const TIMES = { connectMs: 60_000, ackMs: 60_000 };
/** For receivers that say nothing. */
const SHORT = { ...TIMES, ackMs: patiently(1_500) };
const ACKNOWLEDGED = { outcome: "acknowledged", code: "AA", text: null };

/** A receiver that calls `answer` for each complete frame. */
async function receiver(
  answer: (socket: net.Socket, controlId: string) => void,
  security: tls.TlsOptions | null = null,
): Promise<{ port: number; connections: () => number }> {
  let connections = 0;
  const serve = (socket: net.Socket) => {
    connections += 1;
    let text = "";
    socket.on("error", () => undefined);
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString("latin1");
      for (let end = text.indexOf("\x1c\r"); end >= 0; end = text.indexOf("\x1c\r")) {
        const frame = text.slice(0, end);
        text = text.slice(end + 2);
        answer(socket, frame.split("|")[9]!);
      }
    });
  };
  const server = security === null ? net.createServer(serve) : tls.createServer(security, serve);
  server.on("tlsClientError", () => undefined);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { port: (server.address() as net.AddressInfo).port, connections: () => connections };
}

function connect(
  port: number,
  security: Hl7Tls | null = null,
  states: Hl7LineState[] = [],
  times = TIMES,
): Hl7Connection {
  const connection = new Hl7Connection({ host: "127.0.0.1", port, tls: security }, times, (state) =>
    states.push(state),
  );
  onTestFinished(() => connection.close());
  return connection;
}

/** Finds each name at this machine. */
const here: net.LookupFunction = (_name, _options, found) => found(null, [{ address: "127.0.0.1", family: 4 }]);

test("one connection stays open between messages, also large ones", async () => {
  const { port, connections } = await receiver((socket, id) => socket.write(ack("AA", id)));
  const states: Hl7LineState[] = [];
  const connection = connect(port, null, states);
  expect(await connection.send(message("A1"))).toEqual(ACKNOWLEDGED);
  expect(await connection.send(message("A2", 3_000_000))).toEqual(ACKNOWLEDGED);
  expect(await connection.send(message("A3"))).toEqual(ACKNOWLEDGED);
  expect([connections(), states]).toEqual([1, [{ is: "connecting" }, { is: "connected" }]]);
});

test("a receiver that closes between messages gets the next one over a new connection", async () => {
  let closed = 0;
  const { port, connections } = await receiver((socket, id) => {
    socket.once("close", () => (closed += 1));
    socket.end(ack("AA", id));
  });
  const connection = connect(port);
  for (const id of ["A1", "A2"]) {
    expect(await connection.send(message(id))).toEqual(ACKNOWLEDGED);
    await expect.poll(() => closed).toBe(connections());
  }
  expect(connections()).toBe(2);
});

test("a receiver that closes after reading, or is silent, fails the message, and the next one gets through", async () => {
  const ways: Record<string, (socket: net.Socket, id: string) => void> = {
    A1: (socket) => socket.end(),
    A2: (socket) => socket.resetAndDestroy(),
    A3: () => undefined,
    A4: (socket, id) => socket.write(ack("AA", id)),
  };
  const { port } = await receiver((socket, id) => ways[id]?.(socket, id));
  const connection = connect(port, null, [], SHORT);
  const codes: string[] = [];
  for (const id of Object.keys(ways)) codes.push((await connection.send(message(id))).code);
  expect(codes).toEqual(["ACK.CLOSED", "ACK.CLOSED", "ACK.TIMED_OUT", "AA"]);
});

test("an acknowledgement before the end of the message runs it into no other one", async () => {
  let received = 0;
  const server = net.createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => socket.pause().write(ack("AR", "A1")));
    received += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const connection = connect((server.address() as net.AddressInfo).port, null, [], SHORT);
  expect((await connection.send(message("A1", 20_000_000))).outcome).toBe("refused");
  await connection.send(message("A2"));
  expect(received).toBe(2);
});

test("a receiver that is down fails the message with the code of the fault", async () => {
  const { port } = await receiver(() => undefined);
  const free = net.createServer();
  await new Promise<void>((resolve) => free.listen(0, "127.0.0.1", resolve));
  const closed = (free.address() as net.AddressInfo).port;
  await new Promise((resolve) => free.close(resolve));
  expect(await connect(closed).send(message("A1"))).toEqual({
    ...{ outcome: "failed", code: "DIAL.REFUSED", text: "ECONNREFUSED" },
  });
  // A plain receiver reads the TLS handshake as garbage and says nothing.
  expect(await connect(port, {}, [], { ...TIMES, connectMs: 500 }).open()).toMatchObject({ code: "TLS.NOT_SPOKEN" });
});

test("TLS accepts the authority of ca or the key of pin, and refuses any other receiver before it gets a byte", async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "hl7-sender-"));
  onTestFinished(() => fs.rmSync(folder, { recursive: true }));
  const { ca, device } = makeCertificates(folder);
  const [key, cert] = [fs.readFileSync(device.key), fs.readFileSync(device.certificate)];
  let got = 0;
  const answer = (socket: net.Socket, id: string) => {
    got += 1;
    socket.write(ack("AA", id));
  };
  const { port } = await receiver(answer, { key, cert });
  const pin = pinOf(new X509Certificate(cert));
  expect(await connect(port, { pin: `sha256/${"A".repeat(43)}=` }).send(message("A0"))).toEqual({
    outcome: "failed",
    code: "TLS.OTHER_PIN",
    text: pin,
  });
  expect(await connect(port, {}).send(message("A0"))).toEqual({
    ...{ outcome: "failed", code: "TLS.UNTRUSTED", text: "UNABLE_TO_VERIFY_LEAF_SIGNATURE" },
  });
  const named = new Hl7Connection(
    { host: "other.example", port, tls: { ca: fs.readFileSync(ca) }, lookup: here },
    TIMES,
  );
  expect(await named.open()).toEqual({ code: "TLS.UNTRUSTED", text: "ERR_TLS_CERT_ALTNAME_INVALID" });
  expect(await connect(port).send(message("A0"))).toMatchObject({ outcome: "failed", code: "ACK.CLOSED" });
  expect(got).toBe(0);
  expect(await connect(port, { pin }).send(message("A1"))).toEqual(ACKNOWLEDGED);
  expect(await connect(port, { ca: fs.readFileSync(ca) }).send(message("A2"))).toEqual(ACKNOWLEDGED);
});
