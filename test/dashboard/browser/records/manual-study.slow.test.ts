import type { Browser, Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import type { CorrectionBody, ManualStudyBody } from "../../../../server/dashboard/types/results/manual-study.ts";
import type { StudyPage } from "../../../../server/dashboard/types/results/results.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import {
  browserProblem,
  chooseLanguage,
  expectAccessible,
  expectFitsPhone,
  sharedBrowser,
} from "../../../support/peers/browser.ts";
import { clinic, connection, patient } from "../../../server/harness.ts";
import { makeUser, startDashboard } from "../../harness.ts";

const fp = newFp("clinic");
const dog = patient({ name: "<i>Karabaş</i>", date_of_birth: "2020-01-01", external_ids: ["990000000000001"] });
const cat = patient({ name: "Pamuk", species: "cat", sex: "female_spayed", date_of_birth: "2021-03-01" });

async function started() {
  const server = await startDashboard(clinic(fp), dog, cat, connection(dog.fp, fp), connection(cat.fp, fp));
  // The page takes the browser's time for the sample.
  server.clock.now = Date.now();
  return server;
}

async function chooseDog(page: Page): Promise<void> {
  await page.getByLabel(/^(Animal|Hayvan)/).fill("karabas");
  await page.getByRole("button", { name: "<i>Karabaş</i>" }).click();
}

/** The row of an analyte: its flag and range as the page shows them. */
async function shownOf(page: Page, analyte: string): Promise<string[]> {
  const cells = page.locator(".typed-rows tr", { has: page.getByLabel(`Value of ${analyte}`) }).locator("td");
  return [(await cells.nth(1).textContent()) ?? "", (await cells.nth(2).textContent()) ?? ""];
}

