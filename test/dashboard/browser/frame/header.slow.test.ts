import type { Browser } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { newFp } from "../../../../shared/api/fp.ts";
import {
  browserProblem,
  chooseLanguage,
  expectAccessible,
  expectFitsPhone,
  sharedBrowser,
} from "../../../support/peers/browser.ts";
import { clinic } from "../../../server/harness.ts";
import { startDashboard } from "../../harness.ts";
import { clinicEntities, ours, pushTo, waiting } from "../../unmatched-clinic.ts";

describe.skipIf(browserProblem() !== null)("the header in a browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await sharedBrowser();
  });

  test("the screens fold into a menu on a phone, the menu closes on the chosen screen, and patients have three doors", async () => {
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

    const doors = page.getByRole("region", { name: "This clinic has no patients yet" }).getByRole("link");
    await doors.first().waitFor();
    const paths = await doors.evaluateAll((links) => links.map((door) => door.getAttribute("href")));
    expect(paths).toEqual(["/dashboard/patients/new", "/dashboard/patients/import", "/dashboard/help/animals"]);
    await expectAccessible(page);
    await expectFitsPhone(page);
  });

  test("one row holds seven screens, the search and the menus on a page of 1280 px, in both languages", async () => {
    const fp = newFp("clinic");
    const page = await (await startDashboard(clinic(fp))).openAs(browser, "staff", fp);
    const row = page.locator(".top-row > :visible, .top-screens > :visible");
    for (const language of ["en", "tr"] as const) {
      await chooseLanguage(page, language);
      await page.keyboard.press("Escape");
      for (const width of [1280, 1440]) {
        await page.setViewportSize({ width, height: 900 });
        expect(await page.locator(".top-screens > a:visible").count()).toBe(7);
        const boxes = await Promise.all((await row.all()).map(async (each) => each.boundingBox()));
        const ends = boxes.map((box) => [(box?.y ?? 0) >= 0, (box?.y ?? 0) + (box?.height ?? 99) <= 53]);
        expect(ends).toEqual(boxes.map(() => [true, true]));
        expect(Math.max(...boxes.map((box) => (box?.x ?? 0) + (box?.width ?? 0)))).toBeLessThanOrEqual(width);
      }
    }
    await chooseLanguage(page, "en");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "More" }).click();
    await expectAccessible(page);
    await page.getByRole("link", { name: "Stock" }).click();
    await page.getByRole("heading", { name: "Stock" }).waitFor();
    expect(await page.getByRole("link", { name: "Stock", exact: true }).isVisible()).toBe(false);
    await page.getByRole("button", { name: "New", exact: true }).click();
    await page.getByRole("link", { name: "Order tests" }).click();
    await page.getByRole("dialog", { name: "Order tests" }).waitFor();
    await page.keyboard.press("Escape");
    await page.waitForURL(/orders$/);
    await page.getByRole("button", { name: "New", exact: true }).click();
    await page.getByRole("link", { name: "New animal" }).click();
    await page.getByRole("heading", { name: "New animal" }).waitFor();
  });

  test("the menu counts what waits, and the count changes while the page is open", async () => {
    const server = await startDashboard(...clinicEntities.flat());
    const page = await server.openAs(browser, "staff", ours);
    await page.getByRole("link", { name: "To place", exact: true }).waitFor();
    await pushTo(server, ours, waiting());
    await page.getByRole("link", { name: "To place 1 waiting" }).waitFor();
    await expectAccessible(page);
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await page.getByRole("button", { name: "Screens, 1 waiting" }).isVisible()).toBe(true);
  });

  test("a patient is found from any screen by the keyboard alone", async () => {
    const server = await startDashboard(...clinicEntities.flat());
    const page = await server.openAs(browser, "staff", ours, "/calendar");
    await page.getByRole("heading", { name: "Calendar", level: 1 }).waitFor();
    await page.keyboard.press("/");
    // Both animals have a number that begins so.
    await page.keyboard.type("1002");
    const matches = page.getByRole("list", { name: "Patients found" }).getByRole("link");
    await matches.nth(1).waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await page.keyboard.press("Escape");
    expect(await matches.count()).toBe(0);
    await page.keyboard.press("Enter");
    await page.getByText("2 patients").waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("1002");
    // The matches of a shorter text come first on a slow machine, and take no focus.
    await page.locator("ul.found:not([inert]) a").first().waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Karabaş" }).waitFor();
    // A reader of barcodes types at once and ends with Enter.
    await page.keyboard.press("/");
    await page.keyboard.type("10022\n");
    await page.getByRole("heading", { name: "Pamuk" }).waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("nobody");
    await page.getByText("No patient of the clinic has this name, owner or number.").waitFor();
    await expectAccessible(page);
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
