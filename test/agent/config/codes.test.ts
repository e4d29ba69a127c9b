import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { analyzersOf } from "../../../agent/analyzers.ts";
import { checkConfig } from "../../../agent/config/check.ts";
import { temporaryFolder } from "../../support/machine/processes.ts";

let folder: string;

beforeAll(() => {
  folder = temporaryFolder();
  fs.writeFileSync(path.join(folder, "agent.key"), "sk_live_not-a-real-key\n");
});

afterAll(() => fs.rmSync(folder, { recursive: true }));

/** Checks a configuration whose only device has these keys in addition to the usual ones. */
function check(keys: string, profile = "generic-astm") {
  const text = `
server: { url: "http://127.0.0.1:8080", keyFile: ./agent.key }
data: ./data/agent
timeZone: UTC
devices:
  - id: chem-1
    profile: ${profile}
    connection: { listen: "127.0.0.1:2575" }
    ${keys}
`;
  return checkConfig(text, folder);
}

function codesOf(keys: string): Record<string, string> {
  const result = check(keys);
  if ("problems" in result) throw new Error(JSON.stringify(result.problems));
  return Object.fromEntries(analyzersOf(result.config).get("chem-1")?.codes ?? []);
}

function problemsOf(keys: string, profile?: string): string[] {
  const result = check(keys, profile);
  return "problems" in result ? result.problems.map(({ line, message }) => `${line}: ${message}`) : [];
}

test("the codes of a device reach its reading, whether they are written as texts or as numbers", () => {
  expect(codesOf('codes: { 413: GLU, "GLI": GLU }')).toEqual({ "413": "GLU", gli: "GLU" });
});

test("a code that YAML reads as another number, a truth value or null keeps its characters", () => {
  expect(codesOf("codes: { 0413: GLU, 1.10: ALT, 1e3: AST, true: CREA, null: WBC }")).toEqual({
    "0413": "GLU",
    "1.10": "ALT",
    "1e3": "AST",
    true: "CREA",
    null: "WBC",
  });
});

test("an analyte that the catalogue lacks is an error with the nearest analytes, at its own line", () => {
  expect(problemsOf("codes:\n      413: GLUC\n      9: XYZZY\n      K: 5")).toEqual([
    "10: devices[0].codes[413] is GLUC, which is no analyte of the catalogue, did you mean GLU or UGLU?",
    "11: devices[0].codes[9] is XYZZY, which is no analyte of the catalogue, expected one such as ALT, CREA or WBC",
    "12: devices[0].codes.K is 5, expected a string",
  ]);
});

test("a duplicate code is an error, also in another case or as a number and a text", () => {
  expect(problemsOf("codes: { gli: GLU, GLI: GLU }")).toEqual([
    '9: devices[0].codes.GLI is the same code as "gli", expected each code once',
  ]);
  expect(problemsOf('codes: { 413: GLU, "413": ALT }')).toEqual(["9: Map keys must be unique"]);
  expect(problemsOf('codes: { " ": GLU }')).toEqual([
    "9: devices[0].codes.  has an empty code, expected a code of the device",
  ]);
});

test("a code with a slash has its problem at its own line", () => {
  expect(problemsOf("codes:\n      A: ALT\n      U:P/C: 5")).toEqual([
    "11: devices[0].codes.U:P/C is 5, expected a string",
  ]);
});

test("an imaging device has no codes", () => {
  expect(problemsOf("codes: { 413: GLU }", "dicom")).toEqual([
    "9: devices[0].codes is for analyzers, the profile is dicom",
  ]);
});
