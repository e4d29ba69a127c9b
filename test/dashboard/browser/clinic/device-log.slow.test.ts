import type { Browser } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { newFp } from "../../../../shared/api/fp.ts";
import type { DeviceEvent } from "../../../../shared/api/quality.ts";
import {
  browserProblem,
  chooseLanguage,
  expectAccessible,
  expectFitsPhone,
  sharedBrowser,
} from "../../../support/peers/browser.ts";
import { clinic, keyPermissions } from "../../../server/harness.ts";
import { startDashboard } from "../../harness.ts";

const problem = browserProblem();
if (problem !== null) process.stderr.write(`the log of a device is not tested in a browser: ${problem}\n`);

const DAY = 86_400_000;

describe.skipIf(problem !== null)("the log of a device", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await sharedBrowser();
  });

  test("a reader opens it with the keyboard, sees an expired lot in words, and chooses a kind, in both languages and on a phone", async () => {
    const fp = newFp("clinic");
    const { app, clock, makeFreshKey, openAs } = await startDashboard(clinic(fp));
    Object.defineProperty(clock, "now", { get: () => Date.now() });
    const key = await makeFreshKey(fp, [...keyPermissions], { name: "Lab PC", type: "device" });
    const headers = { "x-api-key": key };
    const heartbeat = { version: "0.2.0", devices: [{ id: "chem 1", name: "NX600", state: "listening" }] };
    await app.inject({ method: "POST", url: "/agent/v1/heartbeat", headers, payload: heartbeat });
    const event = (daysAgo: number, more: Partial<DeviceEvent>) => ({
      ...{ kind: "event", fp: newFp("devevt"), dedupe_key: newFp("devevt"), device_name: "NX600", lot: null },
      ...{ at: new Date(Date.now() - daysAgo * DAY).toISOString(), expires: null, count: null, text: null },
      ...{ source: { device_id: "chem 1" }, ...more },
    });
    const expires = new Date(Date.now() - 3 * DAY).toISOString().slice(0, 10);
    const records = [
      event(20, { event: "reagent", subject: "GLU", lot: "204118", expires }),
      event(1, { event: "fault", subject: "I4102", text: "The slide is stuck" }),
    ];
    const pushed = await app.inject({ method: "POST", url: "/agent/v1/quality", headers, payload: { records } });
    expect(pushed.statusCode).toBe(200);

    const page = await openAs(browser, "reader", fp, "/devices");
    await page.getByText("Log: reagents, faults, calibrations").press("Enter");
    const reagents = page.getByRole("region", { name: "The last lot of each reagent" });
    await reagents.getByText("expired").waitFor();
    const log = page.getByRole("region", { name: "Log: reagents, faults, calibrations" });
    expect(await log.locator("tbody tr td:nth-child(3)").allInnerTexts()).toEqual([
      "I4102 The slide is stuck",
      `GLU lot 204118, until ${expires}`,
    ]);
    await expectAccessible(page);
    await page.getByLabel("Show").selectOption("Fault");
    await log.getByText("lot 204118").waitFor({ state: "detached" });
    await chooseLanguage(page, "tr");
    await page.getByText("Günlük: reaktifler, arızalar, kalibrasyonlar").first().waitFor();
    await expectFitsPhone(page);
  });
});
