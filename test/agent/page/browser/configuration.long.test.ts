import fs from "node:fs";
import type { Browser, Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import {
  browserProblem,
  chooseLanguage,
  expectAccessible,
  expectFitsPhone,
  useBrowser,
} from "../../../support/peers/browser.ts";
import { freePort } from "../../../support/machine/processes.ts";
import { type TestAgent, useAgent } from "../../../support/peers/running-agent.ts";

// Goal: a user changes the configuration in the page, and the agent applies all of it or goes on.

let agent: TestAgent;
let browser: Browser;

describe.skipIf(browserProblem() !== null)("the configuration in the agent's page", () => {
  useBrowser((shared) => {
    browser = shared;
  });
  useAgent((made) => {
    agent = made;
  });

  /** Starts an agent with one device, and opens the editor with its configuration in lines. */
  async function opened(): Promise<{ page: Page; text: string }> {
    const listen = `127.0.0.1:${await freePort()}`;
    await agent.run([{ id: "chem-1", connection: { listen } }]);
    const text = `${JSON.stringify(JSON.parse(agent.host.text() ?? ""), null, 2)}\n`;
    expect(await agent.host.apply(text)).toEqual({ outcome: "applied" });
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${agent.host.port}/configuration`);
    await page.getByText("No fault").waitFor();
    return { page, text };
  }

  test("a fault is named with its line while the user types, and nothing can be applied", async () => {
    const { page, text } = await opened();
    const area = page.getByLabel("Text of the configuration");
    await area.fill(text.replace("generic-astm", "generic-astmm"));
    await page.getByText("1 fault").waitFor();
    await page.getByText("did you mean generic-astm?").waitFor();
    await expect.poll(() => page.getByRole("button", { name: "Apply" }).isDisabled()).toBe(true);
    const line = text.split("\n").findIndex((one) => one.includes("generic-astm")) + 1;
    await page.getByRole("button", { name: `Line ${line}` }).click();
    const chosen = await area.evaluate((shown) => {
      const { value, selectionStart, selectionEnd } = shown as unknown as Record<string, never>;
      return String(value).slice(Number(selectionStart), Number(selectionEnd));
    });
    expect(chosen.trim()).toBe('"profile": "generic-astmm",');
    await expectAccessible(page);
    await expectFitsPhone(page);
    await chooseLanguage(page, "tr");
    await page.getByText("1 hata").waitFor();
    await page.close();
  });

  test("a change is shown, applied, and taken back", async () => {
    const { page, text } = await opened();
    const next = text.replace('"chem-1"', '"chem-2"');
    await page.getByLabel("Text of the configuration").fill(next);
    const difference = page.getByRole("region", { name: "Your change" });
    await expect.poll(() => difference.textContent()).toMatch(/- +"id": "chem-1",\n\+ +"id": "chem-2",/);
    await page.getByRole("button", { name: "Apply" }).click();
    await page.getByText("Applied. The agent runs with this text.").waitFor();
    expect(agent.host.agent?.config.devices.map(({ id }) => id)).toEqual(["chem-2"]);
    await expectAccessible(page);
    await page.getByRole("button", { name: "Back to the previous text" }).click();
    await expect.poll(() => difference.textContent()).toContain('+       "id": "chem-1",');
    await page.getByRole("button", { name: "Apply" }).click();
    await page.getByText("Applied. The agent runs with this text.").waitFor();
    expect(agent.host.text()).toBe(text);
    await page.close();
  });

  test("a port that is in use is refused, and a file that changed meanwhile is not overwritten", async () => {
    const { page, text } = await opened();
    const [, used] = /"listen": "127\.0\.0\.1:(\d+)"\n\s*\}\n\s*\}\n/.exec(text) ?? [];
    expect(used).toBeDefined();
    const area = page.getByLabel("Text of the configuration");
    const taken = text.replace(`127.0.0.1:${used}`, `127.0.0.1:${new URL(serverUrl(text)).port}`);
    await area.fill(taken);
    await page.getByRole("button", { name: "Apply" }).click();
    await page.getByText("Not applied. The agent runs on as before.").waitFor();
    await page.getByText("is in use by").waitFor();
    expect(agent.host.text()).toBe(text);
    fs.writeFileSync(agent.host.file, text.replace("UTC", "Europe/Istanbul"));
    await area.fill(text.replace('"chem-1"', '"chem-3"'));
    await page.getByRole("button", { name: "Apply" }).click();
    await page.getByText("the file changed meanwhile").waitFor();
    expect(agent.host.text()).toContain("Europe/Istanbul");
    await page.close();
  });
});

function serverUrl(text: string): string {
  return (JSON.parse(text) as { server: { url: string } }).server.url;
}
