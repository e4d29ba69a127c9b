import fs from "node:fs";
import path from "node:path";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { pair } from "../../../agent/push/pair.ts";
import { pairWith } from "../../../agent/setup/pairing.ts";
import { PairingError } from "../../../agent/push/faults.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { readCode } from "../../../shared/api/agent/pairing.ts";
import type { PairingCode } from "../../../server/dashboard/types/devices/devices.ts";
import { isWellFormedKey } from "../../../shared/runtime/api-key.ts";
import { listAgents } from "../../../server/records/agents/agents.ts";
import { makeUser } from "../../dashboard/harness.ts";
import { clinic, startServer, temporaryFolder } from "../../server/harness.ts";
import { freePort } from "../../support/machine/processes.ts";
import { scriptedServer, type Step } from "../../support/peers/scripted-server.ts";

// Method: the agent's side against the real server, and against servers that respond as other programs do.

const fp = newFp("clinic");
const CODE = "7KQM-X2HD-9FVT";

async function startDesk() {
  const server = await startServer(clinic(fp));
  await server.app.listen({ port: 0, host: "127.0.0.1" });
  server.clock.now = Date.now();
  const admin = await makeUser(server, "admin", fp);
  const { port } = server.app.server.address() as AddressInfo;
  const makeCode = async () => (await admin.call<PairingCode>("POST", "/pairing-code", {})).body.code;
  return { ...server, url: `http://127.0.0.1:${port}`, makeCode };
}

const keyFileIn = (folder = temporaryFolder()) => path.join(folder, "agent.key");

async function scripted(respond: () => Step) {
  const server = await scriptedServer(respond);
  onTestFinished(() => server.close());
  return server;
}

/** @returns the fault of a pairing that writes no key file, without the folder's random name */
async function faultOf(serverUrl: string, code = CODE, keyFile = keyFileIn()): Promise<[string, string]> {
  const error = await pair({ serverUrl, code, name: "Lab PC", keyFile }).then(
    () => new Error("expected a fault, got a pairing"),
    (fault: unknown) => fault,
  );
  if (!(error instanceof PairingError)) throw error;
  if (fs.existsSync(keyFile) && fs.statSync(keyFile).isFile()) throw new Error("expected no key file");
  return [error.answer, error.message.replaceAll(path.dirname(keyFile), "FOLDER")];
}

test("a code is read as people type it, and no other text is one", () => {
  for (const typed of ["7KQM-X2HD-9FVT", " 7kqm x2hd 9fvt ", "7kqmx2hd9fvt"])
    expect(readCode(typed)).toBe("7KQMX2HD9FVT");
  expect([readCode("olIO-1234-5678"), readCode("OLIO12345678")]).toEqual(["011012345678", "011012345678"]);
  for (const typed of ["", "7KQM-X2HD-9FV", "7KQM-X2HD-9FVTT", "7KQM-X2HD-9FVU", "7KQM-X2HD-9FV!", "７KQMX2HD9FVT"])
    expect([typed, readCode(typed)]).toEqual([typed, null]);
});

test("a code gives a private key file that works, and the address is taken from any page of the dashboard", async () => {
  const { url, makeCode, get } = await startDesk();
  const keyFile = path.join(temporaryFolder(), "new", "agent.key");
  const pairing = await pair({ serverUrl: `${url}/dashboard/devices?x#y`, code: await makeCode(), name: "", keyFile });
  expect(pairing).toEqual({
    serverUrl: url,
    agent: expect.stringMatching(/^agent_/),
    clinic: { fp, name: "A clinic" },
    warnings: [],
  });
  const key = fs.readFileSync(keyFile, "utf8").trim();
  expect(isWellFormedKey(key)).toBe(true);
  expect(fs.statSync(keyFile).mode & 0o777).toBe(0o600);
  expect(fs.readdirSync(path.dirname(keyFile))).toEqual(["agent.key"]);
  expect((await get(key, "/agent/v1/ranges")).status).toBe(200);
});

test("a repeated code replaces a lost response, and no second key is made", async () => {
  const { url, makeCode, store, get } = await startDesk();
  const code = await makeCode();
  const keyFile = keyFileIn();
  // A proxy that passes the request on and loses the first response.
  let lost = 0;
  const { createServer } = await import("node:http");
  const proxy = createServer((request, response) => {
    void (async () => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      const headers = { "content-type": "application/json", "x-api-key": String(request.headers["x-api-key"]) };
      const answer = await fetch(`${url}${request.url}`, { method: "POST", headers, body: Buffer.concat(parts) });
      const text = await answer.text();
      lost += 1;
      if (lost === 1) return request.socket.destroy();
      response.writeHead(answer.status, { "content-type": "application/json" });
      response.end(text);
    })();
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void proxy.close());
  const serverUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const [answer, message] = await faultOf(serverUrl, code, keyFile);
  expect([answer, message]).toEqual(["server", expect.stringContaining("try again with the same code")]);
  expect(await listAgents(store)).toHaveLength(1);
  expect((await pair({ serverUrl, code, name: "Lab PC", keyFile })).clinic.fp).toBe(fp);
  expect(await listAgents(store)).toHaveLength(1);
  expect((await get(fs.readFileSync(keyFile, "utf8").trim(), "/agent/v1/ranges")).status).toBe(200);
});

