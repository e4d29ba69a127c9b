import fs from "node:fs";
import path from "node:path";
import iconv from "iconv-lite";
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { readSpool } from "../../../agent/spool/access.ts";
import { playDevice } from "../../../agent/tools/simulator/analyzer.ts";
import { openLine } from "../../../agent/tools/simulator/line.ts";
import { session, vetScanRecords } from "../../support/protocols/astm.ts";
import { browserProblem, sharedBrowser } from "../../support/peers/browser.ts";
import { useDemoPorts } from "../../support/peers/demo-ports.ts";
import { patiently } from "../../support/runner/patience.ts";
import { AGENT, type Running, SERVER, start, temporaryFolder, until } from "../../support/machine/processes.ts";

// Goal: a clinic sets itself up alone, from two installed programs without data to the first printed result, with a browser: no command
// and no file to edit, in at most 40 clicks. Method: processes of server and agent, a real browser, a played VetScan VS2. A person is
// slower than the test: the clicks and the fields are what it costs.

const CLICKS_MAX = 40;
const ANIMALS = 300;

/** The list of a practice system: semicolons, Turkish Windows code page, decimal commas, days before months. */
const LIST = iconv.encode(
  [
    "Hasta No;Hasta Adı;Tür;Cinsiyet;Doğum Tarihi;Ağırlık;Çip;Sahip No;Sahip",
    ...Array.from({ length: ANIMALS }, (_, index) => {
      const [species, sex] = index % 2 === 0 ? ["Köpek", "Erkek"] : ["Kedi", "Dişi"];
      const chip = `90008500${String(index).padStart(7, "0")}`;
      return `${index + 1};Şanslı ${index + 1};${species};${sex};${13 + (index % 15)}.04.2020;12,5 kg;${chip};${index % 90};Işık Öğüt ${index % 90}`;
    }),
  ].join("\r\n"),
  "cp1254",
);

/** Counts what a person does. */
class Person {
  clicks = 0;
  fields = 0;

  async click(what: Locator): Promise<void> {
    this.clicks += 1;
    await what.click();
  }

  async type(field: Locator, text: string): Promise<void> {
    this.fields += 1;
    await field.fill(text);
  }
}

useDemoPorts();

let folder: string;
let server: Running;
let agent: Running;
let browser: Browser;

beforeAll(async () => {
  if (browserProblem() !== null) return;
  vi.stubEnv("VETWIRE_HURRY", "10");
  folder = temporaryFolder();
  browser = await sharedBrowser();
  server = start(SERVER, ["run", "--port", "0", "--data", path.join(folder, "server")]);
  agent = start(AGENT, ["run", "--set-up", "--config", path.join(folder, "agent.yaml")]);
});

afterAll(async () => {
  vi.unstubAllEnvs();
  await agent?.end();
  await server?.end();
  if (folder !== undefined) fs.rmSync(folder, { recursive: true, force: true });
});

const printed = (program: Running, words: RegExp) => until(String(words), () => words.exec(program.output())?.[1]);

/** Plays a run of the VetScan. */
async function measure(port: string, patient: string, collected: string): Promise<boolean> {
  const line = await openLine(`tcp://127.0.0.1:${port}`);
  try {
    return (await playDevice(session(vetScanRecords({ patient, species: "Dog", collected, alt: 143 })), line)).accepted;
  } finally {
    await line.close();
  }
}

