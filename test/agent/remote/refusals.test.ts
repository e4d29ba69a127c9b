import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import type { Config } from "../../../agent/config/values/schema.ts";
import type { Host } from "../../../agent/host.ts";
import { remoteDevices } from "../../../agent/remote/remote-devices.ts";
import { useSpool } from "../../support/spool.ts";

// Method: the host is the running agent's part that the link uses. An address beyond this machine would need a second one.

const used = useSpool();
const DEVICES = '- { id: chem-1, profile: generic-astm, connection: { listen: "127.0.0.1:4001" } }';
/** Returns the report after the server at `url` named a version, and the paths of the agent's requests. */
async function reportFrom(url: string, outcome: object = { outcome: "applied" }) {
  fs.writeFileSync(path.join(used.folder, "agent.key"), "sk_live_test", { mode: 0o600 });
  const asked: string[] = [];
  const get = (asking: string) =>
    Promise.resolve({ data: { version: 7, devices: asked.push(asking) > 0 ? DEVICES : "" } });
  const config = { data: "/home/Ayşe Yılmaz/data", devices: [], managed: true, server: { url } } as unknown as Config;
  const agent = { config, server: { get }, spool: used.spool };
  const link = remoteDevices({
    agent,
    log: { warn: () => undefined, info: () => undefined },
    text: () => "data: ./data\nserver: { url: 'http://127.0.0.1:1', keyFile: ./agent.key }\ntimeZone: UTC\ndevices: []",
    file: path.join(used.folder, "agent.yaml"),
    apply: () => Promise.resolve(outcome),
  } as unknown as Host);
  link.wanted(7);
  await expect.poll(async () => (await link.report(config, used.spool)).version).toBe(7);
  const { problems } = await link.report(config, used.spool);
  const safe = { ...config, server: { ...config.server, url: "https://vetwire.example.com" } };
  const later = (await link.report(safe, used.spool)).version;
  return { asked, problems, later };
}

test("devices of a server are not taken over plain http beyond this machine, and the sentence has the remedy", async () => {
  expect(await reportFrom("http://192.0.2.1:8080")).toEqual({
    asked: [],
    // With https, the server names the version again.
    later: null,
    problems: [
      {
        line: 1,
        message:
          "this agent reaches its server over http://192.0.2.1:8080: anyone in that network could change these devices. " +
          "Set server.url to https:// on the PC, or change the devices there",
      },
    ],
  });
});

test.each(["http://127.0.0.1:8080", "https://vetwire.example.com"])("devices are taken from %s", async (url) => {
  expect((await reportFrom(url)).asked).toEqual(["/agent/v1/configuration"]);
});

const reason = "cannot open /home/Ayşe Yılmaz/data/spool.db and C:\\Users\\Kaya\\lab.key";

test.each([
  [{ outcome: "refused", problems: [{ line: 3, steps: ["devices", "0"], message: reason }] }, ""],
  [{ outcome: "rolled back", reason }, "the agent did not start with these devices: "],
])("the server receives names of files without the folders of the PC", async (outcome, start) => {
  const message = `${start}cannot open spool.db and lab.key`;
  expect((await reportFrom("http://127.0.0.1:1", outcome)).problems).toEqual([{ line: 1, message }]);
});