test("a PC that is paired again keeps its old key until the new one works", async () => {
  const { url, makeCode, get } = await startDesk();
  const keyFile = keyFileIn();
  const name = "Lab PC";
  await pair({ serverUrl: url, code: await makeCode(), name, keyFile });
  const first = fs.readFileSync(keyFile, "utf8");
  await makeCode();
  await expect(pair({ serverUrl: url, code: CODE, name, keyFile })).rejects.toThrow("wrong");
  expect(fs.readFileSync(keyFile, "utf8")).toBe(first);
  await pair({ serverUrl: url, code: await makeCode(), name, keyFile });
  const second = fs.readFileSync(keyFile, "utf8").trim();
  expect(second).not.toBe(first.trim());
  expect((await get(second, "/agent/v1/ranges")).status).toBe(200);
});

test("the fault of a wrong or ended code names the place for a new one", async () => {
  const { url, makeCode, clock } = await startDesk();
  const code = await makeCode();
  expect(await faultOf(url, "hello")).toEqual(["code", expect.stringContaining("Add a clinic PC")]);
  const wrong = code.slice(0, -1) + (code.endsWith("2") ? "3" : "2");
  expect(await faultOf(url, wrong)).toEqual(["code", expect.stringContaining("Compare it")]);
  clock.now += 15 * 60_000;
  expect(await faultOf(url, code)).toEqual(["code", expect.stringContaining("Make a new one")]);
});

test("invalid addresses, addresses without a server and those of another program are distinguished", async () => {
  for (const url of ["", "vetwire.example.com", "ftp://vetwire.example.com", "http://", "http://a b"])
    expect(await faultOf(url)).toEqual(["server", expect.stringContaining("expected the address of the dashboard")]);
  expect(await faultOf(`http://127.0.0.1:${await freePort()}`)).toEqual([
    "server",
    expect.stringMatching(/\(ECONNREFUSED\): check the address and the network/),
  ]);
  const another = "another program than a Vetwire server answered";
  for (const step of [
    { status: 200, body: "<html>hello</html>" },
    { status: 200, body: { data: { agent: "me" } } },
    { status: 200, body: "null" },
    { status: 404, body: "<html>no such page</html>" },
    { status: 404, body: { success: false, error: { code: "NOT_FOUND", message: "Cannot POST /" } } },
    { status: 400, body: { success: false, error: { code: "x", message: "no" } } },
    { status: 302, headers: { location: "https://example.com" }, body: "" },
  ])
    expect(await faultOf((await scripted(() => step)).url)).toEqual(["server", expect.stringContaining(another)]);
});

test("a server that is too old, busy or full is reported in its own words", async () => {
  const envelope = (status: number, code: string, message: string) => ({
    status,
    body: { success: false, error: { code, message, severity: "error" } },
  });
  const old = await scripted(() => envelope(404, "ROUTE.NOT_FOUND", "There is nothing at /agent/v1/pair."));
  expect(await faultOf(old.url)).toEqual(["server", expect.stringMatching(/compare the address .* update it/)]);
  const busy = await scripted(() => envelope(429, "PAIRING.TOO_MANY_ATTEMPTS", "Wait 15 minutes."));
  expect(await faultOf(busy.url)).toEqual(["code", "Wait 15 minutes."]);
  const full = await scripted(() => envelope(409, "RECORD.REFUSED", "Revoke one."));
  expect(await faultOf(full.url)).toEqual(["none", "Revoke one."]);
});

test("a wrong clock and plain http beyond this machine are warnings", async () => {
  const date = new Date(Date.now() - 600_000).toUTCString();
  const body = { data: { agent: newFp("agent"), clinic: { fp, name: "A clinic" } } };
  const server = await scripted(() => ({ status: 200, headers: { date }, body }));
  const { warnings } = await pair({ serverUrl: server.url, code: CODE, name: "PC", keyFile: keyFileIn() });
  expect(warnings).toEqual([expect.stringMatching(/clock is \d+ s ahead of .* set the one that is wrong$/)]);
});

test("a key that cannot be written is reported before the first request", async () => {
  const server = await scripted(() => ({ status: 200 }));
  const folder = temporaryFolder();
  const inFile = path.join(folder, "file", "agent.key");
  fs.writeFileSync(path.join(folder, "file"), "");
  expect(await faultOf(server.url, CODE, inFile)).toEqual(["key file", expect.stringContaining("choose a file")]);
  const isFolder = path.join(folder, "folder");
  fs.mkdirSync(isFolder);
  expect(await faultOf(server.url, CODE, isFolder)).toEqual(["key file", expect.stringContaining("choose a file")]);
  expect(server.requests).toEqual([]);
});

test("agents that share a folder of configurations get a key file each", async () => {
  const { url, makeCode } = await startDesk();
  const folder = temporaryFolder();
  for (const [file, keyFile] of [
    ["agent.yaml", "agent.key"],
    ["agent-lab.yaml", "agent-lab.key"],
  ] as const) {
    const paired = await pairWith({ file: path.join(folder, file) })({ url, code: await makeCode(), name: file });
    expect(paired.keyFile).toBe(keyFile);
  }
  expect(fs.readdirSync(folder).toSorted()).toEqual(["agent-lab.key", "agent.key"]);
});
