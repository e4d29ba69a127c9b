import { once } from "node:events";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import type { Browser, Page } from "playwright-core";
import { pino } from "pino";
import { describe, expect, onTestFinished, test } from "vitest";
import { startHost } from "../../../../agent/host.ts";
import { agentPage } from "../../../../agent/page/page.ts";
import { remoteDevices } from "../../../../agent/remote/remote-devices.ts";
import { playDevice } from "../../../../agent/tools/simulator/analyzer.ts";
import { openLine } from "../../../../agent/tools/simulator/line.ts";
import { fixturesFolder } from "../../../support/runner/fixtures.ts";
import {
  browserProblem,
  chooseLanguage,
  expectAccessible,
  expectFitsPhone,
  useBrowser,
} from "../../../support/peers/browser.ts";
import { patiently } from "../../../support/runner/patience.ts";
import { freePort, temporaryFolder } from "../../../support/machine/processes.ts";
import { emptyServer, type TestAgent, useAgent } from "../../../support/peers/running-agent.ts";
import { scriptedServer } from "../../../support/peers/scripted-server.ts";

// Goal: a person sets an agent up with its page alone: from no configuration to the first result of a device.

let browser: Browser;
let agent: TestAgent;

async function opened(port: number | null): Promise<Page> {
  const page = await browser.newPage();
  onTestFinished(() => page.close());
  await page.goto(`http://127.0.0.1:${port}/`);
  return page;
}

async function checked(page: Page): Promise<void> {
  await expectAccessible(page);
  await expectFitsPhone(page);
}

/** Sends a result of a VetScan to a port of this PC. @returns why it was not accepted, null if it was */
async function send(port: string): Promise<string | null> {
  const line = await openLine(`tcp://127.0.0.1:${port}`);
  const played = playDevice(fs.readFileSync(path.join(fixturesFolder, "abaxis-vetscan-vs2/dog.astm")), line);
  onTestFinished(() => line.close());
  return (await played).reason;
}

/** Sends bytes to a port of this PC, and hangs up. */
async function sendText(port: string, text: string): Promise<void> {
  const socket = net.connect(Number(port), "127.0.0.1");
  socket.on("error", () => undefined);
  socket.end(text);
  await once(socket, "close");
}

/** A blood count with settings of a Mindray and names of a Dymind, and no sender. */
const ALIKE = [
  ...["\vMSH|^~\\&|||||20261121113100||ORU^R01|1|P|2.3.1||||||UNICODE", "PID|1||4711", "OBR|1||S-1|Panel"],
  ...["OBX|1|IS|08001^Take Mode^99MRC||O||||||F", "OBX|2|NM|Neu#||7.0|10^9/L||A|||F", "OBX|3|NM|NLR||2.9||||||F"],
  ...["OBX|4|NM|WBC||9.8|10^9/L||A|||F", "OBX|5|ST|Remark||seen||||||F", "\x1c\r"],
].join("\r");

