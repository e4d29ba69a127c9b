import type { Browser, Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { uncachedWrite } from "../../../../server/database/query.ts";
import type { Entity } from "../../../../server/import/lines.ts";
import type { Result } from "../../../../shared/api/study.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import { clinic, connection, keyPermissions, patient } from "../../../server/harness.ts";
import { event, soap } from "../../../server/records.ts";
import {
  browserProblem,
  chooseLanguage,
  expectAccessible,
  expectFitsPhone,
  sharedBrowser,
} from "../../../support/peers/browser.ts";
import { startDashboard } from "../../harness.ts";

// The screens of patients as a user sees them.

const problem = browserProblem();

const HOSTILE = '<img src=x onerror="document.title=1"> Şimşek';

/** A clinic with Karabaş, who has studies of two years, and with an animal of a hostile name without any. */
function world() {
  const own = newFp("clinic");
  const other = newFp("clinic");
  const karabas = patient({ name: "Karabaş", sex: "male_neutered", external_ids: ["792090000124031", "10021"] });
  const hostile = patient({ name: HOSTILE, species: "cat", breed: "<b>Van</b>", sex: null, date_of_birth: null });
  const pamuk = patient({ name: "Pamuk", species: "cat" });
  const entities: (Entity | Entity[])[] = [
    [clinic(own), clinic(other), karabas, hostile, pamuk],
    [connection(karabas.fp, own), connection(hostile.fp, own), connection(pamuk.fp, other)],
    studiesOf(karabas.fp),
    soap(karabas.fp, other, { assessment: "Mild azotaemia.", signed_at: "2026-11-01T10:00:00.000Z", status: "SIGNED" }),
    event(own, { patient_fp: karabas.fp, title: "Control of the kidneys" }),
  ];
  return { own, other, karabas, hostile, pamuk, entities };
}

function studiesOf(patient_fp: string): Entity[] {
  const chemistry = (acquired_at: string, ...results: Result[]): Entity =>
    measured("Abaxis VetScan VS2", acquired_at, ...results);
  const measured = (device_name: string, acquired_at: string, ...results: Result[]): Entity => ({
    type: "study",
    fp: newFp("cds"),
    patient_fp,
    modality: "BIOCHEMISTRY",
    device_name,
    status: "COMPLETED",
    acquired_at,
    results,
  });
  const crea = (value: number, flag: Result["flag"], more: Partial<Result> = {}): Result => {
    return { analyte: "CREA", value, unit: "mg/dL", reference_range: "0.5-1.8", flag, ...more };
  };
  const sodium = (value: number): Result => {
    return { analyte: "NA", value, unit: "mmol/L", reference_range: null, flag: null };
  };
  const urea: Result = { analyte: "UREA", value: 60.1, unit: "mg/dL", reference_range: "15-58", flag: "high" };
  const bun: Result = { analyte: "BUN", value: 30, unit: "mg/dL", reference_range: "7-25", flag: "high" };
  const own: Result = {
    analyte: "X<1>",
    value: 7,
    unit: null,
    reference_range: null,
    flag: null,
    code_source: "device",
  };
  const words: Result = {
    analyte: "FELV",
    value: null,
    unit: null,
    reference_range: null,
    flag: null,
    value_text: "Negative",
  };
  return [
    chemistry("2024-11-20T22:30:00.000Z", crea(1.2, "normal"), sodium(150)),
    chemistry("2025-11-20T10:00:00.000Z", crea(0.2, "low", { comparator: "<" }), sodium(148), own),
    chemistry("2026-03-20T10:00:00.000Z", crea(106, null, { unit: "umol/L", reference_range: null })),
    measured("Seamaty SMT-120VP", "2026-11-20T08:00:00.000Z", crea(3.2, "high", { reference_range: "0.4-1.4" }), urea),
    chemistry("2026-11-20T10:00:00.000Z", crea(3.9, "critical"), bun, words),
    {
      type: "study",
      fp: newFp("cds"),
      patient_fp,
      modality: "HEMATOLOGY",
      device_name: "Mindray BC-30 Vet",
      status: "COMPLETED",
      acquired_at: "2026-11-20T09:30:00.000Z",
      results: [{ analyte: "WBC", value: 9.1, unit: "10*9/L", reference_range: "6.0-17.0", flag: "normal" }],
    },
    {
      type: "study",
      fp: newFp("cds"),
      patient_fp,
      modality: "RADIOLOGY",
      device_name: "DX <1>",
      status: "COMPLETED",
      acquired_at: "2026-11-19T09:30:00.000Z",
      results: [],
    },
  ];
}

describe.skipIf(problem !== null)("in a browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await sharedBrowser();
  });

  test("the list finds a patient by name without accents, by microchip and by fp, and filters by species", async () => {
    const { own, karabas, entities } = world();
    const { openAs } = await startDashboard(...entities);
    const page = await openAs(browser, "reader", own, "/patients");
    const names = page.locator("tbody th");
    await expect.poll(() => names.allTextContents()).toEqual([HOSTILE, "Karabaş"]);
    await expectAccessible(page);
    await expectFitsPhone(page);
    for (const search of ["karabas", "792090000124031", karabas.fp]) {
      await page.getByLabel("Search").fill(search);
      await expect.poll(() => names.allTextContents()).toEqual(["Karabaş"]);
      await page.getByLabel("Search").fill("");
      await expect.poll(() => names.count()).toBe(2);
    }
    await page.getByLabel("Species", { exact: true }).selectOption("cat");
    await expect.poll(() => names.allTextContents()).toEqual([HOSTILE]);
    await page.getByLabel("Search").fill("nobody");
    await page.getByText("No patient fits").waitFor();
    await expectAccessible(page);
    // The address keeps the search.
    await page.reload();
    await page.getByText("No patient fits").waitFor();
    expect(await page.getByRole("button", { name: "Connect a patient" }).count()).toBe(0);
    // A search from the header replaces the text of the list's own search.
    const find = page.getByRole("search", { name: "Find a patient" }).getByRole("searchbox");
    await find.fill("someone else");
    await find.press("Enter");
    await expect.poll(() => page.getByLabel("Search").inputValue()).toBe("someone else");
    await page.getByText("No patient fits").waitFor();
  });

  test("a long list jumps to a letter and to a page, and the server sorts all of it", async () => {
    const own = newFp("clinic");
    const named = ["Çakır", "Cemre", "Zeki"].map((name, index) =>
      patient({ name, date_of_birth: `${2010 + index}-01-01` }),
    );
    const others = Array.from({ length: 120 }, () => patient({ name: "Maviş", date_of_birth: "2020-01-01" }));
    const animals = [...others, ...named];
    const server = await startDashboard(
      clinic(own),
      animals,
      animals.map(({ fp }) => connection(fp, own)),
    );
    const page = await server.openAs(browser, "reader", own, "/patients");
    const names = page.getByRole("table").locator("tbody th");
    const letters = page.getByRole("navigation", { name: "Jump to a letter" }).getByRole("button");
    await expect.poll(async () => (await names.allInnerTexts()).slice(0, 3)).toEqual(["Cemre", "Çakır", "Maviş"]);
    expect(await letters.allInnerTexts()).toEqual(["C", "Ç", "M", "Z"]);
    expect(await page.getByRole("columnheader", { name: "Name" }).getAttribute("aria-sort")).toBe("ascending");
    await expectAccessible(page);
    await expectFitsPhone(page);
    await letters.last().click();
    await page.waitForURL(/page=3/);
    await expect.poll(() => page.evaluate("document.activeElement.textContent")).toBe("Zeki");
    await page.getByRole("spinbutton", { name: "Page" }).fill("2");
    await page.getByRole("spinbutton", { name: "Page" }).press("Enter");
    await page.waitForURL(/page=2/);

    const age = page.getByRole("columnheader", { name: "Age" });
    await age.getByRole("button").click();
    await page.waitForURL(/sort=age/);
    await age.getByRole("button").click();
    // The oldest of all pages is first.
    await expect.poll(async () => (await names.allInnerTexts()).slice(0, 3)).toEqual(["Çakır", "Cemre", "Zeki"]);
    expect(await age.getAttribute("aria-sort")).toBe("descending");
    expect(await letters.count()).toBe(0);
    await expectAccessible(page);
  });

  test("the matrix shows values by days with their flags, and the trend draws one line in the chosen units", async () => {
    const { own, karabas, entities } = world();
    const { store, openAs } = await startDashboard(...entities);
    await store.transaction((session) => session.all(setZone, { fp: own, zone: "Europe/Istanbul" }));
    const page = await openAs(browser, "staff", own, "/patients");
    await page.getByRole("link", { name: "Karabaş" }).click();
    await page.getByRole("heading", { name: "Karabaş" }).waitFor();
    for (const fact of ["male, neutered", "792090000124031, 10021", "12.5 kg"]) await page.getByText(fact).waitFor();
    const rows = page.locator(".matrix tbody tr");
    await expect.poll(() => rows.count()).toBe(9);
    const devices = "≠ other device not comparable: other device";
    const bound = "≠ a bound not comparable: a bound";
    expect(await cellsOf(page, ".matrix")).toEqual([
      ["Hematology"],
      ["WBC White blood cells Trend", "×10⁹/L", "9.1 in range", "", "", "", ""],
      ["Biochemistry"],
      [
        "CREA Creatinine Trend",
        "mg/dL",
        `↑↑ critical high 3.9 ${devices}`,
        `↑ high 3.2 ${devices}`,
        `1.20 ° no interval sent as 106 µmol/L ${bound}`,
        `↓ low <0.2 ${bound}`,
        "1.2 in range",
      ],
      ["BUN Urea nitrogen Trend", "mg/dL", `↑ high 30 ${devices}`, "", "", "", ""],
      ["UREA Urea Trend", "mg/dL", "", "↑ high 60.1", "", "", ""],
      ["NA Sodium Trend", "mmol/L", "", "", "", "148 ° no interval ↓ −2 change −2", "150 ° no interval"],
      ["FELV Feline leukemia virus antigen Trend", "", "Negative", "", "", "", ""],
      ["X<1> own code of Abaxis VetScan VS2 Trend", "", "", "", "", "7 ° no interval", ""],
    ]);
    // Two devices on one morning: the difference, where nobody published that they do not compare.
    expect(await cellsOf(page, ".two-devices table")).toEqual([
      ["CREA Creatinine", "3.2 mg/dL", "3.9 mg/dL", "not comparable: other device"],
      ["BUN Urea nitrogen", "UREA 60.1 mg/dL", "30 mg/dL", "+2 mg/dL"],
    ]);
    await page.getByText(/Two devices do not compare here: Baral/).waitFor();
    // 22:30 UTC is the next day in Istanbul.
    const heads = page.locator(".matrix thead th");
    expect((await heads.allInnerTexts()).at(-1)).toMatch(/21.*2024|2024.*21|Nov 21/);
    await page.getByRole("link", { name: /Radiology/ }).waitFor();
    await page.getByText("Mild azotaemia.").waitFor();
    await page.getByText("Control of the kidneys").waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);

    await page.getByRole("link", { name: "Trend of CREA mg/dL" }).click();
    await page.getByRole("heading", { name: "CREA of Karabaş" }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/dashboard/patients/${karabas.fp}/CREA`);
    // The value that came in another unit is on the same line.
    await expect.poll(() => page.locator(".chart canvas").count()).toBe(1);
    // The band of the interval, another device's interval, and the points of four flags.
    for (const name of ["accent-soft", "line-strong", "text", "low", "high", "critical"]) {
      expect([name, await isDrawn(page, name)]).toEqual([name, true]);
    }
    await page.getByText("a: Seamaty SMT-120VP; <, >: a bound").waitFor();
    expect((await cellsOf(page, ".trend-values")).map((cells) => cells.slice(1))).toEqual([
      ["3.9", devices, "0.5-1.8", "↑↑ critical high", "Abaxis VetScan VS2"],
      ["3.2a", devices, "0.4-1.4", "↑ high", "Seamaty SMT-120VP"],
      ["1.20 sent as 106 µmol/L", bound, "none", "–", "Abaxis VetScan VS2"],
      ["<0.2", bound, "0.5-1.8", "↓ low", "Abaxis VetScan VS2"],
      ["1.2", "", "0.5-1.8", "in range", "Abaxis VetScan VS2"],
    ]);
    // The arrow keys tell each point.
    const points = page.getByRole("slider");
    await points.press("Home");
    await expect
      .poll(() => points.getAttribute("aria-valuetext"))
      .toMatch(/: 1.2 mg\/dL · in range · interval 0.5-1.8/);
    await points.press("ArrowRight");
    await expect.poll(() => points.getAttribute("aria-valuetext")).toMatch(/: <0.2 mg.* · not comparable: a bound$/);
    await expectAccessible(page);
    await expectFitsPhone(page);

    // Several analytes on one axis of time. Urea lies on the curve of urea nitrogen.
    await page.getByText("Other analytes beside it").click();
    await page.getByLabel("BUN").check();
    await page.getByRole("heading", { name: "CREA, BUN of Karabaş" }).waitFor();
    await expect.poll(() => page.locator(".chart canvas").count()).toBe(2);
    await page.getByText("Values of Urea nitrogen, mg/dL").click();
    const urea = page.getByRole("region", { name: "Values of Urea nitrogen" }).locator("tbody tr").nth(1);
    await expect.poll(() => urea.textContent()).toMatch(/28.0a sent as UREA 60.1 mg\/dL/);
    await expectAccessible(page);
    await expectFitsPhone(page);
    await page.getByLabel("BUN").uncheck();
    await page.getByRole("heading", { name: "CREA of Karabaş" }).waitFor();

    // The user's own units, at once and after the page is loaded again.
    await page.getByRole("button", { name: /^staff/ }).click();
    await page.locator("#user-menu").getByLabel("Units").selectOption("si");
    await page.keyboard.press("Escape");
    await page.getByRole("heading", { name: "Creatinine, µmol/L" }).waitFor();
    await page.reload();
    await page.getByRole("heading", { name: "Creatinine, µmol/L" }).waitFor();
    expect((await cellsOf(page, ".trend-values")).map((cells) => [cells[1], cells[3]])).toEqual([
      ["345 sent as 3.9 mg/dL", "44.2-159"],
      ["283a sent as 3.2 mg/dL", "35.4-124"],
      ["106", "none"],
      ["<18 sent as <0.2 mg/dL", "44.2-159"],
      ["106 sent as 1.2 mg/dL", "44.2-159"],
    ]);

    await chooseLanguage(page, "tr");
    await page.getByRole("heading", { name: "Karabaş: CREA" }).waitFor();
    await expectAccessible(page);
    await page.getByRole("link", { name: "Karabaş" }).click();
    await page.getByText("erkek, kısırlaştırılmış").waitFor();
    await page.getByText(/kritik yüksek$/).waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await page.getByRole("link", { name: "Tüm hastalar" }).click();
    await page.getByRole("heading", { name: "Hastalar" }).waitFor();
    await page.getByText("2 hasta", { exact: true }).waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
  });

  test("a code with signs of an address has its own page, and a hostile name is text on every screen", async () => {
    const { own, karabas, hostile, entities } = world();
    const { openAs } = await startDashboard(...entities);
    const page = await openAs(browser, "reader", own, `/patients/${karabas.fp}`);
    await page.getByRole("link", { name: "Trend of X<1>", exact: true }).click();
    await page.getByText("own code of Abaxis VetScan VS2").waitFor();
    await page.goto(new URL(`/dashboard/patients/${hostile.fp}`, page.url()).href);
    await page.getByRole("heading", { name: HOSTILE }).waitFor();
    await page.getByText("Cat, <b>Van</b>").waitFor();
    await page.getByText("No results yet").waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await expect.poll(() => page.title()).toBe(`${HOSTILE} · Vetwire`);
    expect(await page.locator("main img").count()).toBe(0);
    expect(await page.getByRole("button", { name: "Close the connection" }).count()).toBe(0);
    await page.goto(new URL(`/dashboard/patients/${newFp("patient")}`, page.url()).href);
    await page.getByText("This does not exist, or no longer.").waitFor();
    await expectAccessible(page);
    await chooseLanguage(page, "tr");
    await page.getByText("Bu kayıt yok ya da artık yok.").waitFor();
  });

  test("staff requests a patient of another clinic, which confirms it on Today and ends it on the patient's page", async () => {
    const { own, other, pamuk, entities } = world();
    const server = await startDashboard(...entities);
    const key = await server.makeKey(own, keyPermissions);
    const status = async () => (await server.get(key, `/api/v1/patients/${pamuk.fp}`)).status;
    expect(await status()).toBe(403);
    const page = await server.openAs(browser, "staff", own, "/patients");
    await page.getByRole("button", { name: "Connect a patient" }).click();
    const dialog = page.getByRole("dialog");
    await expectAccessible(page);
    await expectFitsPhone(page);
    const absent = "patient_01K9DEM0000000000000P00099";
    await dialog.getByLabel("Fingerprint").fill(absent);
    await dialog.getByRole("button", { name: "Connect" }).click();
    // Without consent the browser sends nothing.
    expect(await dialog.getByRole("checkbox").evaluate((box) => (box as unknown as Box).validity.valid)).toBe(false);
    await dialog.getByRole("checkbox").check();
    await dialog.getByRole("button", { name: "Connect" }).click();
    await page.getByText("It waits for the clinic that has the patient.").waitFor();
    // An fp that nobody has waits like Pamuk's.
    await page.getByRole("button", { name: `Withdraw: ${absent}` }).click();
    await page.getByRole("heading", { name: "Connections asked for" }).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Connect a patient" }).click();
    await dialog.getByLabel("Fingerprint").fill(` ${pamuk.fp} `);
    await dialog.getByRole("checkbox").check();
    await dialog.getByRole("button", { name: "Connect" }).click();
    await page.getByText(/waits for confirmation by the clinic that has the patient/).waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    expect(await status()).toBe(403);

    const host = await server.openAs(browser, "staff", other);
    await host.getByText("asks to see it").waitFor();
    await expectAccessible(host);
    await expectFitsPhone(host);
    await host.getByRole("button", { name: /^Confirm: .*Pamuk$/ }).click();
    await host.getByText(/It says that the owner agreed/).waitFor();
    await expectAccessible(host);
    await host.getByRole("dialog").getByRole("button", { name: "Confirm" }).click();
    await host.getByText("Other clinics and your patients").waitFor({ state: "detached" });
    await page.goto(`${server.url}/dashboard/patients/${pamuk.fp}`);
    await page.getByRole("heading", { name: "Pamuk" }).waitFor();
    expect(await page.getByText(pamuk.fp).isVisible(), "the number of the API is folded").toBe(false);
    await page.getByText("For developers").click();
    await page.getByText(pamuk.fp).waitFor();
    await page.getByText(/staff \w+ opened the connection\./).waitFor();
    expect(await status()).toBe(200);

    await host.goto(`${server.url}/dashboard/patients/${pamuk.fp}`);
    await host.getByRole("heading", { name: "Other clinics" }).waitFor();
    await host.getByText(/sees this patient\. By staff \w+\./).waitFor();
    await expectAccessible(host);
    await expectFitsPhone(host);
    await host.getByRole("button", { name: /^End the connection: / }).click();
    await host.getByRole("dialog").getByRole("button", { name: "End the connection" }).click();
    await host.getByText(/was ended\. By staff/).waitFor();
    expect(await status()).toBe(403);
    await page.goto(`${server.url}/dashboard/patients`);
    await page.getByText(/ended the connection on/).waitFor();
  });

  test("staff connects a patient of a clinic that confirms nothing, and closes the connection again", async () => {
    const { own, other, pamuk, entities } = world();
    const server = await startDashboard(...entities);
    const admin = await server.openAs(browser, "admin", other, "/settings/clinic");
    const choice = admin.getByLabel(/Other clinics wait for our confirmation/);
    await choice.waitFor();
    expect(await choice.isChecked()).toBe(true);
    await expectAccessible(admin);
    await expectFitsPhone(admin);
    await choice.uncheck();
    await admin.getByRole("button", { name: "Save", exact: true }).click();
    await admin.getByText("Saved.").waitFor();
    await admin.reload();
    await choice.waitFor();
    expect(await choice.isChecked()).toBe(false);

    const page = await server.openAs(browser, "staff", own, "/patients");
    const dialog = page.getByRole("dialog");
    await page.getByRole("button", { name: "Connect a patient" }).click();
    await dialog.getByLabel("Fingerprint").fill("patient_01K9DEM0000000000000P00099");
    await dialog.getByRole("checkbox").check();
    await dialog.getByRole("button", { name: "Connect" }).click();
    await dialog.getByText("This does not exist, or no longer.").waitFor();
    await dialog.getByLabel("Fingerprint").fill(pamuk.fp);
    await dialog.getByRole("button", { name: "Connect" }).click();
    await page.getByRole("heading", { name: "Pamuk" }).waitFor();
    await admin.goto(`${server.url}/dashboard`);
    await admin.getByText("sees it now").waitFor();
    await admin.getByRole("button", { name: /^Seen: / }).click();
    await admin.getByText("sees it now").waitFor({ state: "detached" });

    await page.getByRole("button", { name: "Close the connection" }).click();
    await page.getByText(/no longer sees the patient/).waitFor();
    await expectAccessible(page);
    await dialog.getByRole("button", { name: "Close the connection" }).click();
    await page.getByText("The connection to Pamuk is closed.").waitFor();
    await expect.poll(() => page.locator("tbody th").allTextContents()).toEqual([HOSTILE, "Karabaş"]);
    expect(new URL(page.url()).pathname).toBe("/dashboard/patients");
    await page.getByRole("link", { name: "Karabaş" }).click();
    await page.getByRole("link", { name: "All patients" }).click();
    await page.getByRole("heading", { name: "Patients" }).waitFor();
    await expect.poll(() => page.getByText("is closed").count()).toBe(0);
  });
});

interface Box {
  validity: { valid: boolean };
}

/** The texts of the cells of each row, hidden words included. */
async function cellsOf(page: Page, table: string): Promise<string[][]> {
  return page.evaluate<string[][]>(`[...document.querySelectorAll("${table} tbody tr")].map((row) =>
    [...row.children].map((cell) => cell.innerText.replace(/\\s+/g, " ").trim()))`);
}

/** Whether the chart has pixels of a colour of style.css. */
async function isDrawn(page: Page, colour: string): Promise<boolean> {
  return page.evaluate<boolean>(`(() => {
    const canvas = document.querySelector(".chart canvas");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const hex = getComputedStyle(document.documentElement).getPropertyValue("--${colour}").trim();
    const [red, green, blue] = [1, 3, 5].map((start) => parseInt(hex.slice(start, start + 2), 16));
    for (let at = 0; at < data.length; at += 4)
      if (data[at] === red && data[at + 1] === green && data[at + 2] === blue) return true;
    return false;
  })()`);
}

const setZone = uncachedWrite((db, p: { fp: string; zone: string }) =>
  db
    .insertInto("clinic_settings")
    .columns(["clinic_id", "time_zone"])
    .expression((select) =>
      select
        .selectFrom("clinic")
        .select(["id"])
        .select((value) => value.val(p.zone).as("zone"))
        .where("fp", "=", p.fp),
    ),
);
