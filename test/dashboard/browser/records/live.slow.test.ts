import type { Browser } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { newFp } from "../../../../shared/api/fp.ts";
import { clinic, connection, patient, study } from "../../../server/harness.ts";
import { browserProblem, sharedBrowser } from "../../../support/peers/browser.ts";
import { startDashboard } from "../../harness.ts";

// Goal: an open page shows the newest state, whatever the order of responses and whatever a proxy responds meanwhile.

const fp = newFp("clinic");
const dog = patient({ name: "Karabaş" });

describe.skipIf(browserProblem() !== null)("an open page", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await sharedBrowser();
  });

  async function started() {
    const server = await startDashboard(clinic(fp), dog, connection(dog.fp, fp));
    const key = await server.makeKey(fp, ["clinic.lab.ingest"]);
    const page = await server.openAs(browser, "admin", fp, "/account");
    await page.getByRole("heading", { level: 1 }).waitFor();
    const show = (path: string) => page.goto(`${server.url}/dashboard${path}`);
    const rows = page.locator("table.results tbody tr");
    return { page, show, rows, push: (sent = study({ patient_fp: dog.fp })) => server.push(key, sent) };
  }

  test("receives news again after a proxy responded 502", async () => {
    const { page, show, rows, push } = await started();
    let refusals = 0;
    await page.route("**/events", (route) => {
      refusals += 1;
      return refusals === 1 ? route.fulfill({ status: 502 }) : route.continue();
    });
    await show("/results");
    await page.getByText("No results yet").waitFor();
    await expect.poll(() => refusals).toBe(2);
    await push();
    await rows.waitFor();
    expect(refusals).toBe(2);
  });

  test("drops the response to an older request", async () => {
    const { page, show, rows, push } = await started();
    await show("/results");
    await page.getByText("No results yet").waitFor();
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    let asked = 0;
    await page.route("**/results?*", async (route) => {
      asked += 1;
      const isOlder = asked === 1;
      const response = await route.fetch();
      if (isOlder) await released;
      await route.fulfill({ response });
    });
    await push();
    // The notice of the new connection may come first.
    await expect.poll(() => asked).toBeGreaterThanOrEqual(1);
    await push();
    await expect.poll(() => rows.count()).toBe(2);
    const late = page.waitForResponse("**/results?*");
    release();
    await (await late).finished();
    await page.waitForTimeout(300);
    await expect.poll(() => rows.count()).toBe(2);
  });

  test("shows a correction of a row below the first page", async () => {
    const { page, show, rows, push } = await started();
    const oldest = study({ patient_fp: dog.fp, acquired_at: "2026-01-01T08:00:00.000Z" });
    await push(oldest);
    for (let count = 0; count < 50; count += 1) await push();
    await show("/results");
    await page.getByRole("button", { name: "Show more" }).click();
    await expect.poll(() => rows.count()).toBe(51);
    await push({ ...oldest, revision: 2, results: [] });
    await rows.last().getByText("revision 2").waitFor();
    await expect.poll(() => rows.count()).toBe(51);
  });

  test("keeps what the user chose in a form", async () => {
    const { page, show, push } = await started();
    await show("/settings/audit");
    const key = page.getByLabel("Key");
    await expect.poll(() => key.locator("option").count()).toBe(2);
    await key.selectOption({ index: 1 });
    const chosen = await key.inputValue();
    const loaded = page.waitForResponse("**/keys");
    await push();
    await (await loaded).finished();
    await page.waitForTimeout(300);
    await expect.poll(() => key.inputValue()).toBe(chosen);
  });
});
