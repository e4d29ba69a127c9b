import { beforeAll, describe, expect, test } from "vitest";
import type { Browser } from "playwright-core";
import {
  browserProblem,
  chooseLanguage,
  expectAccessible,
  expectFitsPhone,
  sharedBrowser,
} from "../../../support/peers/browser.ts";
import type { SavedAnimal } from "../../../../server/dashboard/types/animals.ts";
import type { PatientOverview } from "../../../../server/dashboard/types/patients.ts";
import { makeUser, startDashboard } from "../../harness.ts";
import { clinicEntities, ours } from "../../unmatched-clinic.ts";

// Goal: a clinic answers an owner who asks to be forgotten, and chooses how long it keeps what it need not keep.

describe.skipIf(browserProblem() !== null)("in a browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await sharedBrowser();
  });

  test("an admin erases the data of an owner after a look at what stays, and has a report without them", async () => {
    const server = await startDashboard(...clinicEntities);
    server.clock.now = Date.now();
    const staff = await makeUser(server, "staff", ours);
    const owner = { name: "Elif Örnek", phone: "+90 555 000 11 22", email: null, language: null, time_zone: null };
    const facts = { name: "Zeytin", species: "horse", breed: null, sex: null, date_of_birth: null, weight_kg: null };
    const animal = { ...facts, identifiers: [], owner };
    const { body } = await staff.call<SavedAnimal>("POST", "/patients", { animal, seen: [] });
    const page = await server.openAs(browser, "admin", ours, `/patients/${body.fp}`);
    const dialog = page.getByRole("dialog", { name: "Erase Elif Örnek?" });
    await page.getByRole("button", { name: "Erase the owner's data…" }).click();
    await dialog.getByText("1 animal and 0 results stay").waitFor();
    await dialog.getByText("The server knows of no backup.").waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await page.getByText("+90 555 000 11 22").waitFor();

    // An owner who changed after the admin looked is not erased.
    await page.getByRole("button", { name: "Erase the owner's data…" }).click();
    await dialog.getByText("1 animal and 0 results stay").waitFor();
    const { fp, version } = (await staff.call<PatientOverview>("GET", `/patients/${body.fp}`)).body.owner;
    const newer = { ...owner, name: "Elif Deniz", version };
    expect((await staff.call("PUT", `/owners/${fp}`, newer)).status).toBe(200);
    await page.getByText("Elif Deniz", { exact: true }).waitFor();
    await dialog.getByRole("button", { name: "Erase the owner's data", exact: true }).click();
    await dialog.getByText("Somebody changed this owner meanwhile.").waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();

    await page.getByRole("button", { name: "Erase the owner's data…" }).click();
    const changed = page.getByRole("dialog", { name: "Erase Elif Deniz?" });
    await changed.getByRole("button", { name: "Erase the owner's data", exact: true }).click();
    await page.getByRole("heading", { name: "The owner's data are erased" }).waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await chooseLanguage(page, "tr");
    await expectFitsPhone(page);
    await page.goto(`${server.url}/dashboard/patients/${body.fp}`);
    await page.getByRole("heading", { name: "Zeytin", exact: true }).waitFor();
    await page.getByText("Bu hayvanın kimin olduğu yazılmamış.").waitFor();
    for (const erased of ["Elif", "555 000"]) expect(await page.getByText(erased).count()).toBe(0);
  });

  test("an admin chooses how long links to reports are kept", async () => {
    const server = await startDashboard(...clinicEntities);
    const page = await server.openAs(browser, "admin", ours, "/settings");
    const form = page.getByRole("form", { name: "How long data stay" });
    await form.getByLabel("Ended links to reports").fill("3");
    // The other time, which another admin chooses meanwhile, stays.
    const colleague = await makeUser(server, "admin", ours);
    expect((await colleague.call("PUT", "/settings/retention", { hints: 6 })).status).toBe(200);
    await expectAccessible(page);
    await expectFitsPhone(page);
    await form.getByRole("button", { name: "Save the times" }).click();
    await form.getByRole("status").filter({ hasText: "The times are saved." }).waitFor();
    await page.reload();
    await expect.poll(() => form.getByLabel("Ended links to reports").inputValue()).toBe("3");
    expect(await form.getByLabel("Owners' names in results without a patient").inputValue()).toBe("6");
  });
});
