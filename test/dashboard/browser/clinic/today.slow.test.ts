import type { Browser } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { newFp } from "../../../../shared/api/fp.ts";
import type { PushedStudy } from "../../../../shared/api/study.ts";
import {
  browserProblem,
  chooseLanguage,
  expectAccessible,
  expectFitsPhone,
  sharedBrowser,
} from "../../../support/peers/browser.ts";
import { clinic, connection, keyPermissions, patient, study } from "../../../server/harness.ts";
import { startDashboard } from "../../harness.ts";

const fp = newFp("clinic");
const dog = patient({ name: "<b>Karabaş</b>" });

/** A glucose that is critical for every dog. The server flags it, because the push names no animal. */
function criticalStudy(changes: Partial<PushedStudy> = {}): PushedStudy {
  const glucose = { analyte: "GLU", value: 1.1, unit: "mmol/L", reference_range: "3.3-6.1", flag: "critical" as const };
  const { species, breed, sex, date_of_birth } = dog;
  const row = { analyte: "GLU", code: "GLU", interval_id: "x", reason: null, text: "1.1" };
  const device = { device_range: null, device_species: null, device_flag: null };
  const snapshot = {
    ...{ catalogue: "1", ranges: null, animal: { species, breed, sex, date_of_birth }, instrument: null },
    ...{ rows: [{ ...row, ...device }], notes: [] },
  };
  return study({ patient_fp: dog.fp, results: [glucose], snapshot, ...changes });
}

describe.skipIf(browserProblem() !== null)("Today in a browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await sharedBrowser();
  });

  test("a push appears while one looks: its row is marked and announced, and its counts go up", async () => {
    const server = await startDashboard(clinic(fp), dog, connection(dog.fp, fp));
    const key = await server.makeKey(fp, keyPermissions);
    await server.push(key, study());
    const page = await server.openAs(browser, "staff", fp);
    const card = (name: string) => page.getByRole("region", { name, exact: true });
    await card("Studies to place").getByText("1", { exact: true }).waitFor();
    const rows = page.getByRole("table").getByRole("row");
    await expect.poll(() => rows.count()).toBe(2);

    await server.push(key, criticalStudy(), study());
    await card("Studies to place").getByText("2", { exact: true }).waitFor();
    await card("Critical values not seen").getByText("GLU 1.1 mmol/L").waitFor();
    await expect.poll(() => rows.count()).toBe(4);
    await expect.poll(() => page.locator("tr.new-row").count()).toBe(2);
    await expect.poll(() => page.getByRole("status").first().textContent()).toContain("New result: <b>Karabaş</b>");
    await expectAccessible(page);
    await expectFitsPhone(page);
    await chooseLanguage(page, "tr");
    await page.getByText("Görülmemiş kritik değerler").waitFor();
    await server.push(key, criticalStudy());
    await page.getByText(/^Yeni sonuç: .*\. kritik/).waitFor({ state: "attached" });
    await expectFitsPhone(page);
  });

  test("a critical value that one user saw leaves the page of another one", async () => {
    const server = await startDashboard(clinic(fp), dog, connection(dog.fp, fp));
    await server.push(await server.makeKey(fp, keyPermissions), criticalStudy());
    const [staff, reader] = [await server.openAs(browser, "staff", fp), await server.openAs(browser, "reader", fp)];
    await reader.getByText("Critical values not seen").waitFor();
    expect(await reader.getByRole("button", { name: /^I have seen it/ }).count()).toBe(0);
    await staff.getByRole("button", { name: "I have seen it: <b>Karabaş</b>" }).press("Enter");
    await staff.getByText(/Nothing needs you$/).waitFor();
    await reader.getByText(/Nothing needs you$/).waitFor();
  });

  test("a click on the row that an arriving one pushed under the pointer marks nothing, and the next click does", async () => {
    const bella = patient({ name: "Bella" });
    const animals = [dog, connection(dog.fp, fp), bella, connection(bella.fp, fp)];
    const server = await startDashboard(clinic(fp), ...animals);
    const key = await server.makeKey(fp, keyPermissions);
    const rex = criticalStudy();
    await server.push(key, rex);
    const page = await server.openAs(browser, "staff", fp);
    const seen: string[] = [];
    page.on(
      "request",
      (request) => request.url().endsWith("/seen") && seen.push(request.url().split("/").at(-2) ?? ""),
    );
    const button = (name: string) => page.getByRole("button", { name: `I have seen it: ${name}` });
    await button("<b>Karabaş</b>").waitFor();
    // The click of a pointer that was on its way: it comes before anybody could read the new row.
    await page.evaluate(`new MutationObserver((_, observer) => {
      const button = document.querySelector("button[aria-label='I have seen it: Bella']");
      if (button === null) return;
      observer.disconnect();
      button.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, detail: 1 }));
      globalThis.isClicked = true;
    }).observe(document.body, { childList: true, subtree: true })`);
    const arrived = criticalStudy({ patient_fp: bella.fp });
    await server.push(key, arrived);
    await expect.poll(() => page.evaluate("globalThis.isClicked")).toBe(true);
    // Playwright waits until a button is enabled, as a person does.
    await button("<b>Karabaş</b>").click();
    await button("<b>Karabaş</b>").waitFor({ state: "detached" });
    expect(await button("Bella").count()).toBe(1);
    expect(seen).toEqual([rex.fp]);
    await button("Bella").click();
    await page.getByText(/Nothing needs you$/).waitFor();
    expect(seen).toEqual([rex.fp, arrived.fp]);
  });

  test("an admin of a new clinic sees its first steps, skips one, and each leads to its page", async () => {
    const server = await startDashboard(clinic(fp));
    const page = await server.openAs(browser, "admin", fp);
    const steps = page.getByRole("region", { name: "First steps" }).getByRole("listitem");
    await expect.poll(() => steps.count()).toBe(6);
    await expectAccessible(page);
    await expectFitsPhone(page);
    await page.getByRole("button", { name: "Skip: Add your team" }).press("Enter");
    await expect.poll(() => steps.count()).toBe(5);
    await chooseLanguage(page, "tr");
    await page.getByRole("region", { name: "İlk adımlar" }).waitFor();
    await expectFitsPhone(page);
    await page.getByRole("link", { name: "Bilgisayar ekle" }).click();
    await page.waitForURL(/devices$/);
  });
});
