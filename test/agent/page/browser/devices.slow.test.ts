import path from "node:path";
import type { Browser } from "playwright-core";
import { describe, expect, test } from "vitest";
import {
  browserProblem,
  chooseLanguage,
  expectAccessible,
  expectFitsPhone,
  useBrowser,
} from "../../../support/peers/browser.ts";
import { OwnProfiles } from "../../../../agent/devices/own/own-profiles.ts";
import { readProfileText } from "../../../../agent/devices/table/load.ts";
import { readSpool } from "../../../../agent/spool/access.ts";
import { hl7Result, send, settled, takingServer } from "../../../support/peers/local-page.ts";
import { freePort, until } from "../../../support/machine/processes.ts";
import { type TestAgent, useAgent } from "../../../support/peers/running-agent.ts";

let agent: TestAgent;
let browser: Browser;

describe.skipIf(browserProblem() !== null)("the agent's page in a browser", () => {
  useBrowser((shared) => {
    browser = shared;
  });
  useAgent((made) => {
    agent = made;
  });

  test("each device has a card with its problem and remedy", async () => {
    const [port, closed] = [await freePort(), await freePort()];
    await agent.run([
      { id: "chem-1", connection: { listen: `127.0.0.1:${port}` } },
      { id: "blood-1", connection: { dial: `127.0.0.1:${closed}` } },
    ]);
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${agent.host.port}/`);
    await page.getByRole("heading", { name: "chem-1" }).waitFor();
    await page.getByText(`refused by 127.0.0.1:${closed}: switch the device on`).waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await chooseLanguage(page, "tr");
    await page.getByRole("heading", { name: "Cihazlar" }).waitFor();
    await page.getByText(`127.0.0.1:${closed} bağlantıyı reddetti: cihazı açın`).waitFor();
    await expect.poll(() => page.title()).toBe("Vetwire agent");
    await page.close();
  });

  /** An HL7 device at a free port, and the page that shows it. */
  async function withDevice(more: object = {}) {
    const port = await freePort();
    const device = { id: "hema-1", profile: "generic-hl7", connection: { listen: `127.0.0.1:${port}` }, ...more };
    await agent.run([device], takingServer);
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${agent.host.port}/`);
    await page.getByRole("heading", { name: "hema-1" }).waitFor();
    return { page, port };
  }

  test("the bytes of a device appear while they arrive, with the agent's replies", async () => {
    const { page, port } = await withDevice();
    await page.getByText(`Set the device to send to this PC, 127.0.0.1:${port}`).waitFor();
    // Bytes that came before the stream are in the messages alone.
    const stream = page.waitForResponse("**/devices/hema-1/bytes");
    await page.getByRole("button", { name: "Show live bytes" }).click();
    await stream;
    await page.getByText("Waiting for bytes").waitFor();
    await send(port, hl7Result("Zeytin"));
    const live = page.getByRole("region", { name: "Live bytes of hema-1" });
    await expect
      .poll(() => live.textContent())
      .toMatch(/→ device {2}<VT>MSH\|.*PID\|1\|\|4711.*← agent {2}<VT>MSH\|.*MSA\|AA/s);
    await page.getByText("1 received, 1 to place").waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await page.getByRole("link", { name: "Messages of hema-1" }).click();
    await page.getByRole("cell", { name: "patient not known" }).waitFor();
    await page.close();
  });

  test("a device of another protocol is named, with its bytes", async () => {
    const { page, port } = await withDevice();
    await send(port, "H|\\^&|||A\rP|1||4711||Zeytin\rL|1|N\r");
    await page.getByText("The agent does not understand it").waitFor();
    await page.getByText(/They look like LIS02 records without frames, but the profile is generic-hl7/).waitFor();
    await page.getByRole("link", { name: "Devices 1 needs you" }).waitFor();
    await page.getByText("Its bytes").click();
    await expect
      .poll(() => page.getByRole("region", { name: "Bytes of hema-1" }).textContent())
      .toContain("48 7C 5C 5E");
    await expectAccessible(page);
    await chooseLanguage(page, "tr");
    await page.getByText(/çerçevesiz LIS02 kayıtları gibi görünüyor, ancak profil generic-hl7/).waitFor();
    await page.close();
  });

  test("what needs a person comes first: a faulty device before a working one, and a message that was not read", async () => {
    const [silent, foreign] = [await freePort(), await freePort()];
    const device = (id: string, port: number) => ({
      ...{ id, profile: "generic-hl7", connection: { listen: `127.0.0.1:${port}` } },
    });
    await agent.run([device("hema-1", silent), device("hema-2", foreign)], takingServer);
    await send(foreign, "H|\\^&|||A\rP|1||4711||Zeytin\rL|1|N\r");
    const admission = "MSH|^~\\&|HEMA-1|Vendor|||20261121113100||ADT^A01|1|P|2.3.1\rEVN|A01\r";
    await send(silent, `\x0b${admission}\x1c\r`);
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${agent.host.port}/`);
    await page.getByText("2 devices. 1 needs you.").waitFor();
    await expect
      .poll(() => page.getByRole("article").getByRole("heading").allTextContents())
      .toEqual(["hema-2", "hema-1"]);
    await page.getByRole("link", { name: "Messages 1 not readable" }).waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    const needs = page.getByRole("list", { name: "What needs you" });
    await needs.getByRole("link", { name: "1 message is not readable" }).click();
    await page.getByRole("cell", { name: 'message type "ADT^A01" is not taken' }).waitFor();
    await chooseLanguage(page, "tr");
    await page.getByRole("cell", { name: '"ADT^A01" türünde ileti alınmıyor' }).waitFor();
    await page.getByRole("rowheader").getByRole("link").click();
    await page.getByRole("region", { name: "Cihazın gönderdiği" }).waitFor();
    await expectAccessible(page);
    await page.close();
  });

  test("a caller outside the allow list is named", async () => {
    const { page, port } = await withDevice({ allow: ["192.0.2.7"] });
    await send(port, hl7Result("Zeytin"));
    await page.getByText("127.0.0.1: 1 time,").waitFor();
    await expect.poll(() => page.getByText("0 received").count()).toBe(1);
    await expectAccessible(page);
    await page.close();
  });

  test("a device that sent is connected, and ready after it has left", async () => {
    const { page, port } = await withDevice();
    const socket = await send(port, hl7Result("Zeytin"));
    await settled(agent, 1);
    await page.getByText("Connected", { exact: true }).waitFor();
    socket.destroy();
    await page.getByText("The device connects when it has a result.").waitFor();
    await expect.poll(() => page.getByText("1 received").count()).toBe(1);
    await page.close();
  });

  test("a newer revision of an own profile shows what it changes, is adopted by a click, and the messages are read again", async () => {
    const own = new OwnProfiles(path.join(agent.folder, "data"));
    const formOf = (more: string) => {
      const read = readProfileText(
        `schema: 1\nprofile: own/acme-x1\nrevision: 1\nextends: generic-hl7@1\ndevice: { name: Acme }\n${more}`,
        "x.yaml",
      );
      if ("problems" in read) throw new Error(JSON.stringify(read.problems));
      return read.form;
    };
    own.save(formOf(""));
    const { page, port } = await withDevice({ profile: "own/acme-x1@1" });
    // A message that comes before the clinic's patients is filed again when they come, and the difference would be an older one.
    await until("the clinic's patients", () => agent.status().directory.fetched_at);
    await send(
      port,
      hl7Result("Zeytin", [
        ["WBC", "9.81", "10*9/L"],
        ["PLT", "210", "10*9/L"],
      ]),
    );
    await settled(agent, 1);
    own.save(formOf("rows: [{ as: remark, when: { OBX-3: '^PLT' } }]\n"));
    await page.reload();
    await page.getByText("own/acme-x1@2 is stored and not used yet.").waitFor();
    await page.getByRole("button", { name: "See what it changes" }).click();
    await page.getByText("1 of 1 message would change.").waitFor();
    await page.getByText("Rows: 0 new, 0 changed, 1 lost.").waitFor();
    await page.getByText(/^-\s+PLT/).waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    expect(agent.host.text()).toContain("own/acme-x1@1");
    await page.getByRole("button", { name: "Use own/acme-x1@2 and store this" }).click();
    await page.getByText("own/acme-x1@2 is used from now on. 1 message was read again.").waitFor();
    expect(agent.host.text()).toContain("own/acme-x1@2");
    const bodies = readSpool(path.join(agent.folder, "data"), (db) =>
      db.prepare("SELECT body FROM study ORDER BY revision DESC").pluck().all(),
    ) as string[];
    const latest = JSON.parse(bodies[0] ?? "") as { source: { profile: string }; results: { analyte: string }[] };
    expect([latest.source.profile, latest.results.map(({ analyte }) => analyte)]).toEqual(["own/acme-x1@2", ["WBC"]]);
    // The difference that was seen is gone: the same click a second time is refused.
    const again = await page.request.post(`http://127.0.0.1:${agent.host.port}/local/v1/devices/hema-1/adoption`, {
      data: { to: "own/acme-x1@2", seen: "", mark: "" },
    });
    expect(again.status()).toBe(409);
    await page.close();
  });
});
