import type { Browser, Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { currentRanges } from "../../../../server/records/clinics/ranges.ts";
import { findClinic } from "../../../../server/records/clinics/keys.ts";
import {
  browserProblem,
  chooseLanguage,
  expectAccessible,
  expectFitsPhone,
  pressEnter,
  sharedBrowser,
} from "../../../support/peers/browser.ts";
import { keyPermissions } from "../../../server/harness.ts";
import { startDashboard } from "../../harness.ts";
import { chemistry, profile, resultsClinic } from "../../results-clinic.ts";

const DAY_MS = 86_400_000;
const only = (...codes: string[]) => profile.filter(({ code }) => codes.includes(code));

describe.skipIf(browserProblem() !== null)("the follow-up of a result in a browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await sharedBrowser();
  });

  async function start() {
    const names = resultsClinic();
    const server = await startDashboard(...names.entities);
    return { ...names, server, key: await server.makeKey(names.ours, keyPermissions) };
  }

  async function look(page: Page): Promise<void> {
    await expectAccessible(page);
    await expectFitsPhone(page);
  }

  test("a vet takes a result that nobody saw for a day, remarks, finishes, and opens it again", async () => {
    const { server, ours, dog, key } = await start();
    await server.push(key, chemistry(dog, only("ALT", "TP")));
    server.clock.now += DAY_MS + 1000;
    const page = await server.openAs(browser, "staff", ours);
    const unseen = page.getByRole("region", { name: "Nobody has looked at it for a day" });
    await unseen.getByText("ALT 310 U/L").waitFor();
    await look(page);
    await pressEnter(unseen.getByRole("button", { name: "I take it: Karabaş" }));
    const yours = page.getByRole("region", { name: "Yours" });
    await yours.getByRole("link", { name: "Karabaş" }).waitFor();
    expect(await unseen.count()).toBe(0);
    await look(page);

    await yours.getByRole("link", { name: "Karabaş" }).click();
    const card = page.getByRole("region", { name: "Follow-up" });
    expect(await card.getByLabel("Responsible").locator("option:checked").textContent()).toMatch(/\(me\)$/);
    await card.getByLabel("Remark").fill("Call the owner\non Monday");
    await pressEnter(card.getByRole("button", { name: "Add remark" }));
    await card.getByText("on Monday").last().waitFor();
    // The text typed while a remark is sent begins the next one.
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    await page.route("**/follow-up/remark", async (route) => {
      await released;
      await route.continue();
    });
    await card.getByLabel("Remark").fill("Fasted");
    const sent = page.waitForRequest("**/follow-up/remark");
    await pressEnter(card.getByRole("button", { name: "Add remark" }));
    await sent;
    await card.getByLabel("Remark").fill("Fasted for 12 h");
    release();
    await card.getByText("Fasted", { exact: true }).waitFor();
    await expect.poll(() => card.getByLabel("Remark").inputValue()).toBe("for 12 h");
    await look(page);
    await pressEnter(card.getByRole("button", { name: "Done" }));
    await card.getByRole("status").getByText("Done").waitFor();
    await look(page);
    await page.goto(`${server.url}/dashboard/results?follow=mine`);
    await page.getByText("No result fits these filters").waitFor();
    await page.goBack();
    await pressEnter(card.getByRole("button", { name: "Open again" }));
    await card.getByRole("status").getByText("Open").waitFor();
    await page.goto(`${server.url}/dashboard/results`);
    await pressEnter(page.getByRole("button", { name: "My follow-ups" }));
    await page.waitForURL(/follow=mine/);
    await page.getByRole("link", { name: "Karabaş" }).waitFor();
    await look(page);
  });

  test("an admin accepts a limit by name, the next result is critical by it, and only a click says that it was seen", async () => {
    const { server, ours, dog, key } = await start();
    const page = await server.openAs(browser, "admin", ours);
    await page.getByRole("listitem").filter({ hasText: "critical limits" }).getByRole("link").click();
    const limits = page.getByRole("region", { name: "Critical limits" }).first();
    await limits.getByText("Nobody has decided yet").waitFor();
    await look(page);
    await limits.getByLabel("Use: dog, PLT, < 25 ×10⁹/L").check();
    await limits.getByLabel("Name of the vet who decides").fill("Dr. Ada");
    await pressEnter(limits.getByRole("button", { name: "Use the chosen limits (1)" }));
    await limits.getByText(/Accepted by Dr\. Ada on/).waitFor();
    await look(page);

    const clinicId = (await findClinic(server.store, ours))!.id;
    const ranges = (await currentRanges(server.store, clinicId)) ?? null;
    const platelets = only("PLT").map((row) => ({ ...row, value: 22, text: "22" }));
    const sent = chemistry(dog, platelets, {}, ranges);
    await server.push(key, sent);
    await page.goto(`${server.url}/dashboard/results/${sent.fp}`);
    await page.getByText(/critical by the limit < 25 ×10⁹\/L that Dr\. Ada accepted on .*VCOG/).waitFor();
    const seen = page.getByRole("button", { name: "I have seen it" });
    await seen.waitFor();
    await look(page);
    // Opening is not seeing.
    await page.goto(`${server.url}/dashboard`);
    await page.getByText("Critical values not seen").waitFor();
    await page.goBack();
    await pressEnter(seen);
    await page.getByText(/^Critical value seen by admin/).waitFor();
    await look(page);
    await page.goto(`${server.url}/dashboard`);
    await page.getByRole("heading", { name: "Today" }).waitFor();
    await expect.poll(() => page.getByText("Critical values not seen").count()).toBe(0);
    await page.goto(`${server.url}/dashboard/settings/ranges`);
    await chooseLanguage(page, "tr");
    await page.getByRole("heading", { name: "Kritik sınırlar" }).waitFor();
    await look(page);
    await pressEnter(page.getByRole("button", { name: "Hepsini geri al" }));
    await page.getByText("Klinik hiçbirini kullanmamaya karar verdi.").waitFor();
  });
});
