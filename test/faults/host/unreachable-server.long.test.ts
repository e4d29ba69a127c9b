import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import https from "node:https";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { bloodCount, frameOf, MllpClient, verdict } from "../../support/protocols/hl7.ts";
import { AGENT, freePort, start, startProgram, until, World } from "../../support/machine/processes.ts";

// Goal: an expired certificate of the server and a name that does not resolve cost no result and delay no acknowledgement, and
// both are reported. Method: an agent process, in front of the server a proxy with TLS or a machine whose resolver does not
// respond.

/** A resolver that does not respond holds a thread of Node's pool for 10 s, where files are read, too. */
const ACKNOWLEDGED_MS_MAX = 5_000;

let world: World;
let port: number;

beforeEach(async () => {
  world = await World.create(1);
  port = await freePort();
});

afterEach(() => world.end());

function configure(): void {
  world.writeConfig([{ id: "hema-1", profile: "generic-hl7", connection: { listen: `127.0.0.1:${port}` } }]);
}

let lastId = 0;

/** Sends a result of another minute each. @returns its number of leukocytes */
async function send(): Promise<number> {
  const id = (lastId += 1);
  const minute = String(id).padStart(2, "0");
  const client = await MllpClient.connect(port);
  client.send(frameOf(bloodCount({ id: `M${id}`, patient: "5000", measured: `2026010110${minute}00`, wbc: id })));
  expect(verdict(await client.nextReply(ACKNOWLEDGED_MS_MAX))).toBe(`AA M${id}`);
  client.close();
  return id;
}

/** @returns the results at the server, by their count of leukocytes */
function results(): number[] {
  const values = world.serverStudies().flatMap(({ results: rows }) => rows.filter(({ analyte }) => analyte === "WBC"));
  return values.map(({ value }) => value).toSorted((one, other) => one - other);
}

/** The reason that `agent status` shows for the state of the server. */
function serverReason(): string {
  return world.status().server?.reason ?? "";
}

/** Makes a certificate of its own for 127.0.0.1, valid from one year to another. */
function certificate(from: number, to: number): { readonly cert: string; readonly key: string } {
  const folder = fs.mkdtempSync(path.join(world.folder, "certificate-"));
  const file = (name: string) => path.join(folder, name);
  fs.writeFileSync(
    file("openssl.conf"),
    `[ca]\ndefault_ca=own\n[own]\ndatabase=${file("index")}\nnew_certs_dir=${folder}\nrand_serial=yes\ndefault_md=sha256
policy=names\nx509_extensions=added\n[names]\ncommonName=supplied\n[added]\nsubjectAltName=IP:127.0.0.1\n`,
  );
  fs.writeFileSync(file("index"), "");
  const openssl = (...args: readonly string[]) => execFileSync("openssl", args, { stdio: "pipe" });
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", file("key")];
  openssl("req", "-new", ...newKey, "-subj", "/CN=server", "-out", file("request"));
  const dates = ["-startdate", `${from}0101000000Z`, "-enddate", `${to}0101000000Z`];
  const files = ["-in", file("request"), "-keyfile", file("key"), "-out", file("certificate")];
  openssl("ca", "-batch", "-selfsign", "-notext", "-config", file("openssl.conf"), ...dates, ...files);
  return { cert: fs.readFileSync(file("certificate"), "utf8"), key: fs.readFileSync(file("key"), "utf8") };
}

test("results stay with the agent while the server's certificate is expired, and are filed once it is renewed", async () => {
  const [expired, renewed] = [certificate(2020, 2021), certificate(2020, 2099)];
  const proxy = https.createServer(renewed, (request, response) => {
    const { method, headers, url } = request;
    const target = http.request({ host: "127.0.0.1", port: world.serverPort, path: url, method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    request.pipe(target.on("error", () => response.destroy()));
  });
  await new Promise<void>((resolve) => void proxy.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void proxy.close());
  world.serverUrl = `https://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const trusted = path.join(world.folder, "trusted.pem");
  fs.writeFileSync(trusted, expired.cert + renewed.cert);
  configure();
  world.agent = start(AGENT, ["run", "--config", world.config], { NODE_EXTRA_CA_CERTS: trusted });
  await until("the agent runs", () => world.agent.output().includes("the agent is running"));

  // The agent knows the patients before the fault, so that it tries to send the studies during it.
  const sent = [await send()];
  await until("the first result is at the server", () => results().length === 1);
  proxy.setSecureContext(expired);
  proxy.closeAllConnections();
  sent.push(await send(), await send());
  await until("the fault is reported", () => serverReason().includes("CERT_HAS_EXPIRED"));
  expect(world.agent.output()).toContain("CERT_HAS_EXPIRED");
  const doctor = start(AGENT, ["doctor", "--config", world.config], { NODE_EXTRA_CA_CERTS: trusted });
  await until("the doctor ends", () => doctor.process.exitCode !== null);
  expect(doctor.output()).toMatch(/the server's certificate ended .*2021/);
  expect(results()).toHaveLength(1);

  proxy.setSecureContext(renewed);
  await until("the results are at the server", () => results().length === sent.length);
  await world.drained();
  expect(results()).toEqual(sent);
});

const NAME = "clinic-server.test";
const isAllowed = spawnSync("unshare", ["-m", "true"]).status === 0;
if (!isAllowed) process.stderr.write("a server whose name does not resolve: skipped, unshare -m is not permitted\n");

test.runIf(isAllowed)(
  "a resolver that does not respond delays no acknowledgement, and the results are filed later",
  {
    timeout: 180_000,
  },
  async () => {
    const [hosts, resolver] = [path.join(world.folder, "hosts"), path.join(world.folder, "resolv.conf")];
    fs.writeFileSync(hosts, "127.0.0.1 localhost\n");
    // An address for documentation, which nobody has (RFC 5737).
    fs.writeFileSync(resolver, "nameserver 192.0.2.1\noptions timeout:5 attempts:2\n");
    world.serverUrl = `http://${NAME}:${world.serverPort}`;
    configure();
    const mount = (from: string, to: string) => `mount --bind '${from}' $(readlink -f ${to})`;
    const own = [mount(hosts, "/etc/hosts"), mount(resolver, "/etc/resolv.conf"), 'exec "$@"'].join(" && ");
    const agent = [process.execPath, AGENT, "run", "--config", world.config];
    world.agent = startProgram("unshare", ["-m", "sh", "-c", own, "sh", ...agent], process.env);
    await until("the agent runs", () => world.agent.output().includes("the agent is running"));

    const sent: number[] = [];
    const until10s = Date.now() + 10_000;
    while (Date.now() < until10s) {
      sent.push(await send());
      await new Promise((resolve) => setTimeout(resolve, 400));
    }
    await until("the fault is reported", () => /EAI_AGAIN|ENOTFOUND/.test(serverReason()));
    expect(results()).toEqual([]);

    fs.appendFileSync(hosts, `127.0.0.1 ${NAME}\n`);
    await until("the results are at the server", () => results().length === sent.length, 90_000);
    await world.drained();
    expect(results()).toEqual(sent);
  },
);
