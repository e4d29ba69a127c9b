import http from "node:http";
import type { AddressInfo } from "node:net";
import { pino } from "pino";
import { Webhook } from "standardwebhooks";
import type { Browser } from "playwright-core";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { WebhookDispatcher } from "../../../../server/operations/webhooks/dispatcher.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import { sendWebhook } from "../../../../server/operations/webhooks/send.ts";
import {
  browserProblem,
  chooseLanguage,
  expectAccessible,
  expectFitsPhone,
  sharedBrowser,
} from "../../../support/peers/browser.ts";
import { clinic } from "../../../server/harness.ts";
import { uncachedWrite } from "../../../../server/database/query.ts";
import type { WebhookType } from "../../../../server/dashboard/types/settings/webhooks.ts";
import { startDashboard } from "../../harness.ts";

/** A message of the one webhook. */
const waiting = uncachedWrite((db, { type, fp }: { type: WebhookType; fp: string }) =>
  db
    .insertInto("webhook_delivery")
    .values({ ...{ webhook_id: 1, type, fp, state: "new", changed_at: 1, attempts: 0 }, next_at: 1 }),
);

describe.skipIf(browserProblem() !== null)("in a browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await sharedBrowser();
  });

  test("a webhook is made, tested against a receiver that fails and then works, sent again, paused and deleted", async () => {
    let status = 500;
    const verified: unknown[] = [];
    const signatures: number[] = [];
    let secret = "";
    const receiver = http.createServer((request, response) => {
      let body = "";
      request.on("data", (chunk: Buffer) => (body += chunk.toString()));
      request.on("end", () => {
        verified.push(new Webhook(secret).verify(body, request.headers as Record<string, string>));
        signatures.push(String(request.headers["webhook-signature"]).split(" ").length);
        response.writeHead(status).end();
      });
    });
    await new Promise<void>((resolve) => void receiver.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void receiver.close());
    const local = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
    const address = "https://receiver.example/hook";

    const fp = newFp("clinic");
    const { openAs, store, clock } = await startDashboard(clinic(fp));
    clock.now = Date.now();
    const logger = pino({ enabled: false });
    // The public name leads to the receiver of the test.
    const dispatcher = new WebhookDispatcher(store, {
      logger,
      allowPrivate: true,
      // A stopped clock makes no retry due: the 500 would come again after 5 s.
      now: () => clock.now,
      send: async (to, message, options) => sendWebhook({ ...to, url: local }, message, options),
    });
    dispatcher.start();
    onTestFinished(() => dispatcher.stop());

    const page = await openAs(browser, "admin", fp, "/settings/webhooks");
    await page.getByText("There is no webhook yet").waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "New webhook" }).click();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await page.getByLabel("Address of the program").fill("https://169.254.169.254/");
    await page.getByRole("button", { name: "Create webhook" }).click();
    await page.getByText("which cannot be a receiver: enter another host").waitFor();
    await page.getByLabel("Address of the program").fill(address);
    await page.getByRole("button", { name: "Create webhook" }).click();
    secret = await page.getByLabel("The secret that signs the messages").inputValue();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByRole("link", { name: address }).click();

    await page.getByText("There is no message yet").waitFor();
    expect(await page.content()).not.toContain(secret);
    await page.getByRole("button", { name: "Send a test" }).click();
    await page.getByText("The receiver responded 500, expected 2xx: look into its log.").waitFor();
    await page.getByText("Is tried again").waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    status = 204;
    await page.getByRole("button", { name: "Send again" }).click();
    await expect.poll(() => verified.length).toBe(2);
    await page.reload();
    await page.getByText("Delivered", { exact: true }).waitFor();
    await page.getByText("answered 204").waitFor();
    expect(verified[1]).toEqual(verified[0]);

    await page.getByRole("button", { name: "New secret" }).click();
    await expectAccessible(page);
    await page.getByRole("dialog").getByRole("button", { name: "New secret" }).click();
    secret = await page.getByLabel("The secret that signs the messages").inputValue();
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByText("The old secret signs too until").waitFor();
    status = 410;
    await page.getByLabel("Which messages").selectOption("of the last hour");
    await page.getByRole("button", { name: "Send all again" }).click();
    await page.getByText("Messages sent again: 1.").waitFor();
    await expect.poll(() => signatures).toEqual([1, 1, 2]);
    await page.getByText("It paused itself on").waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    // Else it pauses itself again, before or after the next click.
    status = 204;
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByText("Active", { exact: true }).waitFor();

    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByText("Its messages wait until you resume it.").waitFor();
    const records = { soap: newFp("soap"), item: newFp("invitem"), event: newFp("calevt") };
    for (const [type, of] of [
      ["soap.signed", records.soap],
      ["stock.low", records.item],
      ["appointment.changed", records.event],
    ] as const)
      await store.transaction((session) => session.all(waiting, { type, fp: of }));
    await page.reload();
    const linkOf = async (of: string) => page.getByRole("link", { name: of }).getAttribute("href");
    expect(await linkOf(records.soap)).toBe(`/dashboard/records/${records.soap}`);
    expect(await linkOf(records.item)).toBe(`/dashboard/stock/${records.item}`);
    await page.getByText(records.event).waitFor();
    expect(await page.getByRole("link", { name: records.event }).count()).toBe(0);
    await chooseLanguage(page, "tr");
    await page.getByText("Duraklatıldı").waitFor();
    await page.getByText("Alıcı 500 yanıtını verdi, 2xx bekleniyordu: alıcının günlüğüne bakın.").waitFor();
    await page.getByText("Alıcı 410 yanıtını verdi, artık mesaj almıyor").waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Sil" }).click();
    await expectAccessible(page);
    await page.getByRole("dialog").getByRole("button", { name: "Sil" }).click();
    await page.getByText("Henüz webhook yok").waitFor();
  });
});
