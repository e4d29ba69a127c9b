import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { type Browser, chromium, type Locator, type Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { WAIT_MS } from "../runner/patience.ts";

// Debian's Chromium, driven by playwright-core. The program without windows takes two thirds of the other's processor time.

const CHROMIUM = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"].find((file) => existsSync(file));

/** Why no browser can run here; null if one can. */
export function browserProblem(): string | null {
  return CHROMIUM === undefined ? "Chromium is missing (Debian: apt install chromium-headless-shell)" : null;
}

let shared: Promise<Browser> | null = null;

/** @returns the browser of all test files of this process, which ends with it */
export function sharedBrowser(): Promise<Browser> {
  return (shared ??= startBrowser());
}

/** Hands the shared browser to a group of tests, and closes their pages after the last one. */
export function useBrowser(hand: (browser: Browser) => void): void {
  let browser: Browser;
  beforeAll(async () => {
    browser = await sharedBrowser();
    hand(browser);
  });
  afterAll(async () => {
    for (const context of browser.contexts()) await context.close();
  });
}

/** Starts a browser that reaches this machine alone: a request for another host fails. `names` are names of this machine. */
export async function startBrowser(...names: readonly string[]): Promise<Browser> {
  const own = names.map((name) => `MAP ${name} 127.0.0.1, `).join("");
  const browser = await chromium.launch({
    ...(CHROMIUM !== undefined && { executablePath: CHROMIUM }),
    args: ["--no-sandbox", `--host-resolver-rules=${own}MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost`],
  });
  // newPage() makes its context here, too. Playwright's own 30 s know no slow machine.
  const newContext = browser.newContext.bind(browser);
  browser.newContext = async (options) => {
    const context = await newContext(options);
    context.setDefaultTimeout(WAIT_MS);
    return context;
  };
  return browser;
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/**
 * Checks the page against WCAG 2.2 AA and axe's best practices, in light; and the contrast of its colours in dark. A page without
 * script (`isPlain`) follows the system's colours by its style alone.
 */
export async function expectAccessible(page: Page, isPlain = false): Promise<void> {
  // A page that still loads its data has no heading yet.
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  // A list that is loaded again is dimmed meanwhile.
  await page.locator("[aria-busy=true]").first().waitFor({ state: "detached" });
  // The content security policy admits no inline script, so axe runs outside the page's own scripts.
  if (await page.evaluate<boolean>("globalThis.axe === undefined")) await page.evaluate(axeSource);
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    // The page hears of the system's colours by an event. A user's own choice stays.
    const isShown = `document.documentElement.dataset.theme === (localStorage.theme === "dark" || localStorage.theme === "light" ? localStorage.theme : "${colorScheme}")`;
    const message = `${page.url()} turns ${colorScheme}`;
    if (!isPlain) await expect.poll(() => page.evaluate(isShown), { message }).toBe(true);
    const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
    const tried =
      colorScheme === "light" ? { type: "tag", values: tags } : { type: "rule", values: ["color-contrast"] };
    const violations = await page.evaluate(async (runOnly) => {
      const { axe } = globalThis as unknown as { axe: { run(options: object): Promise<AxeResults> } };
      const { violations: found } = await axe.run({ runOnly, resultTypes: ["violations"] });
      return found.map(
        ({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join(" | ")}`,
      );
    }, tried);
    expect(violations, `${page.url()} in ${colorScheme}`).toEqual([]);
  }
  await page.emulateMedia({ colorScheme: "light" });
}

/**
 * Presses Enter on a control once a click would reach it. A key on a control that is disabled, or that a modal dialog covers until a
 * response closes it, is lost, since Playwright waits for neither.
 */
export async function pressEnter(control: Locator): Promise<void> {
  await control.click({ trial: true });
  await control.press("Enter");
}

/** Chooses the language in the menu of the header. */
export async function chooseLanguage(page: Page, language: "en" | "tr"): Promise<void> {
  await page.locator(".top-user").click();
  await page.getByLabel(/^(Language|Dil)$/).selectOption(language);
}

interface AxeResults {
  violations: { id: string; nodes: { html: string; failureSummary: string }[] }[];
}

/** Checks that a phone of 360 px shows the page without sideways scrolling. Restores the size. */
export async function expectFitsPhone(page: Page): Promise<void> {
  const size = page.viewportSize();
  await page.setViewportSize({ width: 360, height: 740 });
  // As text, since the tests have no types of the DOM.
  const root = "document.documentElement";
  const [wanted, shown] = await page.evaluate<[number, number]>(`[${root}.scrollWidth, ${root}.clientWidth]`);
  expect(wanted, `${page.url()} at 360 px`).toBeLessThanOrEqual(shown);
  if (size !== null) await page.setViewportSize(size);
}
