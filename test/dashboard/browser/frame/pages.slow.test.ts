import { globSync, readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import type { Browser, Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { browserProblem, expectAccessible, sharedBrowser } from "../../../support/peers/browser.ts";
import { startTwoClinics } from "../../../server/security/two-clinics.ts";
import { WAIT_MS } from "../../../support/runner/patience.ts";
import { openPage } from "../../harness.ts";

// Rules of every page of the dashboard, each tried over all of them.

/** The pause before the page itself tries again; see server/web/live.ts. */
const RETRY_MS = 5000;

describe.skipIf(browserProblem() !== null)("every page of the dashboard", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await sharedBrowser();
  });

  /** Opens an empty page of an admin, and the address of every screen in a clinic with one record of each kind. */
  async function openClinic(): Promise<{ page: Page; url: string; addresses: string[] }> {
    const { server, ours } = await startTwoClinics();
    await server.app.listen({ port: 0, host: "127.0.0.1" });
    const url = `http://127.0.0.1:${(server.app.server.address() as AddressInfo).port}`;
    const page = await openPage(browser, url);
    await page.setViewportSize({ width: 320, height: 640 });
    const [name = "", value = ""] = (ours.users.get("admin")?.cookie ?? "").split("=");
    await page.context().addCookies([{ name, value, url, sameSite: "Strict", httpOnly: true }]);
    const waiting = ours.pathTo("unmatched/:fp").replace("unmatched/", "");
    const addresses = screenPaths().map((path) => {
      const named = path.replace(":other?", ours.named.double).replace(":analyte", "GLU");
      return ours.pathTo(named.replace("to-place/:fp?", `to-place/${waiting}`).replace(/\/:\w+\?$/, ""));
    });
    return { page, url, addresses };
  }

  test("each page is in Turkish without an English word, and fits a phone of 320 px and a zoom of 200 % with its tables", async () => {
    const { page, url, addresses } = await openClinic();
    await page.addInitScript(() => localStorage.setItem("language", "tr"));
    await page.goto(`${url}/dashboard/nowhere`);
    await page.getByText("Böyle bir sayfa yok").waitFor();
    const english = englishWords();
    expect(english.size).toBeGreaterThan(1000);
    const wide: string[] = [];
    const untranslated: string[] = [];
    for (const address of addresses) {
      await show(page, address);
      wide.push(...(await tooWide(page)));
      // A window of 1280 px at 200 %.
      await page.setViewportSize({ width: 640, height: 400 });
      wide.push(...(await tooWide(page)), ...(await page.evaluate<string[]>(CUT_TEXT)));
      await page.setViewportSize({ width: 320, height: 640 });
      const found = [...new Set(wordsOf(await page.evaluate<string>(VISIBLE_TEXT)))].filter((each) =>
        english.has(each),
      );
      if (found.length > 0) untranslated.push(`${address}: ${found.join(" ")}`);
    }
    expect({ wide, untranslated }).toEqual({ wide: [], untranslated: [] });
  });

  test(
    "each page whose server fails says so, shows its data after one click without being loaded again, and fits a phone",
    async () => {
      const { page, url, addresses } = await openClinic();
      // The page's own new attempt would hide a button that does nothing.
      await page.addInitScript(`{
      const wait = setTimeout;
      window.setTimeout = (act, ms, ...more) => (ms >= ${RETRY_MS} ? 0 : wait(act, ms, ...more));
    }`);
      const server = await cutOff(page);
      await page.goto(`${url}/dashboard/nowhere`);
      const again = page.getByRole("button", { name: "Try again" });
      await again.click();
      server.isAway = false;
      await again.click();
      await page.getByText("There is no such page").waitFor();

      const silent: string[] = [];
      const wide: string[] = [];
      const loadedAgain: string[] = [];
      for (const address of addresses) {
        server.isAway = true;
        await show(page, address);
        const isSilent = (await again.count()) === 0;
        if (isSilent) silent.push(address);
        wide.push(...(await tooWide(page)));
        server.isAway = false;
        await page.evaluate("window.isSamePage = true");
        // One click loads all that failed.
        if (!isSilent) await again.first().click();
        await expect.poll(() => again.count(), { message: address }).toBe(0);
        await page.locator("main h1").first().waitFor();
        await expect.poll(() => page.getByRole("alert").count(), { message: address }).toBe(0);
        if ((await page.evaluate("window.isSamePage")) !== true) loadedAgain.push(address);
        wide.push(...(await tooWide(page)));
      }
      const withoutData = ["patients/new", "help"];
      expect(silent).toEqual(withoutData.map((path) => `/dashboard/${path}`));
      expect({ wide, loadedAgain }).toEqual({ wide: [], loadedAgain: [] });
    },
    2 * WAIT_MS,
  );

  test("a load that failed is tried again by itself, and a complete list is sorted by its headings", async () => {
    const { page, url } = await openClinic();
    await page.addInitScript(`{
      const wait = setTimeout;
      window.setTimeout = (act, ms, ...more) => wait(act, ms >= ${RETRY_MS} ? 50 : ms, ...more);
    }`);
    const server = await cutOff(page);
    await page.setViewportSize({ width: 1280, height: 800 });
    const again = page.getByRole("button", { name: "Try again" });
    await page.goto(`${url}/dashboard/nowhere`);
    await again.waitFor();
    server.isAway = false;
    await page.getByText("There is no such page").waitFor();
    server.isAway = true;
    await show(page, "/dashboard/settings/keys");
    await again.waitFor();
    server.isAway = false;

    const names = page.getByRole("table").locator("tbody th");
    const heading = page.getByRole("columnheader", { name: "Name" });
    await expect.poll(() => names.count()).toBe(3);
    const order = async () => (await names.allInnerTexts()).map((text) => text.split("\n")[0]);
    expect(await heading.getAttribute("aria-sort")).toBe("none");
    await heading.getByRole("button").press("Enter");
    await expect.poll(order).toEqual(["OursMark key", "OursMark PC", "OursMark spare"]);
    expect(await heading.getAttribute("aria-sort")).toBe("ascending");
    await heading.getByRole("button").press("Enter");
    await expect.poll(order).toEqual(["OursMark spare", "OursMark PC", "OursMark key"]);
    expect(await heading.getAttribute("aria-sort")).toBe("descending");
    await expectAccessible(page);
    // The headings stay above the cards, and a date has its name.
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await heading.getByRole("button").isVisible()).toBe(true);
    expect(await page.locator("td[data-label='Created']").count()).toBe(3);
    expect(await page.getByRole("row").count()).toBe(4);
    await expectAccessible(page);
  });
});

