import fs from "node:fs";
import http from "node:http";
import os from "node:os";
import path from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pageLines } from "../../../../agent/cli/common/status-text.ts";
import { browserProblem, expectAccessible, expectFitsPhone, startBrowser } from "../../../support/peers/browser.ts";
import { freePort } from "../../../support/machine/processes.ts";
import { type TestAgent, useAgent } from "../../../support/peers/running-agent.ts";

// Goal: neither another site's page nor another machine uses the agent's page.

let agent: TestAgent;
let browser: Browser;

describe.skipIf(browserProblem() !== null)("the agent's page against others", () => {
  beforeAll(async () => {
    browser = await startBrowser("clinic.test");
  });
  afterAll(() => browser.close());
  useAgent((made) => {
    agent = made;
  });

  test("a form of another site changes nothing", async () => {
    await agent.run([]);
    const text = agent.host.text() ?? "";
    const own = `http://127.0.0.1:${agent.host.port}`;
    const page = await browser.newPage();
    const form = `<form method="post" enctype="text/plain" action="${own}/local/v1/configuration"><button>go</button></form>`;
    const foreign = http.createServer((_, response) => response.setHeader("content-type", "text/html").end(form));
    await new Promise<void>((resolve) => foreign.listen(0, "127.0.0.1", resolve));
    agent.resources.push({ close: () => foreign.close() });
    await page.goto(`http://localhost:${(foreign.address() as { port: number }).port}/`);
    const answer = page.waitForResponse((response) => response.request().method() === "POST");
    await page.getByRole("button", { name: "go" }).click();
    expect((await answer).status()).toBe(403);
    expect(agent.host.text()).toBe(text);
    // A name that another site points at this machine gets nothing either.
    expect((await page.goto(`http://clinic.test:${agent.host.port}/`))?.status()).toBe(421);
    await page.close();
  });

  test("a machine of the network enters the PIN, and this one does not", async () => {
    await agent.run([]);
    const listen = `0.0.0.0:${await freePort()}`;
    const settings = JSON.parse(agent.host.text() ?? "") as object;
    expect(await agent.host.apply(JSON.stringify({ ...settings, status: { listen } }))).toEqual({ outcome: "applied" });
    const file = path.join(agent.folder, "data", "page-pin");
    const pin = fs.readFileSync(file, "utf8").trim();
    expect([pin.length, fs.statSync(file).mode & 0o777]).toEqual([14, 0o600]);
    expect(pageLines({ host: "0.0.0.0", port: 1 }, pin)[0]).toContain(pin);
    const url = `http://127.0.0.1:${agent.host.port}`;
    const overview = (headers: Record<string, string>) => fetch(`${url}/local/v1/overview`, { headers });
    expect((await overview({})).status).toBe(200);
    // A proxy of this machine represents the other machine.
    const forwarded = { "x-forwarded-for": "192.0.2.6" };
    expect((await overview(forwarded)).status).toBe(401);
    const save = { method: "POST", headers: forwarded };
    expect((await fetch(`${url}/local/v1/maker/save`, save)).status).toBe(401);
    expect((await fetch(`${url}/%6cocal/v1/overview`, { headers: forwarded })).status).toBe(401);
    expect((await fetch(`${url}/healthz`, { headers: forwarded })).status).toBe(200);

    const page = await browser.newPage({ extraHTTPHeaders: forwarded });
    await page.goto(`${url}/messages`);
    await page.getByText("vetwire agent status").waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await page.getByLabel("PIN").fill("AAAA-BBBB-CCCC");
    await page.getByRole("button", { name: "Enter" }).click();
    await page.getByText("The PIN is wrong.").waitFor();
    await page.getByLabel("PIN").fill(pin.toLowerCase().replaceAll("-", " "));
    await page.getByRole("button", { name: "Enter" }).click();
    await page.getByRole("heading", { name: "Messages" }).waitFor();
    await page.getByText("No message yet").waitFor();
    await page.reload();
    await page.getByText("No message yet").waitFor();
    expect(await page.evaluate("document.cookie")).toBe("");
    await page.close();
  });

  const own = Object.values(os.networkInterfaces())
    .flatMap((of) => of ?? [])
    .find(({ family, internal }) => family === "IPv4" && !internal);

  test.skipIf(own === undefined)("this machine needs no PIN by its own address of the network", async () => {
    await agent.run([]);
    const listen = `0.0.0.0:${await freePort()}`;
    const settings = JSON.parse(agent.host.text() ?? "") as object;
    await agent.host.apply(JSON.stringify({ ...settings, status: { listen } }));
    expect((await fetch(`http://${own?.address}:${agent.host.port}/local/v1/overview`)).status).toBe(200);
  });
});
