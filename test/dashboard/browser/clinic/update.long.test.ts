import type { Browser, Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { newFp } from "../../../../shared/api/fp.ts";
import type { Heartbeat } from "../../../../shared/api/study.ts";
import { addRelease } from "../../../../server/operations/release-folder.ts";
import {
  browserProblem,
  chooseLanguage,
  expectAccessible,
  expectFitsPhone,
  sharedBrowser,
} from "../../../support/peers/browser.ts";
import { ReleaseKey } from "../../../support/releases/signed-release.ts";
import { clinic, temporaryFolder } from "../../../server/harness.ts";
import { startDashboard } from "../../harness.ts";

// Method: an admin upgrades three PCs at the real page; the test sends the heartbeats of their agents.

const problem = browserProblem();
if (problem !== null) process.stderr.write(`the update of PCs is not tested in a browser: ${problem}\n`);

const signer = new ReleaseKey();
const MINUTE = 60_000;

async function startUpdates(...names: string[]) {
  const fp = newFp("clinic");
  const dashboard = await startDashboard(clinic(fp));
  let behind = 0;
  Object.defineProperty(dashboard.clock, "now", { get: () => Date.now() - behind });
  const keys = new Map<string, string>();

  /** Sends the heartbeat of an agent that is `age` old. @returns the version that the response wants */
  async function beat(name: string, payload: Heartbeat = {}, age = 0): Promise<string | undefined> {
    const key = keys.get(name) ?? (await dashboard.makeFreshKey(fp, ["clinic.lab.ingest"], { name, type: "device" }));
    keys.set(name, key);
    behind = age;
    const headers = { "x-api-key": key };
    const answer = await dashboard.app.inject({
      ...{ method: "POST" as const, url: "/agent/v1/heartbeat", headers },
      payload: { version: "0.1.0", platform: "linux-x64", ...payload },
    });
    behind = 0;
    return answer.json<{ upgrade?: { version: string } }>().upgrade?.version;
  }

  const release = (version: string) =>
    addRelease(
      dashboard.releaseFolder,
      signer.write(temporaryFolder(), { version, platform: "linux-x64" }),
      signer.publicKey,
    );
  for (const name of names) await beat(name);
  return { ...dashboard, fp, beat, release };
}

const report = (state: string, reason: string | null = null) => ({ upgrade: { to: "0.2.0", state, reason } });
const done = { version: "0.2.0", ...report("done") };

async function says(page: Page, ...texts: string[]): Promise<void> {
  for (const text of texts) await page.getByText(text, { exact: false }).first().waitFor();
}

describe.skipIf(problem !== null)("in a browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await sharedBrowser();
  });

  test("an admin upgrades the PCs, follows each one, and reads why it stopped", async () => {
    const { openAs, fp, beat, release } = await startUpdates("Lab PC", "Reception", "X-ray <b>PC</b>");
    await beat("Old PC", { platform: undefined } as never);
    await release("0.2.0");
    const page = await openAs(browser, "admin", fp, "/devices");
    await page.getByRole("button", { name: "Update 3 PCs" }).click();
    const dialog = page.getByRole("dialog");
    await says(page, "that PC goes back to its old version by itself, and the update stops there");
    await expect.poll(() => dialog.innerText()).toContain("Lab PC 0.1.0 → 0.2.0");
    await expect.poll(() => dialog.innerText()).toContain("Old PC (0.1.0) Install the new version on this PC by hand.");
    await expectAccessible(page);
    await expectFitsPhone(page);
    await dialog.getByRole("button", { name: "Update 3 PCs" }).click();
    await says(page, "Under way", "0 of 3 updated.");
    expect(await beat("Lab PC")).toBe("0.2.0");
    await says(page, "It was asked to update");
    await beat("Lab PC", report("preparing"));
    await says(page, "It fetches and checks the new version");
    await beat("Lab PC", { version: "0.2.0", ...report("trying") });
    await says(page, "It tries the new version for a minute.");
    await expect.poll(() => page.getByRole("button", { name: "Skip Lab PC" }).count()).toBe(0);
    await beat("Lab PC", done);
    await says(page, "1 of 3 updated.");
    await beat("Reception");
    await page.getByRole("button", { name: "Skip Reception" }).waitFor();
    await beat("Reception", report("refused", "the connection was cut"));
    await says(
      page,
      "It could not start the new version, and works on with its old one. It tries again by itself.",
      "the connection was cut",
      "The PC tries again after 10 minutes, then less often.",
    );
    await page.getByRole("button", { name: "Skip Reception" }).waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await beat("Reception", report("rolled back", "the server responded to none of its heartbeats"));
    await says(
      page,
      "Did not work on one PC",
      "The update did not work. The PC works on with its old version.",
      "the server responded to none of its heartbeats",
      "Keeps its version.",
      "Otherwise wait for the next version.",
    );
    expect(await beat("X-ray <b>PC</b>")).toBeUndefined();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await chooseLanguage(page, "tr");
    await says(page, "Bir bilgisayarda çalışmadı", "Sürümünü koruyor.");
    await expectAccessible(page);
    await expectFitsPhone(page);
    await page.getByRole("button", { name: "Kaldır" }).click();
    await page.getByText("Sürümünü koruyor.").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "1 bilgisayarı güncelle" }).waitFor();
    await says(page, "Bu bilgisayarın 0.2.0 sürümüne güncellenmesi başarısız oldu");
  });

  test("an admin skips a PC that is silent, and stops the rest", async () => {
    const { openAs, fp, beat, release } = await startUpdates("Lab PC", "Reception");
    await release("0.2.0");
    const page = await openAs(browser, "admin", fp, "/devices");
    await page.getByRole("button", { name: "Update 2 PCs" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Update 2 PCs" }).click();
    await says(page, "Under way");
    await beat("Lab PC", {}, 10 * MINUTE);
    await beat("Reception");
    await says(page, "It is its turn, but the PC is silent.");
    await expectAccessible(page);
    await page.getByRole("button", { name: "Skip Lab PC" }).click();
    await says(page, "Skipped.");
    expect(await beat("Reception")).toBe("0.2.0");
    await page.getByRole("button", { name: "Stop the update" }).click();
    await says(page, "Stopped", "The other PCs keep their version.", "Keeps its version.");
    expect(await beat("Reception")).toBeUndefined();
  });
});
