import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { checkConfig } from "../../../agent/config/check.ts";
import { exposures } from "../../../agent/config/exposures.ts";
import { useNetworkOfFile } from "../../../agent/config/network.ts";
import { currentProxy, useNetwork } from "../../../shared/network/client.ts";
import { environmentProxies } from "../../../shared/network/proxy.ts";
import { makeCertificates } from "../../support/peers/certificates.ts";
import { temporaryFolder } from "../../support/machine/processes.ts";

let folder: string;

beforeEach(() => {
  folder = temporaryFolder();
  write("agent.key", "sk_live_test\n");
  write("proxy.password", "s3cret\n");
});

afterEach(() => {
  useNetwork({ proxies: environmentProxies({}), ca: null });
  fs.rmSync(folder, { recursive: true });
});

function write(name: string, text: string | Buffer): string {
  const file = path.join(folder, name);
  fs.writeFileSync(file, text, { mode: 0o600 });
  return file;
}

const complete = (lines: string) =>
  `server: { url: "https://cloud.example", keyFile: agent.key }\ndata: data\ntimeZone: UTC\ndevices: []\n${lines}`;

function problemsOf(lines: string): string[] {
  const result = checkConfig(complete(lines), folder);
  return "config" in result ? [] : result.problems.map(({ message }) => message.replaceAll(folder, "FOLDER"));
}

test("proxy, noProxy and ca are read, and their files resolved against the folder of the file", () => {
  fs.copyFileSync(makeCertificates(folder).ca, path.join(folder, "clinic.pem"));
  const lines =
    "proxy: http://vet@proxy.example:3128\nproxyPasswordFile: proxy.password\nnoProxy: [10.0.0.0/8]\nca: clinic.pem\n";
  expect(checkConfig(complete(lines), folder)).toMatchObject({
    config: {
      proxy: "http://vet@proxy.example:3128",
      proxyPasswordFile: path.join(folder, "proxy.password"),
      noProxy: ["10.0.0.0/8"],
      ca: path.join(folder, "clinic.pem"),
    },
  });
});

test.each([
  [
    "proxy: http://vet:s3cret@proxy.example:3128",
    "proxy holds a password, expected it alone in a file that proxyPasswordFile names",
  ],
  ["proxy: socks5://vet:s3cret@proxy.example", "proxy names a proxy of socks5://, expected http:// or https://"],
  ["proxy: 'http://:3128'", "proxy names no proxy, expected such as http://proxy.example:3128"],
  ["proxy: { url: 'http://vet:s3cret@proxy.example' }", "proxy is an object, expected a string"],
  ["proxyPasswordFile: proxy.password", "proxyPasswordFile needs proxy"],
  [
    "proxy: http://proxy.example\nproxyPasswordFile: proxy.password",
    "proxy names no user, expected such as http://user@proxy.example:3128",
  ],
  ["proxy: http://vet@p.example\nproxyPasswordFile: gone", "proxyPasswordFile names FOLDER/gone, which does not exist"],
  [
    "proxy: http://vet@p.example\nproxyPasswordFile: /etc/hostname",
    "proxyPasswordFile names /etc/hostname, expected a file in the folder FOLDER, because its content leaves this machine: move it there",
  ],
  ["noProxy: local", 'noProxy is "local", expected an array'],
  ["ca: gone.pem", "ca names FOLDER/gone.pem, which does not exist"],
  [
    "ca: agent.key",
    "ca names FOLDER/agent.key, which cannot be used: expected certificates in PEM (-----BEGIN CERTIFICATE-----), got none",
  ],
])("%s is refused without a password: %s", (lines, problem) => {
  expect(problemsOf(lines)).toEqual([problem]);
});

test("a certificate that is cut off is refused", () => {
  const whole = fs.readFileSync(makeCertificates(folder).ca, "utf8");
  write("cut.pem", whole.replace(/\n[^-\n]+\n(?=-----END)/, "\n"));
  expect(problemsOf("ca: cut.pem")).toEqual([
    expect.stringMatching(/^ca names FOLDER\/cut\.pem, which cannot be used: /),
  ]);
});

test("a password that other users can read is reported with the remedy", () => {
  fs.chmodSync(path.join(folder, "proxy.password"), 0o644);
  const result = checkConfig(complete("proxy: http://vet@p.example\nproxyPasswordFile: proxy.password"), folder);
  expect("config" in result && exposures(result.config).map(({ fault }) => fault)).toEqual([
    expect.stringMatching(/can read .*proxy\.password, which holds a secret$/),
  ]);
});

test("a file without its key yet sets the proxy for the pairing, and a wrong one is refused", () => {
  const file = write(
    "agent.yaml",
    "proxy: http://vet@proxy.example:3128\nproxyPasswordFile: proxy.password\nnoProxy: [.lan]\n",
  );
  useNetworkOfFile(file);
  const authorization = `Basic ${Buffer.from("vet:s3cret").toString("base64")}`;
  const proxy = { name: "proxy.example:3128", source: "proxy of agent.yaml", authorization };
  expect(currentProxy(new URL("https://cloud.example"))).toMatchObject(proxy);
  expect(currentProxy(new URL("http://server.lan"))).toBe(null);
  write("agent.yaml", "proxy: 7\n");
  expect(() => useNetworkOfFile(file)).toThrow("proxy, proxyPasswordFile, noProxy or ca has a wrong type");
  write("agent.yaml", "proxy: ftp://x\n");
  expect(() => useNetworkOfFile(file)).toThrow("proxy names a proxy of ftp://, expected http:// or https://");
  useNetworkOfFile(path.join(folder, "none.yaml"));
});
