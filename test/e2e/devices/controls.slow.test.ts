import fs from "node:fs";
import path from "node:path";
import type { Browser, Page } from "playwright-core";
import { describe, expect, onTestFinished, test } from "vitest";
import type { QualityBody } from "../../../server/dashboard/types/quality.ts";
import type { UnmatchedList } from "../../../server/dashboard/types/results/unmatched.ts";
import { makeUser, startDashboard } from "../../dashboard/harness.ts";
import { clinic, connection, keyPermissions, patient } from "../../server/harness.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { browserProblem, expectAccessible, pressEnter, useBrowser } from "../../support/peers/browser.ts";
import { fixturesFolder } from "../../support/runner/fixtures.ts";
import { AGENT, freePort, runAgentCommand, start, temporaryFolder, until } from "../../support/machine/processes.ts";

// Goal: controls of a chemistry analyzer, of a counter with three levels and of a meter without a cable end in charts, and no program
// reads one as a patient's result. Method: a server with a port, processes of agent and simulator, sockets, and a browser.

/** Some hours after the recordings were made. */
const NOW = Date.parse("2026-11-21T12:00:00.000Z");
const ours = newFp("clinic");

describe.skipIf(browserProblem() !== null)("controls of three devices", () => {
  let browser: Browser;
  useBrowser((started) => {
    browser = started;
  });

  test("end in charts, and none is a result of a patient", async () => {
    // An animal has the number that the operator typed for the control.
    const dog = patient({ external_ids: ["QC1", "LOT-26N"] });
    const server = await startDashboard([clinic(ours), dog], [connection(dog.fp, ours)]);
    server.clock.now = NOW;
    const key = await server.makeKey(ours, keyPermissions);
    const { simulate } = await startAgent(server.url, key);
    const staff = await makeUser(server, "staff", ours);
    const page = await server.openAs(browser, "admin", ours, "/quality");
    await page.getByRole("heading", { name: "No control has been run yet" }).waitFor();

    simulate("chem-1", "abaxis-vetscan-vs2/qc-cartridge.astm");
    simulate("cbc-1", "mindray-bc/three-levels.hl7");
    const analytes = async () =>
      (await staff.call<QualityBody>("GET", "/quality")).body.devices.flatMap(({ series }) =>
        series.map(({ analyte, level }) => `${analyte} ${level}`),
      );
    await until("the counter has five analytes of three levels, the rotor four values", async () => {
      return (await analytes()).length === 19;
    });

    await page.goto(`${server.url}/dashboard/quality`);
    await press(page, "Answer: QC1 of Abaxis VetScan VS2");
    await page.getByRole("dialog").getByLabel("Lot").fill("C2207");
    await press(page, "Save the answer");
    await until("the control of the rotor is named", async () => (await analytes()).includes("CREA 1"));
    await page.goto(`${server.url}/dashboard/quality?device=chem-1&analyte=CREA`);
    await chartOf(page, /^CREA, .*, level 1/);

    await page.goto(`${server.url}/dashboard/quality?device=cbc-1&analyte=HGB`);
    for (const level of ["L", "N", "H"]) {
      await page.getByRole("button", { name: `Level ${level}` }).click();
      await chartOf(page, new RegExp(`^HGB, .*, level ${level}`));
    }
    await expectAccessible(page);

    await press(page, "Type a control");
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Device", { exact: true }).selectOption("");
    await dialog.getByLabel("Its name").fill("glucose meter");
    await dialog.getByLabel("Level").fill("1");
    await dialog.getByLabel("Lot").fill("M7");
    await dialog.getByLabel("Measured at").fill("2026-11-20T09:00");
    await page.getByLabel("Add an analyte").selectOption("GLU");
    await page.getByRole("textbox", { name: "GLU, Glucose" }).fill("101");
    await page.getByLabel("Unit of GLU").selectOption("mg/dL");
    await press(page, "Save the control");
    await dialog.waitFor({ state: "detached" });
    // The closed dialog has a field of this name until the page is drawn again.
    await page.getByRole("search").getByLabel("Device", { exact: true }).selectOption("glucose meter");
    await chartOf(page, /^GLU, .*, level 1/);

    const studies = await server.get(key, "/api/v1/lab/diagnostics");
    expect(studies.body.data.items).toEqual([]);
    const { waiting, rejected } = (await staff.call<UnmatchedList>("GET", "/unmatched")).body;
    expect([waiting, rejected]).toEqual([0, 0]);
  });
});

/** Starts the process of an agent with a chemistry analyzer and a counter. */
async function startAgent(url: string, key: string) {
  const [folder, chem, cbc] = [temporaryFolder(), await freePort(), await freePort()];
  const ports: Record<string, number> = { "chem-1": chem, "cbc-1": cbc };
  fs.writeFileSync(path.join(folder, "agent.key"), key, { mode: 0o600 });
  const device = (id: string, profile: string) => ({ id, profile, connection: { listen: `127.0.0.1:${ports[id]}` } });
  const devices = [device("chem-1", "abaxis-vetscan-vs2"), device("cbc-1", "mindray-bc")];
  const config = path.join(folder, "agent.yaml");
  const server = { url, keyFile: "./agent.key" };
  fs.writeFileSync(config, JSON.stringify({ server, data: "./agent", timeZone: "Europe/Istanbul", devices }));
  const agent = start(AGENT, ["run", "--config", config]);
  onTestFinished(async () => {
    await agent.end();
    fs.rmSync(folder, { recursive: true });
  });
  await until("the agent runs", () => agent.output().includes("the agent is running"));
  return {
    simulate: (id: string, fixture: string) =>
      runAgentCommand("simulate", path.join(fixturesFolder, fixture), "--to", `tcp://127.0.0.1:${ports[id]}`),
  };
}

async function press(page: Page, name: string): Promise<void> {
  await pressEnter(page.getByRole("button", { name, exact: true }));
}

async function chartOf(page: Page, title: RegExp): Promise<void> {
  await page.getByRole("heading", { name: title }).waitFor();
  await page.locator(".chart canvas").waitFor();
}
