import type { Browser, Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import {
  browserProblem,
  chooseLanguage,
  expectAccessible,
  expectFitsPhone,
  sharedBrowser,
} from "../../../support/peers/browser.ts";
import { clinicEntities, dog, ours, pushTo, readStudy, waiting } from "../../unmatched-clinic.ts";
import type { EditAnimalBody, EditedAnimal, SavedAnimal } from "../../../../server/dashboard/types/animals.ts";
import type { PatientOverview } from "../../../../server/dashboard/types/patients.ts";
import { connection, patient, study } from "../../../server/harness.ts";
import { event } from "../../../server/records.ts";
import { makeUser, startDashboard } from "../../harness.ts";

// Goal: a nurse enters animals and owners without any other program.

const CHIP = "792090000124031";

describe.skipIf(browserProblem() !== null)("in a browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await sharedBrowser();
  });

  const heading = (page: Page, name: string) => page.getByRole("heading", { name, exact: true }).waitFor();
  const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();

  test("a nurse adds an animal with its owner, is warned of a double, and finds both by the owner", async () => {
    const server = await startDashboard(...clinicEntities);
    server.clock.now = Date.now();
    const page = await server.openAs(browser, "staff", ours, "/patients");
    await page.getByRole("link", { name: "New animal" }).click();
    await heading(page, "New animal");
    await expectAccessible(page);
    await expectFitsPhone(page);
    // Without a name and a species nothing is saved.
    await press(page, "Save");
    await page.getByText("Choose the species.").waitFor();
    await expect.poll(() => page.locator(":focus").getAttribute("aria-invalid")).toBe("true");
    await expectAccessible(page);
    await page.getByLabel("Name", { exact: true }).fill("Boncuk");
    await page.getByLabel("Species").selectOption("ferret");
    await page.getByLabel("Weight in kg").fill("1,2");
    await page.getByLabel("Microchip").fill("98500000000471");
    await page.getByLabel("Card number").fill("4711");
    await page.getByText("14 digits, and a microchip has 15").waitFor();
    await page.getByLabel("Microchip").fill("792 090 000 124 031");
    await page.getByLabel("Name of the owner").fill("Elif Örnek");
    await page.getByLabel("Phone").fill("0555 000 11 22");
    await page.getByLabel("E-mail").fill("elif@example.org");
    await press(page, "Save");
    await heading(page, "Boncuk");
    await page.getByText(/^Ferret( · .*)?$/).waitFor();
    for (const fact of [`${CHIP}, 4711`, "1.2 kg", "elif@example.org"]) await page.getByText(fact).waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);

    // The second animal of the owner has the same card number by mistake.
    await page.getByRole("link", { name: "All patients" }).click();
    await page.getByRole("link", { name: "New animal" }).click();
    await page.getByLabel("Name", { exact: true }).fill("Zeytin");
    await page.getByLabel("Species").selectOption("horse");
    await page.getByLabel("Name of the owner").fill("eli");
    await press(page, "Choose: Elif Örnek");
    await page.getByLabel("Card number").fill("4711");
    await page.getByText("has the number 4711").waitFor();
    await page.getByRole("link", { name: "Look at Boncuk in a new tab" }).waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await page.getByLabel("Card number").fill("4712");
    await press(page, "Save");
    await heading(page, "Zeytin");
    await page.getByRole("link", { name: "Boncuk" }).waitFor();

    await page.getByRole("link", { name: "All patients" }).click();
    await page.getByLabel("Search").fill("0555 000 11");
    const names = page.locator("tbody th");
    await expect.poll(() => names.allInnerTexts()).toEqual(["Boncuk", "Zeytin"]);
    await page.getByLabel("Species", { exact: true }).selectOption("horse");
    await expect.poll(() => names.allInnerTexts()).toEqual(["Zeytin"]);
    await chooseLanguage(page, "tr");
    await page.getByRole("link", { name: "Yeni hasta" }).click();
    await heading(page, "Yeni hasta");
    await page.getByLabel("Ad", { exact: true }).fill("boncuk");
    await page.getByLabel("Sahibinin adı").fill("Elif Ornek");
    await page.getByText("aynı ad ve sahip").waitFor();
    await page.getByLabel("Mikroçip").fill("12345");
    await page.getByLabel("Mikroçip").press("Tab");
    await page.getByText("Mikroçip 15, eskiler 9 veya 10 hanelidir.").waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await page.getByRole("button", { name: "Başka hasta olarak kaydet" }).waitFor();
  });

  test("a nurse changes an animal and its owner, notes the death, removes the entry and brings it back", async () => {
    const server = await startDashboard(...clinicEntities);
    server.clock.now = Date.now();
    const staff = await makeUser(server, "staff", ours);
    const owner = { name: "Elif Örnek", phone: null, email: null, language: null, time_zone: null };
    const facts = { name: "Zeytin", species: "horse", breed: null, sex: null, date_of_birth: null, weight_kg: null };
    const animal = { ...facts, identifiers: [{ type: "card", value: "4712" }], owner };
    const { body } = await staff.call<SavedAnimal>("POST", "/patients", { animal, seen: [] });
    const page = await server.openAs(browser, "staff", ours, `/patients/${body.fp}`);
    const names = page.locator("tbody th");
    await page.getByRole("link", { name: "Change", exact: true }).click();
    await heading(page, "Change Zeytin");
    await expectAccessible(page);
    await expectFitsPhone(page);
    await page.getByLabel("Breed").fill("Arab");
    await press(page, "Tattoo");
    await expect.poll(() => page.getByLabel("Tattoo").count()).toBe(1);
    await page.keyboard.type("T-9");
    await press(page, "Save");
    await page.getByText("Horse, Arab").waitFor();
    await page.getByText("4712, T-9").waitFor();

    await press(page, "Change the owner's data");
    const dialog = page.getByRole("dialog");
    await expectAccessible(page);
    await expectFitsPhone(page);
    await dialog.getByLabel("Phone").fill("+90 533 999 88 77");
    // Another user changes the owner meanwhile: the page shows it, and the typed phone stays and is refused.
    const overview = async () => (await staff.call<PatientOverview>("GET", `/patients/${body.fp}`)).body;
    const before = (await overview()).owner;
    const theirs = { ...owner, email: "elif@example.org", version: before.version };
    expect((await staff.call("PUT", `/owners/${before.fp}`, theirs)).status).toBe(200);
    await page.getByText("elif@example.org").waitFor();
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText("Somebody changed this owner meanwhile.").waitFor();
    expect(await dialog.getByLabel("Phone").inputValue()).toBe("+90 533 999 88 77");
    expect((await overview()).owner).toMatchObject({ email: "elif@example.org", phone: null });
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await press(page, "Change the owner's data");
    await dialog.getByLabel("Phone").fill("+90 533 999 88 77");
    await dialog.getByText("Language and time zone").click();
    await dialog.getByLabel("Language of reports").selectOption("tr");
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByRole("link", { name: "+90 533 999 88 77" }).waitFor();

    // The animal gets another owner while the first one's data are open: they are not saved over the other one's.
    await press(page, "Change the owner's data");
    await dialog.getByLabel("Phone").fill("+90 533 999 88 00");
    const { animal: now, version } = (await staff.call<EditedAnimal>("GET", `/patients/${body.fp}/edit`)).body;
    const moved: EditAnimalBody = { animal: { ...now, owner: { ...owner, name: "Can Deniz" } }, seen: [], version };
    expect((await staff.call("PUT", `/patients/${body.fp}`, moved)).status).toBe(200);
    await page.getByText("Can Deniz").waitFor();
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText("This does not exist, or no longer.").waitFor();
    expect((await overview()).owner).toMatchObject({ name: "Can Deniz", phone: null });
    await dialog.getByRole("button", { name: "Cancel" }).click();

    await press(page, "Deceased");
    await expectAccessible(page);
    await dialog.getByRole("button", { name: "Note the death" }).click();
    await press(page, "Not deceased after all");
    await press(page, "Remove");
    await expectAccessible(page);
    await dialog.getByRole("button", { name: "Remove the patient" }).click();
    await page.getByText("Zeytin is removed.").waitFor();
    await expect.poll(() => names.allInnerTexts()).toEqual([dog.name, "Pamuk"]);
    await page.getByRole("link", { name: "Removed patients" }).click();
    await heading(page, "Removed patients");
    await expectAccessible(page);
    await expectFitsPhone(page);
    await press(page, "Bring back Zeytin");
    await page.getByText("No removed patients").waitFor();
  });

  test("a nurse merges two entries of one animal, undoes it from the page of the one that stays, and undoes an edit", async () => {
    const twin = patient({ name: "Karabas", species: "dog", external_ids: ["30001"] });
    const visit = event(ours, { patient_fp: twin.fp });
    const server = await startDashboard(...clinicEntities, twin, connection(twin.fp, ours), visit);
    server.clock.now = Date.now();
    await pushTo(server, ours, study({ patient_fp: twin.fp, matched_by: { by: "fp", identifiers: [] } }));
    const page = await server.openAs(browser, "staff", ours, `/patients/${dog.fp}`);
    await page.getByRole("link", { name: "Merge with another animal…" }).click();
    await heading(page, `Merge ${dog.name} with another animal`);
    await page.getByLabel("Name, owner, phone or number").fill("kara");
    await page.getByRole("button", { name: /^Karabas / }).waitFor();
    // Not the animal itself.
    expect(await page.getByRole("button", { name: /^Karabaş/ }).count()).toBe(0);
    await expectAccessible(page);
    await expectFitsPhone(page);
    await page.getByRole("button", { name: /^Karabas / }).press("Enter");
    // The one with results stays, unless the user chooses the other one.
    const stays = (name: string) => page.getByRole("radio", { name });
    await expect.poll(() => stays("Karabas, 30001 stays").isChecked()).toBe(true);
    expect(await page.locator(":focus").getAttribute("id")).toBe("main");
    await page.getByText("Numbers go too: 10021.").waitFor();
    await stays("Karabaş, 10021 stays").check();
    await page.getByText("Goes to the one that stays: Results 1, Appointments 1.").waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await chooseLanguage(page, "tr");
    await page.getByText("Numaralar da geçer").waitFor();
    await expectFitsPhone(page);
    await chooseLanguage(page, "en");
    await stays("Karabaş, 10021 stays").check();
    await press(page, "Merge the two");
    await page.getByRole("status").filter({ hasText: "Karabas was merged into Karabaş." }).waitFor();
    await page.getByText("10021, 30001").waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    // The message goes with the page, the undo stays.
    await page.reload();
    await press(page, "Undo Karabas was merged into this animal");
    await page.getByRole("status").filter({ hasText: "The change is undone." }).waitFor();
    await expect.poll(() => page.getByText("30001").count()).toBe(0);

    await page.getByRole("link", { name: "Change", exact: true }).click();
    const link = page.getByRole("link", { name: "Merge with Karabas in a new tab" });
    await expect.poll(() => link.getAttribute("href")).toBe(`/dashboard/patients/${dog.fp}/merge/${twin.fp}`);
    await page.getByLabel("Breed").fill("Kangal");
    await press(page, "Save");
    await page.getByText("Dog, Kangal").waitFor();
    await press(page, "Undo");
    await page.getByRole("status").filter({ hasText: "The change is undone." }).waitFor();
    await expect.poll(() => page.getByText("Kangal").count()).toBe(0);
    await press(page, "Remove");
    await page.getByRole("dialog").getByRole("button", { name: "Remove the patient" }).click();
    await press(page, "Undo");
    await page.getByRole("link", { name: dog.name }).waitFor();
  });

  test("a waiting result is filed to a new animal in one step, or to the one of the clinic that is alike", async () => {
    const server = await startDashboard(...clinicEntities);
    const first = waiting({ name: "Boncuk", species: "Feline", owner: "Elif", identifier: "4711", weight_kg: 3.4 });
    const second = waiting({ name: "Karaba", species: "Canine", identifier: "10021" });
    await pushTo(server, ours, first, second);
    const page = await server.openAs(browser, "staff", ours, `/to-place/${first.fp}`);
    const dialog = page.getByRole("dialog");
    await heading(page, "Whose result is it?");
    await page.keyboard.press("n");
    await heading(page, "New animal from this result");
    for (const [label, value] of [
      ["Name", "Boncuk"],
      ["Species", "cat"],
      ["Card number", "4711"],
      ["Weight in kg", "3.4"],
      ["Name of the owner", "Elif"],
    ] as const) {
      await expect.poll(() => dialog.getByLabel(label, { exact: true }).inputValue()).toBe(value);
    }
    await expectAccessible(page);
    await expectFitsPhone(page);
    await dialog.getByLabel("Breed").fill("Van");
    // What is typed stays.
    await page.keyboard.press("Escape");
    await dialog.getByRole("button", { name: "Save and file the result" }).click();
    await page.getByRole("status").filter({ hasText: "Filed to Boncuk." }).waitFor();
    const filed = await readStudy(server, first.fp);
    expect(filed).toMatchObject({ results: [{ flag: "normal" }] });
    await page.waitForURL(`**/to-place/${second.fp}`);

    await press(page, "New animal from this result");
    await dialog.getByText("has the number 10021").waitFor();
    await dialog.getByRole("button", { name: "Save as another animal and file the result" }).waitFor();
    await expectAccessible(page);
    await dialog.getByRole("button", { name: "Use this animal" }).click();
    await heading(page, `If it is filed to ${dog.name}`);
    await page.getByLabel("Search another patient").fill("elif");
    await page.getByRole("button", { name: /Boncuk/ }).waitFor();
  });

  test("a new animal is chosen in a manual study and in an event, and a new item goes into stock", async () => {
    const server = await startDashboard(...clinicEntities);
    const page = await server.openAs(browser, "staff", ours, "/manual-study");
    const dialog = page.getByRole("dialog", { name: "New animal" });
    const add = async (name: string) => {
      await press(page, "New animal");
      await dialog.getByLabel("Name", { exact: true }).fill(name);
      await dialog.getByLabel("Species").selectOption("dog");
      await dialog.getByRole("button", { name: "Save", exact: true }).click();
    };
    await add("Duman");
    await page.getByText("Duman", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Choose another animal" }).waitFor();
    await page.goto(`${server.url}/dashboard/calendar`);
    await press(page, "New event");
    await page.getByLabel("Title").fill("Vaccination");
    await add("Gece");
    await page.getByText("Gece", { exact: true }).waitFor();
    expect(await page.getByLabel("Title").inputValue()).toBe("Vaccination");
    await expectAccessible(page);
    // The first choice after nobody is the user of the dashboard.
    await page.getByLabel("Assigned to").selectOption({ index: 1 });
    await press(page, "Add");
    const added = page.getByRole("listitem").filter({ hasText: "Vaccination" });
    await added.getByText(/· staff \w+$/).waitFor();
    await page.goto(`${server.url}/dashboard/stock`);
    await press(page, "New item");
    const item = page.getByRole("dialog", { name: "New item" });
    await expectAccessible(page);
    await expectFitsPhone(page);
    await item.getByLabel("Name").fill("Nobivac");
    await item.getByLabel("Unit").fill("vial");
    await item.getByLabel("Amount now").fill("10");
    await item.getByLabel(/^Expires/).fill("2027-06-30");
    await item.getByRole("button", { name: "Add the item" }).click();
    await heading(page, "Nobivac");
    await page.getByText("10 vial").waitFor();
  });
});
