import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openPage } from "../dashboard/harness.ts";
import { browserProblem, expectAccessible, startBrowser } from "../support/browser.ts";
import { ROOT, temporaryFolder } from "../support/processes.ts";

// Goal: a stranger starts the system with `npm start` and works with its results in the browser. Method: the built demo with its
// real agent and simulated analyzers. UPDATE_SCREENSHOTS=1 writes the pictures of README.

const PICTURES = path.join(ROOT, "server/web/screenshots");

const problem = browserProblem();
if (problem !== null) process.stderr.write(`npm start is not tested in a browser: ${problem}\n`);

/** Registers the tests of the demo in a browser, for demo.slow.test.ts: two demos at once would want the same ports. */
export function browserTests(): void {
  describe.skipIf(problem !== null)("npm start", () => {
    let browser: Browser;
    let folder: string;
    let demo: ChildProcess;
    let printed = "";

    beforeAll(async () => {
      browser = await startBrowser();
      folder = fs.realpathSync(temporaryFolder());
      fs.symlinkSync(path.join(ROOT, "fixtures"), path.join(folder, "fixtures"));
      demo = spawn("node", [path.join(ROOT, "dist/server/demo/main.js")], { cwd: folder, stdio: "pipe" });
      demo.stdout?.on("data", (text) => (printed += String(text)));
      demo.stderr?.on("data", (text) => (printed += String(text)));
      while (!printed.includes("Running until Ctrl-C")) {
        if (demo.exitCode !== null) throw new Error(`the demo ended: ${printed}`);
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }, 120_000);
    afterAll(async () => {
      demo.kill("SIGINT");
      if (demo.exitCode === null) await once(demo, "exit");
      await browser.close();
      fs.rmSync(folder, { recursive: true, force: true });
    });

    test("prints the code with which the first user sets up the dashboard and sees the analyzers' results", async () => {
      const [, url = "", code = ""] = /Dashboard: (\S+)\/dashboard, set it up with the code (\S+)/.exec(printed) ?? [];
      const page = await openPage(browser, url);
      await page.goto(url);
      await page.getByLabel("Set-up code").fill(code);
      await page.getByLabel("Name", { exact: true }).fill("Elif");
      await page.getByLabel("Password").fill("correct horse battery");
      await page.getByRole("button", { name: "Set up" }).click();
      await page.getByRole("heading", { name: "Today" }).waitFor();
      expect(fs.existsSync(path.join(folder, "data/demo/server/setup-code"))).toBe(false);
      await page.getByLabel("Clinic").selectOption({ label: "Kadıköy Animal Hospital" });

      await page.getByRole("link", { name: "Results", exact: true }).click();
      await page.getByRole("heading", { name: "Results" }).waitFor();
      const rows = page.getByRole("row", { name: /Karabaş|Pamuk/ });
      await rows.first().waitFor();
      await expect.poll(() => rows.count()).toBe(7);
      await picture(page, "results");
      await rows.filter({ hasText: "VetScan" }).filter({ hasText: "Karabaş" }).getByRole("link").first().click();
      // The list has such a row too, until the study is there.
      await page.getByRole("heading", { level: 1, name: /Karabaş/ }).waitFor();
      await page
        .getByRole("row", { name: /ALT.*143/ })
        .first()
        .waitFor();
      await expectAccessible(page);
      await picture(page, "study");

      await page.getByRole("link", { name: "Devices", exact: true }).click();
      await page.getByText("chem-1").first().waitFor();
      await picture(page, "devices");
      await page.getByRole("link", { name: "Today", exact: true }).click();
      await page.getByRole("heading", { name: "Newest results" }).waitFor();
      await picture(page, "today");
    });
  });
}

/** Takes a picture of the page, and keeps it if the pictures are to be updated. */
async function picture(page: Page, name: string): Promise<void> {
  const png = await page.screenshot();
  expect(png.length).toBeGreaterThan(10_000);
  if (process.env["UPDATE_SCREENSHOTS"] !== "1") return;
  fs.mkdirSync(PICTURES, { recursive: true });
  fs.writeFileSync(path.join(PICTURES, `${name}.png`), png);
}
