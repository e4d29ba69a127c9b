import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { analyzersOf } from "../../../agent/analyzers.ts";
import { checkConfig } from "../../../agent/config/check.ts";
import { devicesText } from "../../../agent/remote/with-devices.ts";
import { temporaryFolder } from "../../support/machine/processes.ts";

let folder: string;

beforeAll(() => {
  folder = temporaryFolder();
  fs.writeFileSync(path.join(folder, "agent.key"), "sk_live_not-a-real-key\n");
});

afterAll(() => fs.rmSync(folder, { recursive: true }));

function check(controls: string, profile = "generic-astm") {
  const text = `
server: { url: "http://127.0.0.1:8080", keyFile: ./agent.key }
data: ./data/agent
timeZone: UTC
devices:
  - id: chem-1
    profile: ${profile}
    connection: { listen: "127.0.0.1:2575" }
    controls: ${controls}
`;
  return checkConfig(text, folder);
}

function problemsOf(controls: string, profile?: string): string[] {
  const result = check(controls, profile);
  return "problems" in result ? result.problems.map(({ line, message }) => `${line}: ${message}`) : [];
}

test("the numbers of a device's controls reach its reading folded, and the dashboard edits them", () => {
  const result = check("[QC1, 'qc 2', 0413]");
  if ("problems" in result) throw new Error(JSON.stringify(result.problems));
  expect(analyzersOf(result.config).get("chem-1")?.controls).toEqual(new Set(["QC1", "QC2", "0413"]));
  expect(devicesText(result.config.devices)).toContain('controls:\n    - QC1\n    - qc 2\n    - "0413"\n');
});

test("a repeated number, an empty one and a list that is none are errors at their places", () => {
  expect(problemsOf("[QC1, 'qc 1']")).toEqual([
    "9: devices[0].controls[1] is the same number as QC1, expected each once",
  ]);
  expect(problemsOf("[' ']")).toEqual([
    "9: devices[0].controls[0] is empty, expected the number of a sample such as QC1",
  ]);
  expect(problemsOf("QC1")).toEqual(['9: devices[0].controls is "QC1", expected an array']);
});

test("an imaging device has no controls", () => {
  expect(problemsOf("[QC1]", "dicom")).toEqual(["9: devices[0].controls is for analyzers, the profile is dicom"]);
});
