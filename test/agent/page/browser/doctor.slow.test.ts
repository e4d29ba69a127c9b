import fs from "node:fs";
import path from "node:path";
import { unzipSync } from "fflate";
import type { Browser } from "playwright-core";
import { describe, expect, test } from "vitest";
import {
  browserProblem,
  chooseLanguage,
  expectAccessible,
  expectFitsPhone,
  useBrowser,
} from "../../../support/peers/browser.ts";
import { patiently } from "../../../support/runner/patience.ts";
import { freePort } from "../../../support/machine/processes.ts";
import { type TestAgent, useAgent } from "../../../support/peers/running-agent.ts";
import { vetwireAnswer } from "../../../support/wrong-setups/bench.ts";

// The table of wrong-setups.long.test.ts queries the route of the page. Here a person repairs what the screen shows.

let agent: TestAgent;
let browser: Browser;

describe.skipIf(browserProblem() !== null)("the doctor on the agent's page", () => {
  useBrowser((shared) => {
    browser = shared;
  });
  useAgent((made) => {
    agent = made;
  });

  test("the screen shows each remedy, and the repaired set-up after another check", async () => {
    const [port, closed] = [await freePort(), await freePort()];
    const connection = { listen: `127.0.0.1:${port}` };
    await agent.run([{ connection }, { id: "blood-1", connection: { dial: `127.0.0.1:${closed}` } }], vetwireAnswer);
    await agent.deviceIn("cannot connect");
    const key = path.join(agent.folder, "agent.key");
    fs.chmodSync(key, 0o644);
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${agent.host.port}/`);
    await page.getByRole("link", { name: "Doctor" }).click();
    const found = page.getByRole("list", { name: "What needs you" });
    await found.getByText(`chmod 600 ${key}`).waitFor({ timeout: patiently(60_000) });
    const told = await found.innerText();
    expect(told).toContain("switch the device on");
    expect(told).toContain(`127.0.0.1:${port} alone, which no other machine reaches`);
    await expectAccessible(page);
    await expectFitsPhone(page);

    fs.chmodSync(key, 0o600);
    fs.writeFileSync(agent.host.file, fs.readFileSync(agent.host.file, "utf8").replace('"chem-1"', '"Chem 1"'));
    await page.getByRole("button", { name: "Check again" }).click();
    await found.getByText(/line 1: devices\[0\]\.id .*/).waitFor({ timeout: patiently(60_000) });
    await expect.poll(() => found.innerText()).not.toContain("chmod 600");

    await chooseLanguage(page, "tr");
    await page.getByRole("heading", { name: "Kurulum denetimi" }).waitFor();
    await page.close();
  });

  test("the file for the support is a zip", async () => {
    await agent.run([{ connection: { listen: `127.0.0.1:${await freePort()}` } }], vetwireAnswer);
    const response = await fetch(`http://127.0.0.1:${agent.host.port}/local/v1/doctor/bundle`);
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/zip"]);
    const files = unzipSync(new Uint8Array(await response.arrayBuffer()));
    expect(Object.keys(files)).toEqual(["findings.json", "configuration.json", "versions.json", "counts.json"]);
  });
});
