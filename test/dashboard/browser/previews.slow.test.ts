import fs from "node:fs";
import path from "node:path";
import type { Browser } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { playModality } from "../../../agent/tools/simulator/modality.ts";
import { newFp } from "../../../shared/api/fp.ts";
import type { TodayState } from "../../../server/dashboard/types/results/today.ts";
import {
  browserProblem,
  chooseLanguage,
  expectAccessible,
  expectFitsPhone,
  sharedBrowser,
} from "../../support/browser.ts";
import { freePort, until } from "../../support/processes.ts";
import { type TestAgent, useAgent } from "../../support/running-agent.ts";
import { clinic, connection, patient } from "../../server/harness.ts";
import { makeUser, startDashboard } from "../harness.ts";

// Method: the simulator sends images to a complete agent, which files the study at a real server. A browser looks at its page.

const fp = newFp("clinic");
const dog = patient({ external_ids: ["10021"] });

let agent: TestAgent;
useAgent((created) => (agent = created));

describe.skipIf(browserProblem() !== null)("previews in a browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await sharedBrowser();
  });

  test("the images of a study appear on its page, small and large, marked as not for diagnosis", async () => {
    const server = await startDashboard(clinic(fp), dog, connection(dog.fp, fp));
    server.clock.now = Date.now();
    const key = await server.makeKey(fp, ["clinic.lab.ingest", "clinic.patient.view", "clinic.calendar.view"]);
    fs.writeFileSync(path.join(agent.folder, "agent.key"), key, { mode: 0o600 });
    const port = await freePort();
    const device = { id: "xray", profile: "dicom", connection: { listen: `127.0.0.1:${port}` }, quietSeconds: 1 };
    await agent.runWith(server.url, [device]);
    const target = { address: { host: "127.0.0.1", port }, calledAe: "VETWIRE", callingAe: "DX1" };
    await playModality(target, ["cr", "cr", "cr"], { id: "10021", name: "X^Rex", species: "dog" }, "20260504090000");

    const user = await makeUser(server, "reader", fp);
    const study = await until("the pictures", async () => {
      const [newest] = (await user.call<TodayState>("GET", "/today")).body.newest;
      if (newest === undefined) return null;
      const { body } = await user.call<{ previews: unknown[] }>("GET", `/results/${newest.fp}/previews`);
      return body.previews.length === 3 ? newest : null;
    });

    const page = await server.openAs(browser, "staff", fp, `/results/${study.fp}`);
    const second = page.getByRole("img", { name: "Image 2 of 3, not for diagnosis" });
    await second.first().waitFor();
    await expect.poll(() => page.getByText("Not for diagnosis").first().isVisible()).toBe(true);
    const isDrawn = "[...document.images].every((image) => image.complete && image.naturalWidth > 0)";
    await expect.poll(() => page.evaluate<boolean>(isDrawn)).toBe(true);
    await expectAccessible(page);
    await expectFitsPhone(page);

    await page.getByRole("button", { name: "Image 2 of 3" }).press("Enter");
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("heading", { name: "Image 2 of 3" }).waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await page.keyboard.press("ArrowRight");
    await dialog.getByRole("heading", { name: "Image 3 of 3" }).waitFor();
    await page.keyboard.press("ArrowRight");
    await dialog.getByRole("heading", { name: "Image 1 of 3" }).waitFor();
    // Two keys come before the page is drawn again.
    await page.evaluate(
      "for (const _ of [1, 2]) dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight' })); undefined",
    );
    await dialog.getByRole("heading", { name: "Image 3 of 3" }).waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await page.locator("button:focus").waitFor();
    await chooseLanguage(page, "tr");
    await page.getByRole("img", { name: "Görüntü 1 / 3, tanı için değildir" }).first().waitFor();
    await expectFitsPhone(page);
  });
});
