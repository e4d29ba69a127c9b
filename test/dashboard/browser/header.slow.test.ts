import type { Browser } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { newFp } from "../../../shared/api/fp.ts";
import {
  browserProblem,
  chooseLanguage,
  expectAccessible,
  expectFitsPhone,
  sharedBrowser,
} from "../../support/browser.ts";
import { clinic } from "../../server/harness.ts";
import { startDashboard } from "../harness.ts";

describe.skipIf(browserProblem() !== null)("the header in a browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await sharedBrowser();
  });

  test("the screens fold into a menu on a phone, and the menu closes on the chosen screen", async () => {
    const fp = newFp("clinic");
    const page = await (await startDashboard(clinic(fp))).openAs(browser, "staff", fp);
    await page.getByRole("heading", { name: "Today" }).waitFor();
    const link = page.getByRole("link", { name: "Patients", exact: true });
    expect(await link.isVisible()).toBe(true);
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await link.isVisible()).toBe(false);
    await page.getByRole("button", { name: "Screens" }).click();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await link.click();
    await page.getByRole("heading", { name: "Patients" }).waitFor();
    expect(await link.isVisible()).toBe(false);
  });

  test("/dashboard/ leads to Today, and the tab has the name of the screen in the language of the page", async () => {
    const fp = newFp("clinic");
    const page = await (await startDashboard(clinic(fp))).openAs(browser, "staff", fp);
    await page.goto(new URL("/dashboard/", page.url()).href);
    await page.getByRole("heading", { name: "Today" }).waitFor();
    expect(new URL(page.url()).pathname).toBe("/dashboard");
    await expect.poll(() => page.title()).toBe("Today · Vetwire");
    await page.getByRole("link", { name: "Patients", exact: true }).click();
    await expect.poll(() => page.title()).toBe("Patients · Vetwire");
    await chooseLanguage(page, "tr");
    await expect.poll(() => page.title()).toBe("Hastalar · Vetwire");
  });

  test("the menu of the user has the clinic, language, colours, account and sign-out, and closes with Escape", async () => {
    const [first, second] = [newFp("clinic"), newFp("clinic")];
    const server = await startDashboard(clinic(first), clinic(second));
    const page = await server.openAs(browser, "staff", first, "", second);
    await page.getByRole("heading", { name: "Today" }).waitFor();
    const menu = page.locator("#user-menu");
    expect(await menu.isVisible()).toBe(false);
    await page.getByRole("button", { name: /^staff/ }).press("Enter");
    for (const name of ["Clinic", "Language", "Colours", "Units"]) await menu.getByLabel(name).waitFor();
    await menu.getByRole("button", { name: "Sign out" }).waitFor();
    await expectAccessible(page);
    await page.keyboard.press("Escape");
    expect(await menu.isVisible()).toBe(false);
    await page.getByRole("button", { name: /^staff/ }).click();
    await menu.getByRole("link", { name: "Your account" }).click();
    await page.getByRole("heading", { name: "Your account" }).waitFor();
    expect(await menu.isVisible()).toBe(false);
  });
});
