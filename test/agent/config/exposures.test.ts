import { advisedText } from "../../../shared/runtime/advised.ts";
import fs from "node:fs";
import path from "node:path";
import { pino } from "pino";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startAgent } from "../../../agent/agent.ts";
import { checkConfig } from "../../../agent/config/check.ts";
import { exposures } from "../../../agent/config/exposures.ts";
import type { Config } from "../../../agent/config/values/schema.ts";
import { isLoopback } from "../../../shared/network/network-address.ts";
import { freePort, temporaryFolder } from "../../support/machine/processes.ts";

let folder: string;

beforeEach(() => {
  folder = temporaryFolder();
  for (const name of ["agent.key", "pacs.auth"]) {
    fs.writeFileSync(path.join(folder, name), "sk_live_test\n", { mode: 0o600 });
  }
});

afterEach(() => fs.rmSync(folder, { recursive: true }));

const loopbackDevice = { id: "chem-1", profile: "generic-astm", connection: { listen: "127.0.0.1:4001" } };

function configOf(settings: { url?: string; devices?: readonly object[]; destinations?: readonly object[] }): Config {
  const { url = "http://127.0.0.1:8080", devices = [loopbackDevice], destinations = [] } = settings;
  const server = { url, keyFile: "agent.key" };
  const text = JSON.stringify({ server, data: "data", timeZone: "UTC", devices, destinations });
  const checked = checkConfig(text, folder);
  if ("problems" in checked) throw new Error(JSON.stringify(checked.problems));
  return checked.config;
}

const openTo = (config: Config) => exposures(config).map(advisedText);

test.each(["https://lab.example", "http://localhost:8080", "http://127.1.2.3:8080", "http://[::1]:8080"])(
  "a server at %s causes no warning",
  (url) => {
    expect(openTo(configOf({ url }))).toEqual([]);
  },
);

test.each([
  ["http://lab.example:8080/", "http://lab.example:8080"],
  ["http://someone:secret@10.0.0.5", "http://10.0.0.5"],
  ["http://[2001:db8::1]:8080", "http://[2001:db8::1]:8080"],
  ["http://localhost.example", "http://localhost.example"],
])("a server at %s is a warning, because its key and results can be read on the way", (url, origin) => {
  expect(openTo(configOf({ url }))).toEqual([
    `server.url is ${origin}, where the network can read the key and all results: use https`,
  ]);
});

test("an archive with http on another host causes a warning", () => {
  const destinations = [
    { id: "cloud", stow: "https://pacs.example/dicom-web" },
    { id: "near", stow: "http://127.0.0.1:8042/dicom-web" },
    { id: "pacs", stow: "http://10.0.0.9/dicom-web" },
    { id: "store", dial: "10.0.0.9:104", aeTitle: "PACS" },
    {
      id: "vault",
      s3: { endpoint: "http://10.0.0.9:9000", bucket: "images", accessKeyId: "A", secretFile: "agent.key" },
    },
  ];
  expect(openTo(configOf({ destinations }))).toEqual([
    "destination pacs is http://10.0.0.9, where the network can read its images: use https",
    "destination vault is http://10.0.0.9:9000, where the network can read its images: use https",
  ]);
});

test("a listener on a network address without allow causes a warning", () => {
  const hl7 = { profile: "generic-hl7" };
  const devices = [
    loopbackDevice,
    { ...hl7, id: "allowed", connection: { listen: "0.0.0.0:4002" }, allow: ["192.168.1.0/24"] },
    { ...hl7, id: "dialled", connection: { dial: "192.168.1.50:5500" } },
    { ...hl7, id: "any", connection: { listen: "0.0.0.0:4003" } },
    { ...hl7, id: "any-6", connection: { listen: "[::]:4004" }, allow: [] },
    { id: "xray", profile: "dicom", connection: { listen: "192.168.1.9:11112" }, callingAeTitles: ["DX1"] },
    { ...hl7, id: "replies", connection: { dial: "192.168.1.51:5500", replyConnection: { listen: "0.0.0.0:4005" } } },
  ];
  const sentence = (id: string, address: string) =>
    `device ${id} listens on ${address} without allow, so any host can send results: list the device's address in allow`;
  expect(openTo(configOf({ devices }))).toEqual([
    sentence("any", "0.0.0.0:4003"),
    sentence("any-6", "[::]:4004"),
    sentence("xray", "192.168.1.9:11112"),
    sentence("replies", "0.0.0.0:4005"),
  ]);
});

test("a listener that requires a device certificate causes no warning", () => {
  const config = configOf({});
  const tls = { certificate: "agent.crt", ca: "devices.crt" };
  const [device] = config.devices;
  const devices = [{ ...device!, connection: { listen: "0.0.0.0:4001" }, tls }];
  expect(openTo({ ...config, devices })).toEqual([]);
  const withoutCa = { certificate: "agent.crt" };
  expect(openTo({ ...config, devices: [{ ...devices[0]!, tls: withoutCa }] })).toHaveLength(1);
});

test.skipIf(process.platform === "win32")("files with secrets that other users can read are warnings", () => {
  for (const name of ["s3.secret", "pacs.auth"]) fs.writeFileSync(path.join(folder, name), "x\n");
  const files = ["agent.key", "pacs.auth", "s3.secret"].map((name) => path.join(folder, name));
  for (const file of files) fs.chmodSync(file, 0o644);
  const s3 = { endpoint: "https://s3.example", bucket: "images", accessKeyId: "A", secretFile: "s3.secret" };
  const destinations = [
    { id: "cloud", stow: "https://pacs.example", authorizationFile: "pacs.auth" },
    { id: "vault", s3 },
  ];
  expect(openTo(configOf({ destinations }))).toEqual(
    files.map((file) => `other users of this machine can read ${file}, which holds a secret: chmod 600 ${file}`),
  );
});

test("the agent logs the same warnings at its start, and starts with a part that has no effect any more", async () => {
  const devices = [{ ...loopbackDevice, connection: { listen: `0.0.0.0:${await freePort()}` } }];
  const config = { ...configOf({ url: "http://vetwire.invalid:8080", devices }), ignored: ["alerts has no effect"] };
  const logged: { msg: string; reason?: string }[] = [];
  const log = pino({ level: "warn" }, { write: (line) => logged.push(JSON.parse(line) as (typeof logged)[number]) });
  const agent = await startAgent(config, "test", log);
  await agent.stop();
  const warnings = logged.filter(({ msg }) => msg === "the configuration leaves something open to others");
  expect(warnings.map(({ reason }) => reason)).toEqual(openTo(config));
  expect(warnings).toHaveLength(2);
  expect(logged).toContainEqual(
    expect.objectContaining({ msg: "remove a part of the configuration", reason: "alerts has no effect" }),
  );
});

test.each([
  ["localhost", true],
  ["LOCALHOST", true],
  ["127.0.0.1", true],
  ["127.255.0.9", true],
  ["::1", true],
  ["[::1]", true],
  ["::ffff:127.0.0.1", true],
  ["0.0.0.0", false],
  ["::", false],
  ["192.168.1.9", false],
  ["127.0.0.1.example", false],
  ["", false],
])("isLoopback(%o) returns %o", (host, expected) => {
  expect(isLoopback(host)).toBe(expected);
});
