import fs from "node:fs";
import type http from "node:http";
import https from "node:https";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { pair } from "../../../agent/push/pair.ts";
import { PairingError } from "../../../agent/push/faults.ts";
import { tryWay } from "../../../agent/doctor/connections/server-network.ts";
import { createServerClient } from "../../../agent/push/server-client.ts";
import { issueCertificate, makeAuthority } from "../../../server/network/authority.ts";
import { newFp } from "../../../shared/api/fp.ts";
import type { PairingCode } from "../../../server/dashboard/types/devices/devices.ts";
import { proofKey, proofOf } from "../../../shared/network/pairing-proof.ts";
import { newKey } from "../../../shared/runtime/api-key.ts";
import { listAgents } from "../../../server/records/agents/agents.ts";
import { makeUser } from "../../dashboard/harness.ts";
import { clinic, startServer, temporaryFolder } from "../../server/harness.ts";
import { freePort } from "../../support/machine/processes.ts";

// Method: the agent's side over real TLS against the real server, and with another machine in the middle.

const fp = newFp("clinic");
const own = { names: ["clinic-pc"], addresses: [] };

async function startDesk() {
  const server = await startServer(clinic(fp));
  await server.app.listen({ port: 0, host: "127.0.0.1" });
  server.clock.now = Date.now();
  await server.network.start(server.app, true);
  const port = await freePort();
  await server.network.change({ way: "own authority", port });
  const admin = await makeUser(server, "admin", fp);
  const makeCode = async () => (await admin.call<PairingCode>("POST", "/pairing-code", {})).body;
  const url = `https://localhost:${port}`;
  return { ...server, url, port, admin, makeCode };
}

const keyFileIn = (folder = temporaryFolder()) => path.join(folder, "agent.key");

async function paired(desk: Awaited<ReturnType<typeof startDesk>>) {
  const keyFile = keyFileIn();
  const { code } = await desk.makeCode();
  const { pin, warnings } = await pair({ serverUrl: desk.url, code, name: "Lab PC", keyFile });
  const key = fs.readFileSync(keyFile, "utf8").trim();
  const client = (url = desk.url) => createServerClient(url, () => key, undefined, undefined, pin);
  return { pin, warnings, keyFile, client };
}

const fault = (work: Promise<unknown>) =>
  work.then(
    () => "no fault",
    (error: Error) => error.message,
  );

/** Another machine that responds in the server's place. It keeps what it receives. */
async function middle(respond: (body: string, key: string) => Promise<{ status: number; body: object }>, port = 0) {
  const authority = makeAuthority(own, Date.now());
  const { cert, key } = issueCertificate(authority, ["localhost"], Date.now());
  const heard: string[] = [];
  const answerTo = async (request: http.IncomingMessage, response: http.ServerResponse) => {
    let sent = "";
    for await (const part of request) sent += String(part);
    heard.push(sent);
    const { status, body } = await respond(sent, String(request.headers["x-api-key"]));
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  };
  const server = https.createServer({ cert, key }, (request, response) => void answerTo(request, response));
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const end = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  };
  onTestFinished(async () => {
    if (server.listening) await end();
  });
  return { end, url: `https://localhost:${(server.address() as AddressInfo).port}`, heard };
}

