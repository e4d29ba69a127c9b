import fs from "node:fs";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import { temporaryFolder } from "../../support/machine/processes.ts";
import { checkConfig } from "../../../agent/config/check.ts";
import { type DeviceConfig, DeviceSchema } from "../../../agent/config/values/schema.ts";
import { openedBy, readDocument } from "../../../agent/remote/read-document.ts";
import { devicesText, REMOTE_KEYS, withDevices } from "../../../agent/remote/with-devices.ts";

// Method: texts in, texts out; `agent check` reads each result.

const folder = temporaryFolder();
fs.writeFileSync(path.join(folder, "agent.key"), "sk_live_test");
afterAll(() => fs.rmSync(folder, { recursive: true }));

const FILE = `# Laboratory PC, ground floor
server:
  url: https://vetwire.example.com # ours
  keyFile: agent.key
data: ./data
timeZone: Europe/Istanbul

devices:
  # the old VetScan
  - id: chem-1
    profile: abaxis-vetscan-vs2 # bought in 2019
    connection: { serial: { path: /dev/ttyUSB0, baudRate: 38400 } }
    codes: { 0413: GLU } # as the device sends it
  - id: hema-1
    profile: generic-hl7
    connection: { listen: "0.0.0.0:2575" } # the wall socket
    tls: { certificate: /secret/tls.crt, key: /secret/tls.key } # never leaves this PC
status: { listen: "127.0.0.1:8081" }
`;

const quoted = (text: string) => text.replace("0413", '"0413"');

function devicesOf(text: string): readonly DeviceConfig[] {
  const checked = checkConfig(text.replace(/ {4}tls:.*\n/, ""), folder);
  if ("problems" in checked) throw new Error(JSON.stringify(checked.problems));
  return checked.config.devices;
}

/** @returns the devices of a document, or its problems as `line: message` */
function read(document: string): readonly DeviceConfig[] | string[] {
  const result = readDocument(document, FILE, folder);
  return "devices" in result ? result.devices : result.problems.map(({ line, message }) => `${line}: ${message}`);
}

test("each key of a device either travels or stays on the PC", () => {
  const local = Object.keys(DeviceSchema.properties).filter((key) => !REMOTE_KEYS.some((remote) => remote === key));
  expect(local).toEqual(["tls", "operatorListFile"]);
});

