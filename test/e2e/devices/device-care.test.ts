import fs from "node:fs";
import path from "node:path";
import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { startAgent } from "../../../agent/agent.ts";
import { checkConfig } from "../../../agent/config/check.ts";
import type { DeviceLogBody } from "../../../server/dashboard/types/devices/devices.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { makeUser, startDashboard } from "../../dashboard/harness.ts";
import { clinic, keyPermissions } from "../../server/harness.ts";
import { MllpClient } from "../../support/protocols/hl7.ts";
import { freePort, temporaryFolder, until } from "../../support/machine/processes.ts";

// Goal: what an analyzer reports about itself is in its log. Method: an agent with a real port and disk, a server with a real port, an
// analyzer's socket, and the route of the page.

test("the lots and faults that an HL7 analyzer sends are in the log of its device, once", async () => {
  const ours = newFp("clinic");
  const server = await startDashboard(clinic(ours));
  server.clock.now = Date.now();
  const user = await makeUser(server, "reader", ours);
  const [folder, port] = [temporaryFolder(), await freePort()];
  fs.writeFileSync(path.join(folder, "agent.key"), await server.makeKey(ours, keyPermissions), { mode: 0o600 });
  const device = { id: "chem-1", profile: "generic-hl7", connection: { listen: `127.0.0.1:${port}` } };
  const text = JSON.stringify({
    ...{ server: { url: server.url, keyFile: "agent.key" }, data: "data", timeZone: "UTC", devices: [device] },
  });
  const checked = checkConfig(text, folder);
  if ("problems" in checked) throw new Error(JSON.stringify(checked.problems));
  const agent = await startAgent(checked.config, "test", pino({ enabled: false }));
  onTestFinished(async () => {
    await agent.stop();
    fs.rmSync(folder, { recursive: true });
  });

  const today = new Date().toISOString().slice(0, 10).replaceAll("-", "");
  const header = (id: number, type: string) => String.raw`MSH|^~\&|CHEM|Vendor|||${today}||${type}|${id}|P|2.5.1`;
  const analyzer = await MllpClient.connect(port);
  const run = [`OBR|1||S-1|CHEM|||${today}`, "OBX|1|NM|1742-6^ALT^LN||52|U/L|||||F", "SID|ALT|L-77"];
  for (const id of [1, 2]) await analyzer.exchange([header(id, "ORU^R01"), "PID|1||4711||Aydin^Zeytin", ...run]);
  const stock = "INV|R1^ALT|OK|MR||||||||tests|20270131||||L-78";
  await analyzer.exchange([header(3, "INU^U05"), "EQU|A1", stock]);
  for (const id of [4, 5]) {
    await analyzer.exchange([header(id, "EAN^U09"), "EQU|A1", `NDS|1|${today}|W|E17^Probe blocked`]);
  }
  analyzer.close();

  const log = async () => (await user.call<DeviceLogBody>("GET", "/devices/log?device=chem-1")).body;
  await until("the log has three events", async () => (await log()).events.length === 3);
  const { events, reagents } = await log();
  expect(events.map(({ event, subject, lot, expires, text: words }) => [event, subject, lot, expires, words])).toEqual(
    expect.arrayContaining([
      ["reagent", "ALT", "L-77", null, null],
      ["reagent", "ALT", "L-78", "2027-01-31", null],
      ["fault", "E17", null, null, "Probe blocked"],
    ]),
  );
  expect(reagents).toMatchObject([{ name: "ALT", lot: "L-78", expires: "2027-01-31" }]);
  expect(JSON.stringify(events)).not.toMatch(/Zeytin|Aydin|4711/);
});
