import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { analyzersOf } from "../../../agent/analyzers.ts";
import { checkConfig } from "../../../agent/config/check.ts";
import { practiceOf } from "../../../agent/study/assess-registry.ts";
import { temporaryFolder } from "../../support/machine/processes.ts";

// The settings of practice software in agent.yaml.

let folder: string;

beforeAll(() => {
  folder = temporaryFolder();
  fs.writeFileSync(path.join(folder, "agent.key"), "sk_live_not-a-real-key\n");
});

afterAll(() => fs.rmSync(folder, { recursive: true }));

/** Checks a configuration whose only device has these keys in addition to the usual ones. */
function check(keys: string, profile = "practice-system", connection = 'listen: "127.0.0.1:2576"') {
  const text = `
server: { url: "http://127.0.0.1:8080", keyFile: ./agent.key }
data: ./data/agent
timeZone: UTC
devices:
  - id: pims
    profile: ${profile}
    connection: { ${connection} }
    ${keys}
`;
  return checkConfig(text, folder);
}

function problemsOf(...given: Parameters<typeof check>): string[] {
  const result = check(...given);
  return "problems" in result ? result.problems.map(({ line, message }) => `${line}: ${message}`) : [];
}

/** Returns the settings with which the device reads messages. */
function settingsOf(keys: string) {
  const result = check(keys);
  if ("problems" in result) throw new Error(JSON.stringify(result.problems));
  const device = analyzersOf(result.config).get("pims");
  return device === undefined ? null : (practiceOf(device.profile)?.registry ?? null);
}

test("the settings replace the usual ones, and the rest stays", () => {
  expect(settingsOf("")).toEqual({ nameOrder: "owner-first", orderReply: "ACK" });
  expect(
    settingsOf("practice: { nameOrder: animal-first, chipField: PID-2, panels: { CHEM10: [ALT, CREA] } }"),
  ).toEqual({
    nameOrder: "animal-first",
    orderReply: "ACK",
    chipField: "PID-2",
    panels: { CHEM10: ["ALT", "CREA"] },
  });
});

test("a code of the practice keeps its characters, and a panel has tests of the catalogue", () => {
  expect(settingsOf("practice: { panels: { 0413: [ALT] } }")).toMatchObject({ panels: { "0413": ["ALT"] } });
  expect(problemsOf("practice: { panels: { CHEM10: [ALT, CHEMX9] } }")).toEqual([
    expect.stringContaining("devices[0].practice.panels.CHEM10[1] is CHEMX9, which is no analyte of the catalogue"),
  ]);
});

test("unknown keys and values are refused with what is expected", () => {
  expect(problemsOf("practice: { nameorder: owner-first, chipField: PID-5, source: a b }")).toEqual([
    "9: devices[0].practice.nameorder is an unknown key, did you mean nameOrder?",
    '9: devices[0].practice.chipField is "PID-5", expected one of PID-2, PID-3, PID-4',
    expect.stringContaining("9: devices[0].practice.source is"),
  ]);
});

test("an analyzer and an imaging device have no settings of practice software, which has none of theirs", () => {
  const mine = "practice: { nameOrder: owner-first }";
  expect(problemsOf(mine, "generic-hl7")).toEqual([
    "9: devices[0].practice is for practice software, the profile is generic-hl7",
  ]);
  expect(problemsOf(mine, "dicom")).toEqual(["9: devices[0].practice is for practice software, the profile is dicom"]);
  expect(problemsOf("codes: { 413: GLU }")).toEqual([
    "9: devices[0].codes is for analyzers, the profile is practice-system",
  ]);
  expect(problemsOf("", "practice-system", "serial: { path: /dev/ttyUSB0 }")).toEqual([
    "8: devices[0].connection has serial, expected listen or dial for practice software",
  ]);
});
