import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import type { Browser, Page } from "playwright-core";
import { describe, expect, onTestFinished, test } from "vitest";
import type { SearchIndex } from "../../../../server/web/docs/search.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import { browserProblem, expectAccessible, expectFitsPhone, useBrowser } from "../../../support/peers/browser.ts";
import { packDocs } from "../../../../shared/platform/release/docs.ts";
import { ROOT } from "../../../support/machine/processes.ts";
import { StaticHost } from "../../../support/peers/static-host.ts";
import { clinic, temporaryFolder } from "../../../server/harness.ts";
import { openPage, startDashboard } from "../../harness.ts";

/** The addresses in the menu of a page. */
async function menuOf(url: string): Promise<string[]> {
  const html = await (await fetch(url)).text();
  const menu = /<nav class="docs-menu[^]*?<\/nav>/.exec(html)?.[0] ?? "";
  return Array.from(menu.matchAll(/href="(\/[^"]+)"/g), ([, href = ""]) => href);
}

test("each page and each file of it answers without a key, with the policy of the pages", async () => {
  const { url } = await startDashboard(clinic(newFp("clinic")));
  const addresses = new Set([...(await menuOf(`${url}/docs`)), ...(await menuOf(`${url}/docs/tr/clinic/first-steps`))]);
  expect(addresses.size).toBeGreaterThan(120);
  const files = new Set<string>();
  for (const address of addresses) {
    const response = await fetch(new URL(address, url));
    expect([address, response.status]).toEqual([address, 200]);
    const html = await response.text();
    if (!/^\/docs(?!\/api)/.test(address)) continue;
    expect(response.headers.get("content-security-policy")).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self';/,
    );
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    for (const [, file = ""] of html.matchAll(/(?:src|href|data-index)="(\/assets\/[^"]+)"/g)) files.add(file);
    expect(html).not.toMatch(/ style="|<style|<script(?![^>]* src="\/assets\/)/);
  }
  expect(files.size).toBeGreaterThan(4);
  for (const file of files) {
    const response = await fetch(new URL(file, url));
    expect([file, response.status]).toEqual([file, 200]);
    expect(response.headers.get("cache-control")).toContain("immutable");
  }
  const other = async (address: string) => (await fetch(new URL(address, url), { redirect: "manual" })).status;
  expect(
    await Promise.all(["/docs/", "/docs/none", "/docs/index.html", "/docs/..%2findex", "/docs/agent/"].map(other)),
  ).toEqual([302, 404, 404, 404, 404]);
});

/** Serves the documentation of a release below a path of a static host. @returns the address of its first page */
async function onStaticHost(): Promise<string> {
  const folder = temporaryFolder();
  const below = path.join(folder, "vetwire/docs");
  fs.mkdirSync(below, { recursive: true });
  packDocs(path.join(ROOT, "dist/server/web"), folder, "1.2.3", 1_790_000_000);
  execFileSync("tar", ["-xzf", path.join(folder, "vetwire-docs-1.2.3.tar.gz"), "-C", below]);
  const host = await StaticHost.start(folder);
  onTestFinished(() => host.end());
  return `${host.url}/vetwire/docs/vetwire-docs-1.2.3/`;
}

