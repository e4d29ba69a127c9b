import { beforeEach, expect, test } from "vitest";
import type { FilingDevice } from "../../../../agent/study/assess.ts";
import { type FilingClinic, resultsOf, useFilingClinic } from "../../../support/clinic/filing-clinic.ts";
import { dog } from "../../../support/runner/fixtures.ts";
import { astmDevice } from "../../../support/clinic/profiles.ts";
import { HEADER, only, resultRecord } from "../../records.ts";

// Results that were filed before the clinic said that their number is a control's.

let clinic: FilingClinic;

useFilingClinic((created) => (clinic = created));

const plain: FilingDevice = { profile: astmDevice("generic-astm"), timeZone: "UTC", model: null };
const states = ["filed", "unmatched"] as const;

beforeEach(() => {
  clinic.devices.set("chem-1", plain);
});

const run = (number: string, alt: string) => [
  `P|1|${number}`,
  `O|1|S-${number}||^^^Panel|R||20261121110000`,
  resultRecord("^^^ALT", alt, "U/L", { 13: "20261121113015" }),
];
const sayControls = () => clinic.devices.set("chem-1", { ...plain, controls: new Set(["REF1"]) });

test.each([
  ["of an animal with that number", true],
  ["without an animal", false],
])("a study %s loses what is a control's by now, and the control is sent", async (_whose, isKnown) => {
  if (isKnown) await clinic.know(dog, "REF1");
  await clinic.receive("chem-1", [HEADER, ...run("REF1", "52"), "L|1|N"]);
  const before = only(await clinic.push());
  expect(resultsOf(before)).toHaveLength(1);
  sayControls();
  const done = only(await clinic.reprocess({ states }));
  expect(done.diff).toContainEqual(expect.stringMatching(/^- ALT .* 52/));
  expect(done.diff).toContainEqual(expect.stringMatching(/^\+ control .*ALT 52/));
  const after = only(await clinic.push());
  expect([after.fp, after.revision, after.body.results, after.snapshot.rows]).toEqual([before.fp, 2, [], []]);
  expect(await clinic.reprocess({ states })).toEqual([]);
});

test("a study of the same message and one of another message stay as they are", async () => {
  await clinic.know(dog, "4711");
  await clinic.receive("chem-1", [HEADER, ...run("4711", "52"), ...run("REF1", "52"), "L|1|N"]);
  await clinic.receive("chem-1", [HEADER, ...run("4712", "52"), "L|1|N"]);
  const before = await clinic.push();
  sayControls();
  await clinic.reprocess({ states });
  const after = only(await clinic.push());
  expect([after.fp, after.body.results]).toEqual([before[1]?.fp, []]);
});
