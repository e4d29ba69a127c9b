import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newFp } from "../../shared/api/fp.ts";
import { browserProblem, expectAccessible, expectFitsPhone, startBrowser } from "../support/browser.ts";
import { clinic } from "../server/harness.ts";
import { startDashboard } from "./harness.ts";

describe.skipIf(browserProblem() !== null)("in a browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  test("a key is made, used, gone after a reload, rolled, revoked, and refused within a second", async () => {
    const fp = newFp("clinic");
    const { openAs, url } = await startDashboard(clinic(fp));
    const page = await openAs(browser, "admin", fp, "/settings/keys");
    const statusOf = async (key: string) =>
      (await fetch(`${url}/api/v1/patients`, { headers: { "x-api-key": key, authorization: `Bearer ${key}` } })).status;
    await page.getByText("There is no key yet").waitFor();
    await expectAccessible(page);

    await page.getByRole("button", { name: "New key" }).click();
    await expectAccessible(page);
    await expectFitsPhone(page);
    // A name that holds markup is shown as text.
    const name = "<img src=x onerror=alert(1)> practice";
    await page.getByLabel("Name").fill(name);
    await page.getByLabel("Patients").check();
    await page.getByRole("button", { name: "Create key" }).click();
    const first = await page.getByLabel("The new key").inputValue();
    expect(await statusOf(first)).toBe(200);
    await expectAccessible(page);
    await page.reload();
    await page.getByRole("rowheader", { name }).waitFor();
    expect(await page.content()).not.toContain(first);
    await expectAccessible(page);
    await expectFitsPhone(page);

    await page.getByRole("button", { name: "Roll" }).click();
    await expectAccessible(page);
    await page.getByLabel("The old key still works for").selectOption("1");
    await page.getByRole("button", { name: "Roll" }).last().click();
    const second = await page.getByLabel("The new key").inputValue();
    expect([await statusOf(first), await statusOf(second)]).toEqual([200, 200]);
    await page.getByRole("button", { name: "Done" }).click();

    const row = page.getByRole("row").filter({ hasText: second.slice(-4) });
    await row.getByRole("button", { name: "Revoke" }).click();
    await expectAccessible(page);
    const revoking = Date.now();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await expect.poll(() => statusOf(second), { timeout: 1000, interval: 20 }).toBe(401);
    expect(Date.now() - revoking).toBeLessThan(1000);
    await row.getByText("Revoked").waitFor();

    await page.getByLabel("Language").selectOption("tr");
    await page.getByRole("heading", { name: "API anahtarları" }).waitFor();
    await expectAccessible(page);
  });

  test("the copy button works where the browser has no clipboard interface, as on plain http", async () => {
    const fp = newFp("clinic");
    const { openAs } = await startDashboard(clinic(fp));
    const page = await openAs(browser, "admin", fp, "/settings/keys");
    await page.addInitScript('Object.defineProperty(navigator, "clipboard", { value: undefined })');
    await page.reload();
    await page.getByRole("button", { name: "New key" }).click();
    await page.getByLabel("Name").fill("a program");
    await page.getByLabel("Who uses it").selectOption("device");
    await page.getByRole("button", { name: "Create key" }).click();
    const key = await page.getByLabel("The new key").inputValue();
    await page.getByRole("button", { name: "Copy" }).click();
    await page.getByText("The key is copied.").waitFor();
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByRole("button", { name: "New key" }).click();
    await page.getByLabel("Name").press("Control+V");
    expect(await page.getByLabel("Name").inputValue()).toBe(key);
  });

  test("the settings open at the first part that a role may see", async () => {
    const fp = newFp("clinic");
    const { openAs } = await startDashboard(clinic(fp));
    const page = await openAs(browser, "reader", fp, "/settings/keys");
    await page.getByText("Your role does not allow this").waitFor();
    expect(await page.getByRole("navigation", { name: "Settings" }).getByRole("link").allTextContents()).toEqual([
      "Reference ranges",
    ]);
    await expectAccessible(page);
    await expectFitsPhone(page);
  });
});