test("the pages of a release lead to each other below a path of a static host, and nowhere else", async () => {
  const home = await onStaticHost();
  const seen = new Set<string>();
  const waiting = [`${home}index.html`];
  for (let address = waiting.pop(); address !== undefined; address = waiting.pop()) {
    if (seen.has(address)) continue;
    seen.add(address);
    const response = await fetch(address);
    expect([address, response.status, address.startsWith(home)]).toEqual([address, 200, true]);
    if (!address.endsWith(".html")) continue;
    const html = await response.text();
    expect(html).toContain('aria-label="');
    for (const [, to = ""] of html.matchAll(/<[^>]* (?:href|src|data-index)="([^"]*)"/g)) {
      if (!/^(https?|mailto):/.test(to)) waiting.push(new URL(to, address).href.replace(/#.*/, ""));
    }
  }
  const pages = [...seen].filter((address) => address.endsWith(".html"));
  expect(pages.length).toBe(fs.globSync("**/*.html", { cwd: path.join(ROOT, "dist/server/web/docs") }).length);
  const index = [...seen].find((address) => address.endsWith(".json")) ?? "";
  const found = (await (await fetch(index)).json()) as SearchIndex;
  expect(found.pages.map(([url]) => new URL(url, index).href).toSorted()).toEqual(pages.toSorted());
});

describe.skipIf(browserProblem() !== null)("in a browser", () => {
  let browser: Browser;
  useBrowser((shared) => {
    browser = shared;
  });

  /** Opens a page of the documentation. A fault in its console, or a request to another host, fails the test. */
  async function open(address: string): Promise<Page> {
    const { url } = await startDashboard(clinic(newFp("clinic")));
    const page = await openPage(browser, url);
    await page.goto(`${url}${address}`);
    return page;
  }

  test("a reader finds a page by its words, in both languages, and goes on from it", async () => {
    const page = await open("/docs");
    const search = page.getByRole("searchbox", { name: "Search the documentation" });
    const results = page.getByRole("region", { name: "Search results" });
    await search.fill("restore BACKUP");
    await results.getByText(/^Found: \d+$/).waitFor();
    await expectAccessible(page);
    await results.getByRole("link", { name: "Care: backup and restore", exact: true }).click();
    await page.getByRole("heading", { name: "Care: backup and restore", level: 1 }).waitFor();
    const menu = page.getByRole("navigation", { name: "Pages" });
    expect(await menu.locator("[aria-current=page]").textContent()).toBe("Care: backup and restore");
    await page.getByRole("navigation", { name: "Previous and next page" }).getByRole("link").last().click();
    await page.getByRole("heading", { name: "Upgrade: the version in force, and the way back", level: 1 }).waitFor();
    await search.fill("xyzzy");
    await results.getByText("No page has these words. Try fewer.").waitFor();

    await search.fill("care backup restore");
    await search.press("Enter");
    await page.getByRole("heading", { name: "Care: backup and restore", level: 1 }).waitFor();

    await page.getByRole("link", { name: "Türkçe" }).click();
    await page.getByRole("heading", { name: "İlk adımlar", level: 1 }).waitFor();
    await page.getByRole("searchbox", { name: "Belgelerde ara" }).fill("TAZI TIROKSIN");
    const link = page.getByRole("region", { name: "Arama sonuçları" }).getByRole("link").first();
    expect(await link.getAttribute("lang")).toBeNull();
    await page.getByRole("searchbox").fill("postgresql");
    await expect.poll(() => link.getAttribute("lang")).toBe("en");
    await expectAccessible(page);
  });

  test("the search of a release's pages works below a path of a static host", async () => {
    const home = await onStaticHost();
    const page = await openPage(browser, new URL(home).origin);
    await page.goto(`${home}clinic/first-steps.html`);
    await page.getByRole("searchbox").fill("restore BACKUP");
    const results = page.getByRole("region", { name: "Search results" });
    await results.getByRole("link", { name: "Care: backup and restore", exact: true }).click();
    await page.getByRole("heading", { name: "Care: backup and restore", level: 1 }).waitFor();
    expect(page.url()).toBe(`${home}shared/platform/care.html`);
  });

  test("a page is accessible in light and dark, fits a phone and prints its text alone", async () => {
    const page = await open("/docs");
    for (const address of ["/docs", "/docs/clinic/quality-control", "/docs/agent/config", "/docs/tr/clinic/flags"]) {
      await page.goto(new URL(address, page.url()).href);
      await expectAccessible(page);
      await expectFitsPhone(page);
    }
    await page.setViewportSize({ width: 360, height: 740 });
    const menu = page.getByRole("navigation", { name: "Sayfalar" });
    const here = menu.locator("[aria-current=page]");
    await here.waitFor({ state: "hidden" });
    await menu.getByText("Sayfalar", { exact: true }).click();
    await here.waitFor();
    await expectAccessible(page);
    await page.emulateMedia({ media: "print" });
    await menu.waitFor({ state: "hidden" });
    expect(await page.getByRole("table").first().isVisible()).toBe(true);
  });

  test("the page of the API has the colours of the system", async () => {
    const page = await open("/docs/api");
    await page.locator(".swagger-ui h2").first().waitFor();
    const styles =
      "[getComputedStyle(document.documentElement), getComputedStyle(document.querySelector('.swagger-ui h2'))]";
    const colours = () => page.evaluate(`(([page, title]) => [page.backgroundColor, title.color])(${styles})`);
    await page.emulateMedia({ colorScheme: "light" });
    expect(await colours()).toEqual(["rgba(0, 0, 0, 0)", "rgb(59, 65, 81)"]);
    await page.emulateMedia({ colorScheme: "dark" });
    await expect.poll(colours).toEqual(["rgb(28, 32, 34)", "rgb(210, 214, 215)"]);
  });
});
