import fs from "node:fs";
import path from "node:path";
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { openPage } from "../dashboard/harness.ts";
import { browserProblem, startBrowser } from "../support/browser.ts";
import { fixturesFolder } from "../make-fixtures.ts";
import { isFree, ROOT, type Running, start, temporaryFolder, until } from "../support/processes.ts";
import { isOpen, newCable, socat } from "../support/pty.ts";

// Goal: a newcomer comes from an empty folder to results at the dashboard, only by what the pages say. Method: the server and the
// agent of the build, a real browser that uses visible words alone, and two simulated devices. It prints steps and seconds.

const [SERVER, AGENT] = [path.join(ROOT, "dist/server/main.js"), path.join(ROOT, "dist/agent/main.js")];

/** A person who reads pages, clicks and types. Each click and each filled field is a step. */
class Newcomer {
  steps = 0;

  async click(what: Locator): Promise<void> {
    this.steps += 1;
    await what.click();
  }

  async type(field: Locator, text: string): Promise<void> {
    this.steps += 1;
    await field.fill(text);
  }
}

function run(script: string, ...args: readonly string[]): Running {
  const running = start(script, args);
  onTestFinished(async () => {
    await running.end("SIGKILL");
  });
  return running;
}

/** Sends a result from a simulated device. Its end tells whether the result was accepted. */
function send(fixture: string, to: string): Running {
  return run(AGENT, "simulate", path.join(fixturesFolder, fixture), "--to", to);
}

/** Starts the server. @returns its address, and the code of the first user */
async function startServer(folder: string): Promise<{ url: string; code: string }> {
  const server = run(SERVER, "run", "--port", "0", "--data", path.join(folder, "server"));
  const printed = /set up the dashboard at (\S+)\/dashboard with the code ([A-Z\d-]+)/;
  const [, url = "", code = ""] = await until("the server prints its code", () => printed.exec(server.output()));
  return { url, code };
}

/** The first admin signs up, and asks for a pairing code. */
async function addPc(person: Newcomer, page: Page, url: string, code: string): Promise<string> {
  await page.goto(`${url}/dashboard`);
  await person.type(page.getByLabel("Set-up code"), code);
  await person.type(page.getByLabel("Name of the clinic"), "Moda Vet");
  await person.type(page.getByLabel("Name", { exact: true }), "Elif");
  await person.type(page.getByLabel("Password"), "correct horse battery");
  await person.click(page.getByRole("button", { name: "Set up" }));
  await person.click(page.getByRole("link", { name: "Devices", exact: true }));
  await person.click(page.getByRole("button", { name: "Add a clinic PC" }));
  const shown = page.getByRole("dialog").getByText(/^[A-Z\d]{4}-[A-Z\d]{4}$/);
  return shown.innerText();
}

async function pairPc(person: Newcomer, page: Page, url: string, code: string): Promise<void> {
  await page.goto("http://127.0.0.1:8081/");
  await person.click(page.getByRole("link", { name: "Set this agent up" }));
  await person.type(page.getByLabel("Address of the dashboard").first(), `${url}/dashboard`);
  await person.type(page.getByLabel("Code"), code);
  await person.click(page.getByRole("button", { name: "Connect" }));
  await page.getByText("This PC is connected to Moda Vet.").waitFor();
  await person.type(page.getByLabel("Time zone of the clinic"), "Europe/Istanbul");
  await person.click(page.getByRole("button", { name: "Go on" }));
}

/** Confirms the device that the page proposes, saves it, and sends its result again. */
async function saveDevice(person: Newcomer, page: Page, looksLike: string, again: () => Running): Promise<void> {
  await page.getByRole("heading", { name: "Which device is it?" }).waitFor();
  await expect.poll(() => page.getByRole("radio", { name: looksLike }).isChecked()).toBe(true);
  await person.click(page.getByRole("button", { name: "Use this device" }));
  await person.click(page.getByRole("button", { name: "Save" }));
  await page.getByText("Send the result at the device once more.").waitFor();
  again();
  await page.getByText("The first result arrived:").waitFor();
}

describe.skipIf(browserProblem() !== null || !socat)("a newcomer", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  test("comes from an empty folder to results at the dashboard, only by what the pages say", async () => {
    const folder = temporaryFolder();
    onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }));
    await until("no other agent has port 8081", () => isFree(8081), 60_000);
    const startedAt = performance.now();
    const person = new Newcomer();
    const { url, code } = await startServer(folder);
    const dashboard = await openPage(browser, url);
    const pairingCode = await addPc(person, dashboard, url, code);

    const agent = run(AGENT, "run", "--set-up", "--config", path.join(folder, "agent.yaml"));
    await until("the agent's page", () => agent.output().includes("the page sets this agent up"));
    const page = await openPage(browser, "http://127.0.0.1:8081");
    await pairPc(person, page, url, pairingCode);

    const cable = await newCable(folder);
    onTestFinished(() => cable.pull());
    const [port, device] = cable.ends;
    await person.click(page.getByLabel("Serial cable"));
    await person.type(page.getByLabel("Port", { exact: true }), port);
    await person.click(page.getByRole("button", { name: "Listen" }));
    await page.getByText("Send a result at the device now.").waitFor();
    await until("the port is open", () => isOpen(port));
    const vetscan = () => send("abaxis-vetscan-vs2/dog.astm", `serial:${device}`);
    const unheard = vetscan();
    await saveDevice(person, page, "Abaxis VetScan VS2", () => {
      void unheard.end("SIGKILL");
      return vetscan();
    });

    await person.click(page.getByRole("button", { name: "Add another device" }));
    await person.click(page.getByLabel("Network: the device calls this PC"));
    const tcp = await page.getByLabel("Port", { exact: true }).inputValue();
    await person.click(page.getByRole("button", { name: "Listen" }));
    await page.getByText("Send a result at the device now.").waitFor();
    const blood = () => send("mindray-bc/dog.hl7", `tcp://127.0.0.1:${tcp}`);
    void blood();
    await saveDevice(person, page, "mindray-bc", blood);
    await person.click(page.getByRole("button", { name: "Done" }));
    await page.getByRole("heading", { name: "Devices" }).waitFor();

    await dashboard.bringToFront();
    await dashboard.getByText("is connected to this clinic").waitFor();
    await person.click(dashboard.getByRole("button", { name: "Close" }));
    await person.click(dashboard.getByRole("link", { name: "To place" }));
    // The new clinic has no animals yet, so both results wait for a person.
    await dashboard.getByText("VetScan").first().waitFor();
    await dashboard.getByText("Waiting (2)").waitFor();
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    process.stdout.write(`a newcomer: ${person.steps} steps, ${seconds} s from an empty folder to two results\n`);
    expect(person.steps).toBeLessThan(40);
    expect(seconds).toBeLessThan(600);
  }, 300_000);
});
