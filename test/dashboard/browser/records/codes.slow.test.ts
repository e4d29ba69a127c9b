import type { Browser } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import type { PushedStudy } from "../../../../shared/api/study.ts";
import {
  browserProblem,
  chooseLanguage,
  expectAccessible,
  expectFitsPhone,
  sharedBrowser,
} from "../../../support/peers/browser.ts";
import { clinicEntities, ours, pushTo, unknownCode } from "../../unmatched-clinic.ts";
import { startDashboard } from "../../harness.ts";

// Goal: a user maps a device's code to an analyte in the page, and takes it back.

const HOSTILE = "<b>413</b>";

describe.skipIf(browserProblem() !== null)("in a browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await sharedBrowser();
  });

  test("a code is mapped to an analyte found by its name, shown as mapped, and unmapped", async () => {
    const dashboard = await startDashboard(...clinicEntities);
    const hostile: PushedStudy = unknownCode({ code: HOSTILE });
    await pushTo(dashboard, ours, hostile, unknownCode({ code: "X9", word: "Positive", unit: null }));
    const page = await dashboard.openAs(browser, "staff", ours, "/to-place/codes");
    await page.getByRole("button", { name: `Map ${HOSTILE} of chem-1` }).click();
    await page.getByRole("heading", { name: `Which analyte is ${HOSTILE}?` }).waitFor();
    await page.getByText("They do not fit: the result would have no range").waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await page.keyboard.type("glucose");
    await expect.poll(() => page.getByRole("radio").count()).toBeLessThan(5);
    await page.getByRole("radio", { name: /^GLU / }).check();
    await page.getByRole("button", { name: "Map to GLU" }).click();
    const mapped = page.getByRole("region", { name: "Codes that the clinic mapped" });
    await mapped.getByText("from the next result on").waitFor();
    await expect.poll(() => page.getByRole("button", { name: `Map ${HOSTILE} of chem-1` }).count()).toBe(0);
    await expectAccessible(page);
    await expectFitsPhone(page);

    const key = await dashboard.makeKey(ours, ["clinic.lab.ingest"]);
    const response = await dashboard.app.inject({ url: "/agent/v1/codes", headers: { "x-api-key": key } });
    expect(response.json()).toEqual({ success: true, data: [{ device_id: "chem-1", code: HOSTILE, analyte: "GLU" }] });

    await chooseLanguage(page, "tr");
    await page.getByRole("heading", { name: "Kliniğin eşledikleri" }).waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await page.getByRole("button", { name: `Eşlemeyi kaldır: chem-1 cihazının ${HOSTILE} kodu` }).click();
    await page.getByText("Henüz eşlenmiş kod yok.").waitFor();
    await page.getByRole("button", { name: `Eşle: chem-1 cihazının ${HOSTILE} kodu` }).waitFor();
  });
});
