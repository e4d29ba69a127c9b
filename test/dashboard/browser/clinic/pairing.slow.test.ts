import { execFile } from "node:child_process";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import { promisify } from "node:util";
import { strToU8, zipSync } from "fflate";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import type { DevicesBody } from "../../../../server/dashboard/types/devices/devices.ts";
import { newFp } from "../../../../shared/api/fp.ts";
import {
  browserProblem,
  chooseLanguage,
  expectAccessible,
  expectFitsPhone,
  sharedBrowser,
} from "../../../support/peers/browser.ts";
import { patiently } from "../../../support/runner/patience.ts";
import { AGENT, freePort, until } from "../../../support/machine/processes.ts";
import { TestAgent } from "../../../support/peers/running-agent.ts";
import { clinic } from "../../../server/harness.ts";
import { makeUser, startDashboard } from "../../harness.ts";

// Method: an admin in a real browser, `agent pair` as a real process, and a real agent.

const problem = browserProblem();
if (problem !== null) process.stderr.write(`pairing is not tested in a browser: ${problem}\n`);

const run = promisify(execFile);

async function startClinic() {
  const fp = newFp("clinic");
  const dashboard = await startDashboard(clinic(fp));
  Object.defineProperty(dashboard.clock, "now", { get: () => Date.now() });
  return { ...dashboard, fp };
}

/** Runs the command that the page shows. */
async function pairAsShown(page: Page, keyFile: string, name: string): Promise<string> {
  const command = (await page.getByRole("region", { name: "Command" }).textContent()) ?? "";
  const [program, agent, ...words] = command.split(" ");
  expect([program, agent]).toEqual(["vetwire", "agent"]);
  const { stdout } = await run(process.execPath, [AGENT, ...words, "--key-file", keyFile, "--name", name]);
  return stdout;
}

