import { mkdirSync } from "node:fs";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Entity } from "../../server/import/lines.ts";
import type { Result } from "../../shared/api/study.ts";
import { newFp } from "../../shared/api/fp.ts";
import { clinic, connection, keyPermissions, patient } from "../server/harness.ts";
import { event, soap } from "../server/records.ts";
import { browserProblem, expectAccessible, expectFitsPhone, startBrowser } from "../support/browser.ts";
import { startDashboard } from "./harness.ts";

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
  const chemistry = (acquired_at: string, ...results: Result[]): Entity => ({
    type: "study",
    fp: newFp("cds"),
    patient_fp,
    modality: "BIOCHEMISTRY",
    device_name: "Abaxis VetScan VS2",
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
    chemistry("2026-11-20T10:00:00.000Z", crea(3.9, "critical"), words),
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

async function shot(page: Page, name: string): Promise<void> {
  mkdirSync("/tmp/patient", { recursive: true });
  await page.screenshot({ path: `/tmp/patient/${name}.png`, fullPage: true });
}

describe.skipIf(problem !== null)("in a browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  test("the list finds a patient by name without accents, by microchip and by fp, and filters by species", async () => {
    const { own, karabas, entities } = world();
    const { openAs } = await startDashboard(...entities);
    const page = await openAs(browser, "reader", own, "/patients");
    const names = page.locator("tbody th");
    await expect.poll(() => names.allTextContents()).toEqual([HOSTILE, "Karabaş"]);
    await expectAccessible(page);
    await expectFitsPhone(page);
    await shot(page, "list");
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
  });

  test("the matrix shows values by days with their flags, and the trend draws one line for each unit", async () => {
    const { own, karabas, entities } = world();
    const { openAs } = await startDashboard(...entities);
    const page = await openAs(browser, "staff", own, "/patients");
    await page.getByRole("link", { name: "Karabaş" }).click();
    await page.getByRole("heading", { name: "Karabaş" }).waitFor();
    await page.getByText("male, neutered").waitFor();
    const rows = page.locator(".matrix tbody tr");
    await expect.poll(() => rows.count()).toBe(8);
    await expectAccessible(page);
    await expectFitsPhone(page);
    await shot(page, "patient");
    await page.emulateMedia({ colorScheme: "dark" });
    await shot(page, "patient-dark");
    await page.emulateMedia({ colorScheme: "light" });
    await page.setViewportSize({ width: 360, height: 740 });
    await shot(page, "patient-360");
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.getByRole("link", { name: "Trend of CREA mg/dL" }).click();
    await page.getByRole("heading", { name: "CREA of Karabaş" }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/dashboard/patients/${karabas.fp}/CREA`);
    await page.locator(".chart canvas").waitFor();
    await shot(page, "trend");
    await page.emulateMedia({ colorScheme: "dark" });
    await shot(page, "trend-dark");
    await page.emulateMedia({ colorScheme: "light" });
    await expectAccessible(page);
    await expectFitsPhone(page);
  });
  void keyPermissions;
});
