import type { Browser } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { createMailer } from "../../../../server/operations/mail/smtp.ts";
import type { QuietHoursBody } from "../../../../server/dashboard/types/settings/notifications.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import {
  browserProblem,
  chooseLanguage,
  expectAccessible,
  expectFitsPhone,
  sharedBrowser,
} from "../../../support/peers/browser.ts";
import { startSmtpReceiver } from "../../../support/peers/smtp-receiver.ts";
import { clinic, keyPermissions, study } from "../../../server/harness.ts";
import { makeUser, startDashboard } from "../../harness.ts";

const fp = newFp("clinic");
const MINUTE = 60_000;

/** The server's mail goes to a receiver of the test. */
async function startWithMail() {
  const server = await startDashboard(clinic(fp));
  const receiver = await startSmtpReceiver();
  server.senders.sendMail = createMailer({
    ...{ host: "127.0.0.1", port: receiver.port, isTls: false, user: null, from: "vetwire@clinic.example" },
    password: () => "",
  });
  return { ...server, receiver };
}

describe.skipIf(browserProblem() !== null)("notifications in a browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await sharedBrowser();
  });

  test("an admin adds an address, tests it, sets quiet hours and removes the address", async () => {
    const server = await startWithMail();
    const page = await server.openAs(browser, "admin", fp, "/settings/notifications");
    await page.getByText("Nobody is told yet").waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Add an address" }).click();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await page.getByLabel("E-mail address").fill("nurse@clinic.example");
    await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
    await page.getByRole("button", { name: "Send a test to nurse@clinic.example" }).click();
    await page.getByText("The test arrived. 127.0.0.1 took the e-mail").waitFor();
    expect(server.receiver.mails).toHaveLength(1);

    server.receiver.answers.set("RCPT", "550 no such user");
    server.clock.now += MINUTE;
    await page.getByRole("button", { name: "Send a test to nurse@clinic.example" }).click();
    await page.getByText("The test did not arrive. The mail server").waitFor();
    await page.getByText("The last attempt failed").waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);

    await page.getByLabel("We have quiet hours").check();
    await page.getByLabel("From").fill("21:30");
    await page.getByLabel("Until").fill("06:15");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved.").waitFor();
    await page.reload();
    await expect.poll(() => page.getByLabel("From").inputValue()).toBe("21:30");
    const exempt = page.getByLabel("Send critical values immediately all the same");
    await expect.poll(() => exempt.isChecked()).toBe(true);
    // Hours that another admin chooses meanwhile are not replaced.
    const colleague = await makeUser(server, "admin", fp);
    const seen = { from: "21:30", until: "06:15", exempt_critical: true };
    const body: QuietHoursBody = { quiet: { ...seen, exempt_critical: false }, seen };
    server.clock.now += MINUTE;
    const loaded = page.waitForResponse(/\/notifications$/);
    expect((await colleague.call("PUT", "/notifications/quiet-hours", body)).status).toBe(200);
    await (await loaded).finished();
    await page.getByLabel("Until").fill("07:00");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Somebody changed this meanwhile.").waitFor();
    await page.reload();
    await expect.poll(() => page.getByLabel("Until").inputValue()).toBe("06:15");
    expect(await exempt.isChecked()).toBe(false);

    await chooseLanguage(page, "tr");
    await page.getByText("Kime haber verilir").waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await page.getByRole("button", { name: "nurse@clinic.example adresini kaldır" }).click();
    await page.getByRole("button", { name: "Kaldır", exact: true }).last().click();
    await page.getByText("Henüz kimseye haber verilmiyor").waitFor();
  });

  test("an admin sets the mail server, reads its reply to a test, and sees no password again", async () => {
    const server = await startDashboard(clinic(fp));
    const receiver = await startSmtpReceiver();
    receiver.answers.set("EHLO", "250-test\r\n250 AUTH PLAIN");
    receiver.answers.set("AUTH", "535 not you");
    const page = await server.openAs(browser, "admin", fp, "/settings/mail");
    await page.getByLabel("Mail server", { exact: true }).fill("127.0.0.1");
    await page.getByLabel("Port").fill(String(receiver.port));
    await page.getByLabel("User name").fill("vet");
    await page.getByLabel("Password").fill("a secret");
    await page.getByLabel("Sender").fill("vet@clinic.example");
    await expectAccessible(page);
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("A password is stored.").waitFor();
    await page.getByText("Saved.", { exact: true }).waitFor();
    expect(await page.getByLabel("Password").inputValue()).toBe("");
    await page.getByLabel("To", { exact: true }).fill("nurse@clinic.example");
    await page.getByRole("button", { name: "Send a test" }).click();
    await page.getByText('(it replied "535 not you")').waitFor();
    receiver.answers.set("AUTH", "235 welcome");
    server.clock.now += MINUTE;
    await chooseLanguage(page, "tr");
    await page.getByLabel("Alıcı").fill("nurse@clinic.example");
    await page.getByRole("button", { name: "Deneme gönder" }).click();
    await page.getByText("Deneme alındı. 127.0.0.1, nurse@clinic.example adresine giden e-postayı aldı").waitFor();
    expect(receiver.mails).toHaveLength(1);
    await expectAccessible(page);
    await expectFitsPhone(page);
    server.senders.sendMail = createMailer({
      ...{ host: "127.0.0.1", port: receiver.port, isTls: false, user: null, from: "vetwire@clinic.example" },
      password: () => "",
    });
    await page.reload();
    await page.getByText("Posta sunucusunu komut satırının seçenekleri belirliyor").waitFor();
    await expectAccessible(page);
  });

  test("Today lists an open alert with what to do and a link, and the alert leaves by itself", async () => {
    const server = await startWithMail();
    const key = await server.makeKey(fp, keyPermissions);
    const waiting = study();
    await server.push(key, waiting);
    server.clock.now += 31 * MINUTE;
    const page = await server.openAs(browser, "reader", fp);
    await page.getByRole("region", { name: "Studies to place" }).waitFor();
    expect(await page.getByText("Open alerts").count()).toBe(0);
    await server.alerts.check();
    const card = page.getByRole("region", { name: "Open alerts" });
    await card.getByText("Open To place and choose their patients.").waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await card.getByRole("link", { name: "Studies without a patient: 1" }).click();
    await page.waitForURL("**/dashboard/to-place**");
    await page.goBack();
    await chooseLanguage(page, "tr");
    await page.getByText("Hastası belirsiz tetkik: 1").waitFor();
    const staff = await makeUser(server, "staff", fp);
    expect(
      (await staff.call("POST", `/unmatched/${waiting.fp}/reject`, { revision: 1, reason: "a test" })).status,
    ).toBe(200);
    await server.alerts.check();
    await page.getByText("Sizi bekleyen bir şey yok").waitFor();
  });
});
