import { once } from "node:events";
import fs from "node:fs";
import http from "node:http";
import https from "node:https";
import net from "node:net";
import path from "node:path";
import tls from "node:tls";
import { expect, onTestFinished, test } from "vitest";
import { Network } from "../../../server/network/network.ts";
import { issueCertificate, makeAuthority } from "../../../server/network/authority.ts";
import type { NetworkSetting } from "../../../server/dashboard/types/settings/network.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { freePort } from "../../support/machine/processes.ts";
import { clinic, startServer } from "../harness.ts";

// Method: a server with its network, and real sockets.

const DAY_MS = 86_400_000;

async function start() {
  const server = await startServer(clinic(newFp("clinic")));
  const here = await server.app.listen({ port: 0, host: "127.0.0.1" });
  server.clock.now = Date.now();
  await server.network.start(server.app, true);
  const port = await freePort();

  /** Gets a page over TLS with the authority of the server. */
  const ask = (at = port, ca = server.network.authority ?? "") => get(`https://localhost:${at}/healthz`, { ca });
  const stored = () => {
    const file = path.join(server.folder, "network.json");
    return fs.existsSync(file) ? (JSON.parse(fs.readFileSync(file, "utf8")) as unknown) : null;
  };
  const lan: NetworkSetting = { way: "own authority", port };
  return { ...server, here, port, ask, stored, lan };
}

