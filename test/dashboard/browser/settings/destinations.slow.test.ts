import { pino } from "pino";
import type { Browser } from "playwright-core";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { DestinationPage } from "../../../../server/dashboard/types/settings/destinations.ts";
import { renderDeliveries } from "../../../../server/app.ts";
import { DestinationDispatcher } from "../../../../server/operations/destinations/dispatcher.ts";
import { insertDestination } from "../../../../server/records/destinations/destinations.ts";
import { findClinic } from "../../../../server/records/clinics/keys.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import {
  browserProblem,
  chooseLanguage,
  expectAccessible,
  expectFitsPhone,
  sharedBrowser,
} from "../../../support/peers/browser.ts";
import { clinic, connection, keyPermissions, patient, study } from "../../../server/harness.ts";
import { startReceiver } from "../../../server/hl7-receiver.ts";
import { makeUser, startDashboard } from "../../harness.ts";

describe.skipIf(browserProblem() !== null)("in a browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await sharedBrowser();
  });

  test("practice software is added and set, and a result that it refused is sent again", async () => {
    const receiver = await startReceiver((index) => (index === 0 ? "AR" : "AA"));
    const fp = newFp("clinic");
    const pamuk = patient({ name: "Pamuk", species: "cat" });
    const server = await startDashboard(clinic(fp), [pamuk], [connection(pamuk.fp, fp)]);
    const { openAs, store, clock, makeKey, push } = server;
    clock.now = Date.now();
    const page = await openAs(browser, "admin", fp, "/settings/destinations");
    await page.getByText("No practice software gets results yet").waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Add practice software" }).click();
    await expectAccessible(page);
    await page.getByLabel("Name", { exact: true }).fill("Internet PIMS");
    await page.getByLabel("Address").fill("93.184.216.34:6661");
    await page.getByRole("dialog").getByRole("button", { name: "Add practice software" }).click();
    await page.getByRole("link", { name: "Internet PIMS" }).click();
    await page.getByText("Nothing was refused or set aside.").waitFor();
    await page.getByLabel("Receiving application").fill("PIMS");
    // The typed text stays while a change of another user loads the page's data again.
    const loaded = page.waitForResponse(/\/destinations\/\w+$/);
    const visit = { title: "Visit", type: "APPOINTMENT", patient_fp: null, assigned_user_fp: null };
    const times = { start_at: "2026-11-25T08:00:00.000Z", end_at: "2026-11-25T08:30:00.000Z" };
    await (await makeUser(server, "staff", fp)).call("POST", "/calendar", { ...visit, ...times });
    await (await loaded).finished();
    await expectAccessible(page);
    expect(await page.getByLabel("Receiving application").inputValue()).toBe("PIMS");
    // An option that another admin chooses meanwhile stays, too.
    const path = new URL(page.url()).pathname.replace("/dashboard/settings", "");
    const colleague = await makeUser(server, "admin", fp);
    expect((await colleague.call("PUT", `${path}/options`, { options: { pdf: true } })).status).toBe(200);
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved. The next message has it.").waitFor();
    const { destination } = (await colleague.call<DestinationPage>("GET", path)).body;
    expect(destination.options).toMatchObject({ pdf: true, application: "PIMS" });
    await page.getByRole("button", { name: "Remove" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await page.getByText("No practice software gets results yet").waitFor();

    const clinicId = (await findClinic(store, fp))?.id ?? 0;
    const local = { clinicId, agentId: null, slug: "PIMS", kind: "hl7", address: receiver.address } as const;
    await store.transaction((session) => insertDestination(session, { ...local, options: "{}", now: clock.now }));
    const render = renderDeliveries(store, () => clock.now);
    const dispatcher = new DestinationDispatcher(store, {
      ...{ logger: pino({ enabled: false }), allowPrivate: true, render, now: () => clock.now },
    });
    onTestFinished(() => dispatcher.stop());
    const key = await makeKey(fp, keyPermissions);
    await push(key, study({ patient_fp: pamuk.fp }));
    await dispatcher.check();
    await dispatcher.settled();
    await page.reload();
    await page.getByText("1 not taken").waitFor();
    await page.getByRole("link", { name: "PIMS" }).click();
    await page.getByText("words of it").waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await chooseLanguage(page, "tr");
    await page.getByText("Reddedilenler").waitFor();
    await chooseLanguage(page, "en");
    await push(key, study({ patient_fp: pamuk.fp }));
    await page.reload();
    await page.getByRole("button", { name: "Set aside" }).click();
    await page.getByText("set aside by a person").waitFor();
    await page.getByText("Nothing waits.").waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Send all again" }).click();
    await page.getByText("Nothing was refused or set aside.").waitFor();
    await dispatcher.check();
    await dispatcher.settled();
    expect(receiver.messages.length).toBe(3);
  });
});
