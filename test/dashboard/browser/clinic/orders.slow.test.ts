import type { Browser } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import type { OrderList } from "../../../../shared/api/agent/agent-lists.ts";
import type { ClinicOfUser } from "../../../../server/dashboard/types/settings/session.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import { clinic, connection, keyPermissions, patient, study } from "../../../server/harness.ts";
import {
  browserProblem,
  chooseLanguage,
  expectAccessible,
  expectFitsPhone,
  sharedBrowser,
} from "../../../support/peers/browser.ts";
import { makeUser, startDashboard } from "../../harness.ts";

// Goal: a user orders tests on an animal's page, prints the label, cancels an order, and attaches one to a result without an order.

describe.skipIf(browserProblem() !== null)("in a browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await sharedBrowser();
  });

  test("tests are ordered, labelled, cancelled and attached to a result, in both languages and on a phone", async () => {
    const ours = newFp("clinic");
    const dog = patient({ name: "Karabaş" });
    const dashboard = await startDashboard(clinic(ours), dog, connection(dog.fp, ours));
    dashboard.clock.now = Date.now();
    const key = await dashboard.makeKey(ours, keyPermissions);
    const orders = async () =>
      ((await dashboard.get(key, "/agent/v1/orders")).body as unknown as { data: OrderList }).data.items;
    const page = await dashboard.openAs(browser, "staff", ours, `/patients/${dog.fp}`);

    await page.getByRole("button", { name: "Order tests" }).click();
    const form = page.getByRole("dialog", { name: "Order tests: Karabaş" });
    await form.getByLabel("Tests").fill("ALT, KREA");
    await form.getByRole("button", { name: "Order", exact: true }).click();
    await form.getByText("“KREA” is not an analyte.").waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await form.getByLabel("Tests").fill("ALT, CREA, alt");
    await form.getByLabel("Save as panel").fill("Kidney");
    await form.getByRole("button", { name: "Order", exact: true }).click();
    const [first] = await expect.poll(orders).toHaveLength(1).then(orders);
    const label = page.getByRole("dialog", { name: `Sample ${first!.accession}` });
    await label.getByRole("img", { name: `Barcode ${first!.accession}` }).waitFor();
    expect(first).toMatchObject({ patient_fp: dog.fp, device: null, state: "open" });
    await expectAccessible(page);
    await expectFitsPhone(page);
    await page.emulateMedia({ media: "print" });
    expect(await page.getByRole("heading").count()).toBe(0);
    expect(await label.getByText("Karabaş · dog").isVisible()).toBe(true);
    const paper = (await page.pdf({ preferCSSPageSize: true })).toString("latin1");
    expect(paper.match(/\/MediaBox ?\[[^\]]*\]/g)).toEqual([expect.stringMatching(/\[0 0 14\d[.\d]* 7\d[.\d]*\]$/)]);
    await page.emulateMedia({ media: null });
    await label.getByRole("button", { name: "Close" }).click();

    await page.getByRole("link", { name: "Orders", exact: true }).click();
    const row = page.getByRole("row").filter({ hasText: first!.accession });
    await row.getByText("Ordered").waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await row.getByRole("button", { name: "Cancel order" }).click();
    await expectAccessible(page);
    await page.getByRole("dialog").getByRole("button", { name: "Cancel order" }).click();
    await page.getByText("No orders here").waitFor();
    await page.getByRole("button", { name: "Cancelled 1" }).click();
    await row.getByText("Cancelled").waitFor();

    await page.getByRole("button", { name: "Order tests" }).click();
    await page.getByLabel("Name, owner, phone or number").fill("kara");
    await page.getByRole("button", { name: /Karabaş/ }).click();
    const kidney = page.getByRole("checkbox", { name: /^Kidney/ });
    const tests = page.getByRole("textbox", { name: "Tests" });
    await tests.fill("GLU");
    await kidney.check();
    await expect.poll(() => tests.inputValue()).toBe("ALT, CREA, GLU");
    // A change of another user loads the panels again, and the chosen one remains chosen.
    const loaded = page.waitForResponse(/\/orders\/choices$/);
    const visit = { title: "Visit", type: "APPOINTMENT", patient_fp: null, assigned_user_fp: null };
    const times = { start_at: "2026-11-25T08:00:00.000Z", end_at: "2026-11-25T08:30:00.000Z" };
    await (await makeUser(dashboard, "staff", ours)).call("POST", "/calendar", { ...visit, ...times });
    await (await loaded).finished();
    await expectAccessible(page);
    expect(await kidney.isChecked()).toBe(true);
    await kidney.uncheck();
    await expect.poll(() => tests.inputValue()).toBe("GLU");
    await tests.fill("");
    await kidney.check();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Order", exact: true }).click();
    await page.getByText("Print label").waitFor();
    await page.keyboard.press("Escape");
    // An order of a panel alone has its name.
    await page.getByText("1 open", { exact: true }).waitFor();
    await page.getByRole("cell", { name: /^Kidney: ALT, CREA/ }).waitFor();

    const acquired_at = new Date(dashboard.clock.now - 60_000).toISOString();
    const run = study({ patient_fp: dog.fp, acquired_at, matched_by: { by: "fp", identifiers: [] } });
    await dashboard.push(key, run);
    await page.getByRole("heading", { name: "Run without order" }).waitFor();
    await page.getByRole("link", { name: "Today", exact: true }).click();
    const need = page.getByRole("region", { name: "Run without order" });
    await page.getByRole("complementary").getByText("1 ordered", { exact: true }).waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await need.getByRole("link", { name: "Attach an order or note the charge" }).click();
    const charge = page.getByRole("checkbox", { name: "Charge noted Karabaş" });
    await page.getByText("Not ordered: charge?").waitFor();
    await charge.press("Space");
    await page.getByText(/^staff \w+, /).waitFor();
    expect(await page.getByText("Not ordered: charge?").count()).toBe(0);
    await expect.poll(() => charge.isEnabled()).toBe(true);
    await charge.press("Space");
    await page.getByText("Not ordered: charge?").waitFor();
    await chooseLanguage(page, "tr");
    await page.getByRole("heading", { name: "İstemsiz çalışılanlar" }).waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await page.getByRole("button", { name: "İstem bağla" }).click();
    await expectAccessible(page);
    await page.getByRole("dialog").getByRole("button", { name: "İstem bağla" }).click();
    await page.getByText("Çalışılıyor", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Sonuçları ayır" }).click();
    await expectAccessible(page);
    await page.getByRole("dialog").getByRole("button", { name: "Sonuçları ayır" }).click();
    await page.getByRole("button", { name: "İstem bağla" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "İstem bağla" }).click();
    await page.getByText("Çalışılıyor", { exact: true }).waitFor();
    await page.getByRole("link", { name: "Sonuç", exact: false }).last().click();
    await page.getByText("istem elle bağlandı").first().waitFor();
    const { body } = await dashboard.get(key, `/api/v1/lab/diagnostics/${run.fp}`);
    const second = (await orders()).find(({ fp }) => fp !== first!.fp);
    expect(body.data).toMatchObject({ order: { fp: second?.fp, placer_number: null } });
  });

  test("an order that another user attaches meanwhile is not replaced by the next one", async () => {
    const ours = newFp("clinic");
    const dog = patient({ name: "Karabaş" });
    const dashboard = await startDashboard(clinic(ours), dog, connection(dog.fp, ours));
    dashboard.clock.now = Date.now();
    const { call } = await makeUser(dashboard, "staff", ours);
    const order = { patient_fp: dog.fp, device: null, panel: null };
    for (const code of ["ALT", "CREA"]) await call("POST", "/orders", { ...order, tests: [code] });
    const acquired_at = new Date(dashboard.clock.now - 60_000).toISOString();
    const runs = [1, 2].map(() =>
      study({ patient_fp: dog.fp, acquired_at, matched_by: { by: "fp", identifiers: [] } }),
    );
    await dashboard.push(await dashboard.makeKey(ours, keyPermissions), ...runs);
    const page = await dashboard.openAs(browser, "staff", ours, "/orders");
    await page.getByRole("button", { name: "Attach order Karabaş" }).first().click();
    const dialog = page.getByRole("dialog");
    const choice = dialog.getByLabel("Order");
    const chosen = await choice.inputValue();
    const attached = await call("POST", `/orders/${chosen}/attach`, { study_fp: runs[0]?.fp });
    expect(attached.status).toBe(200);
    await expect.poll(() => choice.locator("option:checked").textContent()).toContain("Choose again");
    expect(await dialog.getByRole("button", { name: "Attach order" }).isDisabled()).toBe(true);
    await expectAccessible(page);
    await choice.selectOption({ index: 1 });
    await expect.poll(() => dialog.getByRole("button", { name: "Attach order" }).isEnabled()).toBe(true);
  });

  test("an admin chooses the hours after which an order counts as not run, and Today leads to it", async () => {
    const ours = newFp("clinic");
    const dog = patient({ name: "Karabaş" });
    const dashboard = await startDashboard(clinic(ours), dog, connection(dog.fp, ours));
    dashboard.clock.now = Date.now() - 90 * 60_000;
    const order = { patient_fp: dog.fp, device: null, panel: null, tests: ["ALT"] };
    await (await makeUser(dashboard, "staff", ours)).call("POST", "/orders", order);
    dashboard.clock.now = Date.now();
    const page = await dashboard.openAs(browser, "admin", ours, "/settings/clinic");
    const hours = page.getByLabel("Hours after which an order counts as not run");
    await expect.poll(() => hours.inputValue()).toBe("2");
    await hours.fill("1");
    // Another admin changes other settings meanwhile, and they stay. A refused save keeps what was chosen.
    const colleague = await makeUser(dashboard, "admin", ours);
    await colleague.call("PUT", "/settings/clinic", { time_zone: "Europe/Istanbul", confirms_connections: false });
    const confirms = page.getByRole("checkbox", { name: /^Other clinics wait/ });
    const viewer = page.getByLabel("Viewer of the archive");
    const save = page.getByRole("button", { name: "Save", exact: true });
    await confirms.uncheck();
    await viewer.fill("https://archive.example/");
    await save.click();
    await page.getByRole("alert").getByText("This is not the address of a viewer").waitFor();
    expect(await confirms.isChecked()).toBe(false);
    await confirms.check();
    await viewer.fill("");
    await save.click();
    await page.getByText("Saved.").waitFor();
    const { body } = await colleague.call<{ clinics: ClinicOfUser[] }>("GET", "/clinic/v1/session");
    const stored = { time_zone: "Europe/Istanbul", confirms_connections: false, not_run_hours: 1 };
    expect(body.clinics).toEqual([expect.objectContaining(stored)]);
    await expectAccessible(page);
    await expectFitsPhone(page);
    await page.getByRole("link", { name: "Today", exact: true }).click();
    await page.getByRole("region", { name: "Orders not run for 1 h" }).getByRole("link").click();
    await page.getByText("Not run for 1 h", { exact: true }).waitFor();
  });
});
