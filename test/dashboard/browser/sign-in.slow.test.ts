import type { Browser } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { newFp } from "../../../shared/api/fp.ts";
import { browserProblem, expectAccessible, expectFitsPhone, sharedBrowser } from "../../support/browser.ts";
import { clinic } from "../../server/harness.ts";
import { openPage, startDashboard } from "../harness.ts";

const problem = browserProblem();
if (problem !== null) process.stderr.write(`the dashboard is not tested in a browser: ${problem}\n`);

describe.skipIf(problem !== null)("in a browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await sharedBrowser();
  });

  test("the first screen is accessible and fits a phone", async () => {
    const { url } = await startDashboard(clinic(newFp("clinic")));
    const page = await openPage(browser, url);
    await page.goto(url);
    await page.getByRole("heading", { name: "Set up the dashboard" }).waitFor();
    expect(page.url()).toBe(`${url}/dashboard`);
    await expectAccessible(page);
    await expectFitsPhone(page);
  });

  test("a signed-in user sees the frame, changes the language and signs out", async () => {
    const fp = newFp("clinic");
    const { openAs } = await startDashboard(clinic(fp));
    const page = await openAs(browser, "staff", fp);
    await page.getByRole("heading", { name: "Today" }).waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await page.getByLabel("Language").selectOption("tr");
    await page.getByRole("heading", { name: "Bugün" }).waitFor();
    await page.getByRole("button", { name: "Çıkış" }).click();
    await page.getByRole("heading", { name: "Oturum aç" }).waitFor();
    await expect.poll(() => page.locator("html").getAttribute("lang")).toBe("tr");
  });

  test("the page says that the server does not answer, and that it answers again", async () => {
    const fp = newFp("clinic");
    const { openAs } = await startDashboard(clinic(fp));
    const page = await openAs(browser, "staff", fp);
    await page.getByRole("heading", { name: "Today" }).waitFor();
    const banner = page.getByText("The server does not answer. This page shows what it knew last and tries again.");
    expect(await banner.count()).toBe(0);
    await page.context().setOffline(true);
    await page.getByRole("button", { name: "Sign out" }).click();
    await banner.waitFor();
    await expect.poll(() => page.getByRole("heading", { name: "Today" }).count()).toBe(1);
    await page.context().setOffline(false);
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
  });
});