/** Lets no answer of the server through while it is away, and no notice of changes at any time: they load pages again too. */
async function cutOff(page: Page): Promise<{ isAway: boolean }> {
  const server = { isAway: true };
  await page.route(/\/clinic\/v1\//, (route) => (server.isAway ? route.abort() : route.fallback()));
  await page.route(/\/events/, (route) => route.abort());
  return server;
}

/** The page, and the frames of its tables, that are wider than the phone. The matrix has a column for each day. */
async function tooWide(page: Page): Promise<string[]> {
  const wide = await page.evaluate<string[]>(TOO_WIDE);
  return wide.filter((each) => !each.includes("Results by day") && !each.includes("Günlere göre sonuçlar"));
}

/** The text of a page and of its labels, without what stays in its own language: codes, sources, time zones. */
const VISIBLE_TEXT = `(() => {
  const page = document.querySelector("body").cloneNode(true);
  for (const part of page.querySelectorAll("[lang=en], code, pre, kbd, script, style")) part.remove();
  const labels = [...page.querySelectorAll("[aria-label], [title], [placeholder]")];
  const named = labels.flatMap((part) => ["aria-label", "title", "placeholder"].map((name) => part.getAttribute(name) ?? ""));
  const texts = [];
  const walker = document.createTreeWalker(page, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) texts.push(walker.currentNode.textContent);
  return [...texts, ...named].join(" ");
})()`;

/** The words of the English texts of pages that no Turkish text has: the pairs of `translations`. */
function englishWords(): Set<string> {
  const files = globSync(["server/web/**/*.{ts,tsx}", "server/dashboard/types/**/*.ts", "shared/clinical/**/*.ts"]);
  const pairs = files.flatMap((file) => [
    ...readFileSync(file, "utf8").matchAll(/\[\s*"((?:[^"\\]|\\.)*)",\s*"((?:[^"\\]|\\.)*)",?\s*\]/g),
  ]);
  // A word that stands on both sides of a pair may be a text that nobody translated.
  const turkish = new Set(
    pairs.flatMap(([, english, text]) => wordsOf(text).filter((each) => !wordsOf(english).includes(each))),
  );
  const known = new Set([...turkish, ...DATA, ...SHARED]);
  return new Set(pairs.flatMap(([, text]) => wordsOf(text)).filter((each) => !known.has(each)));
}

/** The words of a text in lower case, without gaps and time zones: `{count}`, `America/Indiana/Tell_City`. */
function wordsOf(text = ""): string[] {
  const plain = text.replaceAll(/\{[^}]*\}|[\w+-]+\/[\w/+-]+/g, " ");
  return plain.toLowerCase().match(/\p{L}{3,}/gu) ?? [];
}

