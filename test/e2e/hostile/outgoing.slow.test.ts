import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { OUTGOING } from "../../support/clinic/outgoing.ts";
import { patiently } from "../../support/runner/patience.ts";
import { ROOT, temporaryFolder } from "../../support/machine/processes.ts";

// Method: a process in a network namespace without any route connects to names whose addresses its hosts file has, in each way in
// which the two programs connect. Another process connects to peers that break the connection. An error that nobody owns would end it.

const HOSTS = {
  "v4.example": ["1.1.1.1"],
  "v6.example": ["2606:4700:4700::1111"],
  "both.example": ["1.1.1.1", "2606:4700:4700::1111"],
};

const { status: refused, stderr: why } = spawnSync("unshare", ["-rnm", "true"], { encoding: "utf8" });
if (refused !== 0)
  process.stderr.write(`connections without a route: not tested, unshare -rnm is not permitted: ${why}\n`);

/** @returns the failure of each connection to these hosts, by its name */
function failures(hosts: readonly string[], env: NodeJS.ProcessEnv = {}): Record<string, string> {
  const folder = temporaryFolder();
  onTestFinished(() => fs.rmSync(folder, { recursive: true }));
  const file = path.join(folder, "hosts");
  const lines = Object.entries(HOSTS).flatMap(([name, addresses]) =>
    addresses.map((address) => `${address} ${name}\n`),
  );
  fs.writeFileSync(file, lines.join(""));
  const inside = `mount --bind ${file} /etc/hosts && exec ${process.execPath} test/e2e/hostile/no-route.ts ${hosts.join(" ")}`;
  const options = { cwd: ROOT, encoding: "utf8", env: { ...process.env, ...env }, timeout: patiently(60_000) } as const;
  const { status, stdout, stderr } = spawnSync("unshare", ["-rnm", "sh", "-c", inside], options);
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  return JSON.parse(stdout) as Record<string, string>;
}

test.runIf(refused === 0)(
  "a connection of any kind to a name without a route fails in words, and ends no process",
  () => {
    const found = failures(Object.keys(HOSTS));
    expect(Object.keys(found).length).toBe(Object.keys(OUTGOING).length * 2 * Object.keys(HOSTS).length);
    const wordless = Object.entries(found).filter(([name, words]) => {
      const isPlainWebhook = name.startsWith("webhook http ");
      return !(isPlainWebhook ? /enter a URL that starts with https/ : /no (way|route) (to|there)/i).test(words);
    });
    expect(wordless).toEqual([]);
  },
);

test.runIf(refused === 0)("a proxy without a route fails in words that name it, and ends no process", () => {
  const proxy = "http://vet:s3cret@both.example:3128";
  const found = failures(["v4.example"], { HTTP_PROXY: proxy, HTTPS_PROXY: proxy, http_proxy: "", https_proxy: "" });
  const ofProxy = Object.entries(found).filter(([, words]) => words.includes("both.example:3128"));
  expect(ofProxy.map(([name]) => name.split(" ").slice(0, 2).join(" "))).toEqual([
    ...["push http", "push https", "download http", "download https", "pairing http", "pairing https"],
    ...["webhook https", "bucket http", "bucket https", "stow http", "stow https"],
  ]);
  for (const [, words] of ofProxy)
    expect(words).toMatch(/cannot be used, there is no way there .*: check that it runs/);
  expect(JSON.stringify(found)).not.toContain("s3cret");
});

test("a peer that breaks the connection at any moment gives a failure or a response, and ends no process", () => {
  const options = { cwd: ROOT, encoding: "utf8", timeout: patiently(120_000) } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, ["test/e2e/hostile/broken-connections.ts"], options);
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  const found = Object.entries(JSON.parse(stdout) as Record<string, string>);
  expect(found.length).toBeGreaterThan(200);
  // The doctor queries an http server in a later step.
  const silent = found.filter(([name, words]) => words === "" && !name.startsWith("doctor's server http"));
  expect(silent).toEqual([]);
});

test.runIf(refused === 0)("a name that nobody can look up fails in words, and ends no process", () => {
  const wordless = Object.entries(failures(["unknown.example"])).filter(([, words]) => !/name/.test(words));
  expect(wordless).toEqual([]);
});