describe.skipIf(browserProblem() !== null)("the set-up in a browser", () => {
  useBrowser((shared) => {
    browser = shared;
  });
  useAgent((made) => {
    agent = made;
  });

  test("a PC without a configuration gets one, with a key file", async () => {
    const folder = temporaryFolder();
    fs.writeFileSync(path.join(folder, "agent.key"), "sk_live_test\n", { mode: 0o600 });
    const file = path.join(folder, "agent.yaml");
    const server = await scriptedServer(emptyServer);
    const setUpAddress = { host: "127.0.0.1", port: await freePort() };
    const log = pino({ enabled: false });
    const host = await startHost({
      file,
      config: null,
      version: "test",
      log,
      page: agentPage,
      remote: remoteDevices,
      setUpAddress,
    });
    onTestFinished(async () => {
      await host.stop();
      await server.close();
      fs.rmSync(folder, { recursive: true });
    });
    const page = await opened(host.port);
    await page.getByText("This agent is not set up").waitFor();
    await page.getByRole("link", { name: "Set this agent up" }).click();
    await page.getByRole("heading", { name: "Connect this PC to the clinic" }).waitFor();
    await checked(page);
    await page.getByText("I have a key in place of a code").click();
    await page.getByLabel("Address of the dashboard").last().fill(server.url);
    await page.getByLabel("File with the key").fill("other.key");
    await page.getByRole("button", { name: "Use this key" }).click();
    await page.getByText("save the key of the dashboard in that file").waitFor();
    await page.getByLabel("File with the key").fill("agent.key");
    await page.getByRole("button", { name: "Use this key" }).click();
    await page.getByRole("heading", { name: "Where and when" }).waitFor();
    await checked(page);
    await page.getByLabel("Time zone of the clinic").fill("Europe/Atlantis");
    await page.getByRole("button", { name: "Go on" }).click();
    await page.getByText("expected an IANA time zone such as Europe/Istanbul").waitFor();
    await chooseLanguage(page, "tr");
    await page.locator("input[name=timeZone]").fill("Europe/Atlantis");
    await page.getByRole("button", { name: "Devam" }).click();
    await page.getByText("Europe/Istanbul gibi bir saat dilimi bekleniyordu").waitFor();
    await chooseLanguage(page, "en");
    expect(fs.existsSync(file)).toBe(false);
    await page.getByLabel("Time zone of the clinic").fill("Europe/Istanbul");
    await page.getByRole("button", { name: "Go on" }).click();
    await page.getByText("How is the device connected?").waitFor();
    expect(host.agent?.config).toMatchObject({ timeZone: "Europe/Istanbul", devices: [] });
  });

  test("a device is added by listening, and its first result is shown", { timeout: patiently(60_000) }, async () => {
    await agent.run([]);
    const page = await opened(agent.host.port);
    await page.getByRole("link", { name: "Add a device" }).click();
    await page.getByLabel("Network: the device calls this PC").check();
    await checked(page);
    const field = page.getByLabel("Port", { exact: true });
    expect(await field.inputValue()).toMatch(/^\d+$/);
    // Other tests try the suggested port at the same time.
    const port = String(await freePort());
    await field.fill(port);
    await page.getByRole("button", { name: "Listen" }).click();
    await page.getByText("Send a result at the device now.").waitFor();
    await checked(page);
    await sendText(port, "#R;X1;4711\n#V;ALT;61;U/L\n#E\n");
    await page.getByText("28 bytes came.").waitFor();
    await page.getByRole("button", { name: "Stop listening" }).click();
    await page.getByText("No device that Vetwire knows sends such bytes.").waitFor();
    expect(await page.getByRole("link", { name: "Make a profile from these bytes" }).getAttribute("href")).toBe(
      "/maker",
    );
    await checked(page);
    await page.getByRole("button", { name: "Listen again" }).click();
    await page.getByText("Send a result at the device now.").waitFor();
    await sendText(port, ALIKE);
    await page.getByText("Dymind and Mindray BC fit alike").waitFor();
    await page.getByText("writes texts that only this device writes, reads 3 of 3 rows").waitFor();
    expect(await page.getByRole("button", { name: "Use this device" }).isDisabled()).toBe(true);
    await checked(page);
    await page.getByRole("button", { name: "Listen again" }).click();
    await page.getByText("Send a result at the device now.").waitFor();
    expect(await send(port)).not.toBeNull();
    await page.getByRole("heading", { name: "Which device is it?" }).waitFor();
    await page.getByText("calls itself VetScan VS2 (H-5.2)").waitFor();
    await checked(page);
    await page.getByText("It is another device").click();
    await page.getByLabel("Kind of device").selectOption("generic-astm");
    await page.getByRole("button", { name: "Use this device" }).click();
    await page.getByText("this looks like Abaxis VetScan VS2 (abaxis-vetscan-vs2), not generic-astm").waitFor();
    await page.getByLabel("Abaxis VetScan VS2").check();
    await page.getByRole("button", { name: "Use this device" }).click();
    await page.getByLabel("Name", { exact: true }).fill("vetscan");
    await expect.poll(() => page.getByLabel("Addresses that may send").inputValue()).toBe("127.0.0.1");
    await checked(page);
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Send the result at the device once more.").waitFor();
    await checked(page);
    expect(await send(port)).toBeNull();
    await page.getByText("The first result arrived:").waitFor();
    await page.getByRole("cell", { name: "U/L" }).first().waitFor();
    await checked(page);
    await chooseLanguage(page, "tr");
    await page.getByRole("heading", { name: "İlk sonuç" }).waitFor();
    await page.getByRole("button", { name: "Bitti" }).click();
    await page.getByRole("heading", { name: "vetscan" }).waitFor();
  });

  test("a folder of files is added: its profile is found, the agent's own data is refused, and the files are read", async () => {
    await agent.run([]);
    const page = await opened(agent.host.port);
    const folder = temporaryFolder();
    fs.copyFileSync(path.join(fixturesFolder, "wondfo-finecare-csv/history.csv"), path.join(folder, "history.csv"));
    await page.getByRole("link", { name: "Add a device" }).click();
    const choose = async (typed: string) => {
      await page.getByLabel("Folder: a program exports files").check();
      await page.getByLabel("Folder", { exact: true }).fill(typed);
      await page.getByLabel("Leave the files in the folder").check();
      await page.getByRole("button", { name: "Look into the folder" }).click();
    };
    await choose(agent.folder);
    await page.getByText("has the agent’s own data").waitFor();
    await checked(page);
    await page.getByRole("button", { name: "Back" }).click();
    await choose(folder);
    await page.getByLabel("Wondfo Finecare").waitFor();
    await page.getByText(/^reads 1 of 1 file, \d+ results? with a known name/).waitFor();
    await checked(page);
    await chooseLanguage(page, "tr");
    await page.getByText(/^okunan dosya: 1\/1/).waitFor();
    await page.getByRole("button", { name: "Bu cihazı kullan" }).click();
    await page.getByLabel("Ad", { exact: true }).fill("finecare");
    await page.getByRole("button", { name: "Kaydet" }).click();
    await page.getByText("İlk sonuç geldi:").waitFor();
    await checked(page);
    expect(agent.host.agent?.config.devices[0]?.connection).toEqual({ folder, leave: true });
    expect(fs.existsSync(path.join(folder, "history.csv"))).toBe(true);
  });
});