/** Words of the clinic's own records: its name, animal, unit, users, the columns of its file, and the host of its destination. */
const DATA = [
  "invalid",
  "clinic",
  "dog",
  "vial",
  "admin",
  "staff",
  "reader",
  "patient",
  "name",
  "owner",
  "crea",
  "examination",
];
/** Words that Turkish has too, and those of files and commands. */
const SHARED = (
  "vetwire api csv soap code lot program internet windows jpeg http species agent reprocess key yaml run config ndjson " +
  "subgroup analyte unit low effective from source method accepted cavalier example english normal pdf hamster gerbil plan " +
  "band weasis logo png https hemoglobin oru pims pid obx loinc msh levey jennings sigma bias iguana hermann horsfield"
).split(" ");

/** The paths of the screens, from the source of the pages: a new screen is tried without a word here. */
function screenPaths(): string[] {
  const source = readFileSync("server/web/app/screens.ts", "utf8");
  return Array.from(source.matchAll(/path: "([^"]+)"/g), ([, path = ""]) => path);
}

/** Goes to a screen as a link does, and waits until it has its heading or an error, and loads nothing. */
async function show(page: Page, address: string): Promise<void> {
  await page.evaluate(
    `document.querySelectorAll("main h1").forEach((heading) => heading.dataset.before = "");
     history.pushState(null, "", ${JSON.stringify(address)});
     dispatchEvent(new PopStateEvent("popstate"));`,
  );
  await page.locator("main :is(h1:not([data-before]), .problem)").first().waitFor();
  await page.locator(".skeleton").first().waitFor({ state: "detached" });
}

/** Texts that their own box cuts off. A frame that scrolls cuts nothing off, and neither does a text for screen readers. */
const CUT_TEXT = `[...document.querySelectorAll("body *")]
  .filter((each) => ["hidden", "clip"].includes(getComputedStyle(each).overflowX) && each.clientWidth > 1)
  .filter((each) => each.innerText?.trim() && each.scrollWidth > each.clientWidth)
  .map((each) => location.pathname + " cuts " + each.innerText.slice(0, 60))`;

/** The page, and the frames of tables, whose content is wider than they are. */
const TOO_WIDE = `[document.documentElement, ...document.querySelectorAll(".table-frame")]
  .filter((each) => each.scrollWidth > each.clientWidth)
  .map((each) => location.pathname + " " + (each.getAttribute("aria-label") ?? "page") + " " + each.scrollWidth + " of " + each.clientWidth)`;
