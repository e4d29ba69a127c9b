import fs from "node:fs";
import http from "node:http";
import https from "node:https";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { afterEach, beforeAll, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { stow } from "../../../agent/imaging/archive/stow-rs.ts";
import { pair } from "../../../agent/push/pair.ts";
import { createServerClient } from "../../../agent/push/server-client.ts";
import { useNetwork } from "../../../shared/network/client.ts";
import { environmentProxies } from "../../../shared/network/proxy.ts";
import { ObjectStore } from "../../../agent/imaging/archive/s3/object-store.ts";
import { errorMessage } from "../../../shared/runtime/error-message.ts";
import { sendWebhook } from "../../../server/operations/webhooks/send.ts";
import { newWebhookSecret } from "../../../server/operations/webhooks/sign.ts";
import { bucketOf } from "../../support/peers/bucket.ts";
import { type Certificates, makeCertificates } from "../../support/peers/certificates.ts";
import { type ProxyBehaviour, startForwardProxy } from "../../support/peers/forward-proxy.ts";
import { WAIT_MS } from "../../support/runner/patience.ts";
import { temporaryFolder } from "../../support/machine/processes.ts";

// Method: each client of both programs sends a request through a real proxy on loopback. The target refuses every request with
// 418, so that a client that reports 418 has reached it.

const PASSWORD = "s3cret:%";
const ADDRESS = "93.184.216.34";
let folder: string;
let certificates: Certificates;

/** Each client sends one request to a base URL. Its failure, or its outcome, is a text. */
const CLIENTS: Readonly<Record<string, (url: string, deadlineMs: number) => Promise<unknown>>> = {
  push: (url, deadlineMs) =>
    createServerClient(url, () => "key", deadlineMs).post("/agent/v1/studies", { studies: [] }),
  download: (url, deadlineMs) =>
    createServerClient(url, () => "key", deadlineMs).download("/agent/v1/x", path.join(folder, "x"), 1000),
  pairing: (url) => pair({ serverUrl: url, code: "7KQM-X2HD-9FVT", name: "PC", keyFile: path.join(folder, "key") }),
  webhook: async (url, deadlineMs) => {
    const lookup = async () => [{ address: ADDRESS, family: 4 }];
    const receiver = { url, secret: newWebhookSecret() };
    const outcome = await sendWebhook(receiver, { id: "1", body: "{}" }, { allowPrivate: false, deadlineMs, lookup });
    if (!outcome.delivered) throw new Error(outcome.reason);
  },
  bucket: (url) => new ObjectStore({ ...bucketOf(1, folder), endpoint: url }, { secret: () => "key" }).tryWriting(),
  stow: (url) => {
    const file = path.join(folder, "image");
    fs.writeFileSync(file, "x".repeat(100_000));
    return stow({ url, authorizationFile: null }, file, { sopInstance: "1.2", transferSyntax: "1.2.840.10008.1.2.1" });
  },
};

const NAMES = Object.keys(CLIENTS);

async function failure(name: string, url: string, deadlineMs = WAIT_MS): Promise<string> {
  const outcome = await CLIENTS[name]?.(url, deadlineMs).then(() => "no failure", errorMessage);
  return outcome ?? "no such client";
}

beforeAll(() => {
  certificates = makeCertificates(temporaryFolder(), "cloud.example");
});

beforeEach(() => {
  folder = temporaryFolder();
});

afterEach(() => {
  useNetwork({ proxies: environmentProxies({}), ca: null });
  fs.rmSync(folder, { recursive: true });
});

/** Starts the target, and a proxy before it that the environment names. */
async function startWorld(scheme: string, behaviour: ProxyBehaviour = {}, user = "") {
  const { ca, agent } = certificates;
  const files = { cert: fs.readFileSync(agent.certificate), key: fs.readFileSync(agent.key) };
  const answer: http.RequestListener = (request, response) => {
    request.resume();
    response.writeHead(418).end();
  };
  const target = scheme === "https" ? https.createServer(files, answer) : http.createServer(answer);
  await new Promise<void>((resolve) => target.listen(0, "127.0.0.1", resolve));
  const proxy = await startForwardProxy((target.address() as AddressInfo).port, behaviour);
  onTestFinished(async () => {
    await proxy.close();
    target.closeAllConnections();
    target.close();
  });
  const address = `${behaviour.tls === undefined ? "http" : "https"}://${user}127.0.0.1:${proxy.port}`;
  const env = { HTTP_PROXY: address, HTTPS_PROXY: address };
  useNetwork({ proxies: environmentProxies(env), ca: fs.readFileSync(ca, "latin1") });
  return { ...proxy, url: `${scheme}://cloud.example`, env };
}

const user = `vet:${encodeURIComponent(PASSWORD)}@`;

test.each(NAMES)("a request of %s reaches an https target through a proxy with a password", async (name) => {
  const { seen, url } = await startWorld("https", { wants: `vet:${PASSWORD}` }, user);
  expect(await failure(name, name === "webhook" ? `${url}/` : url)).toMatch(
    name === "pairing" ? /another program/ : /418/,
  );
  // The proxy gets the address of a webhook that was checked, and not the name, which it might resolve to another one.
  expect(seen).toEqual([`CONNECT ${name === "webhook" ? ADDRESS : "cloud.example"}:443`]);
});

test.each(NAMES.filter((name) => name !== "webhook"))(
  "a request of %s reaches an http target through a proxy with a password",
  async (name) => {
    const { seen, url } = await startWorld("http", { wants: `vet:${PASSWORD}` }, user);
    expect(await failure(name, url)).toMatch(name === "pairing" ? /another program/ : /418/);
    expect(seen).toEqual([expect.stringMatching(/^(GET|POST|PUT) http:\/\/cloud\.example\//)]);
  },
);

const FAULTS: readonly [string, ProxyBehaviour, string, RegExp][] = [
  ["wants a password", { wants: "vet:x" }, "", /wants a user and a password \(407\): add them to HTTPS?_PROXY/],
  ["refuses the password", { wants: "vet:x" }, user, /refuses the user or the password \(407\): correct them/],
  [
    "wants another sign-in",
    { refuse: { status: 407, headers: { "proxy-authenticate": "Negotiate" } } },
    "",
    /wants a sign-in other than Basic/,
  ],
  [
    "reaches no target",
    { refuse: { status: 502 } },
    user,
    /got no response from (cloud\.example|93\.184).*\(502\): check/,
  ],
  [
    "closes the connection",
    { end: "cut" },
    user,
    /cannot be used, the connection broke off \(ECONNRESET\): check that it runs/,
  ],
];

test.each(FAULTS.flatMap(([fault, ...rest]) => NAMES.map((name) => [name, fault, ...rest] as const)))(
  "a request of %s whose proxy %s fails with the proxy's name, the remedy and no password",
  async (name, _, behaviour, credentials, reason) => {
    for (const scheme of name === "webhook" ? ["https"] : ["https", "http"]) {
      const { port, url } = await startWorld(scheme, behaviour, credentials);
      const text = await failure(name, url);
      expect(text).toMatch(reason);
      expect(text.toLowerCase()).toContain(`the proxy 127.0.0.1:${port} `);
      expect(text).not.toMatch(/s3cret|vet:|Basic [A-Za-z0-9+/]{8}/);
    }
  },
);

test.each(NAMES)("a request of %s whose proxy is away fails with the proxy's name and the remedy", async (name) => {
  for (const scheme of name === "webhook" ? ["https"] : ["https", "http"]) {
    const { close, port, url } = await startWorld(scheme);
    await close();
    const reason = `the proxy 127.0.0.1:${port} cannot be used, nothing listens there (ECONNREFUSED): check that it runs, and its address in `;
    expect((await failure(name, url)).replace("The", "the")).toContain(reason);
  }
});

test.each(["push", "download", "webhook"])("a request of %s whose proxy is silent names the proxy", async (name) => {
  for (const scheme of name === "push" ? ["https", "http"] : ["https"]) {
    if (name === "download") vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const { port, seen, url } = await startWorld(scheme, { end: "silent" });
    const failed = failure(name, url, 1000);
    if (name === "download") {
      await vi.waitUntil(() => seen.length > 0, WAIT_MS);
      vi.advanceTimersByTime(15_000);
    }
    expect(await failed).toMatch(
      new RegExp(`he proxy 127.0.0.1:${port} brought no response of .* within (1|15) s: check`),
    );
  }
});

test("a proxy that speaks TLS itself is reached with the authority of ca", async () => {
  const { certificate, key } = certificates.device;
  const tls = { cert: fs.readFileSync(certificate), key: fs.readFileSync(key) };
  for (const scheme of ["https", "http"]) {
    const { seen, url } = await startWorld(scheme, { tls });
    expect(await failure("push", url)).toContain("418");
    expect(seen.length).toBe(1);
  }
});

test("a target of NO_PROXY and this machine are reached without the proxy", async () => {
  const { seen, env } = await startWorld("http");
  const direct = http.createServer((_, response) => response.writeHead(418).end());
  await new Promise<void>((resolve) => direct.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void direct.close());
  const { port } = direct.address() as AddressInfo;
  expect(await failure("push", `http://localhost:${port}`)).toContain("418");
  useNetwork({ proxies: environmentProxies({ ...env, NO_PROXY: ".invalid" }), ca: null });
  expect(await failure("push", "http://cloud.invalid")).toMatch(/ENOTFOUND|EAI_AGAIN/);
  expect(seen).toEqual([]);
});

test("a webhook to a private address, or to a name that this machine does not know, is not left to the proxy", async () => {
  const { seen, url, port } = await startWorld("https");
  const send = (lookup: () => Promise<{ address: string; family: number }[]>, allowPrivate = false) =>
    sendWebhook({ url, secret: newWebhookSecret() }, { id: "1", body: "{}" }, { allowPrivate, lookup });
  expect(await send(async () => [{ address: "10.0.0.5", family: 4 }])).toMatchObject({
    reason: expect.stringContaining("cloud.example is in a private network") as string,
  });
  const unknown = () => Promise.reject(Object.assign(new Error("unknown"), { code: "ENOTFOUND" }));
  const reason = `This machine cannot look up the receiver's name, and leaves that to no proxy (127.0.0.1:${port}): let it look up public names, or start the program with --allow-private-webhooks.`;
  const why = { code: "HOOK.PROXY_LOOK_UP", values: [`127.0.0.1:${port}`] };
  expect(await send(unknown)).toEqual({ delivered: false, status: null, reason, why });
  expect(seen).toEqual([]);
  expect(await send(unknown, true)).toMatchObject({ status: 418 });
  expect(seen).toEqual(["CONNECT cloud.example:443"]);
});

test("an authority that is not known is a fault, and one of ca is trusted through the proxy", async () => {
  const { env, url } = await startWorld("https");
  expect(await failure("push", url)).toContain("418");
  useNetwork({ proxies: environmentProxies(env), ca: null });
  expect(await failure("push", url)).toContain("UNABLE_TO_VERIFY_LEAF_SIGNATURE");
});
