import { readFileSync } from "node:fs";
import type { Browser } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import type { RangesInUse } from "../../../../server/dashboard/types/settings/ranges.ts";
import type { Store } from "../../../../server/database/store.ts";
import { findClinic, listKeys } from "../../../../server/records/clinics/keys.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import {
  browserProblem,
  chooseLanguage,
  expectAccessible,
  expectFitsPhone,
  sharedBrowser,
} from "../../../support/peers/browser.ts";
import { clinic } from "../../../server/harness.ts";
import { makeUser, startDashboard } from "../../harness.ts";

describe.skipIf(browserProblem() !== null)("in a browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await sharedBrowser();
  });

  test("a key is made, used, gone after a reload, rolled, revoked, and refused within a second", async () => {
    const fp = newFp("clinic");
    const { openAs, url } = await startDashboard(clinic(fp));
    const page = await openAs(browser, "admin", fp, "/settings/keys");
    const statusOf = async (key: string) =>
      (await fetch(`${url}/api/v1/patients`, { headers: { "x-api-key": key, authorization: `Bearer ${key}` } })).status;
    await page.getByText("There is no key yet").waitFor();
    await expectAccessible(page);

    await page.getByRole("button", { name: "New key" }).click();
    await expectAccessible(page);
    await expectFitsPhone(page);
    // A name that holds markup is shown as text.
    const name = "<img src=x onerror=alert(1)> practice";
    await page.getByLabel("Name").fill(name);
    await page.getByRole("checkbox", { name: /^Patients/ }).check();
    await page.getByRole("button", { name: "Create key" }).click();
    const first = await page.getByLabel("The new key", { exact: true }).inputValue();
    expect(await statusOf(first)).toBe(200);
    await expectAccessible(page);
    await page.reload();
    await page.getByRole("rowheader", { name }).waitFor();
    expect(await page.content()).not.toContain(first);
    await expectAccessible(page);
    await expectFitsPhone(page);

    await page.getByRole("button", { name: "Roll" }).click();
    await expectAccessible(page);
    await page.getByLabel("The old key still works for").selectOption("1");
    await page.getByRole("button", { name: "Roll" }).last().click();
    const second = await page.getByLabel("The new key", { exact: true }).inputValue();
    expect([await statusOf(first), await statusOf(second)]).toEqual([200, 200]);
    await page.getByRole("button", { name: "Done" }).click();

    const row = page.getByRole("row").filter({ hasText: second.slice(-4) });
    await row.getByRole("button", { name: "Revoke" }).click();
    await expectAccessible(page);
    const revoking = Date.now();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await expect.poll(() => statusOf(second), { timeout: 1000, interval: 20 }).toBe(401);
    expect(Date.now() - revoking).toBeLessThan(1000);
    await row.getByText("Revoked").waitFor();

    await chooseLanguage(page, "tr");
    await page.getByRole("heading", { name: "API anahtarları" }).waitFor();
    await expectAccessible(page);
  });

  test("the copy button works where the browser has no clipboard interface, as on plain http", async () => {
    const fp = newFp("clinic");
    const { openAs } = await startDashboard(clinic(fp));
    const page = await openAs(browser, "admin", fp, "/settings/keys");
    await page.addInitScript('Object.defineProperty(navigator, "clipboard", { value: undefined })');
    await page.reload();
    await page.getByRole("button", { name: "New key" }).click();
    await page.getByLabel("Name").fill("a program");
    await page.getByLabel("Who uses it").selectOption("device");
    await page.getByRole("button", { name: "Create key" }).click();
    const key = await page.getByLabel("The new key", { exact: true }).inputValue();
    await page.getByRole("button", { name: "Copy" }).click();
    await page.getByText("It is copied.").waitFor();
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByRole("button", { name: "New key" }).click();
    const name = page.getByLabel("Name");
    // The browser hands the clipboard over to its other process in its own time.
    const pasted = async () => {
      await name.fill("");
      await name.press("Control+V");
      return name.inputValue();
    };
    await expect.poll(pasted).toBe(key);
  });

  test("a file of intervals shows its faults with lines, then what it changes, and is imported when confirmed", async () => {
    const fp = newFp("clinic");
    const server = await startDashboard(clinic(fp));
    const page = await server.openAs(browser, "admin", fp, "/settings/ranges");
    await page.getByText("The clinic has no intervals of its own").waitFor();
    await expectAccessible(page);
    const choose = async (...rows: object[]) =>
      page.getByLabel(/^(File|Dosya)$/).setInputFiles({
        name: "ranges.ndjson",
        mimeType: "application/x-ndjson",
        buffer: Buffer.from(rows.map((row) => JSON.stringify(row)).join("\n")),
      });
    await choose(altDog, { ...creaCat, low: "9" });
    await page.getByText("Faults in the file: 1.").waitFor();
    await page.getByText(/^line 2: crea-cat/).waitFor();
    await expectAccessible(page);
    await choose(altDog, creaCat);
    await page.getByText("Added: 2, changed: 0, removed: 0, unchanged: 0.").waitFor();
    await page.getByRole("button", { name: "Import these intervals" }).click();
    await page.getByText(/^Version .*, rows: 2\./).waitFor();

    await page.getByText("Import a file", { exact: true }).click();
    await choose({ ...altDog, low: "15" }, { ...creaCat, id: "<b>crea</b>" });
    await page.getByText("Faults in the file: 1.").waitFor();
    // A file that could not be sent leaves its reason in sight.
    await page.route("**/ranges/preview", (route) => route.abort(), { times: 1 });
    await choose(altDog);
    await page.getByText("The server does not answer", { exact: true }).waitFor();
    await choose({ ...altDog, low: "15" }, { ...creaCat, id: "crea-cat-2", note: "<b>new</b> kit" });
    await page.getByText("Added: 1, changed: 1, removed: 1, unchanged: 0.").waitFor();
    const changed = page.getByRole("region", { name: "Changed rows" }).getByRole("row").last();
    await expect.poll(() => changed.getByRole("cell").allTextContents()).toEqual(["ALT · dog", "low", "12", "15"]);
    await expectAccessible(page);
    await expectFitsPhone(page);
    await page.getByRole("button", { name: "Import these intervals" }).click();
    await page.getByRole("region", { name: "Intervals in use" }).getByText("15-105").waitFor();
    await page.getByLabel("Filter by analyte").fill("cat crea");
    await page.getByText("<b>new</b> kit").waitFor();
    await page.getByRole("button", { name: "New interval" }).click();
    const dialog = page.getByRole("dialog");
    // A kind that nobody chose would have the interval of another animal.
    await dialog.getByLabel("Species").selectOption("exotic");
    expect(await dialog.getByLabel("Breed or kind").inputValue()).toBe("");
    await dialog.getByLabel("Species").selectOption("horse");
    await dialog.getByLabel("Breed or kind").selectOption("donkey");
    await dialog.getByLabel("Low", { exact: true }).fill("90");
    await dialog.getByLabel("High", { exact: true }).fill("20,5");
    await expectAccessible(page);
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText("The low is not below the high.").waitFor();
    await dialog.getByLabel("High", { exact: true }).fill("120,5");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByLabel("Filter by analyte").fill("donkey");
    await page.getByRole("region", { name: "Intervals in use" }).getByText("90-120.5").waitFor();
    await page.getByRole("button", { name: "Edit alt-horse-donkey" }).click();
    await dialog.getByLabel("Sex").selectOption("F");
    // A critical limit that another admin adds while the form is open stays.
    const { call } = await makeUser(server, "admin", fp);
    const { rows, version } = (await call<RangesInUse>("GET", "/ranges")).body;
    const limited = rows.map((row) => (row.id === "alt-horse-donkey" ? { ...row, critical_high: "300" } : row));
    const text = limited.map((row) => JSON.stringify(row)).join("\n");
    const loaded = page.waitForResponse(/\/ranges$/);
    expect((await call("PUT", "/ranges", { text, low_quality: false, replaces: version })).status).toBe(200);
    await (await loaded).finished();
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText("Someone else changed the intervals meanwhile.").waitFor();
    expect(await dialog.getByLabel("Sex").inputValue()).toBe("F");
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Edit alt-horse-donkey" }).click();
    expect(await dialog.getByLabel("Critical above").inputValue()).toBe("300");
    await dialog.getByLabel("Sex").selectOption("F");
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByText("horse, donkey, females").waitFor();
    await page.getByRole("button", { name: "Remove alt-horse-donkey" }).click();
    await expectAccessible(page);
    await dialog.getByRole("button", { name: "Remove" }).click();
    await page.getByText("No row fits").waitFor();
    await page.getByLabel("Filter by analyte").fill("cat crea");
    await expect.poll(() => page.getByRole("region", { name: "Intervals in use" }).getByRole("row").count()).toBe(2);
    await chooseLanguage(page, "tr");
    await page.getByRole("heading", { name: "Referans aralıkları" }).waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);

    // A clinic that reads SI units sees the preview and the critical limits in them, and what was typed on the pointer.
    const units = { system: "si", exceptions: {} };
    await call("PUT", "/settings/clinic", { language: null, time_zone: null, units });
    await page.reload();
    await page.getByText("Dosya yükle", { exact: true }).click();
    const wider = { ...creaCat, id: "crea-cat-2", note: "<b>new</b> kit", high: "2.5" };
    await choose({ ...altDog, low: "15" }, wider);
    const shown = page.getByRole("region", { name: "Değişen satırlar" }).getByRole("row").last();
    await expect
      .poll(() => shown.getByRole("cell").allTextContents())
      .toEqual([...["CREA · kedi", "high", "203 µmol/L", "221 µmol/L"]]);
    expect(await shown.getByRole("cell").last().getAttribute("title")).toBe("2.5");
    const limits = page.getByRole("region", { name: "Kritik sınırlar" }).first();
    await limits.getByTitle("> 10.0 mg/dL").getByText("> 884 µmol/L").first().waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
  });

  test("the audit is filtered, and its CSV holds what the filter shows", async () => {
    const fp = newFp("clinic");
    const server = await startDashboard(clinic(fp));
    const key = await server.makeFreshKey(fp, ["clinic.patient.view"], { name: "a program" });
    await server.get(key, "/api/v1/patients");
    const page = await server.openAs(browser, "admin", fp, "/settings/audit");
    const routes = page.getByRole("region", { name: "Entries of the audit" });
    // The audit is written at intervals: the page's own request may come with a later one than the program's.
    await expect
      .poll(async () => {
        await page.reload();
        await page.getByRole("heading", { name: "Audit" }).waitFor();
        return {
          program: await routes.getByText("GET /api/v1/patients").count(),
          page: (await routes.getByText("GET /clinic/v1/clinics/:clinic/audit").count()) > 0,
        };
      })
      .toEqual({ program: 1, page: true });
    await expectAccessible(page);
    await expectFitsPhone(page);

    await page.getByLabel("Key").selectOption({ label: `a program (${await shownKey(server.store, fp)})` });
    await page.getByRole("button", { name: "Search" }).click();
    await page.waitForURL(/key=key_/);
    await expect.poll(() => routes.getByRole("row").count()).toBe(2);
    await routes.getByRole("cell", { name: "key “a program”" }).waitFor();
    const downloading = page.waitForEvent("download");
    await page.getByRole("link", { name: "Download as CSV" }).click();
    const csv = readFileSync(await (await downloading).path(), "utf8");
    expect(csv.split("\r\n").map((line) => line.split(",").slice(3, 5))).toEqual([
      ["method", "route"],
      ["GET", "/api/v1/patients"],
      [],
    ]);

    await page.getByLabel("From day").fill("2026-11-24");
    await page.getByRole("button", { name: "Search" }).click();
    await page.getByText("Nothing was found").waitFor();
    await expectAccessible(page);
    await page.getByRole("link", { name: "Reset" }).click();
    await routes.waitFor();
    await chooseLanguage(page, "tr");
    await page.getByRole("heading", { name: "Denetim kaydı" }).waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
  });
});

const altDog = {
  id: "alt-dog",
  species: "dog",
  analyte: "ALT",
  unit: "U/L",
  low: "12",
  high: "105",
  critical_high: "500",
  effective_from: "2026-01-01",
};
const creaCat = {
  id: "crea-cat",
  species: "cat",
  analyte: "CREA",
  unit: "mg/dL",
  low: "0.8",
  high: "2.3",
  age_min_days: 365,
  neutered: true,
  effective_from: "2026-01-01",
};

async function shownKey(store: Store, clinicFp: string): Promise<string> {
  const [first] = await listKeys(store, (await findClinic(store, clinicFp))?.id ?? 0);
  return first?.key ?? "";
}
