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
import { freePort } from "../../../support/machine/processes.ts";
import { type ScriptedRequest, scriptedServer, type Step } from "../../../support/peers/scripted-server.ts";
import { emptyServer, type TestAgent, useAgent } from "../../../support/peers/running-agent.ts";

// Goal: a user sees what waits for the server, maps an unknown code, and reads the log.

let agent: TestAgent;
let browser: Browser;

describe.skipIf(browserProblem() !== null)("the queue, the codes and the log in the agent's page", () => {
  useBrowser((shared) => {
    browser = shared;
  });
  useAgent((made) => {
    agent = made;
  });

  async function opened(path: string, respond = takingServer) {
    const port = await freePort();
    await agent.run([{ id: "hema-1", profile: "generic-hl7", connection: { listen: `127.0.0.1:${port}` } }], respond);
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${agent.host.port}${path}`);
    return { page, port };
  }

  test("a result that the server does not take waits in the list, with the reason", async () => {
    const { page, port } = await opened("/outbox", (request) =>
      request.url.startsWith("/agent/v1/studies") ? { status: 401 } : emptyServer(request),
    );
    await page.getByText("Every result is sent").waitFor();
    await send(port, hl7Result("Zeytin"));
    await page.getByText("1 result waits for the server.").waitFor();
    await page.getByRole("cell", { name: "Hematology" }).waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await page.getByRole("link", { name: /^Message …/ }).click();
    await page.getByRole("region", { name: "What was filed" }).waitFor();
    expect(page.url()).toContain("/messages/");
    await page.close();
  });

  test("a destination shows its fault and what it refused, which is sent again", async () => {
    const refused = {
      ...{ delivery_id: 7, study_fp: "cds_01K9TEST000000000000000001", at: "2026-11-21T10:00:00.000Z" },
      ...{ code: "AR", text: "204 Unknown key identifier" },
    };
    let [parked, isAway] = [[refused], false];
    const respond = (request: ScriptedRequest): Step => {
      if (!request.url.startsWith("/agent/v1/destinations")) return emptyServer(request);
      if (isAway && request.url.endsWith("/again")) return { status: 503 };
      if (request.url.endsWith("/next")) return { status: 200, body: { delivery: null, wait_s: 5 } };
      if (request.url.endsWith("/again")) parked = [];
      return { status: 200, body: { destinations: [{ id: "pims", waiting: 2, parked }] } };
    };
    const server = await scriptedServer(respond);
    agent.resources.push(server);
    const destinations = [{ id: "pims", kind: "hl7", dial: `127.0.0.1:${await freePort()}` }];
    await agent.runWith(server.url, [], undefined, { destinations });
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${agent.host.port}/outbox`);
    await page.getByText("1 result was refused.").waitFor();
    await page.getByRole("cell", { name: /the receiver refused it \(AR\), "204 Unknown key identifier"/ }).waitFor();
    await page.getByText("2 results wait.").waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await chooseLanguage(page, "tr");
    await page.getByText("1 sonuç reddedildi.").waitFor();
    isAway = true;
    await page.getByRole("button", { name: "Yeniden gönder" }).click();
    const fault = page.getByRole("alert").filter({ hasText: "Şu anda yeniden gönderilemiyor" });
    await fault.getByText("sunucu 503 yanıtını verdi (TEST.ERROR)", { exact: true }).waitFor();
    isAway = false;
    await page.getByRole("button", { name: "Yeniden gönder" }).click();
    await page.getByText("1 sonuç reddedildi.").waitFor({ state: "detached" });
    expect(server.requests.findLast(({ url }) => url.endsWith("/again"))?.body).toEqual({ delivery_ids: [7] });
    await page.close();
  });

  test("an unknown code is mapped, and the configuration keeps the rest", async () => {
    const { page, port } = await opened("/codes");
    await page.getByText("No unknown code").waitFor();
    await send(port, hl7Result("Zeytin", [["XYZ^<b>Own</b> test", "5.1", "mmol/L"]]));
    await settled(agent, 1);
    await page.getByRole("button", { name: "Map XYZ" }).click();
    // Another user changes the configuration meanwhile: it is not changed unseen, and the typed analyte stays.
    await page.getByLabel("Analyte").fill("GLU");
    expect(await agent.host.apply(`${agent.host.text()}\n# by another user\n`)).toEqual({ outcome: "applied" });
    await send(port, hl7Result("Zeytin", [["ABC^Other test", "5.1", "mmol/L"]]));
    await page.getByText("Map ABC").waitFor();
    await page.getByRole("button", { name: "Apply" }).click();
    await page.getByText("the file changed meanwhile").waitFor();
    expect(await page.getByLabel("Analyte").inputValue()).toBe("GLU");
    await page.getByRole("button", { name: "Close" }).click();
    await page.getByRole("button", { name: "Map XYZ" }).click();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await page.getByLabel("Analyte").fill("GLUU");
    await page.getByRole("button", { name: "Apply" }).click();
    await page.getByText("Not applied.").waitFor();
    await page.getByLabel("Analyte").fill("GLU");
    await page.getByRole("button", { name: "Apply" }).click();
    await page.getByText("Applied. New results have the analyte.").waitFor();
    expect(agent.host.agent?.config.devices[0]?.codes).toEqual({ XYZ: "GLU" });
    await page.getByRole("button", { name: "Close" }).click();
    await page.getByRole("cell", { name: "GLU" }).waitFor();
    await page.close();
  });

  test("the log shows its lines and only the faults on request", async () => {
    const { page } = await opened("/log");
    await page.getByText("No line").waitFor();
    const at = "2026-11-23T10:00:00.000Z";
    agent.host.recentLog.add(JSON.stringify({ level: 30, time: at, msg: "the agent is running", devices: 1 }));
    agent.host.recentLog.add(JSON.stringify({ level: 50, time: at, msg: "studies <i>cannot</i> be sent" }));
    await page.getByText("devices 1").waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await page.getByLabel("Faults only").check();
    await page.getByText("devices 1").waitFor({ state: "detached" });
    await expect.poll(() => page.getByText("studies <i>cannot</i> be sent").count()).toBe(1);
    await chooseLanguage(page, "tr");
    await page.getByRole("heading", { name: "Günlük" }).waitFor();
    await page.close();
  });
});
