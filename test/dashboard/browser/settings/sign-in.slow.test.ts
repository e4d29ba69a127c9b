import type { Browser, Route } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { newFp } from "../../../../shared/api/fp.ts";
import {
  browserProblem,
  chooseLanguage,
  expectAccessible,
  expectFitsPhone,
  sharedBrowser,
} from "../../../support/peers/browser.ts";
import { clinic } from "../../../server/harness.ts";
import { makeUser, openPage, startDashboard } from "../../harness.ts";

const problem = browserProblem();
if (problem !== null) process.stderr.write(`the dashboard is not tested in a browser: ${problem}\n`);

describe.skipIf(problem !== null)("in a browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await sharedBrowser();
  });

  test("the first screen is accessible and fits a phone", async () => {
    const { url } = await startDashboard(clinic(newFp("clinic")));
    const page = await openPage(browser, url);
    await page.goto(url);
    await page.getByRole("heading", { name: "Set up the dashboard" }).waitFor();
    expect(page.url()).toBe(`${url}/dashboard`);
    await expectAccessible(page);
    await expectFitsPhone(page);
  });

  test("a browser that blocks site data shows the page", async () => {
    const { url } = await startDashboard(clinic(newFp("clinic")));
    const page = await openPage(browser, url);
    await page.addInitScript(() => {
      const blocked = () => {
        throw new DOMException("denied", "SecurityError");
      };
      for (const name of ["localStorage", "sessionStorage"]) Object.defineProperty(globalThis, name, { get: blocked });
    });
    await page.goto(url);
    await page.getByRole("heading", { name: "Set up the dashboard" }).waitFor();
    expect(page.url()).toBe(`${url}/dashboard`);
  });

  test("a screen that cannot be loaded shows the fault and is tried again, and the menu goes on", async () => {
    const fp = newFp("clinic");
    const { openAs } = await startDashboard(clinic(fp));
    const page = await openAs(browser, "staff", fp);
    await page.getByRole("heading", { name: "Today" }).waitFor();
    const away = (route: Route) => route.abort();
    await page.route("**/assets/results-*.js", away);
    await page.getByRole("link", { name: "Results" }).first().click();
    await page.getByText("This part of the page could not be loaded.").waitFor();
    await expectAccessible(page);
    await page.getByRole("link", { name: "Patients" }).first().click();
    await page.getByRole("heading", { name: "Patients" }).waitFor();
    await page.getByRole("link", { name: "Results" }).first().click();
    await page.getByText("This part of the page could not be loaded.").waitFor();
    await page.unroute("**/assets/results-*.js", away);
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("heading", { name: "Results" }).waitFor();
    expect(await page.getByText("This part of the page could not be loaded.").count()).toBe(0);
  });

  test("a screen whose file an upgrade replaced loads the page again", async () => {
    const fp = newFp("clinic");
    const { openAs } = await startDashboard(clinic(fp));
    const page = await openAs(browser, "staff", fp);
    await page.getByRole("heading", { name: "Today" }).waitFor();
    await page.route("**/assets/results-*.js", (route) => route.fulfill({ status: 404, body: "" }), { times: 1 });
    const asked = (resource: string) => resource === "fetch";
    await page.route("**/dashboard/results", async (route) => {
      const isAsked = asked(route.request().resourceType());
      await (isAsked ? route.fulfill({ body: "<script src=/assets/main-new.js>" }) : route.continue());
    });
    await page.getByRole("link", { name: "Results" }).first().click();
    await page.getByRole("heading", { name: "Results" }).waitFor();
    expect(await page.getByText("This part of the page could not be loaded.").count()).toBe(0);
  });

  test("a page whose user is no longer the signed-in one shows that, and goes on as the other", async () => {
    const fp = newFp("clinic");
    const server = await startDashboard(clinic(fp));
    const page = await server.openAs(browser, "staff", fp);
    await page.getByRole("heading", { name: "Today" }).waitFor();
    const second = await makeUser(server, "admin", fp);
    const [name, value] = second.cookie.split("=");
    await page.context().addCookies([{ name: name!, value: value!, url: server.url }]);
    // The page may notice it by itself before the click, and then has no links.
    await page.evaluate("document.querySelector('a[href=\"/dashboard/results\"]')?.click()");
    const words = "Somebody else signed in with this browser. Nothing was written under that name.";
    await page.getByText(words).waitFor();
    expect(await page.getByRole("button", { name: "Sign out" }).count()).toBe(0);
    await page.getByRole("button", { name: "Go on with the new sign-in" }).click();
    await page.getByText(second.name).first().waitFor();
  });

  test("a signed-in user sees the frame, changes the language and signs out", async () => {
    const fp = newFp("clinic");
    const { openAs } = await startDashboard(clinic(fp));
    const page = await openAs(browser, "staff", fp);
    await page.getByRole("heading", { name: "Today" }).waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await chooseLanguage(page, "tr");
    await page.getByRole("heading", { name: "Bugün" }).waitFor();
    await page.locator(".top-user").click();
    await page.getByRole("button", { name: "Çıkış" }).click();
    await page.getByRole("heading", { name: "Oturum aç" }).waitFor();
    await expect.poll(() => page.locator("html").getAttribute("lang")).toBe("tr");
  });

  test("the page shows that the server does not respond, and that it responds again", async () => {
    const fp = newFp("clinic");
    const { openAs } = await startDashboard(clinic(fp));
    const page = await openAs(browser, "staff", fp);
    await page.getByRole("heading", { name: "Today" }).waitFor();
    const banner = page.getByText("The server does not answer. This page shows what it knew last and tries again.");
    expect(await banner.count()).toBe(0);
    await page.context().setOffline(true);
    await page.locator(".top-user").click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await banner.waitFor();
    await expect.poll(() => page.getByRole("heading", { name: "Today" }).count()).toBe(1);
    await page.context().setOffline(false);
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
  });
});
