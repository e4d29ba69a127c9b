import { execFile } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import type { PairingCode } from "../../../server/dashboard/types/devices/devices.ts";
import type { NetworkChange, NetworkSetting } from "../../../server/dashboard/types/settings/network.ts";
import { patiently } from "../../support/runner/patience.ts";
import { AGENT, freePort, SERVER, start, temporaryFolder, until } from "../../support/machine/processes.ts";

// Method: `server run` as a clinic starts it, its admin over HTTP, and OpenSSL as the client of the network.

const run = promisify(execFile);

interface Admin {
  readonly cookie: string;
  readonly user: string;
  readonly clinic: string;
}

async function begin(data: string, ...options: string[]) {
  const server = start(SERVER, ["run", "--port", "0", "--data", data, ...options], { DATABASE_URL: undefined });
  onTestFinished(async () => void (await server.end("SIGKILL")));
  const [, here = ""] = await until(
    "the server listens",
    () => /listening on (http:\/\/[\d.]+:\d+)/.exec(server.output()),
    patiently(60_000),
  );

  async function call(method: string, url: string, body?: object, admin?: Admin) {
    const response = await fetch(`${here}/clinic/v1${url}`, {
      method,
      headers: {
        "content-type": "application/json",
        "sec-fetch-site": "same-origin",
        ...(admin && { cookie: admin.cookie, "x-vetwire-user": admin.user }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    const answer: unknown = await response.json();
    if (!response.ok) throw new Error(JSON.stringify(answer));
    return { answer, cookie: response.headers.get("set-cookie")?.split(";")[0] ?? "" };
  }

  async function setUp(): Promise<Admin> {
    const code = fs.readFileSync(path.join(data, "setup-code"), "utf8").trim();
    const body = { code, name: "Admin", password: "a long enough password", clinic_name: "Ours" };
    const { cookie } = await call("POST", "/set-up", body);
    const session = await call("GET", "/session", undefined, {
      ...{ cookie, user: "", clinic: "" },
    });
    const answer = session.answer as { user: { id: string }; clinics: { fp: string }[] };
    return { cookie, user: answer.user.id, clinic: answer.clinics[0]?.fp ?? "" };
  }
  const change = async (admin: Admin, setting: NetworkSetting) =>
    (await call("PUT", `/clinics/${admin.clinic}/network`, setting, admin)).answer as NetworkChange;
  const makeCode = async (admin: Admin) =>
    (await call("POST", `/clinics/${admin.clinic}/pairing-code`, {}, admin)).answer as PairingCode;
  return { ...server, here, setUp, change, makeCode };
}

/** The judgement of OpenSSL about a port, with a server's authority. */
async function verified(port: number, data: string): Promise<string> {
  const ca = path.join(temporaryFolder(), "ca.pem");
  const { certificate } = JSON.parse(fs.readFileSync(path.join(data, "authority.json"), "utf8")) as {
    certificate: string;
  };
  fs.writeFileSync(ca, certificate);
  const client = [
    "s_client",
    "-connect",
    `127.0.0.1:${port}`,
    "-CAfile",
    ca,
    "-verify_ip",
    "127.0.0.1",
    "-verify_return_error",
  ];
  const done = run("openssl", client, { timeout: patiently(20_000) });
  done.child.stdin?.end();
  const text = await done.then(
    ({ stdout, stderr }) => stdout + stderr,
    (error: { stdout: string; stderr: string }) => error.stdout + error.stderr,
  );
  return /Verify return code: 0 \(ok\)/.test(text)
    ? "ok"
    : (/verify error:[^\n]*|Connection refused/i.exec(text)?.[0] ?? text);
}

test("two servers of one network have authorities of their own, and each one's setting survives SIGKILL", async () => {
  const folders = [path.join(temporaryFolder(), "one"), path.join(temporaryFolder(), "two")] as const;
  const ports = [await freePort(), await freePort()] as const;
  for (const [index, data] of folders.entries()) {
    const server = await begin(data);
    const admin = await server.setUp();
    const { refused } = await server.change(admin, { way: "own authority", port: ports[index as 0 | 1] });
    expect(refused).toBe(null);
    await server.end("SIGKILL");
    await begin(data);
  }
  for (const at of [0, 1] as const)
    await until(`port ${at}`, async () => (await verified(ports[at], folders[at])) === "ok");
  expect(await verified(ports[0], folders[1])).toMatch(/^verify error/);
  expect(await verified(ports[1], folders[0])).toMatch(/^verify error/);
});

test("a server that is killed in the middle of a change starts with the old setting or the new one", async () => {
  const data = path.join(temporaryFolder(), "data");
  const [one, two] = [await freePort(), await freePort()];
  let server = await begin(data);
  const admin = await server.setUp();
  const stored = () => JSON.parse(fs.readFileSync(path.join(data, "network.json"), "utf8")) as { port: number };
  await server.change(admin, { way: "own authority", port: one });
  const seen = new Set<number>();
  for (const wait of [0, 10, 40, 160, null]) {
    const port = stored().port === one ? two : one;
    const changing = server.change(admin, { way: "own authority", port }).catch(() => null);
    // The last change is made, so that the set has both ports on a machine that is slower than all waits.
    await (wait === null ? changing : new Promise((resolve) => setTimeout(resolve, wait)));
    await server.end("SIGKILL");
    await changing;
    const kept = stored().port;
    expect([one, two]).toContain(kept);
    seen.add(kept);
    server = await begin(data);
    await until("its port", async () => (await verified(kept, data)) === "ok");
    expect(await verified(kept === one ? two : one, data)).toMatch(/refused/i);
  }
  expect(seen.size).toBe(2);
});

test("options of the command line win over the stored setting, and the page names them", async () => {
  const data = path.join(temporaryFolder(), "data");
  const port = await freePort();
  const first = await begin(data);
  const admin = await first.setUp();
  await first.change(admin, { way: "own authority", port });
  await first.end();
  const fixed = await begin(data, "--host", "127.0.0.1", "--trust-proxy", "127.0.0.1");
  const { refused, network } = await fixed.change(admin, { way: "this machine" });
  expect(refused).toEqual({ code: "set by options", got: "--host --trust-proxy" });
  expect(network.fixed_by).toEqual(["--host", "--trust-proxy"]);
  expect(await verified(port, data)).toMatch(/refused/i);
});

test("a PC is paired over the network, keeps its pin in agent.yaml, and reports another authority", async () => {
  const data = path.join(temporaryFolder(), "data");
  const port = await freePort();
  const first = await begin(data);
  const admin = await first.setUp();
  await first.change(admin, { way: "own authority", port });
  const folder = temporaryFolder();
  const [config, key] = [path.join(folder, "agent.yaml"), path.join(folder, "agent.key")];
  fs.writeFileSync(
    config,
    `server: { url: "http://old:8080", keyFile: ./agent.key } # ours\ndata: ./data\ntimeZone: UTC\ndevices: []\n`,
  );
  const agent = (...command: string[]) =>
    run(process.execPath, [AGENT, ...command, "--config", config], { timeout: patiently(60_000) }).then(
      ({ stdout, stderr }) => stdout + stderr,
      (error: { stdout: string; stderr: string }) => error.stdout + error.stderr,
    );
  const pairWith = async ({ code }: PairingCode) =>
    agent("pair", "--server", `https://localhost:${port}`, "--code", code, "--name", "Lab PC", "--key-file", key);
  expect(await pairWith(await first.makeCode(admin))).toContain("names the server's address and certificate now");
  const written = fs.readFileSync(config, "utf8");
  expect(written).toMatch(
    /^server: \{ url: "https:\/\/localhost:\d+", pin: "sha256\/.{43}=", keyFile: \.\/agent\.key \} # ours\ndata: /,
  );
  expect(await agent("doctor")).toContain("the server has the certificate of the pairing");

  await first.end();
  fs.rmSync(path.join(data, "authority.json"));
  const second = await begin(data);
  await until("its port", async () => (await verified(port, data).catch(() => null)) === "ok");
  const told = await agent("doctor");
  expect(told).toContain("another certificate than that of the paired server came from localhost");
  expect(told).toContain("pair this PC again");
  expect(await pairWith(await second.makeCode(admin))).toContain("paired with Ours");
  expect(fs.readFileSync(config, "utf8")).not.toBe(written);
  expect(await agent("doctor")).toContain("the server has the certificate of the pairing");
});
