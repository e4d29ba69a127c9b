import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import type { Page } from "playwright-core";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openPage } from "../../dashboard/harness.ts";
import { browserProblem, expectAccessible, sharedBrowser } from "../../support/peers/browser.ts";
import { useDemoPorts } from "../../support/peers/demo-ports.ts";
import { ROOT, temporaryFolder, until } from "../../support/machine/processes.ts";

// Goal: a stranger starts the system with `npm start` and works with its results in the browser; server and agent end with the demo.
// Method: the built demo in a temporary folder, with its real agent and simulated analyzers. UPDATE_SCREENSHOTS=1 writes the pictures
// of README.

const PICTURES = path.join(ROOT, "server/web/screenshots");

const problem = browserProblem();
if (problem !== null) process.stderr.write(`npm start is not tested in a browser: ${problem}\n`);

useDemoPorts();

let folder: string;
const started: ChildProcess[] = [];

beforeEach(() => {
  folder = fs.realpathSync(temporaryFolder());
  fs.symlinkSync(path.join(ROOT, "fixtures"), path.join(folder, "fixtures"));
});

afterEach(async () => {
  for (const child of started.splice(0)) child.kill("SIGKILL");
  await allHaveEnded();
  fs.rmSync(folder, { recursive: true, force: true });
});

/** Starts the demo in the folder of the test. */
function startDemo() {
  const child = spawn(process.execPath, [path.join(ROOT, "dist/server/demo/main.js")], { cwd: folder, stdio: "pipe" });
  started.push(child);
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (printed += String(text)));
  const prints = (words: string) =>
    until(`the demo prints ${words}`, () => {
      if (child.exitCode !== null) throw new Error(`the demo ended: ${printed}`);
      return printed.includes(words);
    });
  return { child, prints, printed: () => printed };
}

/** @returns the modules of the processes in the folder of the test: demo, server and agent */
function programs(): string[] {
  const found = fs.readdirSync("/proc").flatMap((name) => {
    try {
      if (!/^\d+$/.test(name) || fs.readlinkSync(`/proc/${name}/cwd`) !== folder) return [];
      return /dist\/(\w+\/(?:demo\/)?main)\.js\0/.exec(fs.readFileSync(`/proc/${name}/cmdline`, "utf8"))?.[1] ?? [];
    } catch {
      return []; // the process has ended
    }
  });
  return found.toSorted();
}

async function allHaveEnded(): Promise<void> {
  await until("all processes end", () => programs().length === 0);
}

test.skipIf(problem !== null)("the first user of npm start sees the analyzers' results in the dashboard", async () => {
  const demo = startDemo();
  await demo.prints("Running until Ctrl-C");
  const browser = await sharedBrowser();
  const [, url = "", code = ""] =
    /Dashboard: +(\S+)\/dashboard, set it up with the code (\S+)/.exec(demo.printed()) ?? [];
  // The last lines are what a newcomer goes on with, after one study.
  expect(demo.printed().split("\n").slice(-5)).toEqual([
    expect.stringMatching(/^Dashboard: /),
    expect.stringMatching(/^Agent: +http:/),
    expect.stringMatching(/^API: +http:.*\/docs$/),
    "Running until Ctrl-C.",
    "",
  ]);
  expect(demo.printed().match(/"analyte": "ALT"/g)).toHaveLength(1);
  const pages = [/^Agent: +(\S+)$/m, /^API: +(\S+)$/m].map((line) => line.exec(demo.printed())?.[1] ?? "");
  for (const shown of pages) expect((await fetch(shown)).status).toBe(200);
  const page = await openPage(browser, url);
  await page.goto(url);
  await page.getByLabel("Set-up code").fill(code);
  await page.getByLabel("Name", { exact: true }).fill("Elif");
  await page.getByLabel("Password").fill("correct horse battery");
  await page.getByRole("button", { name: "Set up" }).click();
  await page.getByRole("heading", { name: "Today" }).waitFor();
  expect(fs.existsSync(path.join(folder, "data/demo/server/setup-code"))).toBe(false);
  // The clinic with the devices is the first of the two.
  await page.getByRole("link", { name: "Results", exact: true }).click();
  await page.getByRole("heading", { name: "Results" }).waitFor();
  const rows = page.getByRole("row", { name: /Karabaş|Pamuk/ });
  await expect.poll(() => rows.count()).toBe(7);
  await picture(page, "results");
  await rows.filter({ hasText: "VetScan" }).filter({ hasText: "Karabaş" }).getByRole("link").first().click();
  // The list has such a row too, until the study is there.
  await page.getByRole("heading", { level: 1, name: /Karabaş/ }).waitFor();
  const alt = page.getByRole("row", { name: /ALT.*143/ });
  await alt.first().waitFor();
  await expectAccessible(page);
  await picture(page, "study");

  await page.getByRole("link", { name: "Devices", exact: true }).click();
  await page.getByText("chem-1").first().waitFor();
  await picture(page, "devices");
  await page.getByRole("link", { name: "Today", exact: true }).click();
  await page.getByRole("heading", { name: "Newest results" }).waitFor();
  await picture(page, "today");
});

test("a second demo in the same folder exits 1, and server and agent end with the first one", async () => {
  const first = startDemo();
  await first.prints("Server on");
  const second = startDemo();
  expect(await once(second.child, "close")).toEqual([1, null]);
  const data = path.join(folder, "data/demo");
  expect(second.printed()).toBe(`another demo is running with the data folder ${data}: end it with Ctrl-C first\n`);
  const whole = ["agent/main", "server/demo/main", "server/main"];
  await until("agent and server run", () => whole.every((each) => programs().includes(each)));
  first.child.kill("SIGINT");
  expect(await once(first.child, "exit")).toEqual([0, null]);
  expect(programs()).toEqual([]);

  const killed = startDemo();
  await killed.prints("Server on");
  killed.child.kill("SIGKILL");
  await allHaveEnded();
});

/** Takes a picture of the page, and keeps it if the pictures are to be updated. */
async function picture(page: Page, name: string): Promise<void> {
  const png = await page.screenshot();
  expect(png.length).toBeGreaterThan(10_000);
  if (process.env["UPDATE_SCREENSHOTS"] !== "1") return;
  fs.mkdirSync(PICTURES, { recursive: true });
  fs.writeFileSync(path.join(PICTURES, `${name}.png`), png);
}