describe.skipIf(browserProblem() !== null)("in a browser", () => {
  test(`from empty programs to a printed result in at most ${CLICKS_MAX} clicks`, {
    timeout: patiently(180_000),
  }, async () => {
    const person = new Person();
    const steps: string[] = [];
    const since = { ms: performance.now(), clicks: 0, fields: 0 };
    const step = (name: string) => {
      const s = ((performance.now() - since.ms) / 1000).toFixed(1);
      steps.push(`${name}: ${person.clicks - since.clicks} clicks, ${person.fields - since.fields} fields, ${s} s`);
      Object.assign(since, { ms: performance.now(), clicks: person.clicks, fields: person.fields });
    };
    const click = (what: Locator) => person.click(what);
    const type = (field: Locator, text: string) => person.type(field, text);
    const dashboard = await printed(server, /listening on (http:[\w.:/]+)/);
    const code = fs.readFileSync(path.join(folder, "server/setup-code"), "utf8").trim();
    const page: Page = await browser.newPage();
    await page.goto(dashboard);
    await type(page.getByLabel("Set-up code"), code);
    await type(page.getByLabel("Name of the clinic"), "Kadıköy");
    await type(page.getByLabel("Name", { exact: true }), "Elif");
    await type(page.getByLabel("Password"), "correct horse battery");
    await click(page.getByRole("button", { name: "Set up" }));
    await page.getByRole("heading", { name: "First steps" }).waitFor();
    step("dashboard and clinic");

    await click(page.getByRole("link", { name: "Import a list" }));
    await page
      .locator('input[type="file"]')
      .setInputFiles({ name: "hastalar.csv", mimeType: "text/csv", buffer: LIST });
    await click(page.getByRole("button", { name: "See what would change" }));
    await click(page.getByRole("button", { name: `Import ${ANIMALS} animals` }));
    await page.getByText(new RegExp(`${ANIMALS} new, 0 changed`)).waitFor();
    step("animals");

    await click(page.getByRole("link", { name: "Devices", exact: true }));
    await click(page.getByRole("button", { name: "Add a clinic PC" }));
    const pairing = (await page.locator(".pairing-code").textContent()) ?? "";
    const pc = await browser.newPage();
    await pc.goto(await printed(agent, /"page":"(http:[^"]+)"/));
    await click(pc.getByRole("link", { name: "Set this agent up" }));
    await type(pc.getByLabel("Address of the dashboard").first(), dashboard);
    await type(pc.getByLabel("Code", { exact: true }), pairing);
    await click(pc.getByRole("button", { name: "Connect" }));
    await type(pc.getByLabel("Time zone of the clinic"), "Europe/Istanbul");
    await click(pc.getByRole("button", { name: "Go on" }));
    step("PC");

    await click(pc.getByLabel("Network: the device calls this PC"));
    const port = await pc.getByLabel("Port", { exact: true }).inputValue();
    await click(pc.getByRole("button", { name: "Listen" }));
    await pc.getByText("Send a result at the device now.").waitFor();
    await measure(port, "1", "20261128090000");
    await click(pc.getByRole("button", { name: "Use this device" }));
    await type(pc.getByLabel("Name", { exact: true }), "vetscan");
    await click(pc.getByRole("button", { name: "Save" }));
    await pc.getByText("Send the result at the device once more.").waitFor();
    expect(await measure(port, "1", "20261128090000")).toBe(true);
    await pc.getByText("The first result arrived:").waitFor();
    await click(pc.getByRole("button", { name: "Done" }));
    step("device");

    await click(page.getByRole("button", { name: "Close" }));
    await click(page.getByRole("link", { name: "Orders", exact: true }));
    await click(page.getByRole("button", { name: "Order tests" }));
    await type(page.getByLabel("Name, owner, phone or number"), "Şanslı 7");
    await click(page.getByRole("button", { name: /^Şanslı 7 / }));
    await type(page.getByRole("textbox", { name: "Tests" }), "ALT, GLU");
    await click(page.getByRole("button", { name: "Order", exact: true }));
    const label = page.getByRole("dialog", { name: /^Sample / });
    const accession = /Sample (\S+)/.exec((await label.getByRole("heading").textContent()) ?? "")?.[1] ?? "";
    await click(label.getByRole("button", { name: "Close" }));
    step("order");

    // A VetScan VS2 asks nothing: the nurse scans the label into its field for the patient.
    const orders = () =>
      readSpool(path.join(folder, "data"), (db) => db.prepare("SELECT accession FROM test_order").pluck().all());
    await until("the agent has the order", () => orders().includes(accession));
    expect(await measure(port, accession, "20261128091500")).toBe(true);
    await click(page.getByRole("link", { name: "Results", exact: true }));
    await click(page.getByRole("row").filter({ hasText: "Şanslı 7" }).getByRole("link").first());
    await page.getByRole("heading", { level: 1, name: /Şanslı 7/ }).waitFor();
    await page
      .getByRole("row", { name: /ALT.*143/ })
      .first()
      .waitFor();
    // The note of the match is folded.
    await page
      .getByText(new RegExp(`by accession ${accession}`))
      .first()
      .waitFor({ state: "attached" });
    const paper = await page.pdf();
    expect(paper.length).toBeGreaterThan(10_000);
    step("result");

    process.stderr.write(`${[...steps, `in all ${person.clicks} clicks, ${person.fields} fields`].join("\n")}\n`);
    expect(person.clicks).toBeLessThanOrEqual(CLICKS_MAX);
    await pc.close();
    await page.close();
  });
});
