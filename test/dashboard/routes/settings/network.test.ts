import { once } from "node:events";
import type http from "node:http";
import https from "node:https";
import { X509Certificate } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { issueCertificate, makeAuthority } from "../../../../server/network/authority.ts";
import { listRowsOf } from "../../../../server/records/audit/audit.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import type { NetworkBody, NetworkChange } from "../../../../server/dashboard/types/settings/network.ts";
import { freePort } from "../../../support/machine/processes.ts";
import { clinic, startServer } from "../../../server/harness.ts";
import { makeUser } from "../../harness.ts";

const [ours, theirs] = [newFp("clinic"), newFp("clinic")];

async function start(...clinics: string[]) {
  const server = await startServer(...clinics.map((fp) => clinic(fp)));
  await server.app.listen({ port: 0, host: "127.0.0.1" });
  await server.network.start(server.app, true);
  return { ...server, lan: { way: "own authority", port: await freePort() } };
}

test("an admin opens the network, the audit names who did, and anybody loads the authority's certificate", async () => {
  const server = await start(ours);
  const admin = await makeUser(server, "admin", ours);
  const authority = async () => server.app.inject({ url: "/clinic/v1/authority.crt" });
  expect((await authority()).statusCode).toBe(404);
  expect((await admin.call<NetworkBody>("GET", "/network")).body).toMatchObject({
    way: "this machine",
    may_change: true,
  });
  const { body } = await admin.call<NetworkChange>("PUT", "/network", server.lan);
  expect(body).toMatchObject({ refused: null, network: { way: "own authority", port: server.lan.port } });
  const loaded = await authority();
  expect(loaded.headers["content-type"]).toBe("application/x-x509-ca-cert");
  expect(new X509Certificate(loaded.body).fingerprint256).toBe(body.network.authority?.fingerprint);
  expect((await listRowsOf(server.store, ours)).map(({ route }) => route)).toContain("network: own authority");
});

test("the response to a change arrives on the port that the change ends", async () => {
  const server = await start(ours);
  const admin = await makeUser(server, "admin", ours);
  const url = `https://localhost:${server.lan.port}/clinic/v1/clinics/${ours}/network`;
  await server.network.change({ way: "own authority", port: server.lan.port });
  const ca = server.network.authority ?? "";
  const ask = async (method: string, body?: object) => {
    const headers = {
      cookie: admin.cookie.replace("vetwire=", "__Host-vetwire="),
      "content-type": "application/json",
      "sec-fetch-site": "same-origin",
    };
    const request = https.request(url, { method, headers, ca, agent: false });
    request.end(body && JSON.stringify(body));
    const [response] = (await once(request, "response")) as [http.IncomingMessage];
    let text = "";
    for await (const part of response) text += String(part);
    return JSON.parse(text) as NetworkChange;
  };
  expect(await ask("PUT", { way: "this machine" })).toMatchObject({ refused: null, network: { way: "this machine" } });
  await expect(ask("GET")).rejects.toThrow("ECONNREFUSED");
});

test("only a user who is admin in each clinic of the server changes its network", async () => {
  const server = await start(ours, theirs);
  const statuses = [];
  for (const [role, ...of] of [
    ["staff", ours],
    ["admin", ours],
    ["admin", ours, theirs],
  ] as const) {
    const user = await makeUser(server, role, of[0], ...of.slice(1));
    const { body } = await user.call<NetworkBody>("GET", "/network");
    statuses.push([body.may_change, (await user.call("PUT", "/network", server.lan)).status]);
  }
  expect(statuses).toEqual([
    [undefined, 403],
    [false, 409],
    [true, 200],
  ]);
});

test("no response and no log line contains a private key", async () => {
  const server = await start(ours);
  const own = { names: ["clinic-pc.local"], addresses: [] };
  const { cert, key } = issueCertificate(makeAuthority(own, Date.now()), ["clinic-pc.local"], Date.now());
  server.clock.now = Date.now();
  const wanted = { way: "own certificate", port: server.lan.port, chain: cert.toString(), key: key.toString() };
  const admin = await makeUser(server, "admin", ours);
  const refused = await admin.call<NetworkChange>("PUT", "/network", {
    ...wanted,
    chain: wanted.key,
    key: wanted.chain,
  });
  expect(refused.body.refused).toEqual({ code: "no certificate", got: "-----BEGIN PRIVATE KEY-----" });
  const applied = await admin.call<NetworkChange>("PUT", "/network", wanted);
  expect(applied.body.refused).toBe(null);
  const secret = key.toString().split("\n")[1] ?? "";
  const kept = fs.readFileSync(path.join(server.folder, "network.json"), "utf8");
  expect(JSON.stringify(kept)).toContain(secret.slice(0, 20));
  const shown = [refused.text, applied.text, (await admin.call("GET", "/network")).text, server.log.join("\n")].join();
  expect(shown).not.toContain(secret.slice(0, 20));
});

test("a body that is not a setting is refused with what was expected", async () => {
  const server = await start(ours);
  const admin = await makeUser(server, "admin", ours);
  const bodies = [
    {},
    { way: "tunnel" },
    { way: "own authority", port: 0 },
    { way: "own authority" },
    { way: "proxy", url: "x" },
  ];
  for (const body of bodies) expect([body, (await admin.call("PUT", "/network", body)).status]).toEqual([body, 400]);
});
