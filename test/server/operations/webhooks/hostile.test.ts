import http from "node:http";
import https from "node:https";
import net from "node:net";
import type { AddressInfo } from "node:net";
import fs from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { sendWebhook } from "../../../../server/operations/webhooks/send.ts";
import { makeCertificates } from "../../../support/peers/certificates.ts";
import { temporaryFolder } from "../../harness.ts";
import { addWebhook } from "../../webhooks.ts";
import { dispatcherOn, own, startReceiver, world } from "./world.ts";
import { patiently } from "../../../support/runner/patience.ts";

// The class of the fault "one bad webhook ends the server": each of these receivers misbehaves in its own way, and the others of the
// clinic get their messages as if it were alone. An error without an owner would end this process, as it would end the server.

async function listen(server: net.Server | http.Server): Promise<number> {
  const sockets = new Set<net.Socket>();
  server.on("connection", (socket: net.Socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** Sends parts without an end. */
function endless(socket: net.Socket, part: string, everyMs = 1): void {
  const timer = setInterval(() => socket.write(part), everyMs);
  socket.on("close", () => clearInterval(timer));
}

const talks: Record<string, (socket: net.Socket) => void> = {
  "hangs after the connection": () => undefined,
  "closes the connection": (socket) => void socket.end(),
  "resets the connection": (socket) => void socket.resetAndDestroy(),
  "resets within its response": (socket) => {
    socket.write("HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\nhalf");
    setTimeout(() => socket.resetAndDestroy(), 20);
  },
  "responds before the request": (socket) => void socket.end("HTTP/1.1 500 No\r\n\r\n"),
  "sends an endless body": (socket) => {
    socket.write("HTTP/1.1 500 No\r\ntransfer-encoding: chunked\r\n\r\n");
    endless(socket, `400\r\n${"x".repeat(1024)}\r\n`);
  },
  "sends endless headers": (socket) => {
    socket.write("HTTP/1.1 200 OK\r\n");
    endless(socket, `x-${"y".repeat(1000)}: z\r\n`);
  },
  "sends informational responses for ever": (socket) =>
    endless(socket, "HTTP/1.1 103 Early Hints\r\nlink: <x>\r\n\r\n"),
  "switches to another protocol": (socket) => {
    socket.write("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n");
    endless(socket, "\u0081\u0005hello");
  },
  "sends two different lengths": (socket) =>
    void socket.end("HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab"),
  "does not speak HTTP": (socket) => void socket.end("SSH-2.0-OpenSSH_9.6\r\n"),
  "redirects to itself": (socket) => void socket.end("HTTP/1.1 307 Go\r\nlocation: /\r\ncontent-length: 0\r\n\r\n"),
  "drips its response byte by byte": (socket) => endless(socket, "H", 50),
};

async function badReceivers(): Promise<Record<string, string>> {
  const urls: Record<string, string> = {};
  for (const [name, talk] of Object.entries(talks))
    urls[name] = `http://127.0.0.1:${await listen(net.createServer(talk))}/`;
  const folder = temporaryFolder();
  const { untrusted } = makeCertificates(folder);
  const [key, cert] = [fs.readFileSync(untrusted.key), fs.readFileSync(untrusted.certificate)];
  urls["has a certificate of nobody"] = `https://127.0.0.1:${await listen(https.createServer({ key, cert }))}/`;
  const plain = http.createServer((_request, response) => void response.end());
  urls["has no TLS"] = `https://127.0.0.1:${await listen(plain)}/`;
  urls["breaks the handshake"] =
    `https://127.0.0.1:${await listen(net.createServer((socket) => void socket.destroy()))}/`;
  urls["has a name that is never looked up"] = "https://hangs.example/";
  urls["has a name without an address"] = "https://empty.example/";
  urls["has a name whose look-up throws"] = "https://throws.example/";
  urls["has an address that is none"] = "https://liar.example/";
  urls["has an address of the metadata service"] = "https://metadata.example/";
  urls["listens nowhere"] = "http://127.0.0.1:1025/";
  return urls;
}

/** Answers of a name server that an attacker runs. */
async function lookup(host: string) {
  if (host === "hangs.example") return new Promise<never>(() => undefined);
  if (host === "throws.example") throw Object.assign(new Error("no"), { code: "EBADRESP" });
  if (host === "liar.example") return [{ address: "not an address", family: 4 }];
  if (host === "metadata.example") return [{ address: "169.254.169.254", family: 4 }];
  return [];
}

test("receivers that misbehave in every way stop nothing and slow no other", async () => {
  const { store, receiver, push, clock, log, webhook } = await world();
  const bad = await badReceivers();
  const ids = Object.keys(bad).map((name) => `wh_${name.replaceAll(" ", "_")}`);
  for (const [index, url] of Object.values(bad).entries()) await addWebhook(store, own, { url, id: ids[index] ?? "" });
  const last = await startReceiver();
  await addWebhook(store, own, { url: last.url, id: "wh_last" });
  const fps = (await push(8)).toSorted();
  const dispatcher = dispatcherOn(store, {
    now: () => clock.now,
    send: async (to, message, more) => sendWebhook(to, message, { ...more, lookup, deadlineMs: patiently(4_000) }),
  });
  dispatcher.start();
  const got = () => [receiver, last].map((each) => each.got.map(({ fp }) => fp).toSorted());
  await expect.poll(got, { interval: 10 }).toEqual([fps, fps]);
  const statesOf = async (id: string) => (await log({ ...webhook, id })).map(({ state }) => state);
  // The deadline of those that hang may pass meanwhile, but nobody waited for their last ones.
  expect(await statesOf("wh_hangs_after_the_connection")).toContain("sending");
  const ended = async () => (await Promise.all(ids.map(statesOf))).flat().filter((state) => /new|sending/.test(state));
  await expect.poll(ended, { timeout: patiently(30_000) }).toEqual([]);
  await dispatcher.stop();
  // A reset may come before its response is read or after it.
  for (const id of ids.filter((each) => each !== "wh_resets_within_its_response")) {
    expect([id, ...new Set(await statesOf(id))]).toEqual([id, "retrying"]);
  }
});
