import { subscribe, unsubscribe } from "node:diagnostics_channel";
import fs from "node:fs";
import http from "node:http";
import https from "node:https";
import net, { type AddressInfo } from "node:net";
import path from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { stow } from "../../../../agent/imaging/archive/stow-rs.ts";
import { useNetwork } from "../../../../shared/network/client.ts";
import { environmentProxies } from "../../../../shared/network/proxy.ts";
import { makeCertificates } from "../../../support/peers/certificates.ts";
import { temporaryFolder } from "../../../support/machine/processes.ts";
import { patiently } from "../../../support/runner/patience.ts";

// The archive is a real server that redirects, names other URLs or gets an image with hostile bytes. A second server represents
// any other machine, and each client socket of the process is counted.

const EXPLICIT = "1.2.840.10008.1.2.1";

interface Archive {
  readonly port: number;
  readonly requests: { url: string; headers: http.IncomingHttpHeaders; body: Buffer }[];
  answer: { status: number; headers?: http.OutgoingHttpHeaders; body?: string };
}

async function startArchive(tls?: { cert: string; key: string }): Promise<Archive> {
  const listener: http.RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      archive.requests.push({ url: request.url ?? "", headers: request.headers, body: Buffer.concat(chunks) });
      const { status, headers = {}, body = "" } = archive.answer;
      response.writeHead(status, headers).end(body);
    });
  };
  const server = tls === undefined ? http.createServer(listener) : https.createServer(tls, listener);
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => new Promise<void>((resolve) => void server.close(() => resolve())));
  const archive: Archive = { port: (server.address() as AddressInfo).port, requests: [], answer: { status: 200 } };
  return archive;
}

let folder: string;
let file: string;
let authorizationFile: string;

beforeEach(() => {
  folder = temporaryFolder();
  file = path.join(folder, "image.dcm");
  authorizationFile = path.join(folder, "token");
  fs.writeFileSync(file, "an image");
  fs.writeFileSync(authorizationFile, "Bearer secret\n");
  return () => fs.rmSync(folder, { recursive: true });
});

/** Counts the client sockets that the process opens from now on. */
function countSockets(): () => number {
  let sockets = 0;
  const count = () => void (sockets += 1);
  subscribe("net.client.socket", count);
  onTestFinished(() => void unsubscribe("net.client.socket", count));
  return () => sockets;
}

const send = (archive: Archive, scheme = "http") =>
  stow({ url: `${scheme}://127.0.0.1:${archive.port}/dicom-web`, authorizationFile }, file, {
    sopInstance: "1.2.3",
    transferSyntax: EXPLICIT,
  });

test.each([301, 302, 303, 307, 308])(
  "a redirect %i is retried later, and no other machine gets a request",
  async (status) => {
    const [archive, other] = [await startArchive(), await startArchive()];
    const places = [
      `http://127.0.0.1:${other.port}/studies`,
      `http://localhost:${other.port}/studies`,
      `//127.0.0.1:${other.port}/studies`,
      "http://169.254.169.254/latest/meta-data",
      "http://10.0.0.1/studies",
      "/dicom-web/other",
      "file:///etc/passwd",
    ];
    const sockets = countSockets();
    for (const location of places) {
      archive.answer = { status, headers: { location } };
      const failure = {
        kind: "transient",
        message: `the server redirects (${status}) to ${location}: expected the final URL in stow`,
      };
      await expect(send(archive)).rejects.toMatchObject(failure);
    }
    expect(other.requests).toEqual([]);
    expect(archive.requests.map(({ url }) => url)).toEqual(places.map(() => "/dicom-web/studies"));
    // Each request takes a socket at most, and a redirect none.
    expect(sockets()).toBeLessThanOrEqual(places.length);
  },
);

test("a redirect from https to http shows nobody the credentials", async () => {
  const { ca, agent } = makeCertificates(folder);
  const tls = { cert: fs.readFileSync(agent.certificate, "utf8"), key: fs.readFileSync(agent.key, "utf8") };
  const [archive, other] = [await startArchive(tls), await startArchive()];
  const direct = { proxies: environmentProxies({}), ca: null };
  useNetwork({ ...direct, ca: fs.readFileSync(ca, "latin1") });
  onTestFinished(() => useNetwork(direct));
  archive.answer = { status: 307, headers: { location: `http://127.0.0.1:${other.port}/dicom-web/studies` } };
  await expect(send(archive, "https")).rejects.toMatchObject({ kind: "transient" });
  expect(archive.requests.map(({ headers }) => headers.authorization)).toEqual(["Bearer secret"]);
  expect(other.requests).toEqual([]);
});

test.each(["head", "body"])(
  "an archive that sends its %s byte by byte without an end holds an image until the deadline",
  async (part) => {
    const endless = net.createServer((socket) => {
      socket.on("error", () => undefined);
      socket.write(`HTTP/1.1 200 OK\r\n${part === "body" ? "content-type: text/plain\r\n\r\n" : ""}`);
      const timer = setInterval(() => socket.write(part === "body" ? "x" : "x: y\r\n"), 20);
      socket.on("close", () => clearInterval(timer));
    });
    await new Promise<void>((resolve) => void endless.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void endless.close());
    const { port } = endless.address() as AddressInfo;
    const image = { sopInstance: "1.2.3", transferSyntax: EXPLICIT };
    const target = { url: `http://127.0.0.1:${port}/dicom-web`, authorizationFile };
    await expect(
      stow(target, file, image, { idleMs: patiently(1_000), bytesPerSecond: 1_000_000 }),
    ).rejects.toMatchObject({
      kind: "uncertain",
      message: expect.stringContaining("expected at least 1000000 bytes a second, got less") as string,
    });
  },
);

test("URLs in an image and in the archive's response are never fetched", async () => {
  const [archive, other] = [await startArchive(), await startArchive()];
  const url = `http://127.0.0.1:${other.port}/`;
  // Retrieve URL (0008,1190), as a device writes it and as an archive returns it.
  fs.writeFileSync(file, Buffer.concat([Buffer.from([8, 0, 0x90, 0x11]), Buffer.from(`UR\0\0\0\0\0\0${url}`)]));
  archive.answer = { status: 200, body: JSON.stringify({ "00081190": { vr: "UR", Value: [url] } }) };
  const sockets = countSockets();
  await send(archive);
  expect(archive.requests.map((request) => request.url)).toEqual(["/dicom-web/studies"]);
  expect([other.requests, sockets()]).toEqual([[], 1]);
});

test("an image with the delimiter of an earlier request is sent unchanged, in one part", async () => {
  const archive = await startArchive();
  const boundaryOf = (type = "") => /boundary=(\S+)$/.exec(type)?.[1] ?? "none";
  await send(archive);
  const earlier = boundaryOf(archive.requests[0]?.headers["content-type"]);
  const image = Buffer.from(
    `begin\r\n--${earlier}\r\nContent-Type: application/dicom\r\n\r\nforged\r\n--${earlier}--\r\nend`,
  );
  fs.writeFileSync(file, image);
  await send(archive);
  const { headers, body } = archive.requests[1]!;
  const parts = body.toString("latin1").split(`--${boundaryOf(headers["content-type"])}`);
  const head = `\r\nContent-Type: application/dicom; transfer-syntax=${EXPLICIT}\r\n\r\n`;
  expect(parts).toEqual(["", `${head}${image.toString("latin1")}\r\n`, "--\r\n"]);
});
