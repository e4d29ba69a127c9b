import { expect, test } from "vitest";
import { printProfile } from "../../../../agent/devices/table/document.ts";
import { resolveForm } from "../../../../agent/devices/table/extend.ts";
import { readProfileText, shippedForm, shippedProfiles } from "../../../../agent/devices/table/load.ts";
import type { ProfileForm } from "../../../../agent/devices/table/schema.ts";

const HEAD = "schema: 1\nprofile: own/acme-x1\nrevision: 3\n";

/** Returns the sentences of the problems of a text. */
function problemsOf(text: string): readonly string[] {
  const read = readProfileText(text, "x.yaml");
  return "problems" in read ? read.problems.map(({ message }) => message) : [];
}

function formOf(text: string): ProfileForm {
  const read = readProfileText(text, "x.yaml");
  if ("problems" in read) throw new Error(read.problems.map(({ message }) => message).join("; "));
  return read.form as ProfileForm;
}

test("a clinic's profile states what differs from a shipped one, and the whole has no extends", () => {
  const form = formOf(
    `${HEAD}extends: mindray-bc@1\ndevice: { name: Acme X1, default: null }\n` +
      "doubts: { flags: { A: null, D: doubtful } }\nrows: []\norders: null\n",
  );
  const { orders: _orders, evidence: _evidence, ...base } = shippedForm("mindray-bc") as ProfileForm;
  expect(form).toEqual({
    ...base,
    ...{ schema: 1, profile: "own/acme-x1", revision: 3 },
    device: { name: "Acme X1", modality: "HEMATOLOGY" },
    doubts: { flags: { D: "doubtful" } },
    rows: [],
  });
  expect(readProfileText(printProfile(form), "x")).toMatchObject({
    profile: { device_name: "Acme X1", modality: "HEMATOLOGY" },
  });
});

test("the evidence of a base proves no other device", () => {
  const base = { ...shippedForm("generic-hl7")!, evidence: { state: "capture" as const } };
  expect(resolveForm({ extends: "generic-hl7@1", profile: "own/a" }, () => base)).not.toHaveProperty("evidence");
});

test.each([
  [
    "extends: generic-hl7",
    'x.yaml:4 extends is "generic-hl7", expected a profile with its revision such as generic-hl7@1',
  ],
  ["extends: generic-hl7@2", "x.yaml:4 extends is generic-hl7@2, but this release has generic-hl7@1"],
  [
    "extends: own/other@1",
    'x.yaml:4 extends is "own/other@1", expected a profile with its revision such as generic-hl7@1',
  ],
  ["extends: nothing@1", "x.yaml:4 extends is nothing, a profile that this release does not have as a file"],
  ["extends: generic-hl7@1\ndevice:\n  name: 5", "x.yaml:6 device.name is 5, expected a string"],
  ["extends: &a generic-hl7@1", "x.yaml:4 the anchor &a is no part of a profile"],
  ["extends: generic-hl7@1\ndevice: !!map {}", "x.yaml:5 the tag tag:yaml.org,2002:map is no part of a profile"],
  ["device: *a", "x.yaml:4 the alias *a is no part of a profile"],
  ["device: {", "x.yaml:4 Flow map in block collection must be sufficiently indented and end with a }"],
  [`analytes: { 413: GLU, "413": CREA }`, "x.yaml:4 Map keys must be unique"],
  [`device: ${"{a: ".repeat(14)}1${"}".repeat(14)}`, "x.yaml:4 the profile is nested too deep, at most 12"],
  [`device: ${"[".repeat(100_000)}`, "x.yaml:4 the profile is nested too deep, at most 12"],
  [`device:\n${"- ".repeat(100_000)}`, "x.yaml:5 the profile is nested too deep, at most 12"],
  [`device:\n${" ".repeat(200)}a: 1`, "x.yaml:5 the profile is nested too deep, at most 12"],
  [`# ${"x".repeat(256 * 1024)}`, "x.yaml:1 the profile has 262189 bytes, at most 262144"],
])("problem %# is refused with its line", (lines, problem) => {
  expect(problemsOf(HEAD + lines)).toContain(problem);
});

test("a profile has an id and a revision of its own, not those of its base", () => {
  expect(problemsOf("extends: generic-hl7@1")).toEqual([
    "x.yaml:1 schema is missing",
    "x.yaml:1 profile is missing",
    "x.yaml:1 revision is missing",
  ]);
});

test("a text without keys is refused", () => {
  expect(problemsOf("- 1")).toEqual(["x.yaml:1 the profile has no keys, expected schema, profile, revision"]);
  expect(problemsOf("")).toEqual(["x.yaml:1 the profile has no keys, expected schema, profile, revision"]);
});

test.each([...shippedProfiles().keys()])("%s reads the same after it was printed", (id) => {
  const form = shippedForm(id)!;
  expect(formOf(printProfile(form))).toEqual(form);
});
