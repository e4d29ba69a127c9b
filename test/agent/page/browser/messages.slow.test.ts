import fs from "node:fs";
import type { Browser } from "playwright-core";
import { describe, expect, test } from "vitest";
import {
  browserProblem,
  chooseLanguage,
  expectAccessible,
  expectFitsPhone,
  useBrowser,
} from "../../../support/peers/browser.ts";
import { hl7Result, send, settled, takingServer } from "../../../support/peers/local-page.ts";
import type { QualityRecord } from "../../../../shared/api/quality.ts";
import { readSpool } from "../../../../agent/spool/access.ts";
import { listDocuments } from "../../../../agent/spool/queries/studies/document-list.ts";
import { pdfOf } from "../../../support/clinic/pdf-file.ts";
import { freePort, temporaryFolder, until } from "../../../support/machine/processes.ts";
import { type TestAgent, useAgent } from "../../../support/peers/running-agent.ts";
import type { ScriptedRequest, Step } from "../../../support/peers/scripted-server.ts";

// Goal: a user sees each message with its bytes and what became of it, and a text of a device stays a text.

const HOSTILE = "<img src=x onerror=document.title='taken'>";

let agent: TestAgent;
let browser: Browser;

describe.skipIf(browserProblem() !== null)("messages in the agent's page", () => {
  useBrowser((shared) => {
    browser = shared;
  });
  useAgent((made) => {
    agent = made;
  });

  async function opened(...more: (readonly [string, string, string])[]) {
    const port = await freePort();
    const connection = { listen: `127.0.0.1:${port}` };
    await agent.run([{ id: "hema-1", profile: "generic-hl7", connection }], takingServer);
    // A message that comes before the clinic's patients is filed again when they come, and the change would be stored unseen.
    await until("the clinic's patients", () => agent.status().directory.fetched_at);
    await send(port, hl7Result(HOSTILE, [["XYZ^Own test", "5.1", "mmol/L"], ...more]));
    await settled(agent, 1);
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${agent.host.port}/messages`);
    return page;
  }

  test("a message shows its bytes, its Report and its study, and a hostile name stays a text", async () => {
    const page = await opened(["6690-2^WBC^LN", "9.81*", "10*9/L"]);
    await page.getByRole("cell", { name: "patient not known" }).waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await page.getByRole("rowheader").getByRole("link").click();
    const raw = page.getByRole("region", { name: "What the device sent" });
    await expect.poll(() => raw.textContent()).toContain("MSH|^~\\&|HEMA-1");
    await expect.poll(() => raw.textContent()).toContain("<CR>\nPID|1||4711^^^^MR||<0x3C>img src=x onerror=");
    await page.getByRole("button", { name: "Bytes (hex)" }).click();
    await expect.poll(() => raw.textContent()).toContain("4D 53 48 7C");
    await page.getByRole("definition").filter({ hasText: HOSTILE }).waitFor();
    const studies = page.getByRole("region", { name: /^What was filed/ });
    await studies.getByRole("rowheader", { name: "XYZ" }).waitFor();
    const [filedAt, bytesAt] = [await studies.boundingBox(), await raw.boundingBox()];
    expect(filedAt?.y, "values come before bytes").toBeLessThan(bytesAt?.y ?? 0);
    await page.getByText("waits for the server").waitFor({ state: "detached" });
    await page.getByText("Way of this message").click();
    await expect
      .poll(() => page.getByRole("region", { name: "Way of this message" }).textContent())
      .toContain("unmapped");
    await expect.poll(() => page.title()).toBe("Vetwire agent");
    expect(await page.locator("img").count()).toBe(0);
    await expectAccessible(page);
    await expectFitsPhone(page);
    await chooseLanguage(page, "tr");
    await page.getByRole("heading", { name: "Okunan" }).waitFor();
    const filed = page.getByRole("region", { name: "Kaydedilen" });
    await filed.getByRole("row", { name: /WBC Lökosit\s+9\.81\*?\s+×10⁹\/L/ }).waitFor();
    await filed.getByText("şüpheli: cihaz değeri * ile işaretliyor").waitFor();
    await page.getByText("bilinmeyen kod: XYZ").first().waitFor();
    await page.close();
  });

  test("a control shows level, lot and values, and whether the server has it", async () => {
    const port = await freePort();
    let isAway = true;
    const respond = (request: ScriptedRequest): Step => {
      if (request.url !== "/agent/v1/quality") return takingServer(request);
      if (isAway) return { status: 503 };
      const { records } = request.body as { readonly records: readonly QualityRecord[] };
      return { status: 200, body: { outcomes: records.map(({ fp }) => ({ fp, outcome: "stored", reason: null })) } };
    };
    const device = { id: "hema-1", profile: "generic-hl7", connection: { listen: `127.0.0.1:${port}` } };
    await agent.run([device], respond);
    await send(port, hl7Result("QC1", [["6690-2^WBC^LN", "9.81", "10*9/L"]]).replace("4711^^^^MR", "QC1"));
    await settled(agent, 1);
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${agent.host.port}/outbox`);
    await page.getByText("1 record of controls and devices waits for the server.").waitFor();
    await page.goto(`http://127.0.0.1:${agent.host.port}/messages`);
    await page.getByRole("cell", { name: "not for a patient", exact: true }).waitFor();
    await page.getByRole("rowheader").getByRole("link").click();
    const control = page.getByRole("region", { name: "Control material", exact: true });
    await control.getByText("waits for the server").waitFor();
    await control.getByRole("row", { name: /^WBC\s+9\.81\s+×10⁹\/L/ }).waitFor();
    await control.getByRole("definition").filter({ hasText: /^1$/ }).waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    isAway = false;
    await until("the server has the control", () => agent.status().outbox.quality === 0);
    await page.reload();
    await expect.poll(() => control.textContent()).toContain("the server has it");
    await chooseLanguage(page, "tr");
    await page.getByRole("region", { name: "Kontrol materyali", exact: true }).getByText("sunucuda").waitFor();
    await expectAccessible(page);
    await page.close();
  });

  test("the PDF beside results shows its text and its study, and is saved as it was", async () => {
    const folder = temporaryFolder();
    await agent.run([{ id: "chem-files", profile: "abaxis-vetscan-vs2-csv", connection: { folder } }], takingServer);
    fs.writeFileSync(`${folder}/run-7.csv`, "Date;Patient no.;Customer no.;ALT;\n20/11/2026 9:30 a.m.;4711;;41;U/L\n");
    fs.writeFileSync(`${folder}/run-7.pdf`, pdfOf("Zeytin, lipemic"));
    const placed = () => readSpool(`${agent.folder}/data`, (db) => listDocuments(db)).find((each) => each.study_fps[0]);
    const { id } = await until("the document has its study", placed);
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${agent.host.port}/messages/${id}`);
    await expect.poll(() => page.getByRole("region", { name: "Document" }).textContent()).toBe("Zeytin, lipemic");
    await page.getByRole("region", { name: "What was filed" }).getByRole("rowheader", { name: "ALT" }).waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Save the document" }).click();
    const saved = await download;
    expect(saved.suggestedFilename()).toBe("run-7.pdf");
    expect(fs.readFileSync(await saved.path())).toEqual(pdfOf("Zeytin, lipemic"));
    await chooseLanguage(page, "tr");
    await page.getByRole("heading", { name: "Belge" }).waitFor();
    await page.close();
    fs.rmSync(folder, { recursive: true });
  });

  test("a message is saved as a file without its names", async () => {
    const page = await opened();
    await page.getByRole("rowheader").getByRole("link").click();
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Save as a file for support" }).click();
    const text = fs.readFileSync(await (await download).path(), "latin1");
    expect(text).toContain("MSH|^~\\&|HEMA-1");
    expect(text).not.toContain("onerror");
    await page.getByText("read the file before you give it away").waitFor();
    await page.close();
  });

  test("a message is processed again after a code was mapped, and the difference is shown first", async () => {
    const page = await opened();
    const settings = JSON.parse(agent.host.text() ?? "") as { devices: object[] };
    const mapTo = async (analyte: string) => {
      const devices = settings.devices.map((device) => ({ ...device, codes: { XYZ: analyte } }));
      expect(await agent.host.apply(JSON.stringify({ ...settings, devices }))).toEqual({ outcome: "applied" });
    };
    await mapTo("CHOL");
    await page.getByRole("rowheader").getByRole("link").click();
    await page.getByRole("button", { name: "Process again" }).click();
    const difference = page.getByRole("region", { name: "Process this message again" });
    await expect.poll(() => difference.textContent()).toMatch(/\+ CHOL {2}5\.1/);
    // Another user maps the code elsewhere: what is stored is what was shown, or nothing.
    const loaded = page.waitForResponse(/\/local\/v1\/messages\/[^/]+$/);
    await mapTo("GLU");
    await (await loaded).finished();
    await page.getByRole("button", { name: "Store the change" }).click();
    await page.getByText("the message changed meanwhile: look at the difference again").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Try again" }).click();
    await expect.poll(() => difference.textContent()).toMatch(/- XYZ {2}5\.1.*\n\+ GLU {2}5\.1/s);
    expect(agent.status().outbox.depth).toBe(0);
    await expectAccessible(page);
    const unseen = await fetch(`${page.url().replace("/messages/", "/local/v1/messages/")}/reprocessing`, {
      method: "POST",
      body: JSON.stringify({ diff: ["+ GLU"] }),
      headers: { "content-type": "application/json" },
    });
    expect([unseen.status, agent.status().outbox.depth]).toEqual([409, 0]);
    await page.getByRole("button", { name: "Store the change" }).click();
    await page.getByText("Stored. The agent sends it").waitFor();
    await page.getByRole("button", { name: "Close" }).click();
    await page.getByRole("region", { name: "What was filed" }).getByRole("rowheader", { name: "GLU" }).waitFor();
    await page.close();
  });

  test("the list is filtered by device and state, with a sentence if nothing fits", async () => {
    const page = await opened();
    await page.getByRole("group", { name: "State" }).getByRole("button", { name: "filed" }).click();
    await page.getByText("No message fits").waitFor();
    expect(new URL(page.url()).search).toBe("?state=filed");
    await page.goBack();
    await page.getByRole("cell", { name: "patient not known" }).waitFor();
    await page.close();
  });
});
