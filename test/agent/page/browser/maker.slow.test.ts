import path from "node:path";
import type { Browser, Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import {
  browserProblem,
  chooseLanguage,
  expectAccessible,
  expectFitsPhone,
  useBrowser,
} from "../../../support/peers/browser.ts";
import { send, settled, takingServer } from "../../../support/peers/local-page.ts";
import { ownProfile } from "../../../../agent/devices/index.ts";
import { hashOf } from "../../../../agent/devices/own/stored-file.ts";
import { readSpool } from "../../../../agent/spool/access.ts";
import { patiently } from "../../../support/runner/patience.ts";
import { freePort, until } from "../../../support/machine/processes.ts";
import { type TestAgent, useAgent } from "../../../support/peers/running-agent.ts";

// Goal: a nurse makes the profile of a device that Vetwire does not know, without a text editor, and its results are right.

/** An unknown device: the species in PID-5, the name in PID-6, the owner in PID-7, a code that the catalogue lacks. */
function unknownDevice(id: string, number: string): string {
  const segments = [
    `MSH|^~\\&|ACME V||||20261121113100||ORU^R01|${id}|P|2.3.1||||||UNICODE`,
    `PID|1||${number}||Canine|Zeytin|Aydin||20190504|F`,
    `OBR|1||S-${number}|Panel|||20261121113015`,
    "OBX|1|NM|ALB||31|g/L|22-44||||F",
    "OBX|2|NM|ALTX||61|U/L|5-125||||F",
    "OBX|3|ST|MODE||Vet||||||F",
  ];
  return segments.map((segment) => `${segment}\r`).join("");
}

let agent: TestAgent;
let browser: Browser;

describe.skipIf(browserProblem() !== null)("the maker of profiles", () => {
  useBrowser((shared) => {
    browser = shared;
  });
  useAgent((made) => {
    agent = made;
  });

  async function opened(server = takingServer): Promise<Page> {
    const port = await freePort();
    await agent.run([{ id: "lab-1", profile: "generic-hl7", connection: { listen: `127.0.0.1:${port}` } }], server);
    await until("the clinic's patients", () => agent.status().directory.fetched_at);
    await send(port, `\x0b${unknownDevice("1", "4711")}\x1c\r\x0b${unknownDevice("2", "9002")}\x1c\r`);
    await settled(agent, 2);
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${agent.host.port}/maker`);
    return page;
  }

  async function pasted(page: Page, text: string): Promise<void> {
    await page.getByLabel("What the device sent").fill(text);
    await page.getByRole("button", { name: "Open", exact: true }).click();
  }

  const sees = (page: Page) => page.getByRole("region", { name: "2 What the clinic will see" });

  test("an unknown dialect becomes a right study by clicks, is used, and is undone", async () => {
    const page = await opened();
    await page.getByRole("heading", { name: "New profile" }).waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await page.getByRole("button", { name: "Open messages of lab-1 (2)" }).click();
    await page.getByRole("heading", { name: "Looks like HL7" }).waitFor();
    await page.getByLabel(/^Name of the animal/).check();
    await page.getByLabel(/^Owner/).check();
    await page.getByRole("button", { name: /^Take the chosen/ }).click();
    await expect.poll(() => sees(page).textContent()).toMatch(/Zeytin.*Aydin.*Canine/);
    // The rest by keyboard: the row that is no result, and the code.
    await sees(page).getByRole("button", { name: "ALTX" }).click();
    await sees(page).getByRole("button", { name: "Alanine aminotransferase" }).click();
    await sees(page).getByRole("cell", { name: "Alanine aminotransferase" }).waitFor();
    // The print-out of one message is not compared with the values of another one.
    await sees(page).getByLabel("ALB on the print-out").fill("31");
    await sees(page).getByText("agrees").waitFor();
    await page.getByRole("button", { name: "Message 2" }).click();
    await expect.poll(() => sees(page).getByLabel("ALB on the print-out").inputValue()).toBe("");
    await page.getByRole("button", { name: "Message 1" }).click();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await page.reload();
    await sees(page).getByRole("cell", { name: "Alanine aminotransferase" }).waitFor();
    await page.getByLabel("Name of the profile").fill("acme-v");
    await page.getByRole("button", { name: "Check all messages of lab-1" }).click();
    await page.getByText("2 gain a species").waitFor();
    await page.getByRole("button", { name: "Use for lab-1" }).click();
    await page.getByText("lab-1 is read by own/acme-v@1").waitFor();
    expect(agent.host.text()).toContain("own/acme-v@1");
    await page.getByRole("button", { name: "Undo: back to generic-hl7" }).click();
    await page.getByText("lab-1 is read by generic-hl7").waitFor();
    expect(agent.host.text()).not.toContain("own/acme-v");
    await chooseLanguage(page, "tr");
    await page.getByRole("heading", { name: "Yeni profil" }).waitFor();
    await page.getByRole("cell", { name: "Alanin aminotransferaz" }).waitFor();
    await page.close();
  });

  test("the forms of real devices come through: typed names, printed values, another protocol, by mouse or keyboard", async () => {
    const page = await opened();
    const again = () => page.getByRole("button", { name: "Other bytes" }).click();
    const asked: string[] = [];
    page.on("request", (request) => asked.push(new URL(request.url()).hostname));

    // Boule Exigo: P in every row, the species and the settings as rows, a name where numbers are typed.
    await page.getByLabel("A recording or a file").setInputFiles("fixtures/boule-exigo/dog-three-parts.hl7");
    // The first profile has proposals of its own, which stay until the chosen one has looked.
    const looked = page.waitForResponse((response) => {
      if (!response.url().endsWith("/maker/look")) return false;
      return (response.request().postDataJSON() as { base: string }).base.startsWith("generic-hl7");
    });
    await page.getByLabel("Begin with").selectOption("generic-hl7");
    await looked;
    await page
      .getByLabel(/^Number or name, as typed/)
      .and(page.locator(":enabled"))
      .waitFor();
    for (const box of await page.getByRole("checkbox").all()) await box.check();
    await page.getByRole("button", { name: /^Take the chosen/ }).click();
    await expect.poll(() => sees(page).textContent()).toMatch(/Name of the animalZeytin.*SpeciesDOG/);
    await sees(page)
      .getByRole("row", { name: /WBC.*10\.4/ })
      .waitFor();
    await sees(page)
      .getByRole("row", { name: /OPID By rule/ })
      .waitFor();
    await again();

    // Printed values need no click.
    const head =
      "MSH|^~\\&|U1|LAB|||20261120101500||ORU^R01|2|P|2.5\nPID|1||4711\nOBR|1||U-1|UA|||20261120101200||||||||Urine\n";
    await pasted(page, `${head}OBX|1|ST|WBC||5-10|/HPF|||||F\nOBX|2|ST|LEPTO||1/400||||||F\n`);
    await sees(page)
      .getByRole("row", { name: /WBC.*5-10/ })
      .waitFor();
    await sees(page)
      .getByRole("row", { name: /LEPTO.*1\/400/ })
      .waitFor();
    await again();

    // A link with a dialogue is chosen, not drawn.
    await page.getByLabel("A recording or a file").setInputFiles("fixtures/mythic/one-line-header.astm");
    await page.getByRole("heading", { name: "Looks like lines with a check number" }).waitFor();
    await expect.poll(() => page.getByLabel("Begin with").inputValue()).toBe("mythic");
    await sees(page).getByRole("row", { name: /WBC/ }).waitFor();
    await again();

    // A thousand rows, by the keyboard alone: the first lines to the patient, a field, its role.
    const many = Array.from({ length: 1000 }, (_, index) => `OBX|${index + 1}|NM|C${index}||${index}|g/L|||||F`);
    await pasted(
      page,
      ["MSH|^~\\&|U1|LAB|||20261120101500||ORU^R01|2|P|2.5", "PID|1||4711||Rex|Kaya", ...many].join("\n"),
    );
    await page.getByRole("button", { name: "Line 1 MSH" }).focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    for (let step = 0; step < 4; step += 1) await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    const start = Date.now();
    await page.keyboard.press("3");
    await expect.poll(() => sees(page).textContent()).toContain("OwnerKaya");
    expect(Date.now() - start).toBeLessThan(patiently(5_000));
    expect(new Set(asked)).toEqual(new Set(["127.0.0.1"]));
    await page.close();
  });

  test("a message that is opened by its address takes the place of another draft, and a reload keeps its clicks", async () => {
    const page = await opened();
    await pasted(page, unknownDevice("3", "7777").replaceAll("\r", "\n"));
    await page.getByText("7777").first().waitFor();
    const ids = readSpool(path.join(agent.folder, "data"), (db) =>
      db.prepare("SELECT id FROM message ORDER BY rowid").pluck().all(),
    );
    await page.goto(`${new URL(page.url()).origin}/maker?message=${String(ids[1])}&device=lab-1`);
    await page.getByText("9002").first().waitFor();
    await expect.poll(() => page.getByText("7777").count()).toBe(0);
    await expect.poll(() => page.getByLabel("Use it for").inputValue()).toBe("lab-1");
    await sees(page).getByRole("button", { name: "ALTX" }).click();
    await sees(page).getByRole("button", { name: "Alanine aminotransferase" }).click();
    await page.getByRole("button", { name: "Undo (1)" }).waitFor();
    await page.reload();
    await page.getByRole("button", { name: "Undo (1)" }).waitFor();
    // The name of the device is on its way when the save begins.
    await page.route("**/maker/look", async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 500));
      await route.continue();
    });
    await page.getByLabel("Name of the profile").fill("acme-v");
    await page.getByLabel("Name of the device").fill("ACME five");
    await page.getByRole("button", { name: "Use for lab-1" }).click();
    await page.getByText("lab-1 is read by own/acme-v@1").waitFor();
    expect(ownProfile("own/acme-v@1")).toMatchObject({ form: { device: { name: "ACME five" } } });
    await page.close();
  });

  test("a save after another tab's is refused with the difference", async () => {
    const page = await opened();
    const other = await browser.newPage();
    await other.goto(page.url());
    for (const [tab, name] of [
      [page, "PID-6"],
      [other, "PID-7"],
    ] as const) {
      await pasted(tab, unknownDevice("3", "4711").replaceAll("\r", "\n"));
      await tab.getByRole("button", { name: "Line 2 PID" }).click();
      await tab.getByRole("button", { name: new RegExp(`^${name} `) }).click();
      await tab.getByRole("button", { name: "Name of the animal", exact: true }).click();
      await tab.getByRole("button", { name: "Undo (1)" }).waitFor();
      await tab.getByLabel("Name of the profile").fill("acme-v");
      await tab.getByRole("button", { name: "Save", exact: true }).click();
      if (tab === page) await tab.getByText("Saved as own/acme-v@1").waitFor();
    }
    await other.getByText("own/acme-v@1 was stored meanwhile").waitFor();
    const difference = other.getByRole("region", { name: "Difference" });
    await expect.poll(() => difference.textContent()).toMatch(/- {3}name: PID-6[^]*\+ {3}name: PID-7/);
    await expectAccessible(other);
    await page.close();
    await other.close();
  });

  test("the table of a folder gets its columns' meanings; a device that code reads only shows its elements", async () => {
    const sent: unknown[] = [];
    const page = await opened((request) => {
      if (request.url !== "/agent/v1/profiles") return takingServer(request);
      sent.push(request.body);
      return {
        status: 200,
        body: { outcome: sent.length === 1 ? "stored" : "refused", code: sent.length === 1 ? null : "PROFILE.STORED" },
      };
    });
    const rows = [
      "Sample;Pet;Kind;Taken;Test;Result;Unit",
      "S-1;Zeytin;Canine;03.04.2026 10:05;ALB;31;g/L",
      "S-1;Zeytin;Canine;03.04.2026 10:05;ALTX;61;U/L",
    ];
    await pasted(page, rows.join("\n"));
    await page.getByRole("heading", { name: "Looks like a table (CSV)" }).waitFor();
    await page.getByText(/^Still to say: the sample/).waitFor();
    const table = page.getByRole("region", { name: "The table" });
    const give = async (column: string, role: string) => {
      await table.getByRole("button", { name: column }).click();
      const means = page.getByRole("group", { name: `${column} means` });
      await means.getByRole("button", { name: role }).click();
      await table.getByRole("button", { name: new RegExp(`^${column}\\s*${role.replace(/^\d+ /, "")}`) }).waitFor();
    };
    await give("Sample", "Sample number");
    await give("Pet", "Name of the animal");
    await give("Kind", "Species");
    // Either order of day and month fits, so a person chooses.
    await table.getByRole("button", { name: "Taken" }).click();
    await page.getByRole("button", { name: "Time" }).click();
    await page.getByRole("button", { name: "d.M.yyyy H:mm" }).click();
    await table.getByRole("button", { name: /^Taken\s*Time/ }).waitFor();
    await give("Test", "Code");
    // A digit chooses, also in a table: the tenth button is Value, the ninth Code.
    await table.getByRole("button", { name: "Test" }).press("9");
    await page.getByRole("button", { name: "Undo (6)" }).waitFor();
    await page.getByRole("button", { name: "Undo (6)" }).click();
    await give("Result", "Value");
    await expectAccessible(page);
    await give("Unit", "Unit");
    await expect.poll(() => sees(page).textContent()).toMatch(/Zeytin.*Canine.*S-1/);
    await sees(page).getByRole("button", { name: "Alanine aminotransferase" }).click();
    await sees(page).getByRole("cell", { name: "Alanine aminotransferase" }).waitFor();
    await expectFitsPhone(page);
    await page.reload();
    await sees(page).getByRole("cell", { name: "Alanine aminotransferase" }).waitFor();
    await page.getByLabel("Name of the profile").fill("acme-table");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("Saved as own/acme-table@1.").waitFor();
    const stored = ownProfile("own/acme-table@1");
    expect(stored !== null && "form" in stored ? stored.form.sample : null).toMatchObject({
      number: "Sample",
      time: { at: "Taken", format: "d.M.yyyy H:mm" },
    });

    // One click sends it to the dashboard, with the hash of its text.
    await page.getByRole("button", { name: "Send own/acme-table@1 to the dashboard" }).click();
    await page.getByText("The dashboard has it now.").waitFor();
    const [own] = sent as { profile: string; sha256: string; text: string }[];
    expect(own).toMatchObject({ profile: "own/acme-table@1", sha256: hashOf(own?.text ?? "") });
    expect(own?.text).toContain("profile: own/acme-table");

    await page.getByRole("button", { name: "Other bytes" }).click();
    await page.getByRole("button", { name: "Send own/acme-table@1 to the dashboard" }).click();
    await page.getByText("The dashboard has another content under this revision").waitFor();
    await expectAccessible(page);
    await page.getByLabel("A recording or a file").setInputFiles("fixtures/generic-poct1a/dog.poct1");
    await page.getByText("The program reads this device by code").waitFor();
    const came = page.getByRole("region", { name: "1 What came" });
    await came.getByRole("button", { name: /<OBS.R01>/ }).click();
    await came.getByRole("button", { name: "@V 4711" }).first().waitFor({ state: "attached" });
    expect(await came.locator(".maker-roles").count()).toBe(0);
    await expectAccessible(page);
    await page.close();
  });
});
