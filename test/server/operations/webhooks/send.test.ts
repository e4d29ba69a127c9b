import fs from "node:fs";
import http from "node:http";
import https from "node:https";
import type { AddressInfo } from "node:net";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { Webhook } from "standardwebhooks";
import { afterEach, expect, test } from "vitest";
import { sendWebhook, type WebhookOptions } from "../../../../server/operations/webhooks/send.ts";
import { newWebhookSecret } from "../../../../server/operations/webhooks/sign.ts";
import { makeCertificates } from "../../../support/peers/certificates.ts";

const secret = newWebhookSecret();
const message = { id: "msg_1", body: '{"type":"study.filed"}' };
const open: net.Server[] = [];

afterEach(() => {
  for (const server of open.splice(0)) {
    if (server instanceof http.Server) server.closeAllConnections();
    server.close();
  }
});

async function listen(server: net.Server): Promise<string> {
  open.push(server);
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
}

async function receiver(status: number, headers: http.OutgoingHttpHeaders = {}): Promise<{ url: string; got: Got[] }> {
  const got: Got[] = [];
  const server = http.createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      got.push({ headers: request.headers, body });
      response.writeHead(status, headers).end();
    });
  });
  return { url: await listen(server), got };
}

interface Got {
  headers: http.IncomingHttpHeaders;
  body: string;
}

async function send(url: string, options: Partial<WebhookOptions> = {}) {
  return sendWebhook({ url, secret }, message, { allowPrivate: true, deadlineMs: 50_000, ...options });
}

test("a receiver's own library accepts the signature, and refuses a changed body", async () => {
  const { url, got } = await receiver(204);
  expect(await send(url)).toEqual({ delivered: true, status: 204 });
  const [{ headers, body }] = got as [Got];
  const library = new Webhook(secret);
  expect(library.verify(body, headers as Record<string, string>)).toEqual({ type: "study.filed" });
  expect(() => library.verify(`${body} `, headers as Record<string, string>)).toThrow("No matching signature");
});

test("a redirect into the private network is not followed", async () => {
  const inside = await receiver(200);
  const outside = await receiver(301, { location: inside.url });
  expect(await send(outside.url)).toEqual({
    delivered: false,
    status: 301,
    reason: "The receiver redirects (301), which is not followed: enter the URL that it redirects to.",
    why: { code: "HOOK.REDIRECT", values: ["301"] },
  });
  expect(inside.got).toEqual([]);
});

test("a response of 500 and a receiver that is down are failures with a reason", async () => {
  const { url } = await receiver(500);
  expect(await send(url)).toEqual({
    delivered: false,
    status: 500,
    reason: "The receiver responded 500, expected 2xx: look into its log.",
    why: { code: "HOOK.STATUS", values: ["500"] },
  });
  expect(await send("http://127.0.0.1:1025/")).toEqual({
    delivered: false,
    status: null,
    reason: "Nothing listens at the receiver's address: start the receiver, or check the port.",
    why: { code: "HOOK.NOBODY_LISTENS", values: [] },
  });
});

test("a receiver that never responds ends at the deadline, and so does a look-up that hangs", async () => {
  const silent = await listen(net.createServer(() => undefined));
  const late = {
    delivered: false,
    status: null,
    reason: "No response came within 0.3 s: let the receiver respond first and work afterwards.",
    why: { code: "HOOK.SILENT", values: ["0.3"] },
  };
  expect(await send(silent, { deadlineMs: 300 })).toEqual(late);
  const hanging = { deadlineMs: 300, lookup: async () => new Promise<never>(() => undefined) };
  expect(await send("https://slow.example/", hanging)).toEqual(late);
});

test("a receiver that switches to another protocol unasked is a failure, and not a request without an end", async () => {
  const switching = net.createServer((socket) => {
    socket.on("error", () => undefined);
    socket.write("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n");
  });
  expect(await send(await listen(switching))).toEqual({
    delivered: false,
    status: null,
    reason: "The receiver closed the connection without a response: look into its log.",
    why: { code: "HOOK.BROKEN", values: [] },
  });
});

test("an endless body and endless headers cost no memory", async () => {
  const endless = http.createServer((_request, response) => {
    const more = () => {
      while (response.write("x".repeat(65_536)));
      response.once("drain", more);
    };
    response.writeHead(200);
    more();
  });
  expect(await send(await listen(endless))).toEqual({ delivered: true, status: 200 });
  const headers = net.createServer((socket) => {
    socket.on("error", () => undefined);
    socket.write("HTTP/1.1 200 OK\r\n");
    const timer = setInterval(() => socket.write(`x-${"y".repeat(1000)}: z\r\n`), 1);
    socket.on("close", () => clearInterval(timer));
  });
  expect(await send(await listen(headers), { deadlineMs: 5000 })).toMatchObject({ delivered: false, status: null });
});

test("a name is looked up once, and the connection goes to the checked address", async () => {
  const { url, got } = await receiver(200);
  const { port } = new URL(url);
  const answers = [[{ address: "127.0.0.1", family: 4 }], [{ address: "169.254.169.254", family: 4 }]];
  const lookup = async () => answers.shift() ?? [];
  expect(await send(`http://clinic.example:${port}/`, { lookup })).toEqual({ delivered: true, status: 200 });
  expect(answers.length).toBe(1);
  expect(got.map(({ headers }) => headers.host)).toEqual([`clinic.example:${port}`]);
});

test("a public name that points into the private network gets no connection", async () => {
  let connections = 0;
  const server = net.createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  const { port } = new URL(await listen(server));
  for (const address of ["127.0.0.1", "::ffff:127.0.0.1"]) {
    const lookup = async () => [
      { address: "93.184.216.34", family: 4 },
      { address, family: net.isIP(address) },
    ];
    const outcome = await send(`https://evil.example:${port}/`, { allowPrivate: false, lookup });
    expect(outcome).toMatchObject({ delivered: false, status: null });
    expect(JSON.stringify(outcome)).toMatch(
      /evil\.example (is in a private network|has an address which cannot be a receiver)/,
    );
  }
  expect(connections).toBe(0);
});

test("a certificate of an unknown authority and a port without TLS are failures with a remedy", async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "webhook-tls-"));
  const { untrusted } = makeCertificates(folder);
  const [key, cert] = [fs.readFileSync(untrusted.key), fs.readFileSync(untrusted.certificate)];
  const url = (await listen(https.createServer({ key, cert }))).replace("http:", "https:");
  expect(await send(url)).toEqual({
    delivered: false,
    status: null,
    reason: "The receiver's certificate is self-signed: use one of a known authority, or set NODE_EXTRA_CA_CERTS.",
    why: { code: "HOOK.SELF_SIGNED", values: [] },
  });
  const plain = await receiver(200);
  expect(await send(plain.url.replace("http:", "https:"))).toEqual({
    delivered: false,
    status: null,
    reason: "The receiver has no TLS at this port: check the port.",
    why: { code: "HOOK.NO_TLS", values: [] },
  });
  fs.rmSync(folder, { recursive: true });
});