test("pairing over the server's own authority pins it, sends no code, and shows the address that PCs reach", async () => {
  const desk = await startDesk();
  expect((await desk.makeCode()).server).toBe(`https://192.168.77.10:${desk.port}`);
  const { pin, warnings, client } = await paired(desk);
  expect([pin, warnings]).toEqual([desk.network.pin, []]);
  expect(await client().get("/agent/v1/ranges")).toMatchObject({ success: true });
  expect(desk.log.join("")).not.toMatch(/[0-9A-Z]{4}-[0-9A-Z]{4}"/);
});

test("a renewed certificate needs nothing, and neither does a restart of the agent", async () => {
  const desk = await startDesk();
  const { client } = await paired(desk);
  const running = client();
  expect(await running.get("/agent/v1/ranges")).not.toBe(null);
  desk.own.addresses = ["192.168.77.11"];
  await desk.network.check();
  expect(await running.get("/agent/v1/ranges")).not.toBe(null);
  expect(await client().get("/agent/v1/ranges")).not.toBe(null);
});

test("a machine in the middle gets no code, cannot pass the pairing on, and cannot respond to it", async () => {
  const desk = await startDesk();
  const { code } = await desk.makeCode();
  const keyFile = keyFileIn();
  const attempt = async (url: string) => {
    const error = await pair({ serverUrl: url, code, name: "Lab PC", keyFile }).catch((each: unknown) => each);
    if (!(error instanceof PairingError)) throw new Error("expected a refusal");
    return error.message;
  };
  const passing = await middle(async (body, key) => {
    const answer = await desk.app.inject({
      ...{ method: "POST", url: "/agent/v1/pair", payload: body },
      headers: { "content-type": "application/json", "x-api-key": key },
    });
    return { status: answer.statusCode, body: answer.json<object>() };
  });
  expect(await attempt(passing.url)).toMatch(
    /^The PC sees a certificate with the public key sha256\/.+, and this server has sha256\//,
  );
  const data = { agent: newFp("agent"), clinic: { fp, name: "Ours" }, proof: `${"A".repeat(43)}=` };
  const lying = await middle(async () => ({ status: 200, body: { success: true, data } }));
  expect(await attempt(lying.url)).toMatch(
    /has a certificate with the public key sha256\/.+, and does not know the code/,
  );
  const sent = [...passing.heard, ...lying.heard].join("\n");
  expect(sent).not.toContain(code.slice(0, 4));
  expect(sent).toContain('"mac"');
  expect([fs.existsSync(keyFile), await desk.store.snapshot((session) => listAgents(session, fp))]).toEqual([
    false,
    [],
  ]);
  // The code is still good for the real server.
  expect((await pair({ serverUrl: desk.url, code, name: "Lab PC", keyFile })).pin).toBe(desk.network.pin);
});

test("the server takes a proof of its own certificate alone, of the right code alone, and for the sent key alone", async () => {
  const desk = await startDesk();
  const { code } = await desk.makeCode();
  const key = await proofKey(code.replaceAll("-", ""));
  const apiKey = newKey();
  const pin = desk.network.pin ?? "";
  const send = async (proof: object, as = apiKey) => {
    const sent = { method: "POST" as const, url: "/agent/v1/pair", headers: { "x-api-key": as } };
    const { body } = await desk.app.inject({ ...sent, payload: { proof, name: "Lab PC" } });
    return (JSON.parse(body) as { error?: { code: string; message: string } }).error;
  };
  const other = `sha256/${"A".repeat(43)}=`;
  const refused = await send({ pin: other, mac: proofOf("agent", key, { pin: other, apiKey }) });
  expect(refused).toMatchObject({ code: "PAIRING.OTHER_CERTIFICATE" });
  expect(refused?.message).toContain(`${other}, and this server has ${pin}`);
  const wrong = { code: "PAIRING.WRONG_CODE" };
  expect(await send({ pin, mac: proofOf("agent", await proofKey("00000000"), { pin, apiKey }) })).toMatchObject(wrong);
  expect(await send({ pin, mac: proofOf("server", key, { pin, apiKey }) })).toMatchObject(wrong);
  expect(await send({ pin, mac: proofOf("agent", key, { pin, apiKey: "another" }) })).toMatchObject(wrong);
});

test("an agent refuses another certificate with what it got and expected, also in the middle of its work", async () => {
  const desk = await startDesk();
  const { pin, client } = await paired(desk);
  const running = client();
  await running.get("/agent/v1/ranges");
  const { port } = desk;
  await desk.network.change({ way: "this machine" });
  const stranger = await middle(async () => ({ status: 200, body: {} }), port);
  expect(stranger.url).toBe(desk.url);
  const told = new RegExp(
    `^another certificate than that of the paired server came from localhost:${port}: its public key is sha256/.{43}=, sha256/.{43}=, expected ${pin?.replaceAll("+", "\\+")}\\. If the server was set up anew, pair this PC again`,
  );
  await expect.poll(() => fault(running.post("/agent/v1/heartbeat", {}))).toMatch(told);
  expect(await fault(client().get("/agent/v1/ranges"))).toMatch(told);
  expect(stranger.heard).toEqual([]);
  const codes = async (given?: string) => (await tryWay(desk.url, given)).found.map(({ id }) => id);
  expect([await codes(pin), await codes()]).toEqual([["server.other-certificate"], ["server.unknown-authority"]]);
  await stranger.end();
  await desk.network.change({ way: "own authority", port });
  expect(await codes(pin)).toEqual(["server.pinned"]);
});

test("with a certificate of the clinic the last one that the server sends is pinned, and its key outlives a renewal", async () => {
  const desk = await startDesk();
  const office = makeAuthority({ names: ["clinic-pc"], addresses: [] }, Date.now());
  const use = async (part: (chain: string) => string) => {
    const { cert, key } = issueCertificate(office, ["localhost"], Date.now());
    const chain = part(cert.toString());
    const setting = { way: "own certificate" as const, port: desk.port, chain, key: key.toString() };
    expect(await desk.network.change(setting)).toBe(null);
  };
  await use((chain) => chain);
  const whole = await paired(desk);
  await use((chain) => chain);
  expect(await whole.client().get("/agent/v1/ranges")).not.toBe(null);
  const alone = (chain: string) => chain.split(/(?<=-----END CERTIFICATE-----\n)/)[0] ?? "";
  await use(alone);
  const single = await paired(desk);
  expect(single.pin).not.toBe(whole.pin);
  expect(await single.client().get("/agent/v1/ranges")).not.toBe(null);
  await use(alone);
  expect(await fault(single.client().get("/agent/v1/ranges"))).toContain("another certificate than that of the paired");
});

test("a request with a lost response is repeated with the same key, and pairs once", async () => {
  const desk = await startDesk();
  const { code } = await desk.makeCode();
  const folder = temporaryFolder();
  const draft = async () => pair({ serverUrl: desk.url, code, name: "Lab PC", keyFile: keyFileIn(folder) });
  const first = await draft();
  fs.rmSync(keyFileIn(folder));
  expect(await fault(draft())).toContain("This code has ended");
  expect(first.pin).toBe(desk.network.pin);
});