describe.skipIf(problem !== null)("in a browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    vi.stubEnv("VETWIRE_HURRY", "10");
    browser = await sharedBrowser();
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
  });

  test("an admin shows a code, the PC pairs with it and appears, and the admin ends its access", async () => {
    const { openAs, fp, url, get } = await startClinic();
    const page = await openAs(browser, "admin", fp, "/devices");
    await page.getByRole("heading", { name: "No clinic PC is connected" }).waitFor();
    await page.getByRole("button", { name: "Add a clinic PC" }).click();
    await page.getByText("The code works once, for 15 more minutes.").waitFor();
    const code = await page.locator(".pairing-code").textContent();
    expect(code).toMatch(/^[0-9A-Z]{4}(-[0-9A-Z]{4}){2}$/);
    await expectAccessible(page);
    await expectFitsPhone(page);
    const agent = new TestAgent();
    onTestFinished(() => agent.close());
    const keyFile = path.join(agent.folder, "agent.key");
    expect(await pairAsShown(page, keyFile, "Lab PC")).toContain(`paired with A clinic (${fp}) at ${url}`);
    await page.getByText("The PC “Lab PC” is connected to this clinic.").waitFor();
    await page.getByRole("button", { name: "Close" }).click();
    await page.getByRole("heading", { name: "Lab PC" }).waitFor();
    await page.getByText("This PC has access, and has not told of itself yet.").waitFor();

    await agent.runWith(url, [{ id: "chem-1", connection: { listen: `127.0.0.1:${await freePort()}` } }]);
    await page.getByText("Running", { exact: true }).waitFor();
    await expectAccessible(page);

    await page.getByRole("button", { name: "End access" }).click();
    await page.getByRole("heading", { name: "End the access of “Lab PC”?" }).waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "End access now" }).click();
    await page.getByText("No access", { exact: true }).waitFor();
    const key = fs.readFileSync(keyFile, "utf8").trim();
    await until("the key ends", async () => (await get(key, "/agent/v1/ranges")).status === 401, patiently(1000));
    await expect.poll(() => page.getByRole("button", { name: "End access" }).count()).toBe(0);
    await chooseLanguage(page, "tr");
    await page.getByText("Erişimi yok").waitFor();
    await page.getByRole("button", { name: "Klinik bilgisayarı ekle" }).click();
    await page.getByText("Kod bir kez ve 15 dakika daha geçerli.").waitFor();
    await expectFitsPhone(page);
  });

  test(
    "an admin edits devices: a faulty line comes back with its reason, the corrected one runs",
    async () => {
      const { openAs, fp, url, makeFreshKey, ...server } = await startClinic();
      const [first, second] = [await freePort(), await freePort()];
      const agent = new TestAgent();
      onTestFinished(() => agent.close());
      const permissions = ["clinic.lab.ingest", "clinic.patient.view", "clinic.calendar.view"] as const;
      const key = await makeFreshKey(fp, [...permissions], { name: "Lab PC", type: "device" });
      fs.writeFileSync(path.join(agent.folder, "agent.key"), key);
      const devices = [{ id: "chem-1", connection: { listen: `127.0.0.1:${first}` } }];
      await agent.runWith(url, devices);
      const page = await openAs(browser, "admin", fp, "/devices");
      await page.getByRole("button", { name: "Edit devices" }).click();
      const field = page.getByLabel("Devices", { exact: true });
      await page.getByText("The PC works with these devices.").waitFor();
      const text = await field.inputValue();
      expect(text).toContain(`listen: 127.0.0.1:${first}`);
      await expectAccessible(page);
      await expectFitsPhone(page);

      const more = `- id: chem-2\n  profile: generic-astmm\n  connection:\n    listen: 127.0.0.1:${second}\n`;
      // The PC is off: else it may fetch them before the page says that it will.
      await agent.stop();
      // The field follows another admin until something is typed. What is typed then stays, and replaces no text that was not seen.
      const colleague = await makeUser(server, "admin", fp);
      const { agents } = (await colleague.call<DevicesBody>("GET", "/devices")).body;
      const store = async (stored: string, edited: string) => {
        const loaded = page.waitForResponse(
          (answer) => answer.url().endsWith("/devices") && answer.request().method() === "GET",
        );
        const { status } = await colleague.call("PUT", `/agents/${agents[0]?.fp}/devices`, { devices: stored, edited });
        expect(status).toBe(200);
        await (await loaded).finished();
      };
      await store(`# Lab\n${text}`, text);
      await expect.poll(() => field.inputValue()).toBe(`# Lab\n${text}`);
      await field.fill(text + more);
      await store(text, `# Lab\n${text}`);
      await page.getByRole("button", { name: "Save and send to the PC" }).click();
      await page.getByText("The devices changed meanwhile").waitFor();
      expect(await field.inputValue()).toBe(text + more);
      await page.getByRole("button", { name: "Close" }).click();
      await page.getByRole("button", { name: "Edit devices" }).click();
      await expect.poll(() => field.inputValue()).toBe(text);
      await field.fill(text + more);
      await page.getByRole("button", { name: "Save and send to the PC" }).click();
      await page.getByText("Saved. The PC fetches the devices").first().waitFor();
      await agent.runWith(url, devices);
      const line = text.split("\n").length + 1;
      await page.getByRole("button", { name: `Line ${line}` }).waitFor();
      await page.getByText("generic-astmm").last().waitFor();
      await expectAccessible(page);
      await page.getByRole("button", { name: `Line ${line}` }).click();
      await expect.poll(() => page.evaluate("getSelection().toString()")).toContain("profile: generic-astmm");
      await page.getByRole("button", { name: "Close" }).click();
      await page.getByText("This PC refused the devices that were saved here").waitFor();

      await page.getByRole("button", { name: "Edit devices" }).click();
      const own = "schema: 1\nprofile: own/acme-x1\nrevision: 3\nextends: generic-astm@1\ndevice: { name: Acme X1 }\n";
      const buffer = Buffer.from(zipSync({ "profile.yaml": strToU8(own) }));
      const file = { name: "acme-x1@3.vetwire-profile", mimeType: "application/zip", buffer };
      const adding = page.getByLabel("Add a profile of your own");
      await adding.setInputFiles({ ...file, buffer: Buffer.from("PK nothing") });
      await page.getByText("The file is no profile of a clinic").waitFor();
      await adding.setInputFiles(file);
      await page.getByText("own/acme-x1@3 is stored. Name it in a device above.").waitFor();
      await expectAccessible(page);
      await expectFitsPhone(page);
      await field.fill((text + more).replace("generic-astmm", "own/acme-x1@3"));
      await page.getByRole("button", { name: "Save and send to the PC" }).click();
      await page.getByText("The PC works with these devices.").waitFor();
      await page.getByRole("button", { name: "Close" }).click();
      await page.getByRole("article").filter({ hasText: "chem-2" }).waitFor();
      const socket = net.connect(second, "127.0.0.1");
      await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
      socket.destroy();
      const stored = path.join(agent.folder, "data/profiles/own/acme-x1/3.yaml");
      expect(fs.readFileSync(stored, "utf8")).toContain("name: Acme X1");
    },
    patiently(90_000),
  );
});
