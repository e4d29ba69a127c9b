import type { Browser, Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { newFp } from "../../../../shared/api/fp.ts";
import type { ItemDetail } from "../../../../server/dashboard/types/stock.ts";
import { clinic } from "../../../server/harness.ts";
import { item } from "../../../server/records.ts";
import { browserProblem, chooseLanguage, sharedBrowser } from "../../../support/peers/browser.ts";
import { makeUser, startDashboard } from "../../harness.ts";

// Goal: what a user does once is done once, whatever happens to the response.

const ours = newFp("clinic");

describe.skipIf(browserProblem() !== null)("in a browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await sharedBrowser();
  });

  async function onStock() {
    const vial = item(ours, { quantity_on_hand: 12 });
    const server = await startDashboard(clinic(ours), vial);
    const page = await server.openAs(browser, "staff", ours, `/stock/${vial.fp}`);
    const reader = await makeUser(server, "reader", ours);
    const left = async () => (await reader.call<ItemDetail>("GET", `/stock/${vial.fp}`)).body.item.quantity_on_hand;
    const use = page.locator("form").filter({ hasText: "Take from stock" });
    await use.getByLabel("Quantity").fill("1");
    return { page, use, left, take: use.getByRole("button", { name: "Take from stock" }) };
  }

  /** The first response is lost on its way, after the server did the write. */
  async function loseFirstAnswer(page: Page): Promise<void> {
    let isFirst = true;
    await page.route("**/consume", async (route) => {
      if (!isFirst) return route.continue();
      isFirst = false;
      await route.fetch();
      await route.abort("connectionreset");
    });
  }

  test("a write whose response was lost and that the user sends again is done once, and a later one is another", async () => {
    const { page, use, left, take } = await onStock();
    await loseFirstAnswer(page);
    await take.click();
    await use.getByText("The server does not answer").waitFor();
    expect(await left()).toBe(11);
    await take.click();
    await use.getByText("Taken").waitFor();
    expect(await left()).toBe(11);
    await use.getByLabel("Quantity").fill("1");
    await take.click();
    await expect.poll(left).toBe(10);
  });

  test("a double click makes one write", async () => {
    const { use, left, take } = await onStock();
    await take.dblclick();
    await use.getByText("Taken").waitFor();
    expect(await left()).toBe(11);
  });

  test("two copies of a request under way make one write", async () => {
    const { page, use, left, take } = await onStock();
    await page.route("**/consume", async (route) => {
      const [response] = await Promise.all([route.fetch(), route.fetch(), route.fetch()]);
      await route.fulfill({ response });
    });
    await take.click();
    await use.getByText("Taken").waitFor();
    expect(await left()).toBe(11);
  });

  test("a refused command gives its reason in the language of the page", async () => {
    const { page, left } = await onStock();
    await chooseLanguage(page, "tr");
    const use = page.locator("form").filter({ hasText: "Stoktan düş" });
    await use.getByLabel("Miktar").fill("99");
    await use.getByRole("button", { name: "Stoktan düş" }).click();
    await page.getByText("Miktar 99, elde en çok 12 var.").waitFor();
    expect(await left()).toBe(12);
  });

  test("an error of the server, of a proxy and of a value is told in the language of the page", async () => {
    const { page } = await onStock();
    const answers = [
      { status: 503, json: { error: { code: "SERVER.UNAVAILABLE", message: "The server cannot answer just now." } } },
      { status: 500, json: { error: { code: "SERVER.INTERNAL", message: "The server failed." } } },
      { status: 502, body: "<html>Bad Gateway</html>" },
      { status: 413, body: "<html>Request Entity Too Large</html>" },
      { status: 400, json: { error: { code: "REQUEST.INVALID_BODY", message: "quantity is 1.5." } } },
    ];
    await page.route("**/consume", (route) => route.fulfill(answers.shift() ?? { status: 500 }));
    await chooseLanguage(page, "tr");
    const use = page.locator("form").filter({ hasText: "Stoktan düş" });
    await use.getByLabel("Miktar").fill("1");
    for (const turkish of [
      "Sunucu şu anda yanıt veremiyor.",
      "Sunucuda bir hata oluştu.",
      "Sunucu şu anda yanıt veremiyor.",
      "Bu, sunucu için çok büyük.",
      "Bir değer kabul edilmedi:",
    ]) {
      await use.getByRole("button", { name: "Stoktan düş" }).click();
      await use.getByText(turkish).waitFor();
    }
    expect(await use.locator(".problem [lang=en]").innerText()).toBe("quantity is 1.5.");
  });
});
