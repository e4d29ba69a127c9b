import type { Browser } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { helpPages } from "../../../../server/web/screens/help/pages.ts";
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

describe.skipIf(browserProblem() !== null)("in a browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await sharedBrowser();
  });

  test("a reader finds every help page in both languages", async () => {
    const fp = newFp("clinic");
    const { openAs } = await startDashboard(clinic(fp));
    const page = await openAs(browser, "reader", fp, "/help");
    await page.getByRole("heading", { name: "Help", level: 1 }).waitFor();
    await expectAccessible(page);
    const documents = page.getByRole("link", { name: "Documentation for other software and IT" });
    expect(await documents.getAttribute("href")).toBe("/docs");
    for (const [chosen, menu] of [
      ["en", "Help pages"],
      ["tr", "Yardım sayfaları"],
    ] as const) {
      await chooseLanguage(page, chosen);
      const links = page.getByRole("navigation", { name: menu }).getByRole("link");
      const titles = await links.allTextContents();
      expect(titles).toHaveLength(helpPages.length);
      for (const [index, title] of titles.entries()) {
        await links.nth(index).click();
        await page.getByRole("heading", { name: title, level: 1, exact: true }).waitFor();
        await expectFitsPhone(page);
      }
      await expectAccessible(page);
      // Capitals, accents and the Turkish dots make no difference.
      const search = page.getByRole("main").getByRole("searchbox");
      await search.fill(chosen === "en" ? "GREYHOUNDS  thyroxine" : "TAZI TIROKSIN");
      await expect.poll(() => links.count()).toBe(1);
      await page.getByText(chosen === "en" ? "Pages: 1" : "Sayfa: 1").waitFor();
      await search.fill("xyzzy");
      await page.getByText(chosen === "en" ? "No page has these words." : "Bu sözcükler hiçbir sayfada yok.").waitFor();
      await expectAccessible(page);
      await search.fill("");
      await links.nth(helpPages.indexOf("flags")).click();
      await page.getByRole("table").waitFor();
      await expectAccessible(page);
    }
  });
});