test("the text for the server has no path of a file and no comment, and is read back as it was", () => {
  const text = devicesText(
    devicesOf(FILE).map((device) => ({ ...device, tls: { key: "/secret/tls.key" }, operatorListFile: "/secret/ops" })),
  );
  expect(text).not.toMatch(/secret|#/);
  expect(text).toContain("/dev/ttyUSB0");
  expect(read(text)).toEqual(devicesOf(FILE));
});

test("the same devices leave the file as it is", () => {
  // A code with a leading zero gets quotes: YAML would write it without the zero.
  expect(withDevices(FILE, devicesOf(FILE))).toBe(quoted(FILE));
  expect(withDevices(FILE.replace(/devices:\n[^]*(?=status)/, ""), devicesOf(FILE))).toContain("hema-1");
});

test("a changed, a new and a removed device change their own lines alone, and comments and local keys stay", () => {
  const [chem, hema] = devicesOf(FILE);
  if (chem === undefined || hema === undefined) throw new Error("expected two devices");
  const changed: DeviceConfig[] = [
    { ...hema, connection: { listen: "0.0.0.0:2600" }, allow: ["10.0.0.7"] },
    { id: "urine-1", profile: "arkray-pu4010", connection: { serial: { path: "COM3" } } },
  ];
  const text = withDevices(FILE, changed);
  expect(devicesOf(text)).toEqual(changed);
  for (const kept of ["# Laboratory PC", "# ours", "# the wall socket", "# never leaves this PC", "/secret/tls.key"])
    expect(text).toContain(kept);
  expect(text).not.toContain("chem-1");
  expect(withDevices(text, changed)).toBe(text);
  expect(withDevices(FILE, [{ ...chem, model: "VS2" }, hema])).toBe(
    quoted(FILE).replace("as the device sends it\n", "as the device sends it\n    model: VS2\n"),
  );
});

test("a file written as JSON stays readable", () => {
  const settings = { data: "d", timeZone: "UTC", server: { url: "http://127.0.0.1", keyFile: "agent.key" } };
  const text = JSON.stringify({ ...settings, devices: devicesOf(FILE) });
  const [chem] = devicesOf(FILE);
  if (chem === undefined) throw new Error("expected a device");
  expect(devicesOf(withDevices(text, [{ ...chem, model: "VS2" }]))).toEqual([{ ...chem, model: "VS2" }]);
});

test.each([
  ["", "1: expected a list of devices alone"],
  ["server: { url: http://evil.example.com }\ndevices: []", "1: expected a list of devices alone"],
  [
    "- id: a\n  profile: generic-hl7\n  connection: { listen: 2575 }\n  tls: { key: /etc/shadow }",
    "4: devices[0].tls names a file",
  ],
  ["- id: a\n  operatorListFile: /etc/shadow", "2: devices[0].operatorListFile names a file"],
  [
    "- id: a\n  profile: generic-hl7\n  connection:\n    listne: 2575",
    "4: devices[0].connection.listne is an unknown key",
  ],
  [
    "# a comment\n\n- id: a\n  profile: generic-hl77\n  connection: { listen: '0.0.0.0:2575' }",
    "4: devices[0].profile is",
  ],
  ["- id: a\n  keyFile: /etc/shadow\n  profile: generic-hl7", "1: devices[0].connection is missing"],
  ["- id: a\n  profile: [", "2: Flow sequence"],
  ["- id: a\n  id: b", "2: Map keys must be unique"],
  [
    "[{ id: a, profile: generic-hl7, connection: { listen: '0.0.0.0:2575' }, baud: 1 }]",
    "1: devices[0].baud is an unknown key",
  ],
  ["- 7", "1: devices[0] is 7"],
])("%j is refused with its line", (document, problem) => {
  expect(read(document)).toContainEqual(expect.stringContaining(problem));
});

test("a problem outside the devices names no path of the PC", () => {
  const document = devicesText(devicesOf(FILE));
  const result = readDocument(document, FILE.replace("agent.key", "/secret/missing.key"), folder);
  expect(result).toEqual({ problems: [{ line: 1, message: expect.stringContaining("run agent check on the PC") }] });
});

test("aliases that expand without end are refused, and so is anything long", () => {
  const bomb = ["- &a [1,1,1,1,1,1,1,1,1]"];
  for (const [last, name] of [
    ["a", "b"],
    ["b", "c"],
    ["c", "d"],
    ["d", "e"],
    ["e", "f"],
  ])
    bomb.push(`- &${name} [${Array.from({ length: 9 }, () => `*${last}`).join(",")}]`);
  const problems = read(bomb.join("\n"));
  expect(problems.length).toBeGreaterThan(0);
  const many = Array.from({ length: 500 }, (_, index) => `- { id: "${index}", nothing: 1 }`).join("\n");
  expect(read(many)).toHaveLength(50);
});

test.each([
  [
    "a key",
    '- { id: a, profile: generic-hl7, model: &k tls, *k : { ca: x.pem }, connection: { dial: "10.0.0.5:2575" } }',
  ],
  ["a quoted key", '- { id: a, profile: generic-hl7, "tls": { ca: x.pem }, connection: { dial: "10.0.0.5:2575" } }'],
])("no alias hides a key that stays on the PC: %s", (_title, document) => {
  expect(read(document)).toEqual([expect.stringContaining("devices[0].tls names a file of the PC")]);
});

test("a new listener for every host of the network is refused, and one that runs stays", () => {
  const hema: DeviceConfig = { id: "hema-1", profile: "generic-hl7", connection: { listen: "0.0.0.0:2575" } };
  const opened = (device: DeviceConfig, running: DeviceConfig) =>
    openedBy("- id: hema-1\n  connection: x", [device], [running]).map(({ line }) => line);
  const moved: DeviceConfig = { ...hema, connection: { listen: "0.0.0.0:2600" } };
  expect(opened(hema, hema)).toEqual([]);
  expect(opened(moved, hema)).toEqual([2]);
  expect(opened(hema, { ...hema, allow: ["10.0.0.7"] })).toEqual([2]);
  expect(opened({ ...moved, allow: ["10.0.0.7"] }, hema)).toEqual([]);
  expect(opened(moved, { ...hema, tls: { ca: "clinic.pem" } })).toEqual([]);
  expect(opened({ ...hema, connection: { listen: "127.0.0.1:2600" } }, hema)).toEqual([]);
});

test("a folder that the PC does not watch yet is refused, and one that it watches stays", () => {
  const files: DeviceConfig = { id: "pims", profile: "practice-files", connection: { folder: "/srv/export" } };
  const opened = (device: DeviceConfig) =>
    openedBy("- id: pims\n  connection: x", [device], [files]).map(({ message }) => message);
  expect(opened({ ...files, connection: { folder: "/srv/export", leave: true } })).toEqual([]);
  expect(opened({ ...files, connection: { folder: "/home" } })).toEqual([
    "/home is not watched yet, and files leave the PC from there: write this device into agent.yaml on the PC",
  ]);
});
