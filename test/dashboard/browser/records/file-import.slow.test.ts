import iconv from "iconv-lite";
import { beforeAll, describe, expect, test } from "vitest";
import type { Browser, Page } from "playwright-core";
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

// The page that imports animals and owners from a file.

const problem = browserProblem();

/** A file of a Turkish system: one column is not known, dates are open, and two of four lines are refused. */
const FILE = iconv.encode(
  "Hasta No;Hasta Adı;Tür;Doğum;Ağırlık;Çip;Sahip;Not\n" +
    "1;Pamuk;Kedi;3/4/2020;4,2 kg;900085000123456;Işık Öğüt;agresif\n" +
    "2;Paşa;Köpek;;12,5 kg;9,85E+14;Işık Öğüt;\n" +
    "3;Maviş;muhabbet k.;;;;Şahin Gül;\n" +
    "4;<b>Zeytin</b>;Kedi;;;;Şahin Gül;\n",
  "cp1254",
);

async function choose(page: Page, content: Buffer, name = "hastalar.csv"): Promise<void> {
  await page.locator('input[type="file"]').setInputFiles({ name, mimeType: "text/csv", buffer: content });
}

describe.skipIf(problem !== null)("in a browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await sharedBrowser();
  });

  test("a list is imported after its questions and its preview, on a phone and in Turkish, and undone", async () => {
    const own = newFp("clinic");
    const { openAs } = await startDashboard(clinic(own));
    const page = await openAs(browser, "staff", own, "/patients");
    await page.getByRole("link", { name: "Import a list" }).click();
    await page.getByRole("heading", { name: "Import animals, owners or stock" }).waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);

    await choose(page, Buffer.from("%PDF-1.7"), "patients.pdf");
    await page.getByText("The file is not a CSV or Excel table").waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Another file" }).click();

    await choose(page, FILE);
    await page.getByText("hastalar.csv, 4 lines").waitFor();
    await page.getByText("Read as: semicolon, Windows Türkçe (1254), decimal comma").waitFor();
    await page.getByText("A date such as 3/4/2020 has two meanings here.").waitFor();
    const look = page.getByRole("button", { name: "See what would change" });
    expect(await look.isDisabled()).toBe(true);
    await page.getByText("7 of 8 columns are imported").click();
    await page.getByLabel("Not becomes").selectOption({ label: "Card number" });
    await page.getByText("8 of 8 columns are imported").waitFor();
    await page.getByLabel("Not becomes").selectOption({ label: "Do not import" });
    await page.getByText("7 of 8 columns are imported").waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await page.locator(".note").getByLabel("Dates").selectOption("dmy");
    await page.getByText("A date such as 3/4/2020").waitFor({ state: "detached" });

    await look.click();
    await page.getByRole("button", { name: "Import 2 animals" }).waitFor();
    expect(await page.locator(".counts dd").allTextContents()).toEqual(["2", "0", "0", "2"]);
    const rows = page.getByRole("region", { name: "Refused" }).locator("tbody tr");
    expect(await rows.allInnerTexts()).toEqual([
      expect.stringMatching(
        /line 3\s+Paşa\s+Microchip lost its digits in a spreadsheet: 9,85E\+14\s+Format the column as text/,
      ),
      expect.stringMatching(/line 4\s+Maviş\s+Species “muhabbet k.” is not known/),
    ]);
    await page.getByRole("button", { name: "New 2" }).click();
    await page.getByText("<b>Zeytin</b>").waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    // A reload shows the same step.
    await page.reload();
    await page.getByRole("button", { name: "Import 2 animals" }).click();
    await page.getByText(/2 new, 0 changed, 0 as they were, 2 refused/).waitFor();
    await expectAccessible(page);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "Refused lines as CSV" }).click(),
    ]);
    expect(download.suggestedFilename()).toBe("refused.csv");

    await chooseLanguage(page, "tr");
    await page.keyboard.press("Escape");
    await page.getByText(/2 yeni, 0 değişen/).waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await page.getByRole("button", { name: /^Geri al/ }).click();
    await page.getByText("Aktarım geri alındı.").waitFor();
    await page.goto(page.url().replace("/import", ""));
    await page.getByText("Bu kliniğin henüz hastası yok").waitFor();
  });
});
