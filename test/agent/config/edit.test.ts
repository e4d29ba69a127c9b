import fs from "node:fs";
import path from "node:path";
import { array, assert, constant, nat, oneof, option, property, record, string, stringMatching } from "fast-check";
import { expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { checkConfig } from "../../../agent/config/check.ts";
import { firstConfiguration, withDevice, withProfile, withServer } from "../../../agent/config/edit.ts";
import type { DeviceConfig } from "../../../agent/config/values/schema.ts";
import { temporaryFolder } from "../../support/machine/processes.ts";

// Goal: an edit of agent.yaml adds or changes one place, and every other byte stays.

const device: DeviceConfig = {
  id: "chem-2",
  profile: "generic-astm",
  connection: { serial: { path: "/dev/ttyUSB0", baudRate: 9600 } },
};
const first = { url: "http://127.0.0.1:8080", keyFile: "agent.key", data: "data", timeZone: "Europe/Istanbul" };

function parsed(text: string): { devices: unknown[] } {
  return parse(text) as { devices: unknown[] };
}

/** Expects that the new text is the old one with one run of new characters. */
function expectInsertion(old: string, edited: string): void {
  let head = 0;
  while (head < old.length && old[head] === edited[head]) head += 1;
  expect(edited.endsWith(old.slice(head))).toBe(true);
}

test("the first configuration is valid and has no device", () => {
  const folder = temporaryFolder();
  fs.writeFileSync(path.join(folder, "agent.key"), "sk_live_test\n", { mode: 0o600 });
  const text = firstConfiguration({ ...first, listen: "127.0.0.1:8081" });
  expect(checkConfig(text, folder)).toMatchObject({ config: { timeZone: "Europe/Istanbul", devices: [] } });
  const edited = withDevice(text, device);
  expect(checkConfig(edited, folder)).toMatchObject({ config: { devices: [device] } });
  expect(edited).toContain("devices:\n  - id: chem-2\n    profile: generic-astm\n    connection:\n      serial:\n");
  expect(edited.startsWith(text.replace(" []\n", "\n"))).toBe(true);
  fs.rmSync(folder, { recursive: true });
});

test.each([
  ["lines, a comment after the last device", "devices:\n  - id: a # mine\n    profile: x # y\n# end\nstatus: 1\n"],
  ["a dash in the first column", "devices:\n- id: a\n  profile: x\n\n# gap\nstatus: 1\n"],
  ["no line end", "status: 1\ndevices:\n  - id: a\n    profile: x"],
  ["line ends of Windows", "devices:\r\n  - id: a\r\n    profile: x\r\nstatus: 1\r\n"],
  ["a text in lines", "devices:\n  - id: a\n    profile: |\n      x\n      y\nstatus: 1\n"],
  ["brackets", "devices: [ {id: a, profile: x}, # one\n]\nstatus: 1\n"],
  ["brackets with a comment", "devices: [ # none\n]\nstatus: 1\n"],
  ["JSON", '{"devices": [{"id": "a", "profile": "x"}], "status": 1}'],
  ["JSON without devices", '{"devices": [], "status": 1}'],
])("a device is added to %s", (_title, text) => {
  const edited = withDevice(text, device);
  expect(parsed(edited)).toEqual({ ...parsed(text), devices: [...parsed(text).devices, device] });
  expectInsertion(text, edited);
});

test("empty brackets become lines, and their comment stays", () => {
  const edited = withDevice("devices: [] # none yet\nstatus: 1\n", { ...device, connection: {} });
  expect(edited).toBe(
    "devices: # none yet\n  - id: chem-2\n    profile: generic-astm\n    connection: {}\nstatus: 1\n",
  );
});

test("every added device keeps the comments, the order and the spelling of the rest", () => {
  const word = stringMatching(/^[a-z][a-z0-9-]{0,12}$/);
  const comment = option(
    stringMatching(/^[ -~çğış]{0,30}$/).map((text) => `# ${text}`),
    { nil: "" },
  );
  const line = oneof(comment, constant(""));
  const other = record({ id: word, profile: word, connection: record({ listen: word }), model: string() });
  const layout = record({
    devices: array(other, { minLength: 1, maxLength: 4 }),
    indent: nat(4),
    lines: array(line),
    tail: array(line),
  });
  assert(
    property(layout, ({ devices, indent, lines, tail }) => {
      const items = stringify(devices).trimEnd().split("\n");
      const commented = items.flatMap((item, index) => [
        // Only a line before an item is certainly outside the texts of the items.
        ...(item.startsWith("- id:") ? [lines[index] ?? ""] : []),
        " ".repeat(indent) + item,
      ]);
      const text = ["# head", "data: 'x'", "devices:", ...commented, ...lines, `status:   1 # odd`, ...tail, ""].join(
        "\n",
      );
      const edited = withDevice(text, device);
      expect(parsed(edited).devices).toEqual([...devices, device]);
      expectInsertion(text, edited);
    }),
    { numRuns: 300 },
  );
});

test.each([
  ["devices:\n  - id: a\n    profile: generic-astm # guess\n", "devices:\n  - id: a\n    profile: skyla # guess\n"],
  ['{"devices":[{"id":"a","profile":"generic-astm"}]}', '{"devices":[{"id":"a","profile":"skyla"}]}'],
])("another profile is written into %j", (text, expected) => {
  expect(withProfile(text, "a", "skyla")).toBe(expected);
  expect(() => withProfile(text, "b", "skyla")).toThrow("no device b");
});

test("a text without a list of devices is refused with what to do", () => {
  expect(() => withDevice("devices:\n", device)).toThrow('write "devices: []" in agent.yaml first');
});

test("pairing again writes the server's address and pin, and leaves the rest of the text as it is", () => {
  const pin = "sha256/AAAA=";
  const at = { url: "https://b:8443", isOurs: (keyFile: string) => keyFile === "agent.key" };
  const both = (text: string) => [withServer(text, { ...at, pin }), withServer(text, { ...at, pin: undefined })];
  expect(both('server: { url: "http://a", keyFile: agent.key } # ours\ndata: x\n')).toEqual([
    'server: { url: "https://b:8443", pin: "sha256/AAAA=", keyFile: agent.key } # ours\ndata: x\n',
    'server: { url: "https://b:8443", keyFile: agent.key } # ours\ndata: x\n',
  ]);
  expect(both('server:\r\n  pin: "old"\r\n  url: http://a\r\n  keyFile: agent.key\r\ndata: x\r\n')).toEqual([
    'server:\r\n  pin: "sha256/AAAA="\r\n  url: "https://b:8443"\r\n  keyFile: agent.key\r\ndata: x\r\n',
    'server:\r\n  url: "https://b:8443"\r\n  keyFile: agent.key\r\ndata: x\r\n',
  ]);
  expect(both("server: { pin: old, url: a, keyFile: agent.key }\n")[1]).toBe(
    'server: { url: "https://b:8443", keyFile: agent.key }\n',
  );
  expect(both('server: { url: "https://b:8443", pin: "sha256/AAAA=", keyFile: agent.key }\n')[0]).toBe(null);
  expect(both("server: { url: a, keyFile: other.key }\n")).toEqual([null, null]);
});
