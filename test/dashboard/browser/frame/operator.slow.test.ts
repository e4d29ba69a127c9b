import { readFileSync } from "node:fs";
import type { Browser } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { newFp } from "../../../../shared/api/fp.ts";
import { clinic, connection, patient, study } from "../../../server/harness.ts";
import {
  browserProblem,
  chooseLanguage,
  expectAccessible,
  expectFitsPhone,
  sharedBrowser,
} from "../../../support/peers/browser.ts";
import { givePassword, makeOperator, makeUser, openPage, startDashboard } from "../../harness.ts";

// The way of a clinic through the operator's console: made, suspended, served again, and looked into with a reason.

const ours = newFp("clinic");
const dog = patient({ name: "Karabaş" });

async function start(browser: Browser, ...more: Parameters<typeof startDashboard>) {
  const dashboard = await startDashboard(clinic(ours), dog, connection(dog.fp, ours), ...more);
  const key = await dashboard.makeFreshKey(ours, ["clinic.lab.ingest"], { type: "device", name: "Front desk" });
  const headers = { "x-api-key": key };
  const outbox = { depth: 2, oldest_at: "2026-11-21T11:59:00Z" };
  const beat = (devices: readonly string[]) => {
    const payload = { version: "0.1.0", devices: devices.map((id) => ({ id })), outbox };
    return dashboard.app.inject({ method: "POST", url: "/agent/v1/heartbeat", headers, payload });
  };
  await beat(["chem-1"]);
  await dashboard.push(key, study({ patient_fp: dog.fp }));
  const [operator, admin] = [await makeOperator(dashboard), await makeUser(dashboard, "admin", ours)];
  await givePassword(dashboard, operator.id, "ten letters");
  const page = await openPage(browser, dashboard.url);
  const heading = (name: string) => page.getByRole("heading", { name, exact: true }).waitFor();
  const press = (name: string) => page.getByRole("button", { name, exact: true }).click();
  await page.goto(`${dashboard.url}/operator`);
  await heading("Sign in");
  await expectAccessible(page);
  await page.getByLabel("Name").fill(operator.name);
  await page.getByLabel("Password").fill("ten letters");
  await press("Sign in");
  await heading("Clinics");
  return { ...dashboard, page, heading, press, operator, admin, key, beat };
}

