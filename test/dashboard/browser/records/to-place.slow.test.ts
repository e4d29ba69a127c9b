import type { Browser, Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import {
  browserProblem,
  chooseLanguage,
  expectAccessible,
  expectFitsPhone,
  sharedBrowser,
} from "../../../support/peers/browser.ts";
import { clinicEntities, dog, ours, pushTo, readStudy, waiting } from "../../unmatched-clinic.ts";
import type { AssignBody, AssignPreview } from "../../../../server/dashboard/types/results/unmatched.ts";
import { makeUser, startDashboard } from "../../harness.ts";

// Goal: a user places, rejects and reopens unmatched studies with the keyboard alone.

const HOSTILE = '<img src=x onerror="document.title=1">';

describe.skipIf(browserProblem() !== null)("in a browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await sharedBrowser();
  });

  const heading = (page: Page, name: string) => page.getByRole("heading", { name }).waitFor();
  const notice = (page: Page, text: string) => page.getByRole("status").filter({ hasText: text }).waitFor();
  const current = (page: Page) => page.locator(".unmatched-queue [aria-current]").innerText();

  test("an unmatched study is placed with the keyboard alone, and read by GET with the flags of that species", async () => {
    const dashboard = await startDashboard(...clinicEntities);
    const [first, second] = [waiting({ name: "Boncuk" }), waiting({ name: "Karabas", owner: HOSTILE })];
    await pushTo(dashboard, ours, first, second);
    const page = await dashboard.openAs(browser, "staff", ours, "/to-place");
    await heading(page, "What the device said");
    expect(await current(page)).toContain("Boncuk");
    await page.waitForURL(`**/to-place/${first.fp}`);
    await page.keyboard.press("j");
    await page.getByText(HOSTILE).waitFor();
    expect(await current(page)).toContain("Karabas");
    await expectAccessible(page);
    await expectFitsPhone(page);
    await page.keyboard.press("1");
    await heading(page, "If it is filed to Karabaş");
    const row = page.getByRole("region", { name: "Results with the flags for Karabaş" }).getByRole("row").nth(1);
    expect((await row.innerText()).split(/\s+/)).toEqual(["ALT", "100", "U/L", "↑", "high", "17-95"]);
    await expectAccessible(page);
    await expectFitsPhone(page);
    expect(await readStudy(dashboard, second.fp)).toBeNull();
    await page.keyboard.press("Enter");
    await notice(page, "Filed to Karabaş.");
    expect(await readStudy(dashboard, second.fp)).toMatchObject({ patient_fp: dog.fp, results: [{ flag: "high" }] });
    await page.waitForURL(`**/to-place/${first.fp}`);
    expect(await current(page)).toContain("Boncuk");

    // The key does nothing while the last command is under way, as the button.
    await expect.poll(() => page.getByRole("button", { name: "Undo" }).isEnabled()).toBe(true);
    await page.keyboard.press("u");
    await page.waitForURL(`**/to-place/${second.fp}`);
    await heading(page, "Whose result is it?");
    expect(await readStudy(dashboard, second.fp)).toBeNull();
  });

  test("a cat's study goes to a dog only after the species is typed", async () => {
    const dashboard = await startDashboard(...clinicEntities);
    const unmatched = { code: "MATCH.SPECIES", values: ["cat", "dog"] };
    const sent = waiting({ name: "Karabas", species: "Kedi" }, { unmatched });
    await pushTo(dashboard, ours, sent);
    const page = await dashboard.openAs(browser, "staff", ours, `/to-place/${sent.fp}`);
    await heading(page, "Whose result is it?");
    await chooseLanguage(page, "tr");
    await page.getByText("tür çelişkisi: cihaz kedi diyor, hasta köpek").waitFor();
    await chooseLanguage(page, "en");
    await heading(page, "Whose result is it?");
    await page.keyboard.press("1");
    await page.getByText("The device said Kedi, but Karabaş is a dog.").waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await page.keyboard.type("cat");
    await page.keyboard.press("Enter");
    await page.getByText("type the patient's species, dog, to file it all the same").waitFor();
    expect(await readStudy(dashboard, sent.fp)).toBeNull();
    await page.getByLabel("To file it all the same, type dog").fill("dog");
    await page.keyboard.press("Enter");
    await notice(page, "Filed to Karabaş.");
    expect(await readStudy(dashboard, sent.fp)).toMatchObject({ patient_fp: dog.fp, results: [{ flag: "high" }] });
    await page.getByText("Nothing waits to be placed").waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
  });

  test("a study that contradicts the sex is filed after a tick, and shows the last value of the animal", async () => {
    const dashboard = await startDashboard(...clinicEntities);
    const before = waiting({}, { patient_fp: dog.fp, acquired_at: "2026-01-02T08:00:00.000Z" });
    const sent = waiting({ name: "Karabas", sex: dog.sex === "male" ? "F" : "M" });
    await pushTo(dashboard, ours, before, sent);
    const page = await dashboard.openAs(browser, "staff", ours, `/to-place/${sent.fp}`);
    await heading(page, "Whose result is it?");
    await page.getByText("1 result waits for its animal.").waitFor();
    await page.keyboard.press("1");
    await heading(page, "If it is filed to Karabaş");
    const row = page.getByRole("region", { name: "Results with the flags for Karabaş" }).getByRole("row").nth(1);
    expect((await row.innerText()).split(/\s+/).slice(0, 7)).toEqual([
      "ALT",
      "100",
      "U/L",
      "↑",
      "high",
      "17-95",
      "100",
    ]);
    // The focus is on the question, so that Enter asks for the tick.
    await page.keyboard.press("Enter");
    expect(await readStudy(dashboard, sent.fp)).toBeNull();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await page.keyboard.press("Space");
    await page.keyboard.press("Enter");
    await notice(page, "Filed to Karabaş.");
    expect(await readStudy(dashboard, sent.fp)).toMatchObject({ patient_fp: dog.fp });
  });

  test("a study is rejected with a reason and taken back, and no key acts in a field", async () => {
    const dashboard = await startDashboard(...clinicEntities);
    const sent = waiting({ name: "Control" });
    await pushTo(dashboard, ours, sent);
    const page = await dashboard.openAs(browser, "staff", ours, "/to-place");
    await heading(page, "Whose result is it?");
    await page.getByLabel("Search another patient").fill("r1u");
    expect(await page.getByRole("dialog").count()).toBe(0);
    await page.getByLabel("Search another patient").fill("pam");
    await page.getByRole("button", { name: /Pamuk/ }).click();
    await heading(page, "If it is filed to Pamuk");
    await page.keyboard.press("r");
    await page.getByLabel("Reason").waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await page.keyboard.type("j is a control");
    await page.keyboard.press("Enter");
    await notice(page, "Rejected.");
    await page.getByRole("button", { name: "Rejected 1" }).click();
    await page.getByText("This study is rejected: j is a control").waitFor();
    await page.getByText("History").click();
    await page.getByText("rejected: j is a control by staff").waitFor();
    await expectAccessible(page);
    await page.keyboard.press("u");
    await page.getByRole("button", { name: "Waiting 1", pressed: true }).waitFor();
    await heading(page, "Whose result is it?");
    await chooseLanguage(page, "tr");
    await heading(page, "Bu sonuç kimin?");
    await expectAccessible(page);
    await expectFitsPhone(page);
  });

  test("the second user who places a study reads who was first", async () => {
    const dashboard = await startDashboard(...clinicEntities);
    const sent = waiting({ name: "Karabas" });
    await pushTo(dashboard, ours, sent);
    const pages = [
      await dashboard.openAs(browser, "staff", ours, `/to-place/${sent.fp}`),
      await dashboard.openAs(browser, "staff", ours, `/to-place/${sent.fp}`),
    ];
    // The news of the first user's command do not arrive in time.
    await Promise.all(pages.map((page) => page.route("**/events", (route) => route.abort())));
    for (const page of pages) await page.reload();
    for (const page of pages) {
      await heading(page, "Whose result is it?");
      await page.keyboard.press("1");
      await heading(page, "If it is filed to Karabaş");
    }
    const [first, second] = pages as [Page, Page];
    await first.keyboard.press("Enter");
    await notice(first, "Filed to Karabaş.");
    await second.keyboard.press("Enter");
    await second.getByText(/^staff \w+ changed this study meanwhile: it is filed to Karabaş now\.$/).waitFor();
    await second.getByText("This study is filed to Karabaş.").waitFor();
    expect(await readStudy(dashboard, sent.fp)).toMatchObject({ patient_fp: dog.fp });
  });

  test("the undo of a notice returns the study that the notice names, not the one that the page went on to", async () => {
    const dashboard = await startDashboard(...clinicEntities);
    const [first, second] = [waiting({ name: "Karabas" }), waiting({ name: "Boncuk" })];
    await pushTo(dashboard, ours, first, second);
    const page = await dashboard.openAs(browser, "staff", ours, `/to-place/${first.fp}`);
    await heading(page, "Whose result is it?");
    await page.keyboard.press("1");
    await heading(page, "If it is filed to Karabaş");
    await page.keyboard.press("Enter");
    await notice(page, "Filed to Karabaş.");
    await page.waitForURL(`**/to-place/${second.fp}`);
    // A colleague files the study that is selected now.
    const { call } = await makeUser(dashboard, "staff", ours);
    const { body } = await call<AssignPreview>("GET", `/unmatched/${second.fp}/preview/${dog.fp}`);
    const assigned: AssignBody = { revision: body.revision, patient_fp: dog.fp, checked: body.contradicted };
    expect((await call("POST", `/unmatched/${second.fp}/assign`, assigned)).status).toBe(200);
    await page.getByText("This study is filed to Karabaş.").waitFor();
    await page.getByRole("status").getByRole("button", { name: "Undo" }).click();
    await page.waitForURL(`**/to-place/${first.fp}`);
    await heading(page, "Whose result is it?");
    expect(await readStudy(dashboard, first.fp)).toBeNull();
    expect(await readStudy(dashboard, second.fp)).toMatchObject({ patient_fp: dog.fp });
  });

  test("a reason that is typed while the queue moves rejects no other study", async () => {
    const dashboard = await startDashboard(...clinicEntities);
    const [first, second] = [waiting({ name: "Karabas" }), waiting({ name: "Boncuk" })];
    await pushTo(dashboard, ours, first, second);
    const page = await dashboard.openAs(browser, "staff", ours, "/to-place");
    await page.waitForURL(`**/to-place/${first.fp}`);
    await heading(page, "Whose result is it?");
    await page.keyboard.press("r");
    await page.keyboard.type("a control");
    const other = await dashboard.openAs(browser, "staff", ours, `/to-place/${first.fp}`);
    await heading(other, "Whose result is it?");
    await other.keyboard.press("1");
    await heading(other, "If it is filed to Karabaş");
    await other.keyboard.press("Enter");
    await notice(other, "Filed to Karabaş.");
    await page.getByText("This study is filed to Karabaş.").waitFor();
    await page.keyboard.press("Enter");
    await page
      .getByRole("dialog")
      .getByText(/changed this study meanwhile/)
      .waitFor();
    await page.getByRole("button", { name: "Rejected 0", includeHidden: true }).waitFor({ state: "attached" });
    expect(await readStudy(dashboard, first.fp)).toMatchObject({ patient_fp: dog.fp });
  });
});
