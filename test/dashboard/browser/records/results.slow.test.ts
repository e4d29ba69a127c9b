import { execFileSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { newFp } from "../../../../shared/api/fp.ts";
import type { PushedStudy } from "../../../../shared/api/study.ts";
import {
  browserProblem,
  chooseLanguage,
  expectAccessible,
  expectFitsPhone,
  sharedBrowser,
} from "../../../support/peers/browser.ts";
import {
  clinic,
  connection,
  importEntities,
  keyPermissions,
  patient,
  study,
  temporaryFolder,
} from "../../../server/harness.ts";
import { startSmtpReceiver } from "../../../support/peers/smtp-receiver.ts";
import { createMailer } from "../../../../server/operations/mail/smtp.ts";
import type { MoveBody, StudyPage } from "../../../../server/dashboard/types/results/results.ts";
import { makeUser, openPage, startDashboard } from "../../harness.ts";
import { chemistry, hostile, profile, resultsClinic } from "../../results-clinic.ts";

const problem = browserProblem();

/** A dashboard with the studies of an analyzer. */
async function startResults() {
  const names = resultsClinic();
  const server = await startDashboard(...names.entities);
  const key = await server.makeKey(names.ours, [...keyPermissions, "clinic.lab.view"]);
  const push = async (...studies: PushedStudy[]) => server.push(key, ...studies);
  return { server, ...names, key, push, open: server.openAs };
}

function rowsOf(page: Page, table: string): Promise<string[]> {
  return page.locator(`${table} tbody tr`).allInnerTexts();
}

describe.skipIf(problem !== null)("in a browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await sharedBrowser();
  });

  test("an analyzer's result appears in the list while one looks, and is marked as new", async () => {
    const { ours, dog, push, open } = await startResults();
    await push(study({ patient_fp: dog.fp }));
    const page = await open(browser, "reader", ours, "/results");
    await page.getByRole("cell", { name: "none of 2" }).waitFor();
    expect(await page.locator(".tag-new").count()).toBe(0);

    await push(chemistry(dog, profile, { acquired_at: "2026-11-21T11:00:00.000Z" }));
    await page.getByRole("status").filter({ hasText: "New results: 1" }).waitFor();
    const [first = "", second = ""] = await rowsOf(page, ".results");
    expect(first).toMatch(/new[\s\S]*Karabaş dog[\s\S]*Sample A-77[\s\S]*PLT 12 ×10³\/µL\s*↓↓\s*critical low/);
    expect(first).toMatch(/ALT 310 U\/L\s*↑\s*high/);
    expect(second).not.toContain("new");
    await expectAccessible(page);
    await expectFitsPhone(page);
  });

  test("a study of the wrong animal is moved with a reason and undone, taken back to the desk, and flagged again", async () => {
    const { server, ours, dog, push, open } = await startResults();
    const cat = patient({ name: "Minnoş", species: "cat" });
    await importEntities(server.store, cat, connection(cat.fp, ours));
    const sent = chemistry(dog);
    await push(sent);
    const page = await open(browser, "staff", ours, `/results/${sent.fp}`);
    await page.getByRole("button", { name: "Wrong animal?" }).click();
    const dialog = page.getByRole("dialog");
    await expectAccessible(page);
    await expectFitsPhone(page);
    await dialog.getByLabel("Name, owner, phone or number").fill("Minn");
    await dialog.getByRole("button", { name: "Minnoş" }).click();
    await dialog.getByLabel("Reason").fill("wrong card");
    await dialog.getByRole("button", { name: "Move to Minnoş" }).click();
    await page.getByRole("heading", { name: "Minnoş" }).waitFor();
    await page
      .getByText(/moved by hand · by staff .* · filed to Minnoş · wrong card/)
      .first()
      .waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByRole("heading", { name: "Karabaş" }).waitFor();

    // While its dialog is open a colleague moves the study to another animal, whose results the owner does not get.
    await page.getByRole("button", { name: "Share with owner" }).click();
    await dialog.getByRole("button", { name: "Make the link" }).waitFor();
    const colleague = await makeUser(server, "staff", ours);
    const shown = async () => (await colleague.call<StudyPage>("GET", `/results/${sent.fp}`)).body;
    const move: MoveBody = { revision: (await shown()).revision, patient_fp: cat.fp, reason: "wrong card" };
    expect((await colleague.call("POST", `/results/${sent.fp}/move`, move)).status).toBe(200);
    await page.locator("h1").filter({ hasText: "Minnoş" }).waitFor();
    await dialog.getByRole("button", { name: "Make the link" }).click();
    await dialog.getByText("This study was changed meanwhile.").waitFor();
    await dialog.getByRole("button", { name: "Close" }).click();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByRole("heading", { name: "Karabaş" }).waitFor();

    await importEntities(server.store, { ...dog, species: "cat" });
    await page.getByText("Its ranges and flags are for: dog").waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Flag again" }).click();
    await page.getByText("flagged again by hand").first().waitFor();
    expect(await page.getByText("Its ranges and flags are for").count()).toBe(0);

    await page.getByRole("button", { name: "Wrong animal?" }).click();
    await dialog.getByLabel("Reason").fill("whose is it?");
    await dialog.getByRole("button", { name: "Back to To place" }).click();
    await page.getByRole("heading", { name: "To place" }).waitFor();
    await page.getByText("whose is it?").first().waitFor();
  });

  test("a move requires the species if the device contradicts the animal, and after no other refusal", async () => {
    const { server, ours, dog, push, open } = await startResults();
    const cat = patient({ name: "Minnoş", species: "cat" });
    await importEntities(server.store, cat, connection(cat.fp, ours));
    const patient_hint = { ...study().patient_hint, identifier: null, species: "DOG" };
    const sent = { ...chemistry(dog), patient_hint };
    await push(sent);
    const page = await open(browser, "staff", ours, `/results/${sent.fp}`);
    const dialog = page.getByRole("dialog");
    const move = async () => {
      await page.getByRole("button", { name: "Wrong animal?" }).click();
      await dialog.getByLabel("Name, owner, phone or number").fill("Minn");
      await dialog.getByRole("button", { name: "Minnoş" }).click();
      await dialog.getByLabel("Reason").fill("wrong card");
    };
    const species = dialog.getByLabel("To file it all the same, type: cat");
    await move();
    await push({ ...sent, revision: 2, comments: ["Lipemic"] });
    await dialog.getByRole("button", { name: "Move to Minnoş" }).click();
    await dialog.getByText("This study was changed meanwhile.").waitFor();
    expect(await species.count()).toBe(0);
    await dialog.getByRole("button", { name: "Cancel" }).click();

    await move();
    await dialog.getByRole("button", { name: "Move to Minnoş" }).click();
    await species.fill("cat");
    await dialog.getByRole("button", { name: "Move to Minnoş" }).click();
    await page.getByRole("heading", { name: "Minnoş" }).waitFor();
  });

  test("staff shares a report by a link that is opened, counted and revoked, and by e-mail", async () => {
    const { server, ours, dog, push, open } = await startResults();
    const receiver = await startSmtpReceiver();
    const filed = chemistry(dog);
    await push(filed);
    // Commands of the time line are those without a revision of the same instant.
    server.clock.now += 60_000;
    const page = await open(browser, "staff", ours, `/results/${filed.fp}`);
    const dialog = page.getByRole("dialog");
    await page.getByRole("button", { name: "Share with owner" }).click();
    await dialog.getByText("opens on the server's own machine alone").waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    expect(await dialog.getByLabel("The link works for").inputValue()).toBe("7");
    expect(await dialog.getByLabel("Language of the report").inputValue()).toBe("en");
    await dialog.getByLabel("Language of the report").selectOption("tr");
    await dialog.getByRole("button", { name: "Make the link" }).click();
    const url = await dialog.getByRole("textbox", { name: "Link" }).inputValue();
    expect(url).toMatch(new RegExp(`^${server.url}/r/[\\w-]{32}$`));
    await expectAccessible(page);
    await expectFitsPhone(page);
    await dialog.getByRole("button", { name: "Close" }).click();
    const row = page.locator("section", { hasText: "Links for the owner" }).locator("tbody tr");
    await row.getByText("not opened yet").waitFor();

    const owner = await openPage(browser, server.url);
    await owner.goto(url);
    await owner.getByRole("heading", { name: "Sizin için bir rapor" }).waitFor();
    await expectAccessible(owner, true);
    await expectFitsPhone(owner);
    const [download] = await Promise.all([
      owner.waitForEvent("download"),
      owner.getByRole("button", { name: "PDF olarak indir" }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/^[^/]+ \d{4}-\d\d-\d\d Biyokimya\.pdf$/);
    await page.reload();
    await row.getByText("opened once,").waitFor();
    await page.getByText("Link for the owner made").waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);

    await row.getByRole("button", { name: "Revoke" }).click();
    await dialog.getByRole("button", { name: "Revoke" }).click();
    await row.getByText("revoked").waitFor();
    expect((await owner.goto(url))?.status()).toBe(404);
    await owner.getByRole("heading", { name: "This link does not open a report" }).waitFor();
    await expectAccessible(owner, true);
    await expectFitsPhone(owner);

    server.senders.sendMail = createMailer({
      ...{ host: "127.0.0.1", port: receiver.port, isTls: false, user: null, from: "vetwire@clinic.example" },
      password: () => "",
    });
    await chooseLanguage(page, "tr");
    await page.getByRole("button", { name: "Sahibiyle paylaş" }).click();
    await dialog.getByLabel("E-posta adresi").fill("owner@example.com");
    await expectAccessible(page);
    await expectFitsPhone(page);
    receiver.answers.set("RCPT", "550 no such user");
    await dialog.getByRole("button", { name: "Gönder" }).click();
    await dialog.getByText("Gönderilmedi. 127.0.0.1").waitFor();
    await dialog.getByText('(yanıtı: "550 no such user")').waitFor();
    receiver.answers.clear();
    await dialog.getByRole("button", { name: "Gönder" }).click();
    await dialog.getByText("Gönderildi.").waitFor();
    expect(receiver.mails).toMatchObject([{ to: "owner@example.com", subject: "A clinic: laboratuvar raporu" }]);
    await dialog.getByRole("button", { name: "Kapat" }).click();

    await push({ ...filed, comments: ["another content"] });
    await page.getByRole("button", { name: "Sahibiyle paylaş" }).click();
    await dialog.getByText("Cihaz bu tetkik için çelişen bir sonuç gönderdi").waitFor();
    await expectAccessible(page);
  });

  test("filters and the search narrow the list, stay in the address, and a reload keeps them", async () => {
    const { server, ours, dog, push, open } = await startResults();
    const cat = patient({ name: "Minnoş", species: "cat" });
    await importEntities(server.store, cat, connection(cat.fp, ours));
    await push(
      chemistry(dog),
      study({ patient_fp: cat.fp, modality: "HEMATOLOGY", device_name: "Cell counter" }),
      study({ patient_hint: { ...study().patient_hint, name: "Pamuk" } }),
      ...Array.from({ length: 55 }, (_, hour) =>
        study({ patient_fp: cat.fp, acquired_at: new Date(Date.UTC(2026, 9, 10, hour)).toISOString() }),
      ),
    );
    const page = await open(browser, "staff", ours, "/results");
    const rows = page.locator(".results tbody tr");
    await expect.poll(() => rows.count()).toBe(50);
    await page.getByRole("button", { name: "Show more" }).click();
    await expect.poll(() => rows.count()).toBe(58);

    const critical = page.getByRole("button", { name: "Critical", exact: true });
    await critical.press("Enter");
    await expect.poll(() => rows.count()).toBe(1);
    await page.reload();
    await expect.poll(() => rows.count()).toBe(1);
    await expect.poll(() => critical.getAttribute("aria-pressed")).toBe("true");
    await critical.press("Enter");
    await page.getByLabel("Device").selectOption("Cell counter");
    await expect.poll(() => rows.count()).toBe(1);
    expect(new URL(page.url()).search).toBe("?device=Cell+counter");
    await page.getByLabel("Kind").selectOption("URINALYSIS");
    await page.getByText("No result fits these filters").waitFor();
    await expectAccessible(page);
    await page.getByRole("link", { name: "Show all results" }).click();
    await page.getByLabel("From").fill("2026-11-01");
    await expect.poll(() => rows.count()).toBe(3);
    await page.getByLabel("From").fill("");

    const search = page.getByLabel("Search");
    await search.pressSequentially("KARABAS");
    await expect.poll(() => rows.count()).toBe(1);
    expect(await search.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true);
    await search.fill("985112");
    await expect.poll(() => new URL(page.url()).search).toBe("?q=985112");
    await expect.poll(() => rows.count()).toBe(1);
    await search.fill("pamuk");
    await page.getByRole("link", { name: "Not placed: Pamuk" }).waitFor();
    // A letter that comes while the page takes the search into its address is not lost.
    await page.evaluate(`{
      const field = document.querySelector("main input[type=search]");
      const replace = history.replaceState;
      history.replaceState = (...all) => {
        history.replaceState = replace;
        replace.apply(history, all);
        field.value += "b";
        field.dispatchEvent(new Event("input", { bubbles: true }));
      };
    }`);
    await search.fill("kara");
    await expect.poll(() => new URL(page.url()).search).toBe("?q=karab");
    expect(await search.inputValue()).toBe("karab");
    await page.goto(`${server.url}/dashboard/results?patient=${dog.fp}`);
    await page.getByText("Only Karabaş").waitFor();
    await expect.poll(() => rows.count()).toBe(1);
    await page.getByRole("button", { name: "Show all patients" }).click();
    await expect.poll(() => rows.count()).toBe(50);
  });

  test("a study shows values, flags, bars, the device's own words and what to do with its codes", async () => {
    const { ours, dog, push, open } = await startResults();
    const filed = chemistry(dog);
    await push(filed);
    const page = await open(browser, "staff", ours, `/results/${filed.fp}`);
    await page.getByRole("heading", { name: "Karabaş Biochemistry" }).waitFor();
    const rows = (await rowsOf(page, ".study-table")).map((row) => row.replaceAll(/\s+/g, " ").trim());
    expect(rows).toEqual([
      "ALT Alanine aminotransferase 310 U/L ↑ high 10-1001 10-100 H for dog",
      "ALB Albumin 1.2 g/dL ↓ low 3.2-4.12",
      "printed 1,2",
      "K Potassium 8.9 mmol/L ↑ high 4.10-5.402 3-6 HH for General",
      "from 4.1-5.4 mEq/L",
      "PLT Platelets 12 ×10³/µL ↓↓ critical low 167-4803",
      "TP Total protein 6.5 g/dL in range 5.5-7.22",
      "TBIL Bilirubin, total <0.2 mg/dL in range 0-0.22",
      "QXZ-7 Canine Quirk the device's own code Map to analyte 12.5 ng/mL the catalogue does not know the code",
      "CRP C-reactive protein mapped by the clinic from c-RP2 14 mg/L the value is doubtful",
      "? in doubt: hemolysed sample; the device found bubbles",
    ]);
    // `<0.2` has no place on a bar, and neither have values without an interval.
    await expect.poll(() => page.locator(".range-bar").count()).toBe(5);
    await expect
      .poll(() => page.getByRole("link", { name: "Map to analyte" }).getAttribute("href"))
      .toBe("/dashboard/to-place/codes");
    expect(await page.locator(".sources li").allInnerTexts()).toEqual([
      "The device's own interval, for the patient's species",
      "Reference intervals: Chemistry (Cobas) (cornell_cobas_2017)",
      expect.stringContaining("Dog Aging Project"),
    ]);
    await page.getByText("Why these intervals").click();
    const why = page.locator(".why dl > div");
    expect((await why.allInnerTexts()).slice(0, 2).map((text) => text.replaceAll(/\s+/g, " "))).toEqual([
      "ALT The device's own interval for the dog, since the clinic has none that applies source 1",
      "ALB, K, TP, TBIL A published interval for the dog, since neither clinic nor device has one that applies; " +
        "no breed is stated, so the general one applies source 2 · reference interval · grade A · serum, Cobas c501",
    ]);
    await expectAccessible(page);
    await expectFitsPhone(page);

    await chooseLanguage(page, "tr");
    await page.getByRole("heading", { name: "Karabaş Biyokimya" }).waitFor();
    await page.getByText("Neden bu aralıklar").click();
    await expect.poll(() => why.first().innerText()).toContain("Cihazın kendi aralığı");
    await page.getByText("Aralık yok: katalog bu kodu tanımıyor").waitFor();
    await page.getByText("kritik düşük").waitFor();
    await page.getByText("şüpheli: hemolysed sample; cihaz kabarcık buldu").waitFor();
    await expectFitsPhone(page);
  });

  test("a breed's remark is beside the reason of its interval, and a missing interval names the breed", async () => {
    const { server, ours, push, open } = await startResults();
    const husky = patient({ name: "Kar", breed: "Sibirya kurdu", date_of_birth: "2020-01-01" });
    await importEntities(server.store, husky, connection(husky.fp, ours));
    const sent = { comparator: null, ordinal: false, device_range: null, device_flag: null };
    const filed = chemistry(husky, [
      { ...sent, code: "MCV", value: 62, text: "62", unit: "fL" },
      { ...sent, code: "TT4", value: 12, text: "12", unit: "nmol/L" },
    ]);
    await push(filed);
    const page = await open(browser, "reader", ours, `/results/${filed.fp}`);
    const why = page.locator(".why");
    await why.getByText("Healthy dogs of this breed may have smaller red cells").waitFor();
    await why.getByText("no interval for the breed Siberian Husky applies here").waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await chooseLanguage(page, "tr");
    await why.getByText("Bu ırkın sağlıklı köpeklerinde eritrositler daha küçük olabilir").waitFor();
    const missing = why.getByText("Aralık yok: genel TT4 aralığı bu ırka uymaz: Sibirya kurdu");
    await expect.poll(() => missing.count()).toBe(1);
  });

  test("a study shows the value before with its change, or why the two do not compare", async () => {
    const { ours, dog, push, open } = await startResults();
    const filed = chemistry(dog);
    const row = { unit: "U/L", reference_range: null, flag: null };
    const of = (fp: string, device_name: string, results: PushedStudy["results"], acquired_at = filed.acquired_at) => {
      const { snapshot: _none, ...rest } = { ...filed, fp, device_name, results, acquired_at };
      return { ...rest, dedupe_key: fp };
    };
    const [oldest, middle, last] = [newFp("cds"), newFp("cds"), newFp("cds")];
    await push(
      of(oldest, "Other", [{ analyte: "AST", value: 20, ...row }], "2026-01-05T10:00:00.000Z"),
      of(
        middle,
        "Own",
        [
          { analyte: "ALT", value: 50, ...row },
          { analyte: "ALP", value: 5, comparator: "<", ...row },
        ],
        "2026-02-05T10:00:00.000Z",
      ),
      of(last, "Own", [
        { analyte: "ALT", value: 75, ...row },
        { analyte: "ALP", value: 40, ...row },
        { analyte: "AST", value: 30, ...row },
      ]),
    );
    const page = await open(browser, "staff", ours, `/results/${last}`);
    await page.locator(".before-cell").first().waitFor();
    const cells = (await page.locator(".before-cell").allInnerTexts()).map((text) => text.replaceAll(/\s+/g, " "));
    expect(cells).toEqual([
      expect.stringMatching(/^50 U\/L .*\+25 \(\+50 %\)$/),
      expect.stringMatching(/^<5 U\/L .*not comparable: a bound$/),
      expect.stringMatching(/^20 U\/L .*not comparable: measured on Other$/),
    ]);
    await expectAccessible(page);
    await expectFitsPhone(page);
  });

  test("a correction immediately shows what it changed, and the time line names each step", async () => {
    const { ours, dog, server, push, open, key } = await startResults();
    const first = chemistry(dog);
    await push(first);
    const page = await open(browser, "reader", ours, `/results/${first.fp}`);
    await page.getByRole("heading", { name: "Time line" }).waitFor();
    expect(await page.getByRole("heading", { name: "Revisions" }).count()).toBe(0);
    expect(await page.getByRole("link", { name: "Map to analyte" }).count()).toBe(0);

    server.clock.now += 60_000;
    const { results, snapshot } = chemistry(dog, [{ ...profile[0]!, value: 90, text: "90" }, ...profile.slice(1)]);
    await push({ ...first, results, revision: 2, ...(snapshot && { snapshot }) });
    await page.getByRole("heading", { name: "Revisions" }).waitFor();
    expect(await page.locator(".changes tbody tr").allInnerTexts()).toEqual([
      "ALT\t310 U/L (10-100) high\t90 U/L (10-100) in range",
    ]);
    await push({ ...first, results: results.slice(1) });
    await page.getByRole("link", { name: "Contradicting results from the device: 1" }).waitFor();
    await server.get(key, `/api/v1/lab/diagnostics/${first.fp}`);
    await expect
      .poll(async () => {
        await page.reload();
        await page.getByRole("heading", { name: "Time line" }).waitFor();
        return (await page.locator(".time-line li > span").allInnerTexts()).map((text) => text.split(", ")[0]);
      })
      .toEqual(
        expect.arrayContaining([
          "Sample A-77 measured on Abaxis VetScan VS2",
          "Revision 1: received · by chem-1 · filed to Karabaş",
          "Revision 2: received · by chem-1 · filed to Karabaş",
          "Read with the key test",
        ]),
      );
    await expectAccessible(page);
    await expectFitsPhone(page);
    await chooseLanguage(page, "tr");
    await page.getByRole("cell", { name: "310 U/L (10-100) yüksek" }).first().waitFor();

    await page.getByRole("link", { name: "Teslim kanıtı" }).click();
    await page.getByRole("heading", { name: "Hiçbir şeyin göstermediği" }).waitFor();
    expect(await page.getByRole("listitem").filter({ hasText: "ajan baytları bildirmedi" }).count()).toBe(2);
    const digests = page.locator("code.proof").filter({ hasText: /^SHA-256 [0-9a-f]{64}$/ });
    expect(await digests.count()).toBe(2);
    if (process.env["SHOTS"]) {
      for (const width of [1440, 390, 320]) {
        await page.setViewportSize({ width, height: 900 });
        await page.screenshot({ path: `${process.env["SHOTS"]}/trail-${width}.png`, fullPage: true });
      }
    }
    await expectAccessible(page);
    await expectFitsPhone(page);
  });

  test("hostile texts of a patient, a sample and a device are shown as text everywhere", async () => {
    const { server, ours, push, open } = await startResults();
    const evil = patient({ name: hostile, breed: hostile });
    await importEntities(server.store, evil, connection(evil.fp, ours));
    const own = { ...profile[6]!, code: "<b>X</b>", device_code: "<b>X</b>", device_label: hostile, unit: "<i>u</i>" };
    const filed = chemistry(evil, [own], {
      device_name: hostile,
      source: { device_id: "<i>d</i>", message_id: "1", sample_ids: ["<script>s</script>"] },
    });
    const unmatched = study({ patient_hint: { ...study().patient_hint, name: hostile, owner: hostile } });
    await push(filed, unmatched);
    const page = await open(browser, "staff", ours, "/results");
    await page.getByRole("link", { name: `Not placed: ${hostile}` }).waitFor();
    await expect.poll(() => page.getByRole("link", { name: hostile, exact: true }).count()).toBe(1);
    await expectFitsPhone(page);
    for (const { fp } of [filed, unmatched]) {
      await page.goto(`${server.url}/dashboard/results/${fp}`);
      await page.getByRole("heading", { level: 1, name: hostile }).waitFor();
      await expectFitsPhone(page);
    }
    expect(await page.evaluate("window.broken")).toBe(undefined);
    expect(await page.locator("main img, main script, main b, main i").count()).toBe(0);
  });

  test.skipIf(!existsSync("/usr/bin/pdftotext"))(
    "the printed page has the clinic, the patient, the values and their flags, and no controls",
    async () => {
      const { ours, dog, push, open, server } = await startResults();
      await importEntities(server.store, { ...clinic(ours), name: "Patiler Kliniği" });
      const filed = chemistry(dog);
      await push(filed);
      const page = await open(browser, "staff", ours, `/results/${filed.fp}`);
      await page.locator(".study-table").waitFor();
      const file = join(temporaryFolder(), "print.pdf");
      writeFileSync(file, await page.pdf({ format: "A4" }));
      const text = execFileSync("pdftotext", ["-layout", file, "-"], { encoding: "utf8" });
      for (const part of ["Patiler Kliniği", "Karabaş Biochemistry", "dog, male, 2019-04-12", "critical low"]) {
        expect(text).toContain(part);
      }
      expect(text).toMatch(/ALT Alanine aminotransferase\s+310\s+U\/L\s+↑ high\s+10-100/);
      expect(text).toContain("Reference intervals: Chemistry (Cobas)");
      for (const part of ["Sign out", "Print", "Time line", "Map to analyte"]) expect(text).not.toContain(part);
    },
  );

  test("staff writes a remark for the owner, and an admin sets the head of the report", async () => {
    const { server, ours, dog, push, open } = await startResults();
    const filed = chemistry(dog);
    await push(filed);
    const page = await open(browser, "admin", ours, `/results/${filed.fp}`);
    await page.getByRole("button", { name: "Write a remark" }).click();
    await expectAccessible(page);
    await page.getByLabel("What the owner should know").fill("Bol su verin.");
    await page.getByRole("button", { name: "Save the remark" }).click();
    await page.getByRole("button", { name: "Edit the remark" }).waitFor();
    expect(await page.locator(".remark-text").textContent()).toBe("Bol su verin.");

    // A remark that a colleague writes while the form is open stays, and so does the typed one.
    await page.getByRole("button", { name: "Edit the remark" }).click();
    await page.getByLabel("What the owner should know").fill("Az su verin.");
    const colleague = await makeUser(server, "staff", ours);
    const { remark } = (await colleague.call<StudyPage>("GET", `/results/${filed.fp}`)).body;
    server.clock.now += 60_000;
    const theirs = { text: "Aç bırakmayın.", seen: remark?.at };
    expect((await colleague.call("PUT", `/results/${filed.fp}/remark`, theirs)).status).toBe(200);
    // The page loads the study again with the next result of the clinic.
    const loaded = page.waitForResponse(new RegExp(`/results/${filed.fp}$`));
    await push(study({ patient_fp: dog.fp }));
    await (await loaded).finished();
    await page.getByRole("button", { name: "Save the remark" }).click();
    await page.getByText("Somebody changed the remark meanwhile.").waitFor();
    expect(await page.getByLabel("What the owner should know").inputValue()).toBe("Az su verin.");
    await page.getByRole("button", { name: "Cancel" }).click();
    await expect.poll(() => page.locator(".remark-text").textContent()).toBe("Aç bırakmayın.");
    await chooseLanguage(page, "tr");
    await page.getByText("Alanin aminotransferaz").waitFor();

    await page.goto(new URL("/dashboard/settings/report", page.url()).href);
    await page.getByLabel("Adres").fill("Örnek Cad. 1");
    const file = { name: "logo.png", mimeType: "image/png", buffer: Buffer.from("GIF89a") };
    await page.locator("input[type=file]").setInputFiles(file);
    await page.getByRole("button", { name: "Kaydet" }).click();
    await page.getByText("sağlam bir PNG veya JPEG değil").waitFor();
    const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
    await page.locator("input[type=file]").setInputFiles({ ...file, buffer: Buffer.from(pixel, "base64") });
    await page.getByRole("button", { name: "Kaydet" }).click();
    const logo = page.getByRole("img", { name: "Logo" });
    await logo.waitFor();
    await expect
      .poll(() => logo.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth))
      .toBe(1);
    await page.getByText("Örnek Cad. 1", { exact: true }).waitFor();
    await page.getByText("Kaydedildi.").waitFor();
    // The phone, which another admin sets meanwhile, stays.
    const other = await makeUser(server, "admin", ours);
    expect((await other.call("PUT", "/settings/report", { phone: "0216" })).status).toBe(200);
    await page.getByLabel("Adres").fill("Örnek Cad. 2");
    await page.getByRole("button", { name: "Kaydet" }).click();
    await page.getByText("Örnek Cad. 2 · 0216", { exact: true }).waitFor();
    await page.locator("input[type=file]").setInputFiles(file);
    await page.getByRole("button", { name: "Kaydet" }).click();
    await page.getByText("sağlam bir PNG veya JPEG değil").waitFor();
    expect(await page.getByText("Kaydedildi.").count()).toBe(0);
    await expectAccessible(page);
    await expectFitsPhone(page);
  });

  test("the files of a study and of the list arrive as downloads", async () => {
    const { ours, dog, push, open } = await startResults();
    const filed = chemistry(dog);
    await push(filed);
    const page = await open(browser, "reader", ours, `/results/${filed.fp}`);
    const [pdf] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "PDF" }).click()]);
    expect(pdf.suggestedFilename()).toMatch(/^Karabaş \d{4}-\d\d-\d\d Biochemistry\.pdf$/);
    await page.getByRole("link", { name: "All results of this patient" }).click();
    await page.getByText("Only Karabaş").waitFor();
    const csv = page.getByRole("link", { name: "Download as CSV" });
    const [list] = await Promise.all([page.waitForEvent("download"), csv.click()]);
    expect(list.suggestedFilename()).toBe("results.csv");
  });
});