describe.skipIf(browserProblem() !== null)("a manual study in a browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await sharedBrowser();
  });

  test("typed values get their range and flag immediately, and the API returns the same", async () => {
    const server = await started();
    const page = await server.openAs(browser, "staff", fp, "/manual-study");
    await page.getByText("Choose the animal first").waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await chooseDog(page);
    await page.getByLabel("Kind of study").selectOption("BIOCHEMISTRY");
    await page.getByLabel("Find an analyte").fill("al");
    await page.locator(".typed-rows").getByText("17-95").waitFor();
    await page.getByLabel("Value of Alanine aminotransferase").fill("150");
    await page.locator(".typed-rows").getByText("high").waitFor();
    await page.getByLabel("Value of Alanine aminotransferase").press("Enter");
    const focused = page.locator(":focus");
    await expect.poll(() => focused.getAttribute("aria-label")).toMatch(/^Value of (?!Alanine)/);
    // A bound has no place on a scale.
    await page.getByLabel("Value of Alanine aminotransferase").fill("<5");
    await page.locator(".typed-rows").getByText("low").waitFor();
    await expect.poll(() => page.locator(".typed-rows .range-bar").count()).toBe(0);
    await page.getByLabel("Value of Alanine aminotransferase").fill("150");
    await page.locator(".typed-rows").getByText("high").waitFor();
    await expect.poll(() => page.locator(".typed-rows .range-bar").count()).toBe(1);
    const shown = await shownOf(page, "Alanine aminotransferase");
    await expectAccessible(page);
    await expectFitsPhone(page);

    // Two clicks in a row save once.
    await page.getByRole("button", { name: "Save the study" }).dblclick();
    const saved = page.getByRole("heading", { name: "The study is saved" });
    await saved.or(page.getByRole("alert")).first().waitFor();
    expect(await page.getByRole("alert").allTextContents()).toEqual([]);
    await expectAccessible(page);
    const href = await page.getByRole("link", { name: "Open the result" }).getAttribute("href");
    const key = await server.makeKey(fp, ["clinic.lab.view"]);
    const { data } = (await server.get(key, `/api/v1/lab/diagnostics/${href?.split("/").at(-1)}`)).body;
    expect(data).toMatchObject({ patient_fp: dog.fp, modality: "BIOCHEMISTRY", device_name: "Manual entry" });
    expect(data.results).toEqual([{ analyte: "ALT", value: 150, unit: "U/L", reference_range: "17-95", flag: "high" }]);
    expect(shown).toEqual(["↑high", "17-95"]);
    // The typed study is corrected, then removed with a reason, and comes back.
    await page.getByRole("link", { name: "Open the result" }).click();
    await page.getByRole("link", { name: "Correct values" }).click();
    const alt = page.getByLabel("Value of Alanine aminotransferase");
    await expect.poll(() => alt.inputValue()).toBe("150");
    await expectAccessible(page);
    await expectFitsPhone(page);
    await alt.fill("15");
    await page.getByRole("button", { name: "Save the correction" }).click();
    await page.getByText("corrected by hand").first().waitFor();
    await page.getByRole("button", { name: "Remove study" }).click();
    await page.getByLabel("Reason").fill("typed twice");
    await expectAccessible(page);
    await page.getByRole("dialog").getByRole("button", { name: "Remove study" }).click();
    await page.getByText("This study was removed.").waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByRole("link", { name: "Correct values" }).waitFor();
    const studies = await server.app.inject({ url: `/clinic/v1/clinics/${fp}/today`, headers: await cookieOf(page) });
    expect(studies.json<{ newest: unknown[] }>().newest).toHaveLength(1);
  });

  test("a typed study that a colleague corrects meanwhile is not removed", async () => {
    const server = await started();
    const colleague = await makeUser(server, "staff", fp);
    const acquired_at = new Date(server.clock.now - 60_000).toISOString();
    const typed = (value: string): Omit<CorrectionBody, "revision"> => ({
      ...{ modality: "BIOCHEMISTRY", acquired_at, results: [{ analyte: "ALT", value, unit: "U/L" }] },
    });
    const body: ManualStudyBody = { ...typed("15"), patient_fp: dog.fp, entry_id: "a".repeat(32) };
    const saved = await colleague.call<{ fp: string }>("POST", "/manual-study", body);
    const path = `/results/${saved.body.fp}`;
    const page = await server.openAs(browser, "staff", fp, path);
    const dialog = page.getByRole("dialog");
    await page.getByRole("button", { name: "Remove study" }).click();
    await dialog.getByLabel("Reason").fill("typed twice");
    const correction: CorrectionBody = { ...typed("150"), revision: 1 };
    expect((await colleague.call("POST", `${path}/correct`, correction)).status).toBe(200);
    await page.getByText("corrected by hand").first().waitFor();
    await dialog.getByRole("button", { name: "Remove study" }).click();
    await dialog.getByText("This study was changed meanwhile.").waitFor();
    expect(await dialog.getByLabel("Reason").inputValue()).toBe("typed twice");
    expect((await colleague.call<StudyPage>("GET", path)).body.place).toMatchObject({ kind: "patient" });
  });

  test("a search finds analytes of all kinds, and the words of a rapid test are chosen", async () => {
    const server = await started();
    const page = await server.openAs(browser, "staff", fp, "/manual-study");
    await chooseDog(page);
    await page.getByLabel("Find an analyte").fill("HEARTWORM");
    await page.getByText("No analyte of this kind has this name.").waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Heartworm antigen" }).click();
    await expect.poll(() => page.getByLabel("Kind of study").inputValue()).toBe("BIOCHEMISTRY");
    const words = page.getByLabel("Value of Heartworm antigen");
    await page.locator("[data-analyte=HW]:focus").waitFor();
    await words.selectOption({ label: "Positive" });
    await page.locator(".typed-rows").getByText("abnormal").waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await chooseLanguage(page, "tr");
    await expect.poll(() => words.count()).toBe(0);
    const ours = page.locator("[data-analyte=HW]");
    await expect
      .poll(() => ours.locator("option").allTextContents())
      .toEqual(["–", "Negatif", "Pozitif", "Başka sözcük…"]);
    await ours.selectOption("other");
    await ours.fill("Weak positive");
    await chooseLanguage(page, "en");
    await expect.poll(() => words.inputValue()).toBe("Weak positive");
    await page.getByRole("button", { name: "Save the study" }).click();
    await page.getByRole("heading", { name: "The study is saved" }).waitFor();
  });

  test("a fault is shown next to its value, and nothing is saved until it is corrected", async () => {
    const server = await started();
    const page = await server.openAs(browser, "staff", fp, "/manual-study");
    await chooseDog(page);
    await page.getByRole("button", { name: "Save the study" }).click();
    await page.getByText("Type at least one value.").waitFor();
    const wbc = page.getByLabel("Value of White blood cells");
    await wbc.fill("2+");
    await page.getByText("A number is expected.").waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Save the study" }).click();
    await page.locator(":focus[aria-invalid=true]").waitFor();
    await wbc.fill("7,1");
    await page.getByText("A number is expected.").waitFor({ state: "detached" });
    // A button that the response moves away loses a click under way.
    const save = page.getByRole("button", { name: "Save the study" });
    const before = await save.boundingBox();
    await expect.poll(() => page.locator(".api-preview td.number").textContent()).toBe("7.1");
    expect(await save.boundingBox()).toEqual(before);
    await save.click();
    await page.getByRole("heading", { name: "The study is saved" }).waitFor();
    await expect.poll(() => page.locator(".api-preview td.number").textContent()).toBe("7.1");
  });

  test("no range of the first animal stays when the server does not respond about the second one", async () => {
    const server = await started();
    const page = await server.openAs(browser, "staff", fp, "/manual-study");
    await chooseDog(page);
    const asApi = page.getByRole("heading", { name: "As the API will show it" });
    await expect.poll(() => asApi.count()).toBe(0);
    await page.getByText("For developers").click();
    await asApi.waitFor();
    await page.route("**/manual-study/preview", (route) => route.abort());
    await page.getByRole("button", { name: "Choose another animal" }).click();
    await page.getByLabel(/^Animal/).fill("pamuk");
    const choice = page.getByRole("button", { name: "Pamuk" });
    await expect.poll(() => choice.innerText()).toBe("Pamuk cat · female, spayed · born 1 Mar 2021");
    await choice.click();
    await page.locator(".problem").waitFor();
    await expect.poll(() => asApi.count()).toBe(0);
  });

  test("a correction that is being typed stays when another user removes the study, and is refused", async () => {
    const server = await started();
    const page = await server.openAs(browser, "staff", fp, "/manual-study");
    await chooseDog(page);
    await page.getByLabel("Value of White blood cells").fill("7.1");
    await page.getByRole("button", { name: "Save the study" }).click();
    const result = page.getByRole("link", { name: "Open the result" });
    const fpOfStudy = (await result.getAttribute("href"))?.split("/").at(-1);
    await result.click();
    await page.getByRole("link", { name: "Correct values" }).click();
    const value = page.getByLabel("Value of White blood cells");
    await value.fill("8.2");
    const { call } = await makeUser(server, "staff", fp);
    const path = `/results/${fpOfStudy}`;
    const loaded = page.waitForResponse(`**${path}`);
    const removal = { revision: 1, reason: "typed twice" };
    expect((await call("POST", `${path}/withdraw`, removal)).status).toBe(200);
    await (await loaded).finished();
    await expectAccessible(page);
    expect(await value.inputValue()).toBe("8.2");
    await page.getByRole("button", { name: "Save the correction" }).click();
    await page.getByRole("alert").filter({ hasText: "meanwhile" }).waitFor();
    expect(await value.inputValue()).toBe("8.2");
  });

  test("typed values outlive the screen, until they are saved", async () => {
    const server = await started();
    const page = await server.openAs(browser, "staff", fp, "/manual-study");
    await chooseDog(page);
    await page.getByLabel("Value of White blood cells").fill("7.1");
    await page.getByRole("navigation").getByRole("link", { name: "Results" }).click();
    await page.getByRole("heading", { name: "Results" }).waitFor();
    await chooseLanguage(page, "tr");
    await chooseLanguage(page, "en");
    await page.goBack();
    const wbc = page.getByLabel("Value of White blood cells");
    await expect.poll(() => wbc.inputValue()).toBe("7.1");
    await page.getByRole("button", { name: "Save the study" }).click();
    await page.getByRole("button", { name: "Type another study" }).click();
    await chooseDog(page);
    await expect.poll(() => wbc.inputValue()).toBe("");
  });
});

async function cookieOf(page: Page): Promise<{ cookie: string }> {
  const cookies = await page.context().cookies();
  return { cookie: cookies.map(({ name, value }) => `${name}=${value}`).join("; ") };
}
