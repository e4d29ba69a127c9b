import { expect, test } from "vitest";
import { useOwnProfiles } from "../../../../agent/devices/index.ts";
import { OwnProfiles } from "../../../../agent/devices/own/own-profiles.ts";
import { readProfileText } from "../../../../agent/devices/table/load.ts";
import { redact } from "../../../../agent/tools/capture/redact.ts";
import { temporaryFolder } from "../../../support/machine/processes.ts";

// Goal: a name that a clinic's own profile reads under a condition leaves no recording.

function redacted(base: string, patient: string, text: string): string {
  const written = `schema: 1\nprofile: own/a\nrevision: 1\nextends: ${base}@1\ndevice: { name: A }\npatient: ${patient}\n`;
  const read = readProfileText(written, "x.yaml");
  if ("problems" in read) throw new Error(JSON.stringify(read.problems));
  const folder = temporaryFolder();
  const own = new OwnProfiles(folder).read(new OwnProfiles(folder).put(read.form));
  useOwnProfiles(folder);
  if ("problems" in own) throw new Error(JSON.stringify(own.problems));
  return Buffer.from(redact(Buffer.from(text), own.profile, [])).toString();
}

test.each([
  ["of the visit", "{ name: { at: PV1-3, when: { PV1-2: X } } }", "PID|1||1\rPV1|1|X|Zeytin\rOBR|1||S-1\r"],
  ["on a later segment", "{ name: { at: PID-10, when: { OBR-2: X } } }", "PID|1||1|||||||Zeytin\rOBR|1|X|S-1\r"],
  ["with an escape", "{ owner: { at: OBR-13, when: { OBR-13: Z } } }", "PID|1||1\rOBR|1||S-1||||||||||Zey\\T\\tin\r"],
  [
    "with other words",
    "{ name: { at: OBR-13, unless: { OBR-13: '\\d' }, replace: { _: ' ' } } }",
    "PID|1||1\rOBR|1||S-1||||||||||Zeytin_Z\r",
  ],
])("a name of HL7 %s", (_, patient, segments) => {
  const text = redacted("generic-hl7", patient, `MSH|^~\\&|ACME||||||ORU^R01|1|P|2.3.1\r${segments}`);
  expect(text).not.toMatch(/Zey|tin/);
  expect(text).toContain("S-1");
});

test("a number in the place of a name stays, in each message by itself", () => {
  const patient =
    "{ identifier: { at: PV1-3, when: { PV1-3: '\\d' } }, name: { at: PV1-3, unless: { PV1-3: '\\d' } } }";
  const segments = (place: string) => `MSH|^~\\&|ACME||||||ORU^R01|1|P|2.3.1\rPID|1\rPV1|1||${place}\rOBR|1||S-1\r`;
  const text = redacted("generic-hl7", patient, `${segments("Zeytin")}${segments("4711")}`);
  expect(text).toBe(`${segments("XXXXXX")}${segments("4711")}`);
});

test("a conditional owner of ASTM", () => {
  const patient = "{ owner: { at: P-20, when: { P-20: '[a-z]' } } }";
  const text = redacted(
    "generic-astm",
    patient,
    "H|\\^&|||Acme\rP|1|4711|||||||||||||||||Yilmaz\rR|1|^^^ALT|80|U/L\rL|1|N\r",
  );
  expect(text).toContain("P|1|4711|||||||||||||||||XXXXXX\r");
});
