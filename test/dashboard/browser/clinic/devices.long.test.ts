import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import type { Browser } from "playwright-core";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { newFp } from "../../../../shared/api/fp.ts";
import type { Heartbeat } from "../../../../shared/api/study.ts";
import {
  browserProblem,
  chooseLanguage,
  expectAccessible,
  expectFitsPhone,
  sharedBrowser,
} from "../../../support/peers/browser.ts";
import { freePort, until } from "../../../support/machine/processes.ts";
import { TestAgent } from "../../../support/peers/running-agent.ts";
import { clinic, study } from "../../../server/harness.ts";
import { startDashboard } from "../../harness.ts";

const problem = browserProblem();
if (problem !== null) process.stderr.write(`the devices are not tested in a browser: ${problem}\n`);

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** A dashboard whose time is the real one, because pages print how long ago something was. */
async function startDevices() {
  const fp = newFp("clinic");
  const dashboard = await startDashboard(clinic(fp));
  let behind = 0;
  Object.defineProperty(dashboard.clock, "now", { get: () => Date.now() - behind });
  const makeKey = (name: string) =>
    dashboard.makeFreshKey(fp, ["clinic.lab.ingest", "clinic.patient.view", "clinic.calendar.view"], {
      name,
      type: "device",
    });

  /** Sends the heartbeat of an agent that is `age` old. */
  async function beat(key: string, payload: Heartbeat, age = 0) {
    behind = age;
    const headers = { "x-api-key": key };
    const { statusCode } = await dashboard.app.inject({ method: "POST", url: "/agent/v1/heartbeat", headers, payload });
    behind = 0;
    expect(statusCode).toBe(200);
  }

  return { ...dashboard, fp, makeKey, beat };
}

const iso = (age: number) => new Date(Date.now() - age).toISOString();

const labPc: Heartbeat = {
  version: "0.2.0",
  clock_offset_s: -95,
  outbox: { depth: 3, oldest_at: iso(2 * HOUR) },
  devices: [
    {
      id: "chem-1",
      name: "Abaxis VetScan VS2",
      profile: "abaxis-vetscan-vs2",
      protocol: "astm",
      connection: "/dev/ttyUSB0",
      connected: true,
      state: "connected",
      last_message_at: iso(5 * MINUTE),
      last_warning: { at: iso(HOUR), reason: "the device dates a result 2099-12-31: set its date and time" },
      today: { received: 12, filed: 9, unmatched: 2, quarantined: 1 },
    },
    {
      id: "hema-1",
      name: "<img src=x onerror=alert(1)>",
      profile: "generic-hl7",
      protocol: "hl7",
      connection: "0.0.0.0:2575",
      state: "listening",
      last_message_at: iso(20 * MINUTE),
      today: { received: 2, filed: 2, unmatched: 0, quarantined: 0 },
    },
    {
      id: "urine-1",
      name: "Arkray PU-4010",
      profile: "arkray-pu4010",
      protocol: "text",
      connection: "/dev/ttyUSB7",
      state: "cannot open",
      reason: 'no such port /dev/ttyUSB7: plug its adapter in, or take a path that "agent ports" lists',
      ...{ code: "PORT.MISSING", values: ["/dev/ttyUSB7"] },
      last_message_at: null,
      today: { received: 0, filed: 0, unmatched: 0, quarantined: 0 },
    },
  ],
  callers: [
    {
      device: "hema-1",
      address: "192.168.1.77",
      at: iso(MINUTE),
      count: 4,
      why: "not understood",
      protocol: "POCT1-A",
    },
  ],
};

