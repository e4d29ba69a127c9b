import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { connect } from "node:tls";
import { describe, expect, onTestFinished, test } from "vitest";
import { browserProblem, startBrowser } from "../../../support/peers/browser.ts";
import { makeCertificates } from "../../../support/peers/certificates.ts";
import { ROOT, until } from "../../../support/machine/processes.ts";
import { clinic, startServer, temporaryFolder } from "../../../server/harness.ts";
import { newFp } from "../../../../shared/api/fp.ts";

// Method: the server of the build with a certificate, and Chromium.

/** Starts `server run` on a free port. */
function runServer(...args: readonly string[]): { child: ChildProcess; output: () => string } {
  const child = spawn(process.execPath, [join(ROOT, "dist/server/main.js"), "run", "--port", "0", ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, DATABASE_URL: undefined },
  });
  onTestFinished(async () => {
    if (child.exitCode === null && child.kill("SIGKILL")) await once(child, "exit");
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (text) => (output += String(text)));
  return { child, output: () => output };
}

const listening = (output: () => string) =>
  until("the server listens", () => /listening on (https?:\/\/[\d.]+:(\d+))/.exec(output()), 60_000);

describe("server run", () => {
  test("a certificate needs its key, and a renewed one is read at SIGHUP", async () => {
    const folder = temporaryFolder();
    const data = ["--data", join(folder, "data")];
    const { agent, untrusted } = makeCertificates(folder);
    const half = runServer("--tls-cert", agent.certificate, ...data);
    expect([...(await once(half.child, "close"))]).toEqual([1, null]);
    expect(half.output()).toBe("expected both --tls-cert and --tls-key, or neither\n");

    const [cert, key] = [join(folder, "served.crt"), join(folder, "served.pem")];
    copyFileSync(agent.certificate, cert);
    copyFileSync(agent.key, key);
    const { child, output } = runServer("--tls-cert", cert, "--tls-key", key, ...data);
    const port = Number((await listening(output))[2]);
    expect(output()).toContain("the certificate expires at");
    expect(output()).not.toContain("plain http");
    expect(await servedName(port)).toBe("agent");
    copyFileSync(untrusted.key, key);
    child.kill("SIGHUP");
    await until("the fault", () => output().includes("the last one stays in use"));
    expect(await servedName(port)).toBe("agent");
    copyFileSync(untrusted.certificate, cert);
    child.kill("SIGHUP");
    await until("the renewal", () => output().includes("the certificate was read again"));
    expect(await servedName(port)).toBe("untrusted");
  });

  test("plain http beyond this machine shows a warning, except through a proxy", async () => {
    const data = ["--data", join(temporaryFolder(), "data")];
    const words = "speaks plain http beyond this machine";
    for (const [args, isWarned] of [
      [["--host", "0.0.0.0"], true],
      [["--host", "0.0.0.0", "--trust-proxy", "127.0.0.1"], false],
      [[], false],
    ] as const) {
      const { child, output } = runServer(...args, ...data);
      await listening(output);
      await until("the set-up code", () => output().includes("set up the dashboard"));
      expect([args, output().includes(words)]).toEqual([args, isWarned]);
      child.kill("SIGTERM");
      await once(child, "exit");
    }
  });
});

const problem = browserProblem();
if (problem !== null) process.stderr.write(`encryption is not tested in a browser: ${problem}\n`);

describe.skipIf(problem !== null)("in a browser", () => {
  test("a set-up over TLS keeps its session and shows no banner", async () => {
    const folder = temporaryFolder();
    const { agent } = makeCertificates(folder);
    const files = ["--tls-cert", agent.certificate, "--tls-key", agent.key];
    const { output } = runServer(...files, "--data", join(folder, "data"));
    const [, url = ""] = await listening(output);
    const browser = await startBrowser();
    onTestFinished(() => browser.close());
    const context = await browser.newContext({ locale: "en-GB", ignoreHTTPSErrors: true });
    const page = await context.newPage();
    await page.goto(url);
    await page.getByRole("heading", { name: "Set up the dashboard" }).waitFor();
    await page.getByLabel("Set-up code").fill(readFileSync(join(folder, "data/setup-code"), "utf8").trim());
    await page.getByLabel("Name of the clinic").fill("Clinic");
    await page.getByLabel("Name", { exact: true }).fill("First admin");
    await page.getByLabel("Password").fill("a long password");
    await page.getByRole("button", { name: "Set up" }).click();
    await page.getByRole("heading", { name: "Today" }).waitFor();
    await page.reload();
    await page.getByRole("heading", { name: "Today" }).waitFor();
    expect(await page.getByText("This connection is not encrypted").count()).toBe(0);
    const [cookie] = await context.cookies();
    expect(cookie).toMatchObject({ name: "__Host-vetwire", secure: true, httpOnly: true, sameSite: "Strict" });
  });

  test("plain http shows a banner under a name of the network, and none under this machine's own", async () => {
    const { app } = await startServer(clinic(newFp("clinic")));
    const { port } = new URL(await app.listen({ port: 0, host: "127.0.0.1" }));
    const browser = await startBrowser("vetwire.clinic");
    onTestFinished(() => browser.close());
    const page = await (await browser.newContext({ locale: "en-GB" })).newPage();
    const banner = page.getByText("This connection is not encrypted");
    await page.goto(`http://vetwire.clinic:${port}/dashboard`);
    await banner.waitFor();
    await page.goto(`http://localhost:${port}/dashboard`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    expect(await banner.count()).toBe(0);
  });
});

/** @returns the common name of the certificate at a port */
async function servedName(port: number): Promise<string> {
  const socket = connect({ port, host: "127.0.0.1", rejectUnauthorized: false });
  await once(socket, "secureConnect");
  const { subject } = socket.getPeerCertificate();
  socket.destroy();
  return String(subject.CN);
}
