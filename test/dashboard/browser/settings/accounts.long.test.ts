import { Secret, TOTP } from "otpauth";
import type { Browser, Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { endFactorTries } from "../../../../server/records/users/second-factors.ts";
import { findUserByName } from "../../../../server/records/users/users.ts";
import type { NewSecondFactor, RecoveryCodes } from "../../../../server/dashboard/types/settings/account.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import {
  browserProblem,
  chooseLanguage,
  expectAccessible,
  expectFitsPhone,
  sharedBrowser,
} from "../../../support/peers/browser.ts";
import { clinic } from "../../../server/harness.ts";
import { givePassword, makeUser, openPage, startDashboard } from "../../harness.ts";

// Goal: the way of a clinic's first admin, from the set-up code to a second factor and further users.

const HOSTILE = '<img src=x onerror="document.title=1">';

describe.skipIf(browserProblem() !== null)("in a browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await sharedBrowser();
  });

  const heading = (page: Page, name: string) => page.getByRole("heading", { name, exact: true }).waitFor();
  const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

  async function checkScreen(page: Page): Promise<void> {
    await expectAccessible(page);
    await expectFitsPhone(page);
  }

  async function signIn(page: Page, name: string, password: string): Promise<void> {
    await page.getByLabel("Name", { exact: true }).fill(name);
    await page.getByLabel("Password", { exact: true }).fill(password);
    await button(page, "Sign in").click();
  }

  test("the set-up code leads to the first screen; a second factor is switched on and required", async () => {
    const server = await startDashboard();
    const page = await openPage(browser, server.url);
    await page.goto(server.url);
    await heading(page, "Set up the dashboard");
    const fill = (label: string, text: string) => page.getByLabel(label, { exact: true }).fill(text);
    await fill("Set-up code", "AAAA-BBBB-CCCC");
    await fill("Name of the clinic", "Moda Veteriner");
    await fill("Name", "İpek");
    await fill("Password", "four brown dogs");
    await button(page, "Set up").click();
    await page.getByText("The set-up code is wrong").waitFor();
    await fill("Set-up code", ` ${server.setupCode.toLowerCase()} `);
    await button(page, "Set up").click();
    await heading(page, "Today");

    await page.locator(".top-user").click();
    await button(page, "Sign out").click();
    await heading(page, "Sign in");
    await signIn(page, "ipek", "four brown cats");
    await page.getByText("The name or the password is wrong.").waitFor();
    await checkScreen(page);
    await signIn(page, "IPEK", "four brown dogs");
    await heading(page, "Today");

    await page.locator(".top-user").click();
    await page.getByRole("link", { name: "Your account" }).click();
    await heading(page, "Your account");
    await page.getByText("this session").waitFor();
    await checkScreen(page);
    await button(page, "Switch on").click();
    await page.getByRole("img", { name: /^QR code/ }).waitFor();
    await checkScreen(page);
    const secret = ((await page.locator("dialog code").textContent()) ?? "").replaceAll(" ", "");
    const totp = new TOTP({ secret: Secret.fromBase32(secret) });
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Code that the app shows").fill("x");
    await dialog.getByLabel("Password").fill("four brown cats");
    await dialog.getByRole("button", { name: "Switch on" }).click();
    await dialog.getByText("The password is wrong.").waitFor();
    await expect.poll(() => dialog.getByText("This code is wrong.").count()).toBe(0);
    await checkScreen(page);
    await dialog.getByLabel("Password").fill("four brown dogs");
    await dialog.getByRole("button", { name: "Switch on" }).click();
    await page.getByText("This code is wrong.").waitFor();
    await dialog.getByLabel("Code that the app shows").fill(totp.generate({ timestamp: server.clock.now }));
    await dialog.getByRole("button", { name: "Switch on" }).click();
    const shown = dialog.getByRole("textbox", { name: "Recovery codes" });
    const codes = (await shown.inputValue()).split("\n");
    expect(codes).toHaveLength(10);
    await checkScreen(page);
    await page.emulateMedia({ media: "print" });
    expect(await page.getByRole("heading", { name: "Your account" }).isVisible()).toBe(false);
    expect(await shown.isVisible()).toBe(true);
    await page.emulateMedia({ media: "screen" });
    await dialog.getByRole("button", { name: "Copy" }).click();
    await dialog.getByText(/^(Copied|This browser does not)/).waitFor();
    await dialog.getByRole("button", { name: "I have kept them" }).click();
    await page.getByText("On: signing in also needs a code").waitFor();
    await page.getByText("Unused recovery codes: 10").waitFor();
    await expect.poll(() => page.locator(":focus").count()).toBe(1);

    await button(page, "Sign out everywhere").click();
    await heading(page, "Sign in");
    await signIn(page, "İpek", "four brown dogs");
    const code = page.getByLabel("Code of your second factor");
    await code.fill(totp.generate({ timestamp: server.clock.now }));
    await button(page, "Sign in").click();
    await page.getByText("The code is wrong or was used already.").waitFor();
    await checkScreen(page);
    server.clock.now += 30_000;
    await code.fill(totp.generate({ timestamp: server.clock.now }));
    await button(page, "Sign in").click();
    await heading(page, "Your account");
  });

  test("a user without the phone signs in with a recovery code, sees how many are left, makes new ones, and switches the factor off", async () => {
    const fp = newFp("clinic");
    const server = await startDashboard(clinic(fp));
    const user = await makeUser(server, "reader", fp);
    await givePassword(server, user.id, "four brown dogs");
    const FACTOR = "/clinic/v1/account/second-factor";
    const { secret } = (await user.call<NewSecondFactor>("POST", `${FACTOR}/secret`, {})).body;
    const totp = new TOTP({ secret: Secret.fromBase32(secret) });
    const code = totp.generate({ timestamp: server.clock.now });
    const body = { secret, code, password: "four brown dogs" };
    const { recovery_codes: codes } = (await user.call<RecoveryCodes>("POST", `${FACTOR}/on`, body)).body;
    const page = await openPage(browser, server.url);
    await page.goto(`${server.url}/dashboard/account`);
    await signIn(page, user.name, "four brown dogs");
    await button(page, "Use a recovery code").click();
    await page.getByLabel("Recovery code", { exact: true }).fill(codes[0] ?? "");
    await checkScreen(page);
    await button(page, "Sign in").click();
    await page.getByText("Codes left: 9.").waitFor();
    await checkScreen(page);
    await button(page, "Go on").click();
    await heading(page, "Your account");

    const dialog = page.getByRole("dialog");
    await button(page, "New recovery codes").click();
    await dialog.getByLabel("Password").fill("four brown dogs");
    await dialog.getByLabel("Code that the app shows").fill(codes[1] ?? "");
    await checkScreen(page);
    await dialog.getByRole("button", { name: "New recovery codes" }).click();
    await dialog.getByRole("button", { name: "I have kept them" }).click();
    await expect.poll(() => page.getByText("Unused recovery codes: 10").count()).toBe(1);

    await button(page, "Switch off").click();
    await dialog.getByLabel("Password").fill("four brown dogs");
    await dialog.getByLabel("Code that the app shows").fill("000000");
    await dialog.getByRole("button", { name: "Switch off" }).click();
    await dialog.getByText("The code is wrong or was used already.").waitFor();
    server.clock.now += 30_000;
    await dialog.getByLabel("Code that the app shows").fill(totp.generate({ timestamp: server.clock.now }));
    await checkScreen(page);
    await dialog.getByRole("button", { name: "Switch off" }).click();
    await page.getByText("Off. With a second factor").waitFor();
  });

  test("a user whose password another person set is warned on every page until it is changed, and admins see it", async () => {
    const fp = newFp("clinic");
    const { openAs, ...server } = await startDashboard(clinic(fp));
    const admin = await makeUser(server, "admin", fp);
    await admin.call("POST", "/users", { name: "Deniz", role: "reader", password: "sea and sand" });
    const page = await openPage(browser, server.url);
    await page.goto(`${server.url}/dashboard/account`);
    await signIn(page, "Deniz", "sea and sand");
    await heading(page, "Your account");
    const { id } = (await findUserByName(server.store, "Deniz")) ?? { id: 0 };
    await server.store.transaction((session) => endFactorTries(session, id, server.clock.now));
    const told = page.getByText("Somebody else knows your password");
    expect(await told.count()).toBe(0);
    await page.goto(`${server.url}/dashboard`);
    await told.waitFor();
    await checkScreen(page);
    const users = await openAs(browser, "admin", fp, "/settings/users");
    await users.getByText("Somebody else knows the password: give a new one.").waitFor();
    await checkScreen(users);

    await page.locator(".top-user").click();
    await page.getByRole("link", { name: "Your account" }).click();
    await page.getByLabel("Present password").fill("sea and sand");
    await page.getByLabel("New password", { exact: true }).fill("wind and waves");
    await page.getByLabel("New password again").fill("wind and waves");
    await button(page, "Change the password").click();
    await page.getByText("The password is changed.").waitFor();
    await told.waitFor({ state: "detached" });
  });

  test("a user changes the password and ends a session of another browser", async () => {
    const fp = newFp("clinic");
    const server = await startDashboard(clinic(fp));
    const admin = await makeUser(server, "admin", fp);
    await admin.call("POST", "/users", { name: "Deniz", role: "reader", password: "sea and sand" });
    const [page, other] = [await openPage(browser, server.url), await openPage(browser, server.url)];
    for (const each of [page, other]) {
      await each.goto(`${server.url}/dashboard/account`);
      await signIn(each, "Deniz", "sea and sand");
      await heading(each, "Your account");
    }
    await page.reload();
    await button(page, "End this one").click();
    await button(page, "End this one").waitFor({ state: "detached" });
    await other.reload();
    await heading(other, "Sign in");

    await page.getByLabel("Present password").fill("sea and sand");
    await page.getByLabel("New password", { exact: true }).fill("wind and waves");
    await page.getByLabel("New password again").fill("wind or waves");
    await button(page, "Change the password").click();
    await page.getByText("The two new passwords differ.").waitFor();
    await page.getByLabel("New password again").fill("wind and waves");
    await button(page, "Change the password").click();
    await page.getByText("The password is changed.").waitFor();
    await signIn(other, "Deniz", "wind and waves");
    await heading(other, "Your account");
    await chooseLanguage(page, "tr");
    await heading(page, "Hesabınız");
    await checkScreen(page);

    const { users } = (await admin.call<{ users: { id: string; name: string }[] }>("GET", "/users")).body;
    await admin.call("DELETE", `/users/${users.find(({ name }) => name === "Deniz")?.id}`);
    await other.goto(`${server.url}/dashboard`);
    await other.getByText("You belong to no clinic").waitFor();
    await other.locator(".top-user").click();
    await other.getByRole("link", { name: "Your account" }).click();
    await heading(other, "Your account");
    await expect.poll(() => other.getByRole("row").count(), { message: "the header and two sessions" }).toBe(3);
  });

  test("an admin makes, changes and removes users", async () => {
    const [fp, elsewhere, third] = [newFp("clinic"), newFp("clinic"), newFp("clinic")];
    const { openAs, ...server } = await startDashboard(
      { type: "clinic", fp, name: "A clinic" },
      { type: "clinic", fp: elsewhere, name: "Clinic elsewhere" },
      clinic(third),
    );
    const vet = await makeUser(server, "admin", elsewhere, third);
    const page = await openAs(browser, "admin", fp, "/settings/users", elsewhere);
    const dialog = page.getByRole("dialog");
    const inDialog = (name: string) => dialog.getByRole("button", { name, exact: true });
    const row = (name: string) => page.getByRole("row").filter({ hasText: name });
    await heading(page, "Users");
    await page.getByText("(you)").waitFor();

    await button(page, "New user").click();
    await dialog.getByLabel("Name").fill(HOSTILE);
    await dialog.getByLabel("Role").selectOption("staff");
    await checkScreen(page);
    await inDialog("Create").click();
    const given = dialog.locator(".given-password code");
    await given.waitFor();
    await checkScreen(page);
    const password = (await given.textContent()) ?? "";
    await inDialog("Done").click();
    await row(HOSTILE).getByText("Staff").waitFor();
    expect(await page.content()).not.toContain(password);
    const payload = { name: HOSTILE, password };
    const signedIn = await server.app.inject({ method: "POST", url: "/clinic/v1/sign-in", payload });
    expect(signedIn.statusCode).toBe(200);
    await checkScreen(page);

    await row(HOSTILE).getByRole("button").click();
    await dialog.getByLabel("Role").selectOption("reader");
    await checkScreen(page);
    await inDialog("Save the role").click();
    await row(HOSTILE).getByText("Reader").waitFor();
    await row(HOSTILE).getByRole("button").click();
    await inDialog("Disable").click();
    await dialog.getByText("cannot sign in any more").waitFor();
    await inDialog("Disable").click();
    await row(HOSTILE).getByText("disabled").waitFor();

    await button(page, "Add a user of another clinic").click();
    await dialog.getByLabel("Name").fill("nobody");
    await inDialog("Add").click();
    await dialog.getByText("No user has this name.").waitFor();
    await dialog.getByLabel("Name").fill(vet.name);
    await inDialog("Add").click();
    await row(vet.name).getByRole("button").click();
    await dialog.getByText("belongs to a clinic that you do not administer").waitFor();
    expect(await inDialog("New password").count()).toBe(0);
    await inDialog("Remove from this clinic").click();
    await inDialog("Remove from this clinic").click();
    await row(vet.name).waitFor({ state: "detached" });

    await chooseLanguage(page, "tr");
    await heading(page, "Kullanıcılar");
    await checkScreen(page);
  });

  test("language and time zone of the clinic are saved, and a reader may not see the settings", async () => {
    const fp = newFp("clinic");
    const { openAs } = await startDashboard(clinic(fp));
    const page = await openAs(browser, "admin", fp, "/settings/clinic");
    await heading(page, "Clinic");
    await checkScreen(page);
    await page.locator('[name="time_zone"]').selectOption("Europe/Istanbul");
    await page.locator('[name="language"]').selectOption("tr");
    await page.getByLabel("System", { exact: true }).selectOption("si");
    await page.getByLabel("Another unit for").selectOption("CREA");
    await page.getByLabel("CREA, Creatinine", { exact: true }).selectOption("mg/dL");
    await checkScreen(page);
    await button(page, "Save").click();
    await heading(page, "Klinik");
    await expect.poll(() => page.getByLabel("Sistem", { exact: true }).inputValue()).toBe("si");
    expect(await page.getByLabel("CREA, Kreatinin", { exact: true }).inputValue()).toBe("mg/dL");
    await expect.poll(() => page.locator('[name="time_zone"]').inputValue()).toBe("Europe/Istanbul");
    await checkScreen(page);

    const reader = await openAs(browser, "reader", fp, "/settings/users");
    await reader.getByText("Rolünüz buna izin vermiyor").waitFor();
  });
});