describe.skipIf(problem !== null)("in a browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await sharedBrowser();
  });

  test("an empty clinic reads how to connect a PC, and sees it appear with its first heartbeat", async () => {
    const { openAs, fp, makeKey, beat, url } = await startDevices();
    const page = await openAs(browser, "admin", fp, "/devices");
    await page.getByRole("heading", { name: "No clinic PC is connected" }).waitFor();
    await page.getByText("Connect a PC by hand").click();
    await expect
      .poll(() => page.getByRole("link", { name: "API Keys" }).getAttribute("href"))
      .toBe("/dashboard/settings/keys");
    await expect
      .poll(() => page.locator("pre").textContent())
      .toContain(`server: { url: "${url}", keyFile: ./agent.key }`);
    await expectAccessible(page);
    await expectFitsPhone(page);
    const key = await makeKey("Lab PC");
    await beat(key, { version: "0.2.0" });
    await page.getByRole("heading", { name: "Lab PC" }).waitFor();
    await page.getByText("Running").waitFor();
  });

  test("a clinic sees its PCs, clocks, queues, devices and strangers, on a phone and in Turkish", async () => {
    const devicesServer = await startDevices();
    const { openAs, fp, makeKey, beat } = devicesServer;
    const key = await makeKey("Lab PC");
    // Six studies within a working day two days ago, and nothing since.
    const at = (hours: number) => iso(48 * HOUR - hours * HOUR);
    const devices = [
      ...(labPc.devices ?? []),
      { id: "gas-1", name: "Blood gas", state: "listening", connected: false },
    ];
    await devicesServer.push(
      key,
      ...[-3, -2.5, -2, -1.5, -1, -0.5].map((hours) =>
        study({ acquired_at: at(hours), source: { device_id: "gas-1", message_id: "1" } }),
      ),
      ...[-30, -28, -24, -20, -4, -0.25].map((hours) =>
        study({ acquired_at: iso(-hours * HOUR), source: { device_id: "chem-1", message_id: "1" } }),
      ),
    );
    await beat(key, { ...labPc, devices });
    await beat(await makeKey("X-ray PC"), { devices: [{ id: "xray" }] }, 12 * MINUTE);
    await makeKey("Reception PC");
    const page = await openAs(browser, "reader", fp, "/devices");
    await page.getByRole("heading", { name: "X-ray PC" }).waitFor();
    const agent = (name: string) =>
      page.locator("section.card", { has: page.getByRole("heading", { name, level: 2 }) });
    const device = (name: string) => page.getByRole("article").filter({ hasText: name });
    const says = async (whole: ReturnType<typeof agent>, ...words: string[]) => {
      const text = (await whole.innerText()).replaceAll(/\s+/g, " ").replaceAll(/(?<=hr|min|sec)\./g, "");
      for (const word of words) expect(text).toContain(word);
    };
    await says(
      agent("Lab PC"),
      "Running",
      "0.2.0",
      "95 s behind",
      "differs by more than a minute",
      "3, the oldest 2 hr ago",
    );
    await says(agent("X-ray PC"), "Silent", "12 min ago", "Not known");
    await says(agent("Reception PC"), "Never heard", "No PC uses this key yet");
    await says(
      device("Abaxis"),
      "Connected",
      "Last message 5 min ago",
      "Last fault of the device or its line, 1 hr ago: the device dates a result 2099-12-31: set its date and time",
      "Today received 12 filed 9 to place 2 not readable 1",
    );
    await says(device("<img"), "Ready", "It connects when it has a result.");
    await says(device("Arkray"), "Fault", "no such port /dev/ttyUSB7", "No message yet");
    await says(device("gas-1"), "Silent", "of working time. Its longest pause in two weeks was");
    await expect
      .poll(() => device("Abaxis").getByRole("link").getAttribute("href"))
      .toBe(`/dashboard/results?device=${encodeURIComponent(study().device_name)}`);
    expect(await device("Arkray").getByRole("link").count()).toBe(0);
    await says(agent("Lab PC"), "192.168.1.77 → hema-1 · Speaks another protocol (looks like POCT1-A) · 4 ×");
    await page.getByText("Is it one of your devices?").click();
    await page.getByText("profile: generic-poct1a, connection: { listen:").waitFor();
    await expectAccessible(page);
    await expectFitsPhone(page);
    await chooseLanguage(page, "tr");
    await page.getByRole("heading", { name: "Cihazlar" }).waitFor();
    await says(agent("X-ray PC"), "Ses yok");
    await says(device("gas-1"), "Son iki haftadaki en uzun ara");
    await says(device("Arkray"), "/dev/ttyUSB7 adlı port yok: adaptörünü takın");
    await expectAccessible(page);
    await expectFitsPhone(page);
  });

  test("a running agent shows its devices, a refused address and a foreign protocol", async () => {
    const { openAs, fp, makeKey, url } = await startDevices();
    const [open, closed] = [await freePort(), await freePort()];
    const agent = new TestAgent();
    onTestFinished(() => agent.close());
    fs.writeFileSync(path.join(agent.folder, "agent.key"), await makeKey("Lab PC"), { mode: 0o600 });
    const devices = [
      { id: "chem-1", profile: "abaxis-vetscan-vs2", connection: { listen: `127.0.0.1:${open}` } },
      { id: "hema-1", profile: "generic-hl7", connection: { listen: `127.0.0.1:${closed}` }, allow: ["10.0.0.0/8"] },
    ];
    await agent.runWith(url, devices);
    const page = await openAs(browser, "reader", fp, "/devices");
    await page.getByRole("heading", { name: "Abaxis VetScan VS2" }).waitFor();
    await expect.poll(() => page.getByText("Nothing heard yet").count()).toBe(2);
    await call(closed, "");
    await call(open, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    await until("the agent counts both", () => {
      const seen = agent.status().devices;
      return seen.some(({ noise }) => noise !== undefined);
    });
    await page.getByText("127.0.0.1 → hema-1 · Not in the allow list").waitFor();
    await page.getByText("127.0.0.1 → chem-1 · Speaks another protocol (looks like HTTP)").waitFor();
  });
});

/** Connects to a port, sends bytes, and waits for the end. */
async function call(port: number, bytes: string): Promise<void> {
  const socket = net.connect(port, "127.0.0.1", () => socket.end(bytes));
  socket.resume().on("error", () => undefined);
  await new Promise((resolve) => socket.once("close", resolve));
}
