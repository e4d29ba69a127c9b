import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { browserProblem, expectAccessible, expectFitsPhone, startBrowser } from "../../../support/browser.ts";
import { freePort } from "../../../support/processes.ts";
import { type TestAgent, useAgent } from "../../../support/running-agent.ts";

let agent: TestAgent;
let browser: Browser;

describe.skipIf(browserProblem() !== null)("the agent's page in a browser", () => {
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());
  useAgent((made) => {
    agent = made;
  });

  test("each device has a card that says what is wrong and what to do", async () => {
    const [port, closed] = [await freePort(), await freePort()];
    await agent.run([
      { id: "chem-1", connection: { listen: `127.0.0.1:${port}` } },
      { id: "blood-1", connection: { dial: `127.0.0.1:${closed}` } },
    ]);
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${agent.host.port}/`);
    await page.getByRole("heading", { name: "chem-1" }).waitFor();
    await page.getByText(`refused by 127.0.0.1:${closed}: switch the device on`).waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await page.getByLabel("Language").selectOption("tr");
    await page.getByRole("heading", { name: "Cihazlar" }).waitFor();
    expect(await page.title()).toBe("Vetwire agent");
    await page.close();
  });
});
