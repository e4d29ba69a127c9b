import type { Browser, Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import type { CalendarEvent } from "../../../../shared/api/calendar.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import type { InventoryItem } from "../../../../shared/api/inventory.ts";
import type { EventList, ListedEvent } from "../../../../server/dashboard/types/calendar.ts";
import type { RecordDetail } from "../../../../server/dashboard/types/records.ts";
import { clinic, connection, patient } from "../../../server/harness.ts";
import { batch, event, item, soap } from "../../../server/records.ts";
import {
  browserProblem,
  chooseLanguage,
  expectAccessible,
  expectFitsPhone,
  sharedBrowser,
} from "../../../support/peers/browser.ts";
import { makeUser, startDashboard } from "../../harness.ts";

// Goal: the clinic writes its records, leads its appointments and moves its stock, and the read API shows each step.

const ours = newFp("clinic");
const theirs = newFp("clinic");
const day = "?start=2026-11-25T00:00:00.000Z&end=2026-11-25T20:00:00.000Z";
const HOSTILE = '<img src=x onerror="document.title=1">';

describe.skipIf(browserProblem() !== null)("in a browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await sharedBrowser();
  });

  async function expectWellMade(page: Page): Promise<void> {
    await expectAccessible(page);
    await expectFitsPhone(page);
  }

  const click = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();
  const inDialog = (page: Page, name: string) =>
    page.getByRole("dialog").getByRole("button", { name, exact: true }).click();
  const heading = (page: Page, name: string | RegExp) => page.getByRole("heading", { name }).first().waitFor();
  const turkish = (page: Page) => chooseLanguage(page, "tr");

  async function withRecords() {
    const dog = patient({ name: "Karabaş" });
    const connections = [connection(dog.fp, ours), connection(dog.fp, theirs)];
    const foreign = soap(dog.fp, theirs, { plan: HOSTILE });
    const dashboard = await startDashboard(clinic(ours), clinic(theirs), dog, connections, foreign);
    const key = await dashboard.makeKey(ours, ["clinic.soap.view"]);
    const shown = async (fp: string) => (await dashboard.get(key, `/api/v1/soap/${fp}`)).body.data;
    return { dashboard, dog, foreign, shown };
  }

  const recordOf = (page: Page) => page.url().replace(/.*\//, "");

  async function writeRecord(page: Page): Promise<string> {
    await click(page, "New record");
    await page.getByRole("dialog").getByLabel("Name, owner, phone or number").fill("karab");
    await inDialog(page, "Karabaş dog");
    await expectWellMade(page);
    await inDialog(page, "Write");
    await page.waitForURL("**/records/soap_*");
    await page.getByLabel("Subjective").fill("Limps since yesterday.");
    return recordOf(page);
  }

  test("a SOAP record is written, signed and then immutable, and amended by a new one", async () => {
    const { dashboard, shown } = await withRecords();
    const page = await dashboard.openAs(browser, "staff", ours, "/records");
    await heading(page, "Records");
    await expectWellMade(page);
    const fp = await writeRecord(page);
    await page.getByLabel("Plan").fill("Rest for a week.\nNo stairs.");
    await page.getByLabel("Plan").blur();
    await page.getByText("Everything is saved.").waitFor();
    const text = { subjective: "Limps since yesterday.", objective: null, plan: "Rest for a week.\nNo stairs." };
    expect(await shown(fp)).toMatchObject({ ...text, status: "DRAFT", performed_by_clinic_fp: ours });
    await expectWellMade(page);

    await click(page, "Begin");
    await page.getByText("In progress").waitFor();
    // The signature stores what is typed before it.
    await page.getByLabel("Objective").fill("Left hind leg painful.");
    await click(page, "Sign");
    await page.getByText("Signed records cannot be changed.").waitFor();
    await expectWellMade(page);
    // A colleague changes the text before the signature, which would apply to a text that its user did not read.
    const staff = await makeUser(dashboard, "staff", ours);
    const stored = async () => (await staff.call<RecordDetail>("GET", `/records/${fp}`)).body;
    const newer = { version: (await stored()).version, assessment: "Sprain." };
    expect((await staff.call("PATCH", `/records/${fp}`, newer)).status).toBe(200);
    await expect.poll(() => page.locator("textarea").nth(2).inputValue()).toBe("Sprain.");
    await inDialog(page, "Sign");
    await page.getByText("Someone else changed this record after you opened it").waitFor();
    expect((await stored()).status).toBe("IN_PROGRESS");
    await inDialog(page, "Cancel");
    await click(page, "Sign");
    await inDialog(page, "Sign");
    await page.getByText("Left hind leg painful.").waitFor();
    await page.getByRole("button", { name: "Lock" }).waitFor();
    const signed = { ...text, objective: "Left hind leg painful.", status: "SIGNED" };
    expect(await shown(fp)).toMatchObject(signed);
    await expect.poll(() => page.getByRole("textbox").count()).toBe(0);
    await expectWellMade(page);
    const { version } = await stored();
    expect((await staff.call("PATCH", `/records/${fp}`, { version, plan: "Other" })).status).toBe(409);

    await click(page, "Amend");
    await page.waitForURL((url) => url.pathname.includes("/records/soap_") && !url.pathname.endsWith(fp));
    await page.getByLabel("Plan").fill("Rest for two weeks.");
    await page.getByLabel("Plan").blur();
    await page.getByText("Everything is saved.").waitFor();
    expect(await shown(recordOf(page))).toMatchObject({ status: "DRAFT", plan: "Rest for two weeks." });
    await page.getByRole("link", { name: "an earlier record" }).click();
    await page.getByText("Corrected by").waitFor();
    expect(await page.getByRole("button", { name: "Amend" }).count()).toBe(0);
    await click(page, "Lock");
    await inDialog(page, "Lock");
    await page.getByText("Locked", { exact: true }).waitFor();
    expect(await shown(fp)).toMatchObject({ ...signed, status: "LOCKED" });
    await click(page, "More");
    await page.getByRole("link", { name: "Records" }).click();
    await click(page, "Filter by patient");
    await inDialog(page, "Karabaş dog");
    await page.getByText("Only records of Karabaş").waitFor();
    await page.getByLabel("Status").selectOption("LOCKED");
    await page.waitForURL(/status=LOCKED/);
    await page.getByRole("cell", { name: "Locked" }).waitFor();
    // The list is drawn again when the filtered one has arrived.
    await expect.poll(() => page.getByRole("row").count()).toBe(2);
    await expectWellMade(page);
    await page.getByRole("link", { name: "Karabaş" }).click();
    await turkish(page);
    await page.getByText("Kilitli", { exact: true }).waitFor();
    await expectWellMade(page);
  });

  test("a text that another user changed first is not overwritten, and the typed one stays in sight", async () => {
    const { dashboard, shown } = await withRecords();
    const page = await dashboard.openAs(browser, "staff", ours, "/records");
    const fp = await writeRecord(page);
    await page.getByLabel("Subjective").blur();
    await page.getByText("Everything is saved.").waitFor();
    await page.getByLabel("Plan").fill("Mine.");
    const colleague = await makeUser(dashboard, "staff", ours);
    const { version } = (await colleague.call<RecordDetail>("GET", `/records/${fp}`)).body;
    await colleague.call("PATCH", `/records/${fp}`, { version, plan: "Theirs." });
    await page.getByLabel("Plan").blur();
    await page.getByText("Someone else changed this record while you wrote.").waitFor();
    await page.getByText("Theirs.", { exact: true }).waitFor();
    await expect.poll(() => page.getByLabel("Plan").inputValue()).toBe("Mine.");
    expect(await shown(fp)).toMatchObject({ plan: "Theirs." });
    await expectWellMade(page);
    await click(page, "Save my text");
    await page.getByText("Everything is saved.").waitFor();
    expect(await shown(fp)).toMatchObject({ plan: "Mine.", subjective: "Limps since yesterday." });
  });

  test("a text that could not be saved is still there after the user comes back", async () => {
    const { dashboard, shown } = await withRecords();
    const page = await dashboard.openAs(browser, "staff", ours, "/records");
    const fp = await writeRecord(page);
    await page.getByLabel("Subjective").blur();
    await page.getByText("Everything is saved.").waitFor();
    const cut = "**/clinic/v1/**/records/soap_*";
    await page.route(cut, (route) => (route.request().method() === "PATCH" ? route.abort() : route.continue()));
    await page.getByLabel("Plan").fill("A long plan.");
    await page.getByLabel("Plan").blur();
    await page.getByRole("alert").getByText("The server does not answer", { exact: true }).waitFor();
    await click(page, "More");
    await page.getByRole("link", { name: "Records" }).click();
    await page.unroute(cut);
    await page.getByRole("row").filter({ hasText: "this clinic" }).getByRole("link", { name: "Karabaş" }).click();
    await page.getByText("Not saved yet.").waitFor();
    await expect.poll(() => page.getByLabel("Plan").inputValue()).toBe("A long plan.");
    await click(page, "Save");
    await page.getByText("Everything is saved.").waitFor();
    expect(await shown(fp)).toMatchObject({ plan: "A long plan." });
  });

  test("an event is entered in the clinic's time, checked in and closed; another is cancelled", async () => {
    const dog = patient({ name: "Karabaş" });
    const vet = { type: "user" as const, fp: newFp("user"), name: "Ayşe Demir", clinic_fp: ours };
    const other = event(ours, {
      title: HOSTILE,
      start_at: "2026-11-25T21:30:00.000Z",
      end_at: "2026-11-25T22:00:00.000Z",
    });
    const dashboard = await startDashboard(clinic(ours), dog, connection(dog.fp, ours), vet, other);
    const admin = await makeUser(dashboard, "admin", ours);
    expect((await admin.call("PUT", "/settings/clinic", { language: null, time_zone: "Europe/Istanbul" })).status).toBe(
      200,
    );
    const key = await dashboard.makeKey(ours, ["clinic.calendar.view"]);
    const shown = async () => {
      const { body } = await dashboard.get(key, "/api/v1/calendar/events");
      return (body as unknown as CalendarEvent[]).map(({ title, status, start_at, end_at }) => [
        ...[title, status, start_at, end_at],
      ]);
    };
    const page = await dashboard.openAs(browser, "staff", ours, "/calendar?day=2026-11-25");
    await page.getByText("No events").waitFor();
    await page.getByText("Times in Europe/Istanbul").waitFor();
    await expectWellMade(page);
    await click(page, "New event");
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Title").fill("Vaccination");
    await dialog.getByLabel("Type").selectOption("VACCINATION");
    await dialog.getByLabel("End").fill("2026-11-25T08:00");
    await inDialog(page, "Add");
    await dialog.getByText("The end is not after the start.").waitFor();
    await dialog.getByLabel("Start").fill("2026-11-25T14:00");
    await expect.poll(() => dialog.getByLabel("End").inputValue()).toBe("2026-11-25T14:30");
    await dialog.getByLabel("Name, owner, phone or number").fill("kara");
    await inDialog(page, "Karabaş dog");
    await dialog.getByLabel("Assigned to").selectOption("Ayşe Demir");
    await expectWellMade(page);
    await inDialog(page, "Add");
    await page.getByText("14:00–14:30").waitFor();
    const times = ["2026-11-25T11:00:00.000Z", "2026-11-25T11:30:00.000Z"];
    expect((await shown())[0]).toEqual(["Vaccination", "SCHEDULED", ...times]);
    await expectWellMade(page);

    await click(page, "Edit Vaccination");
    expect(await dialog.getByLabel("Assigned to").locator("option:checked").innerText()).toBe("Ayşe Demir");
    await dialog.getByLabel("Start").fill("2026-11-26T00:15");
    await dialog.getByText("At the same time:").waitFor();
    await dialog.getByText("00:30–01:00").waitFor();
    await dialog.getByRole("button", { name: "Save all the same" }).waitFor();
    await expectWellMade(page);
    await dialog.getByLabel("Start").fill("2026-11-25T15:00");
    await dialog.getByText("At the same time:").waitFor({ state: "detached" });
    const stored = ((await admin.call<EventList>("GET", `/calendar${day}`)).body.events[0] ?? {}) as ListedEvent;
    const { title, type, start_at, end_at, assigned_user_fp } = stored;
    const facts = { title, type, start_at, end_at, patient_fp: dog.fp, assigned_user_fp };
    const renamed = { ...facts, title: "Rabies", seen: { ...facts, status: stored.status } };
    expect((await admin.call("PUT", `/calendar/${stored.fp}`, renamed)).status).toBe(200);
    await inDialog(page, "Save");
    await dialog.getByText("Somebody changed the title meanwhile, so nothing was overwritten.").waitFor();
    await dialog.getByText("Rabies").waitFor();
    await expectWellMade(page);
    await inDialog(page, "Save");
    await page.getByText("15:00–15:30").waitFor();
    const moved = ["2026-11-25T12:00:00.000Z", "2026-11-25T12:30:00.000Z"];
    expect((await shown())[0]).toEqual(["Vaccination", "SCHEDULED", ...moved]);

    const steps = [
      ["Check in", "Checked in", "CHECKED_IN"],
      ["Begin", "In progress", "IN_PROGRESS"],
      ["To checkout", "To check out", "PENDING_CHECKOUT"],
      ["Close", "Closed", "CLOSED"],
    ] as const;
    for (const [button, words, status] of steps) {
      await page.getByRole("button", { name: `${button} Vaccination` }).click();
      await page.getByText(words, { exact: true }).waitFor();
      expect((await shown())[0]?.[1]).toBe(status);
    }
    await click(page, "Undo Vaccination, back to: To check out");
    await page.getByText("To check out", { exact: true }).waitFor();
    expect((await shown())[0]?.[1]).toBe("PENDING_CHECKOUT");

    await page.getByRole("link", { name: "Month" }).click();
    const days = page.getByRole("table", { name: "November 2026" }).getByRole("link");
    await days.filter({ hasText: "25 November 2026" }).filter({ hasText: "1 event" }).focus();
    await expectWellMade(page);
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: /26 November 2026/ }).waitFor();

    await page.getByRole("link", { name: "Week" }).click();
    await page.getByText("00:30–01:00").waitFor();
    const thursday = page.locator("section").filter({ has: page.getByRole("heading", { name: /26 November 2026/ }) });
    await thursday.getByText(HOSTILE).first().waitFor();
    await expectWellMade(page);
    await thursday.getByRole("button", { name: "Cancel event" }).click();
    await page.getByText("“Undo” brings it back.").waitFor();
    await expectWellMade(page);
    await inDialog(page, "Cancel event");
    await thursday.getByText("Cancelled", { exact: true }).waitFor();
    await thursday.getByRole("button", { name: "Undo" }).click();
    await thursday.getByText("Scheduled", { exact: true }).waitFor();
    await thursday.getByRole("button", { name: "Cancel event" }).click();
    await inDialog(page, "Cancel event");
    await thursday.getByText("Cancelled", { exact: true }).waitFor();
    expect((await shown())[1]?.[1]).toBe("CANCELLED");
    await turkish(page);
    await page.getByText("İptal edildi", { exact: true }).waitFor();
    await expectWellMade(page);
    await page.getByRole("link", { name: "Ay", exact: true }).click();
    const month = page.getByRole("table", { name: "Kasım 2026" }).getByRole("link");
    await month.filter({ hasText: "25 Kasım 2026" }).filter({ hasText: "1 etkinlik" }).waitFor();
    expect(await month.filter({ hasText: "26 Kasım 2026" }).innerText()).not.toContain("etkinlik");
    await expectWellMade(page);

    const span = { start_at: "2026-11-23T06:00:00.000Z", end_at: "2026-11-26T09:00:00.000Z" };
    const stay = { ...span, title: "Gözlem", type: "APPOINTMENT", patient_fp: null, assigned_user_fp: null };
    expect((await admin.call("POST", "/calendar", stay)).status).toBe(200);
    await page.goto(`${dashboard.url}/dashboard/calendar?view=week&day=2026-11-25`);
    const stays = page.getByRole("listitem").filter({ hasText: "Gözlem" });
    await expect.poll(() => stays.count()).toBe(4);
    const parts = await stays.locator(".calendar-time").allInnerTexts();
    expect(parts.map((part) => part.replaceAll("\n", " / "))).toEqual([
      "09:00 / bitiş: 26 Kas 12:00",
      ...Array.from({ length: 2 }, () => "tüm gün / başlangıç: 23 Kas 09:00, bitiş: 26 Kas 12:00"),
      "bitiş: 12:00 / başlangıç: 23 Kas 09:00",
    ]);
    await expectWellMade(page);
  });

  test("two lots go into stock, and a vaccine is taken from the first to expire", async () => {
    const vaccine = item(ours, { name: `Rabies ${HOSTILE}`, quantity_on_hand: 0 });
    const fee = item(ours, { name: "Visit", category: "SERVICE", is_virtual: true, low_stock_threshold: 0 });
    const bandage = item(ours, { name: "Bandage", category: "CONSUMABLE", quantity_on_hand: 30 });
    const dog = patient({ name: "Karabaş" });
    const stocked = [vaccine, fee, bandage, batch(bandage.fp, { quantity: 20 })];
    const dashboard = await startDashboard(clinic(ours), dog, connection(dog.fp, ours), stocked);
    const key = await dashboard.makeKey(ours, ["clinic.inventory.view"]);
    const onHand = async () => {
      const { items } = (await dashboard.get(key, "/api/v1/inventory")).body.data as unknown as {
        items: InventoryItem[];
      };
      return items.find(({ fp }) => fp === vaccine.fp)?.quantity_on_hand;
    };
    const page = await dashboard.openAs(browser, "staff", ours, "/stock");
    await page.getByText("Without stock").waitFor();
    await expectWellMade(page);
    await page.getByLabel("Only low stock").check();
    await page.getByRole("link", { name: "Bandage" }).waitFor({ state: "detached" });
    await page.getByRole("link", { name: /Rabies/ }).click();
    await page.getByText("No batch has stock").waitFor();
    await expectWellMade(page);

    const into = page.locator("form").filter({ hasText: "Stock in" });
    for (const [quantity, lot, expiry] of [
      ["5", "LATE", "2099-06-30"],
      ["3", "EARLY", "2098-01-31"],
    ] as const) {
      dashboard.clock.now += 1000;
      await into.getByLabel("Quantity").fill(quantity);
      await into.getByLabel("Lot").fill(lot);
      await into.getByLabel("Expires").fill(expiry);
      await into.getByRole("button", { name: "Add to stock" }).click();
      await page.getByRole("rowheader", { name: lot }).waitFor();
    }
    expect(await page.getByRole("rowheader").allInnerTexts()).toEqual(["EARLY", "LATE"]);
    expect(await onHand()).toBe(8);

    const use = page.locator("form").filter({ hasText: "Take from stock" });
    await use.getByLabel("Quantity").fill("9");
    await use.getByRole("button", { name: "Take from stock" }).click();
    await page.getByText("Quantity is 9, at most 8 on hand.").waitFor();
    await use.getByLabel("Quantity").fill("4");
    await use.getByRole("button", { name: "Take from stock" }).click();
    await page.getByText("3 from lot EARLY, expires 31 Jan 2098").waitFor();
    await page.getByText("1 from lot LATE, expires 30 Jun 2099").waitFor();
    await page.getByRole("rowheader", { name: "EARLY" }).waitFor({ state: "detached" });
    expect(await onHand()).toBe(4);
    await expectWellMade(page);

    await use.getByLabel("Quantity").fill("1");
    await use.getByLabel("For a patient").check();
    expect(await use.getByRole("button", { name: "Take from stock" }).isDisabled()).toBe(true);
    await use.getByLabel("Name, owner, phone or number").fill("karab");
    await expectWellMade(page);
    await use.getByRole("button", { name: "Karabaş dog" }).click();
    await use.getByRole("button", { name: "Take from stock" }).click();
    const movements = page.getByRole("region", { name: "Movements" }).getByRole("row");
    await movements.filter({ hasText: "Used: Karabaş" }).filter({ hasText: "−1" }).waitFor();
    await click(page, "Count LATE, expires 30 Jun 2099");
    await page.getByText("The system has 3.").waitFor();
    await page.getByLabel("Counted now").fill("2");
    await expectWellMade(page);
    await inDialog(page, "Save the count");
    const counted = movements.filter({ hasText: "Counted" });
    await counted.waitFor();
    expect(await onHand()).toBe(2);
    const used = movements.filter({ hasText: "Used: Karabaş" });
    await used.getByRole("button").click();
    await page.getByText("The stock was counted or imported after this movement").waitFor();
    await expectWellMade(page);
    await counted.getByRole("button").click();
    await movements.filter({ hasText: "Undo of: Counted" }).waitFor();
    expect(await onHand()).toBe(3);
    await used.getByRole("link", { name: "Karabaş" }).click();
    await page.getByRole("heading", { name: "Used from stock" }).waitFor();
    await expectWellMade(page);
    await page.goBack();
    await used.getByRole("button").click();
    await used.getByText("undone").waitFor();
    expect(await onHand()).toBe(4);
    await into.getByLabel("Quantity").fill("1");
    await into.getByLabel("Lot").fill("OLD");
    await into.getByLabel("Expires").fill("2020-01-31");
    await into.getByRole("button", { name: "Add to stock" }).click();
    await page.getByRole("rowheader", { name: "OLD" }).waitFor();
    // The reason chooses the expired lot, which leaves with it: it is not for a patient.
    const lot = use.locator("select").last();
    await use.getByLabel("Reason").selectOption("Expired");
    expect(await lot.inputValue()).not.toBe("");
    await use.getByLabel("Reason").selectOption("Used");
    expect(await lot.inputValue()).toBe("");
    await use.getByLabel("Reason").selectOption("Expired");
    await expectWellMade(page);
    const size = page.viewportSize();
    await page.setViewportSize({ width: 320, height: 740 });
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(320);
    if (size !== null) await page.setViewportSize(size);
    await turkish(page);
    await page.getByText("Kullanım sırasıyla partiler").first().waitFor();
    await expectWellMade(page);

    const reader = await dashboard.openAs(browser, "reader", ours, `/stock/${bandage.fp}`);
    await reader.getByText("without a batch").waitFor();
    await reader.getByText("The oldest batch is used first.").waitFor();
    expect(await reader.locator("main").getByRole("button").count()).toBe(0);
    await expectWellMade(reader);
    await reader.goto(`${dashboard.url}/dashboard/stock/${fee.fp}`);
    await reader.getByText("This item is a fee or a service.").waitFor();
    await expectWellMade(reader);
  });
});
