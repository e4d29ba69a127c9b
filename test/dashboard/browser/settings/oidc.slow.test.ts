import type { AddressInfo } from "node:net";
import type { Browser, Page } from "playwright-core";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { buildApp } from "../../../../server/app.ts";
import type { SingleSignOn } from "../../../../server/dashboard/context.ts";
import { RETURN_PATHS } from "../../../../server/dashboard/types/settings/session.ts";
import { OidcProvider } from "../../../../server/oidc/provider.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import { browserProblem, expectAccessible, expectFitsPhone, sharedBrowser } from "../../../support/peers/browser.ts";
import { CLIENT_ID, CLIENT_SECRET, startProvider } from "../../../support/peers/oidc.ts";
import { WAIT_MS } from "../../../support/runner/patience.ts";
import { clinic, startServer } from "../../../server/harness.ts";
import { makeUser, startDashboard } from "../../harness.ts";

const problem = browserProblem();
if (problem !== null) process.stderr.write(`single sign-on is not tested in a browser: ${problem}\n`);

const BUTTON = { en: "Sign in with your organisation's account", tr: "Kurum hesabınızla oturum açın" };

async function startWithProvider() {
  const fp = newFp("clinic");
  const server = await startServer(clinic(fp));
  const { store, pepper } = server;
  // Without a user the page is the set-up.
  await makeUser(server, "admin", fp);
  const roles = [
    { group: "vets", clinic: fp, role: "staff" },
    { group: "hosts", role: "operator" },
  ];
  const singleSignOn = { readRoles: () => roles } as unknown as SingleSignOn;
  const app = buildApp(store, { pepper, singleSignOn, hosting: { backups: () => null, isLeader: () => true } });
  onTestFinished(() => app.close());
  await app.listen({ port: 0, host: "127.0.0.1" });
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  const provider = await startProvider({ site: url });
  const settings = { issuer: new URL(provider.issuer), clientId: CLIENT_ID, scope: "openid profile" };
  const signIn = new OidcProvider({ ...settings, readSecret: () => CLIENT_SECRET, groupsClaim: "groups" });
  Object.assign(singleSignOn, { provider: signIn });
  return { url, provider };
}

/** Opens the sign-in page. The page of the provider is another host, so that its requests are no fault. */
async function openSignIn(browser: Browser, address: string, locale: string): Promise<Page> {
  const context = await browser.newContext({ locale, viewport: { width: 1280, height: 900 } });
  context.setDefaultTimeout(WAIT_MS / 2);
  onTestFinished(() => context.close());
  const page = await context.newPage();
  await page.goto(address);
  return page;
}

describe.skipIf(problem !== null)("in a browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await sharedBrowser();
  });

  test("a person signs in through the provider, and the answer leaves the address and the history of the browser", async () => {
    const { url, provider } = await startWithProvider();
    provider.state.person = { sub: "ayse", name: "Ayşe Yılmaz", groups: ["vets"] };
    const own = await openSignIn(browser, `${url}/dashboard`, "en-GB");
    await own.getByRole("button", { name: BUTTON.en }).waitFor();
    await expectAccessible(own);
    await expectFitsPhone(own);
    await own.getByRole("button", { name: BUTTON.en }).click();
    await own.getByRole("heading", { name: "Today" }).waitFor();
    expect(own.url()).toBe(`${url}/dashboard`);
    await own.goBack().catch(() => null);
    expect(own.url()).not.toContain("code=");
    await own.goto(`${url}/dashboard/account`);
    await own.getByText("Change its password and second factor there.").waitFor();
    expect(await own.getByLabel("Present password").count()).toBe(0);
    await expectAccessible(own);

    provider.state.person = { sub: "can", name: "Can", groups: [] };
    const turkish = await openSignIn(browser, `${url}/dashboard`, "tr-TR");
    await turkish.getByRole("button", { name: BUTTON.tr }).click();
    await turkish.getByText("gruplarınızdan hiçbirinin").waitFor();
    expect(turkish.url()).toBe(`${url}${RETURN_PATHS.clinic}`);
    await expectAccessible(turkish);
    await turkish.getByRole("button", { name: "Oturum açma sayfasına dön" }).click();
    await turkish.getByRole("button", { name: BUTTON.tr }).waitFor();
  });

  test("an operator signs in at the console through the provider, and one without the group reads why not", async () => {
    const { url, provider } = await startWithProvider();
    provider.state.person = { sub: "deniz", name: "Deniz", groups: ["hosts"] };
    const own = await openSignIn(browser, `${url}/operator`, "en-GB");
    await own.getByRole("button", { name: BUTTON.en }).waitFor();
    await expectAccessible(own);
    await own.getByRole("button", { name: BUTTON.en }).click();
    await own.getByRole("heading", { name: "Clinics", exact: true }).waitFor();
    expect(own.url()).toBe(`${url}/operator`);

    provider.state.person = { sub: "ayse", name: "Ayşe Yılmaz", groups: ["vets"] };
    const turkish = await openSignIn(browser, `${url}/operator`, "tr-TR");
    await turkish.getByRole("button", { name: BUTTON.tr }).click();
    await turkish.getByText("bu sunucunun işleticisi yapmıyor").waitFor();
    expect(turkish.url()).toBe(`${url}${RETURN_PATHS.operator}`);
    await expectAccessible(turkish);
    await turkish.getByRole("button", { name: "Oturum açma sayfasına dön" }).click();
    await turkish.getByRole("button", { name: BUTTON.tr }).waitFor();
    expect(turkish.url()).toBe(`${url}/operator`);
  });

  test("the page of a server without a provider has no such button", async () => {
    const fp = newFp("clinic");
    const { url, openAs } = await startDashboard(clinic(fp));
    await openAs(browser, "staff", fp);
    const page = await openSignIn(browser, `${url}/dashboard`, "en-GB");
    await page.getByLabel("Password").waitFor();
    expect(await page.getByRole("button", { name: BUTTON.en }).count()).toBe(0);
  });
});
