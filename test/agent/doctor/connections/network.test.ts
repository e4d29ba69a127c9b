import fs from "node:fs";
import path from "node:path";
import { strFromU8, unzipSync } from "fflate";
import { pino } from "pino";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { makeBundle } from "../../../../agent/doctor/bundle.ts";
import { runDoctor } from "../../../../agent/doctor/run-doctor.ts";
import { useNetwork } from "../../../../shared/network/client.ts";
import { environmentProxies } from "../../../../shared/network/proxy.ts";
import { type ProxyBehaviour, startForwardProxy } from "../../../support/peers/forward-proxy.ts";
import { temporaryFolder } from "../../../support/machine/processes.ts";
import { emptyServer, useAgent, type TestAgent } from "../../../support/peers/running-agent.ts";
import { scriptedServer } from "../../../support/peers/scripted-server.ts";

// Method: the doctor and a running agent reach a server through a real proxy that wants a password. All that they write is searched
// for it.

const PASSWORD = "s3cret-of-the-clinic";
let folder: string;
let agent: TestAgent;

useAgent((created) => (agent = created));

beforeEach(() => {
  folder = temporaryFolder();
  const names = [
    "http_proxy",
    "HTTP_PROXY",
    "https_proxy",
    "HTTPS_PROXY",
    "no_proxy",
    "NO_PROXY",
    "NODE_EXTRA_CA_CERTS",
  ];
  for (const name of names) vi.stubEnv(name, undefined);
});

afterEach(() => {
  vi.unstubAllEnvs();
  useNetwork({ proxies: environmentProxies({}), ca: null });
  fs.rmSync(folder, { recursive: true });
});

async function startWorld(behaviour: ProxyBehaviour) {
  const server = await scriptedServer((request) => {
    const step = emptyServer(request);
    return typeof step === "object" ? { ...step, body: { success: true, ...(step.body as object) } } : step;
  });
  const proxy = await startForwardProxy(Number(new URL(server.url).port), behaviour);
  onTestFinished(async () => {
    await proxy.close();
    await server.close();
  });
  return { ...proxy, requests: server.requests };
}

interface Finding {
  readonly id: string;
  readonly sentence: string;
  readonly remedy: string | null;
}

/** Runs the doctor. @returns its findings of the way and of the server, and all texts of doctor and bundle */
async function examine(settings: object) {
  fs.writeFileSync(path.join(folder, "agent.key"), "sk_live_test\n", { mode: 0o600 });
  fs.writeFileSync(path.join(folder, "proxy.password"), PASSWORD, { mode: 0o600 });
  fs.writeFileSync(path.join(folder, "s3.secret"), "x", { mode: 0o600 });
  const configFile = path.join(folder, "agent.yaml");
  const server = { url: "http://cloud.example", keyFile: "agent.key" };
  fs.writeFileSync(configFile, JSON.stringify({ server, data: "data", timeZone: "UTC", devices: [], ...settings }));
  const context = { configFile, isOffline: false };
  const found = await runDoctor(context);
  const files = Object.values(unzipSync(makeBundle(context, found))).map((bytes) => strFromU8(bytes));
  const texts = [JSON.stringify(found), ...files].join("\n");
  const isOfWay = ({ id }: Finding) => /^(network|server)\./.test(id);
  return { found: found.filter(isOfWay).map(({ id, sentence, remedy }) => ({ id, sentence, remedy })), texts };
}

test("the doctor names the proxy of each target, and reaches the server through it", async () => {
  const { port, seen } = await startWorld({ wants: `vet:${PASSWORD}` });
  const destinations = [
    { id: "pacs", stow: "https://pacs.klinik.example/dicom" },
    { id: "disk", stow: "http://127.0.0.1:1" },
  ];
  const settings = {
    proxy: `http://vet@127.0.0.1:${port}`,
    proxyPasswordFile: "proxy.password",
    noProxy: [".klinik.example"],
    destinations,
  };
  const { found, texts } = await examine(settings);
  const through = `go through the proxy 127.0.0.1:${port} (proxy of agent.yaml)`;
  expect(found.map(({ id, sentence }) => `${id}: ${sentence}`)).toEqual([
    `network.proxy: requests to the server, cloud.example, ${through}`,
    "network.direct: requests to pacs, pacs.klinik.example, go there directly",
    "network.direct: requests to disk, 127.0.0.1:1, go there directly",
    "server.reached: http://cloud.example is a Vetwire server and takes the key",
  ]);
  expect(seen).toContain("GET http://cloud.example/agent/v1/ranges");
  expect(texts).not.toContain(PASSWORD);
  expect(texts).not.toContain(Buffer.from(`vet:${PASSWORD}`).toString("base64"));
});

test.each<[string, ProxyBehaviour, RegExp, RegExp]>([
  [
    "wants another password",
    { wants: "x:y" },
    /refuses the user or the password \(407\)/,
    /correct them in http_proxy/i,
  ],
  [
    "reaches nothing",
    { refuse: { status: 502 } },
    /got no response from cloud\.example \(502\)/,
    /whether the proxy reaches it/,
  ],
])("the doctor names a proxy of the environment that %s, and the remedy", async (_, behaviour, sentence, remedy) => {
  const { port } = await startWorld(behaviour);
  vi.stubEnv("HTTP_PROXY", `http://vet:${PASSWORD}@127.0.0.1:${port}`);
  const { found, texts } = await examine({});
  expect(found.map(({ id }) => id)).toEqual(["network.proxy", "server.proxy"]);
  expect(found[1]?.sentence).toMatch(sentence);
  expect(found[1]?.sentence).toContain(`127.0.0.1:${port}`);
  expect(found[1]?.remedy).toMatch(remedy);
  expect(texts).not.toContain(PASSWORD);
});

test("a variable that names no proxy is a problem without its text", async () => {
  vi.stubEnv("HTTP_PROXY", `socks5://vet:${PASSWORD}@127.0.0.1:1`);
  const { found, texts } = await examine({});
  expect(found.map(({ id }) => id)).toEqual(["network.setting", "server.proxy"]);
  expect(texts).not.toContain(PASSWORD);
});

test("a running agent sends through proxy of agent.yaml, and its log and page hold no password", async () => {
  const { port, seen, requests } = await startWorld({ wants: `vet:${PASSWORD}` });
  fs.writeFileSync(path.join(agent.folder, "proxy.password"), PASSWORD, { mode: 0o600 });
  const lines: string[] = [];
  const log = pino({}, { write: (line) => void lines.push(line) });
  const more = { proxy: `http://vet@127.0.0.1:${port}`, proxyPasswordFile: "proxy.password" };
  await agent.runWith("http://cloud.example", [], log, more);
  await agent.serverIn("reached");
  expect(seen.every((line) => / http:\/\/cloud\.example\//.test(line))).toBe(true);
  expect(requests.length).toBeGreaterThan(0);
  const page = await fetch(`http://127.0.0.1:${agent.host.port}/local/v1/configuration`).then((answer) =>
    answer.text(),
  );
  expect(page).toContain("proxyPasswordFile");
  for (const text of [page, ...lines]) expect(text).not.toContain(PASSWORD);
});