/** @returns the status, or the code of the failure */
async function get(url: string, options: https.RequestOptions = {}): Promise<number | string> {
  const { get: begin } = url.startsWith("https:") ? https : http;
  const request = begin(url, { ...options, agent: false });
  try {
    const [response] = (await once(request, "response")) as [http.IncomingMessage];
    response.resume();
    return response.statusCode ?? 0;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
}

/** Holds a port of this machine. */
async function taken(): Promise<number> {
  const holder = net.createServer().listen(0);
  await once(holder, "listening");
  onTestFinished(() => void holder.close());
  return (holder.address() as net.AddressInfo).port;
}

test("the network gets https of the server's own authority, while the address of this machine stays", async () => {
  const { network, ask, here, port, lan, folder } = await start();
  expect(network.state()).toMatchObject({ way: "this machine", addresses: [], authority: null, certificate: null });
  expect(await network.change(lan)).toBe(null);
  expect([await ask(), await get(`${here}/healthz`)]).toEqual([200, 200]);
  expect(network.state()).toMatchObject({
    way: "own authority",
    addresses: [`https://192.168.77.10:${port}`, `https://clinic-pc:${port}`, `https://clinic-pc.local:${port}`],
    certificate: { names: ["192.168.77.10", "clinic-pc", "clinic-pc.local", "localhost", "127.0.0.1"] },
    fault: null,
  });
  for (const name of ["network.json", "authority.json"])
    expect(fs.statSync(path.join(folder, name)).mode & 0o777).toBe(0o600);
  expect(await network.change({ way: "this machine" })).toBe(null);
  await expect.poll(() => ask()).toBe("ECONNREFUSED");
  expect(await get(`${here}/healthz`)).toBe(200);
});

test("after a restart the same port is open with the same authority", async () => {
  const first = await start();
  await first.network.change(first.lan);
  const { authority, pin } = first.network;
  await first.network.stop();
  const again = await restarted(first, true);
  expect([again.authority, again.pin]).toEqual([authority, pin]);
  expect(await first.ask()).toBe(200);
});

async function restarted(
  { folder, app, clock }: Awaited<ReturnType<typeof start>>,
  hasUsers: boolean,
  fixedBy: string[] = [],
) {
  const { pino } = await import("pino");
  const network = new Network({
    ...{ folder, now: () => clock.now, host: "127.0.0.1", fixedBy, proxies: [], publicUrl: null },
    logger: pino({ enabled: false }),
    mainCertificate: () => undefined,
    own: () => ({ names: ["clinic-pc"], addresses: ["192.168.77.10"] }),
  });
  onTestFinished(() => network.stop());
  await network.start(app, hasUsers);
  return network;
}

test("a server that lost its users, or whose options name the network, opens no port of its setting", async () => {
  const server = await start();
  await server.network.change(server.lan);
  await server.network.stop();
  const empty = await restarted(server, false);
  expect([await server.ask(), empty.state().way]).toEqual(["ECONNREFUSED", "this machine"]);
  await empty.stop();
  const fixed = await restarted(server, true, ["--host"]);
  expect(await server.ask()).toBe("ECONNREFUSED");
  expect(await fixed.change(server.lan)).toEqual({ code: "set by options", got: "--host" });
});

test("a damaged setting is reported, and the address of this machine stays", async () => {
  const server = await start();
  await server.network.change(server.lan);
  await server.network.stop();
  fs.writeFileSync(path.join(server.folder, "network.json"), '{"way":"own');
  const damaged = await restarted(server, true);
  expect(damaged.state()).toMatchObject({ way: "this machine", fault: { code: "not saved" } });
  expect(damaged.state().fault?.got).toContain("network.json is damaged: remove it and choose the network again");
  expect(await get(`${server.here}/healthz`)).toBe(200);
});

test("a port that is taken changes nothing: the old port stays open and stays the setting", async () => {
  const { network, ask, lan, stored, here } = await start();
  const busy = await taken();
  expect(await network.change({ way: "own authority", port: busy })).toEqual({
    code: "port in use",
    got: String(busy),
  });
  expect([stored(), network.state().way]).toEqual([null, "this machine"]);
  await network.change(lan);
  expect(await network.change({ way: "own authority", port: busy })).toEqual({
    code: "port in use",
    got: String(busy),
  });
  expect([await ask(), stored()]).toEqual([200, lan]);
  const main = Number(new URL(here).port);
  expect(await network.change({ way: "own authority", port: main })).toMatchObject({ code: "port of this machine" });
});

test("a setting that cannot be written is undone", async () => {
  const { network, folder, lan, ask, port } = await start();
  fs.mkdirSync(path.join(folder, "network.json.part", "full"), { recursive: true });
  fs.mkdirSync(path.join(folder, "network.json"));
  expect(await network.change(lan)).toMatchObject({ code: "not saved" });
  await expect.poll(() => get(`https://localhost:${port}/healthz`, { rejectUnauthorized: false })).toBe("ECONNREFUSED");
  expect([network.state().way, await ask()]).toEqual(["this machine", "ECONNREFUSED"]);
});

test("the certificate is renewed before its end and for a new address, without a connection closed", async () => {
  const { network, clock, own, lan, port, log } = await start();
  clock.now -= 59 * DAY_MS;
  await network.change(lan);
  const served = async () => {
    const socket = tls.connect({ port, host: "127.0.0.1", servername: "localhost", ca: network.authority ?? "" });
    await once(socket, "secureConnect");
    return socket;
  };
  const before = await served();
  await network.check();
  expect((await served()).getPeerCertificate().serialNumber).toBe(before.getPeerCertificate().serialNumber);
  own.addresses = ["192.168.77.99"];
  await network.check();
  const moved = (await served()).getPeerCertificate();
  expect(moved.subjectaltname).toContain("IP Address:192.168.77.99");
  expect(network.state().addresses[0]).toBe(`https://192.168.77.99:${port}`);
  const { pin } = network;
  clock.now += 59 * DAY_MS;
  await network.check();
  const renewed = (await served()).getPeerCertificate();
  expect(Date.parse(renewed.valid_to) - clock.now).toBeGreaterThan(80 * DAY_MS);
  expect([network.pin, before.destroyed, await network.connections()]).toEqual([pin, false, 4]);
  expect(log.filter((line) => line.includes("the certificate was renewed"))).toHaveLength(2);
  before.destroy();
});

test("a port that was taken at the start is reported, and opened as soon as it is free", async () => {
  const first = await start();
  await first.network.change(first.lan);
  await first.network.stop();
  const holder = net.createServer().listen(first.port);
  await once(holder, "listening");
  const again = await restarted(first, true);
  expect(again.state()).toMatchObject({
    way: "own authority",
    fault: { code: "port in use", got: String(first.port) },
  });
  holder.close();
  await once(holder, "close");
  await again.check();
  expect([again.state().fault, await first.ask()]).toEqual([null, 200]);
});

test("a certificate of the clinic is checked, refused by its fault, and served with its chain", async () => {
  const { network, port, clock, ask } = await start();
  const own = { names: ["clinic-pc.local"], addresses: [] };
  const authority = makeAuthority(own, clock.now);
  const other = makeAuthority(own, clock.now);
  const leaf = issueCertificate(authority, ["clinic-pc.local", "localhost"], clock.now);
  const [chain, key] = [leaf.cert.toString(), leaf.key.toString()];
  const refusal = async (more: { chain?: string; key?: string }) =>
    (await network.change({ way: "own certificate", port, chain, key, ...more }))?.code;
  const [first = ""] = chain.split(/(?<=-----END CERTIFICATE-----\n)/);
  expect([
    await refusal({ chain: "" }),
    await refusal({ chain: key }),
    await refusal({ key: chain }),
    await refusal({ key: "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----" }),
    await refusal({ key: other.key }),
    await refusal({ chain: first + other.certificate }),
    await refusal({ chain: authority.certificate, key: authority.key }),
  ]).toEqual(["no certificate", "no certificate", "no key", "encrypted key", "other key", "wrong chain", "no names"]);
  const late = issueCertificate(authority, ["localhost"], clock.now - 200 * DAY_MS);
  expect(await refusal({ chain: late.cert.toString(), key: late.key.toString() })).toBe("expired");
  const early = issueCertificate(authority, ["localhost"], clock.now + 200 * DAY_MS);
  expect(await refusal({ chain: early.cert.toString(), key: early.key.toString() })).toBe("not yet valid");
  expect(network.state().way).toBe("this machine");
  expect(await refusal({})).toBeUndefined();
  expect(await ask(port, authority.certificate)).toBe(200);
  expect(network.state().addresses).toEqual([`https://clinic-pc.local:${port}`]);
  expect(JSON.stringify(network.state())).not.toContain("PRIVATE");
});

test("with a proxy its X-Forwarded-For is believed, and its port takes nobody else", async () => {
  const { network, here, port } = await start();
  // The header is for a page that came by https alone.
  const isBelieved = async (url: string) => {
    const headers = { host: "vetwire.example.com", "x-forwarded-proto": "https" };
    const request = http.get(url, { headers, agent: false });
    const [response] = (await once(request, "response")) as [http.IncomingMessage];
    response.resume();
    return "strict-transport-security" in response.headers;
  };
  const url = "https://vetwire.example.com";
  const away: NetworkSetting = { way: "proxy", url, proxies: ["10.0.0.0/8"], listen: { host: "127.0.0.1", port } };
  expect(await network.change(away)).toBe(null);
  expect([network.trusts("10.1.2.3"), network.trusts("::ffff:10.1.2.3"), network.trusts("127.0.0.1")]).toEqual([
    true,
    true,
    false,
  ]);
  expect(await get(`http://127.0.0.1:${port}/healthz`)).toBe("ECONNRESET");
  expect(await isBelieved(here)).toBe(false);
  expect(await network.change({ ...away, proxies: ["127.0.0.1"] })).toBe(null);
  expect([await isBelieved(here), await isBelieved(`http://127.0.0.1:${port}`)]).toEqual([true, true]);
  expect(network.state()).toMatchObject({ addresses: [url], port: null });
  expect(await get(`${here}/healthz`)).toBe(200);
  expect(await network.change({ ...away, proxies: ["proxy.local"] })).toEqual({
    code: "wrong proxy",
    got: "proxy.local",
  });
  expect(await network.change({ ...away, url: "vetwire.example.com" })).toMatchObject({ code: "wrong url" });
  const strange = { host: "203.0.113.9", port };
  expect(await network.change({ ...away, listen: strange })).toEqual({ code: "no such address", got: "203.0.113.9" });
});
