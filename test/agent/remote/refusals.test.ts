import { expect, test } from "vitest";
import type { Config } from "../../../agent/config/schema.ts";
import type { Host } from "../../../agent/host/host.ts";
import { remoteDevices } from "../../../agent/remote/remote-devices.ts";
import { useSpool } from "../../support/spool.ts";

// Method: the host is the running agent's part that the link uses. An address beyond this machine would need a second one.

const used = useSpool();
/** Returns the report after the server at `url` named a version, and the paths that the agent asked for. */
async function reportFrom(url: string) {
  const asked: string[] = [];
  const get = (path: string) => Promise.resolve({ data: { version: 7, devices: asked.push(path) > 0 ? "[]" : "" } });
  const config = { devices: [], managed: true, server: { url } } as unknown as Config;
  const agent = { config, server: { get }, spool: used.spool };
  const link = remoteDevices({
    agent,
    log: { warn: () => undefined, info: () => undefined },
    text: () => "devices: []",
    file: "/etc/vetwire/agent.yaml",
    apply: () => Promise.resolve({ outcome: "applied" }),
  } as unknown as Host);
  link.wanted(7);
  await expect.poll(async () => (await link.report(config, used.spool)).version).toBe(7);
  const { problems } = await link.report(config, used.spool);
  const safe = { ...config, server: { ...config.server, url: "https://vetwire.example.com" } };
  const later = (await link.report(safe, used.spool)).version;
  return { asked, problems, later };
}

test("devices of a server are not taken over plain http beyond this machine, and the sentence says what to do", async () => {
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