describe.skipIf(browserProblem() !== null)("in a browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await sharedBrowser();
  });

  test("an operator makes a clinic, suspends another and serves it again", async () => {
    const { page, heading, press, url, push, key } = await start(browser);
    await page.getByText("1 of 1").first().waitFor();
    await page.getByRole("cell", { name: / ago$/ }).waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await press("New clinic");
    await page.getByLabel("Name of the clinic").fill("Moda Cat");
    await page.getByLabel("Name of its first admin").fill("Ayşe");
    await expectAccessible(page);
    await press("Create clinic");
    expect(await page.locator(".given-password").innerText()).toMatch(/^[\w-]{16,}$/);
    await press("Done");
    await page.getByRole("link", { name: "Moda Cat" }).waitFor();
    // The list is loaded while the user types on, and a state that is chosen meanwhile stays beside the text.
    await page.getByRole("searchbox", { name: "Find a clinic" }).pressSequentially("a clin", { delay: 300 });
    const chip = page.locator(".operator-states button").first();
    await chip.click();
    await expect.poll(() => new URL(page.url()).searchParams.get("search")).toBe("a clin");
    await expect.poll(() => chip.getAttribute("aria-pressed")).toBe("true");
    await chip.click();
    await page.getByRole("link", { name: "Moda Cat" }).waitFor({ state: "detached" });
    await page.getByRole("link", { name: "A clinic" }).click();
    await heading("A clinic");
    await page.getByText("connected, heard").waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await press("Suspend…");
    await page.getByText("keep new results until you serve it again").waitFor();
    await press("Suspend");
    await page.getByText("Suspended since").waitFor();
    expect(await push(key, study())).toMatchObject([{ outcome: "deferred" }]);
    await press("Serve again…");
    await press("Serve again");
    await page.getByText("This clinic is served.").waitFor();
    await page.goto(`${url}/operator/audit`);
    await page.getByText("clinics suspend").waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await page.goto(`${url}/operator/account`);
    await page.getByRole("heading", { name: "Second factor" }).waitFor();
    await expectAccessible(page);
    await page.goto(`${url}/operator`);
    await heading("Clinics");
    await chooseLanguage(page, "tr");
    await heading("Klinikler");
    await page.getByText("henüz bilgisayar yok").first().waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await page.getByRole("link", { name: "Denetim kaydı" }).click();
    await heading("Denetim kaydı");
    await page.getByText("clinics suspend").waitFor();
  });

  test("an operator exports a clinic after a reason, and the browser saves the file", async () => {
    const { page, heading, press, operator, url, admin } = await start(browser);
    await page.goto(`${url}/operator/clinics/${ours}`);
    await heading("A clinic");
    await press("Export…");
    await page.getByText("its owners with names, phones and e-mails").waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await page.getByLabel("Reason").fill("ticket 8: the clinic leaves");
    const [download] = await Promise.all([page.waitForEvent("download"), press("Download the export")]);
    expect(download.suggestedFilename()).toBe(`${ours}.ndjson`);
    expect(readFileSync(await download.path(), "utf8")).toContain("Karabaş");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    const { entries } = (await admin.call<{ entries: object[] }>("GET", "/audit?text=export")).body;
    expect(entries).toMatchObject([{ route: "clinics export: ticket 8: the clinic leaves", user: operator.name }]);
    await chooseLanguage(page, "tr");
    await press("Dışa aktar…");
    await heading("A clinic dışa aktarılsın mı?");
    await expectFitsPhone(page);
  });

  test("an operator limits devices, and the list and the page name the clinic that is over its quota", async () => {
    const { page, heading, press, url, beat, operator } = await start(browser);
    await page.goto(`${url}/operator/clinics/${ours}`);
    await heading("A clinic");
    await press("Limits…");
    await expectAccessible(page);
    await expectFitsPhone(page);
    await page.getByLabel("Devices").fill("1");
    await page.getByLabel("Megabytes of results and pictures").fill("2");
    // The limit of studies, which another operator sets meanwhile, stays.
    expect((await operator.call("PUT", `/clinics/${ours}/quota`, { studies_max: 500 })).status).toBe(200);
    await press("Save");
    await page.getByText("1, limit 1").waitFor();
    await page.getByText("500", { exact: true }).waitFor();
    await page.getByText("not measured yet, limit 2 MB").waitFor();
    await press("Limits…");
    expect(await page.getByLabel("Megabytes of results and pictures").inputValue()).toBe("2");
    await page.keyboard.press("Escape");
    await page.goto(`${url}/operator`);
    await page.getByText("all well").first().waitFor();
    await beat(["chem-1", "hema-1"]);
    await page.reload();
    await page.getByText("over its quota of devices").waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await page.getByRole("link", { name: "A clinic" }).click();
    await page.getByText("over its quota of devices").waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
  });

  test("an announcement is above each page of the dashboards until the user closes it", async () => {
    const { page, heading, press, url, openAs } = await start(browser);
    await press("Announce…");
    await heading("Announce to all clinics");
    await expectAccessible(page);
    await expectFitsPhone(page);
    await page.getByLabel("English text").fill("Closed tonight from ten to eleven");
    await page.getByLabel("Turkish text").fill("Bu gece ondan on bire kadar kapalı");
    await page.getByLabel("From").fill("2026-11-21T00:00");
    await page.getByLabel("Until").fill("2026-11-23T00:00");
    await press("Announce");
    await page.getByText("Announced from").waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    const staff = await openAs(browser, "staff", ours);
    const notice = staff.getByText("Closed tonight from ten to eleven");
    await notice.waitFor();
    await expectAccessible(staff);
    await expectFitsPhone(staff);
    await chooseLanguage(staff, "tr");
    await staff.getByText("Bu gece ondan on bire kadar kapalı").waitFor();
    await staff.getByRole("button", { name: "Duyuruyu kapat" }).click();
    await staff.goto(`${url}/dashboard/results`);
    await staff.getByRole("heading", { name: "Sonuçlar", exact: true }).waitFor();
    await staff.getByText("Karabaş").first().waitFor();
    expect(await staff.getByText("Bu gece ondan").count()).toBe(0);
    await press("End the announcement…");
    await press("End it");
    await page.getByText("Announced from").waitFor({ state: "detached" });
    await page.getByRole("link", { name: "Audit" }).click();
    await page.getByText("clinics announce: ended").waitFor();
    await page.getByRole("rowheader", { name: "All clinics" }).first().waitFor();
  });

  test("an operator erases a clinic that leaves, and reads what went", async () => {
    const moda = { type: "clinic" as const, fp: newFp("clinic"), name: "Moda Cat" };
    const shared = patient({ name: "Boncuk" });
    const both = [ours, moda.fp].map((fp) => connection(shared.fp, fp));
    const { page, heading, press, operator, url } = await start(browser, moda, shared, ...both);
    await operator.call("POST", `/clinics/${ours}/suspend`, {});
    await page.goto(`${url}/operator/clinics/${ours}`);
    await heading("A clinic");
    await press("Erase the clinic…");
    await page.getByText("1 animal with owners and results, 1 user and 1 key go").waitFor();
    await page.getByText("1 animal is known to other clinics too").waitFor();
    await page.getByText("Results that wait on its PCs: 2.").waitFor();
    await page.getByText("The server knows of no backup").waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await page.getByLabel("Type the name of the clinic").fill("Moda Cat");
    await press("Erase the clinic");
    await page.getByRole("alert").waitFor();
    await page.keyboard.press("Escape");
    await chooseLanguage(page, "tr");
    await press("Kliniği sil…");
    await page.getByText("1 hayvan başka kliniklerde de kayıtlı").waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await page.getByLabel("Kliniğin adını yazın").fill("A clinic");
    await press("Kliniği sil");
    await heading("A clinic silindi");
    await expectAccessible(page);
    await expectFitsPhone(page);
    await press("Tamam");
    await heading("Klinikler");
    await page.getByRole("link", { name: "Moda Cat" }).waitFor();
    expect(await page.getByRole("link", { name: "A clinic" }).count()).toBe(0);
    await page.getByRole("link", { name: "Denetim kaydı" }).click();
    await page.getByText("clinics erase: animals").waitFor();
    expect(await page.getByRole("rowheader", { name: ours }).count()).toBeGreaterThan(1);
    await expectAccessible(page);
    await expectFitsPhone(page);
  });

  test("an operator looks into a clinic after a reason, and the clinic reads it", async () => {
    const { page, heading, press, admin, operator, url, openAs } = await start(browser);
    await page.getByRole("button", { name: "Support of A clinic…" }).click();
    await page.getByLabel("Reason").fill("ticket 7: results do not arrive");
    await expectAccessible(page);
    await expectFitsPhone(page);
    await press("Open for an hour");
    await page.waitForURL(`${url}/dashboard`);
    await heading("Today");
    await page.goto(`${url}/dashboard/patients`);
    await page.getByRole("link", { name: "Karabaş" }).waitFor();
    expect(await page.getByRole("link", { name: "New animal" }).count()).toBe(0);
    const { entries } = (await admin.call<{ entries: object[] }>("GET", "/audit?text=support")).body;
    expect(entries).toMatchObject([{ user: operator.name }]);
    const audit = await openAs(browser, "admin", ours, "/settings/audit");
    await audit.getByText("ticket 7: results do not arrive").waitFor();
    await page.goto(`${url}/operator/clinics/${ours}`);
    await page.getByText("ticket 7: results do not arrive").waitFor();
  });
});
