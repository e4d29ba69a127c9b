import { rmSync } from "node:fs";
import path from "node:path";
import type { Locator, Page } from "playwright-core";
import { browserProblem, startBrowser } from "../support/peers/browser.ts";
import { ROOT, start, temporaryFolder } from "../support/machine/processes.ts";
import { listens } from "./api/server.ts";
import { fillClinic } from "./dashboard/clinic.ts";
import { type Figure, median } from "./figure.ts";

/** Counts what a user does with the mouse and the keyboard. */
class Hand {
  clicks = 0;
  fields = 0;
  keys = 0;
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  async click(target: Locator): Promise<void> {
    this.clicks += 1;
    await target.click();
  }

  async press(key: string): Promise<void> {
    this.keys += 1;
    await this.page.keyboard.press(key);
  }

  async fill(target: Locator, text: string): Promise<void> {
    this.fields += 1;
    await target.fill(text);
  }

  async choose(target: Locator, label: string): Promise<void> {
    this.fields += 1;
    await target.selectOption({ label });
  }
}

interface Task {
  readonly name: string;
  readonly clicksMax: number;
  /** Starts on Today, and ends when the page shows what was wanted. A round takes another animal or result. */
  readonly run: (hand: Hand, round: number) => Promise<void>;
}

/** The number of an animal of the clinic, by which no other one is found. */
const cardOf = (round: number) => String(100_000 + 31 * (round + 1));

/** As a reader of barcodes types it. */
const findAnimal = async (hand: Hand, round: number) => {
  await hand.press("/");
  await hand.fill(hand.page.locator(":focus"), cardOf(round));
  await hand.press("Enter");
  await hand.page.getByRole("button", { name: "Order tests" }).waitFor();
};

const tasks: readonly Task[] = [
  {
    name: "place: file a waiting result to its animal",
    clicksMax: 1,
    run: async (hand) => {
      const { page } = hand;
      await hand.click(page.getByRole("link", { name: /^To place/ }).first());
      await page.getByRole("heading", { name: "Whose result is it?" }).waitFor();
      await hand.press("1");
      await page.getByRole("heading", { name: /^If it is filed to / }).waitFor();
      await hand.press("Enter");
      await page.getByRole("status").filter({ hasText: "Filed to" }).waitFor();
    },
  },
  {
    name: "compare: the course of one analyte of an animal",
    clicksMax: 1,
    run: async (hand, round) => {
      await findAnimal(hand, round);
      await hand.click(hand.page.getByRole("link", { name: /^Trend of CREA/ }));
      await hand.page.locator(".uplot").first().waitFor();
    },
  },
  {
    name: "report: the PDF of the newest result",
    clicksMax: 2,
    run: async (hand) => {
      await hand.click(hand.page.locator('main a[href*="/dashboard/results/"]').first());
      const file = hand.page.waitForEvent("download");
      await hand.click(hand.page.getByRole("link", { name: "PDF", exact: true }));
      await (await file).path();
    },
  },
  {
    name: "positive test: type a positive rapid test",
    clicksMax: 5,
    run: async (hand, round) => {
      const { page } = hand;
      await hand.click(page.getByRole("button", { name: "New", exact: true }));
      await hand.click(page.getByRole("link", { name: "Manual study" }).first());
      await hand.fill(page.getByLabel(/^Animal/), cardOf(round));
      await hand.click(page.locator(".choices button").first());
      await hand.fill(page.getByLabel("Find an analyte"), "heartworm");
      await hand.click(page.getByRole("button", { name: "Heartworm antigen" }));
      await hand.choose(page.locator("[data-analyte=HW]"), "Positive");
      await hand.click(page.getByRole("button", { name: "Save the study" }));
      await page.getByRole("heading", { name: "The study is saved" }).waitFor();
    },
  },
  {
    name: "order: order two tests, until the label stands",
    clicksMax: 2,
    run: async (hand, round) => {
      const { page } = hand;
      await findAnimal(hand, round);
      await hand.click(page.getByRole("button", { name: "Order tests" }));
      await hand.fill(page.getByRole("dialog").getByLabel("Tests", { exact: true }), "ALT, CREA");
      await hand.click(page.getByRole("dialog").getByRole("button", { name: "Order", exact: true }));
      await page
        .getByRole("dialog", { name: /^Sample / })
        .getByRole("img")
        .waitFor();
    },
  },
];

/** Counts clicks, fields and seconds of the tasks that a clinic does most, from Today on. */
export async function* timedTasks(quick: boolean): AsyncGenerator<Figure> {
  const problem = browserProblem();
  if (problem !== null) throw new Error(`the tasks are not timed: ${problem}`);
  const data = temporaryFolder();
  const cookie = await fillClinic(data, { animals: 2_000, studies: quick ? 10_000 : 20_000 });
  const running = start(path.join(ROOT, "dist/server/main.js"), ["run", "--port", "0", "--data", data]);
  const browser = await startBrowser();
  try {
    const url = await listens(running);
    const context = await browser.newContext({ locale: "en-GB", viewport: { width: 1440, height: 900 } });
    const [name = "", value = ""] = cookie.split("=");
    await context.addCookies([{ name, value, url, sameSite: "Strict", httpOnly: true }]);
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    for (const task of tasks) yield await timed(task, { page, url, rounds: quick ? 2 : 5 });
  } finally {
    await browser.close();
    await running.end("SIGKILL");
    rmSync(data, { recursive: true });
  }
}

async function timed(
  { name, clicksMax, run }: Task,
  { page, url, rounds }: { readonly page: Page; readonly url: string; readonly rounds: number },
): Promise<Figure> {
  const [ours, opened]: [number[], number[]] = [[], []];
  let hand = new Hand(page);
  for (let round = 0; round < rounds; round += 1) {
    const from = performance.now();
    await page.goto(`${url}/dashboard`);
    await page.locator("main table tbody tr, main li").first().waitFor();
    const begun = performance.now();
    opened.push(begun - from);
    hand = new Hand(page);
    await run(hand, round);
    ours.push(performance.now() - begun);
  }
  const seconds = (milliseconds: number) => (milliseconds / 1000).toFixed(2);
  return {
    name,
    ours: `${hand.clicks} clicks, ${hand.keys} keys, ${hand.fields} fields, ${seconds(median(ours))} s`,
    baseline: `opening Today ${seconds(median(opened))} s`,
    ratio: median(ours) / median(opened),
    bar: `at most ${clicksMax} clicks`,
    met: hand.clicks <= clicksMax,
  };
}
