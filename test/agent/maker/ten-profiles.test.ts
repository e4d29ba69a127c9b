import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Profile } from "../../../agent/devices/profile.ts";
import { profileById } from "../../../agent/devices/index.ts";
import type { ProfileForm } from "../../../agent/devices/table/schema.ts";
import { printProfile } from "../../../agent/devices/table/document.ts";
import { readProfileText, shippedForm } from "../../../agent/devices/table/load.ts";
import { type Draft, formOf, withPatch } from "../../../agent/maker/draft.ts";
import { openBytes } from "../../../agent/maker/open.ts";
import { analytePatch, patchOf } from "../../../agent/maker/roles.ts";
import { messageTree, nodeAt } from "../../../agent/maker/tree.ts";
import type { Reading } from "../../../agent/report/report.ts";
import type { MakerNode } from "../../../agent/page/types/maker.ts";
import type { Role } from "../../../agent/page/types/maker-roles.ts";
import { replay } from "../../../agent/tools/offline/replay.ts";

// Goal: a clinic makes with clicks alone what a developer would write. Each profile starts with the general one of its protocol, and reads
// the fixture of the shipped one as that does.

interface Made {
  readonly shipped: string;
  readonly fixture: string;
  readonly device?: { readonly name: string; readonly modality?: string };
  /** Role, place, the text that was clicked, and the clinic's words. */
  readonly clicks: readonly (readonly [Role, string, string?, string?])[];
  readonly analytes?: Readonly<Record<string, string>>;
}

const BIOCHEMISTRY = "BIOCHEMISTRY";
const HEMATOLOGY = "HEMATOLOGY";

const MADE: readonly Made[] = [
  {
    shipped: "celercare",
    fixture: "panel.hl7",
    device: { name: "Celercare V", modality: BIOCHEMISTRY },
    clicks: [
      ["species", "PID-5"],
      ["name", "PID-6"],
      ["owner", "PID-7"],
      ["born", "PID-9"],
      ["sex", "PID-10"],
      ["code", "OBX-4"],
    ],
  },
  {
    shipped: "genrui-vh30",
    fixture: "blood-count.hl7",
    device: { name: "Genrui VH30", modality: HEMATOLOGY },
    clicks: [
      ["identifier", "PID-4"],
      ["name", "PID-5"],
      ["species", "PID-6"],
    ],
  },
  {
    shipped: "boule-exigo",
    fixture: "dog-three-parts.hl7",
    device: { name: "Boule Exigo", modality: HEMATOLOGY },
    clicks: [
      ["time", "OBR-22"],
      ["typed", "OBR-4"],
      ["final", "OBX-11"],
      ["empty", "OBX-5", '""'],
      ["species-row", "OBX-3", "PROF"],
      ["remark", "OBX-3", "ID2"],
      ["remark", "OBX-3", "METH"],
      ["remark", "OBX-3", "OPID"],
    ],
  },
  {
    shipped: "siemens-clinitek",
    fixture: "patient-strip.hl7",
    device: { name: "Siemens Clinitek Status", modality: "URINALYSIS" },
    clicks: [["sender", "MSH-3"]],
    analytes: { COL: "COLOR", CLA: "CLARITY" },
  },
  {
    shipped: "urit-chem",
    fixture: "laboratory-names.hl7",
    device: { name: "URIT chemistry", modality: BIOCHEMISTRY },
    clicks: [["sender", "MSH-3"]],
  },
  {
    shipped: "edan-i15",
    fixture: "blood-gas.hl7",
    device: { name: "EDAN i15", modality: BIOCHEMISTRY },
    clicks: [
      ["sender", "MSH-3"],
      ["high", "OBX-8", "↑"],
      ["low", "OBX-8", "↓"],
      ["no-value", "OBX-13", "Fail", "the device's check is {OBX-13}"],
    ],
    analytes: { "Ca++": "ICA", "tHb(est)": "THB", "cH+": "HION" },
  },
  {
    shipped: "mindray-bc",
    fixture: "dog.hl7",
    device: { name: "BC-5380", modality: HEMATOLOGY },
    clicks: [
      ["species-row", "OBX-3", "01002^Ref Group^99MRC"],
      ["doubt", "OBX-8", "A", "the device suspects it"],
      ["remark", "OBX-3", "15001^WBC Histogram. Left Line^99MRC"],
    ],
  },
  {
    shipped: "abaxis-vetscan-vs2",
    fixture: "dog.astm",
    device: { name: "Abaxis VetScan VS2", modality: BIOCHEMISTRY },
    clicks: [
      ["species", "P-16"],
      ["owner", "P-15.1"],
      ["sender", "H-5"],
    ],
  },
  {
    shipped: "abaxis-vetscan-vs2",
    fixture: "cat.astm",
    device: { name: "Abaxis VetScan VS2", modality: BIOCHEMISTRY },
    clicks: [
      ["species", "P-16"],
      ["owner", "P-15.1"],
    ],
  },
  {
    shipped: "seamaty-smt",
    fixture: "panel.hl7",
    device: { name: "Seamaty SMT-120VP", modality: BIOCHEMISTRY },
    clicks: [
      ["born", "PID-9"],
      ["species", "PID-10"],
      ["value", "OBX-7"],
    ],
  },
  {
    shipped: "bionote-vcheck-c10",
    fixture: "oul-r22.hl7",
    device: { name: "Bionote Vcheck C10", modality: BIOCHEMISTRY },
    clicks: [["owner", "PID-21"]],
  },
];

/** A reading without the names of control material and reagents, which the maker does not ask for. */
function withoutNames(reading: Reading): unknown {
  if (reading.is === "quarantined") return reading;
  const { events: _events, ...rest } = reading;
  return { ...rest, controls: reading.controls?.map(({ results }) => results) };
}

test.each(MADE)("$shipped, made with clicks alone, reads $fixture as the shipped profile does", (made) => {
  const { shipped, fixture } = made;
  const bytes = readFileSync(`fixtures/${shipped}/${fixture}`);
  const golden = JSON.parse(readFileSync(`fixtures/${shipped}/${fixture.replace(/\.\w+$/, ".json")}`, "utf8")) as {
    timeZone: string;
    receivedAt: string;
  };
  const context = { device: "fixture", timeZone: golden.timeZone, receivedAt: Date.parse(golden.receivedAt) };
  const reading = (profile: Profile) =>
    replay([bytes], profile, context, null).messages.map((message) => withoutNames(message.reading));
  const wanted = reading(profileById(shipped)!);
  expect(reading(madeProfile(made, bytes))).toEqual(wanted);
  const general = profileById(`generic-${fixture.split(".")[1]}`)!;
  expect(reading(general)).not.toEqual(wanted);
});

test("ten models are made so", () => {
  expect(new Set(MADE.map(({ shipped }) => shipped)).size).toBeGreaterThanOrEqual(10);
});

function madeProfile({ shipped, device, clicks, analytes = {} }: Made, bytes: Uint8Array): Profile {
  const protocol = profileById(shipped)?.protocol === "astm" ? "astm" : "hl7";
  const base = shippedForm(`generic-${protocol}`) as ProfileForm;
  const trees = openBytes(bytes, (of) => profileById(`generic-${of}`)).messages.map(
    (each) => messageTree(each, protocol)!,
  );
  let draft: Draft = { base, patches: device === undefined ? [] : [{ device }] };
  for (const [role, place, text, words] of clicks) {
    const record = recordOf(trees, place, text);
    const patch = patchOf(formOf(draft), { role, place, record, text, words });
    expect(patch, `${role} at ${place}`).not.toBeNull();
    draft = withPatch(draft, patch!);
  }
  for (const [code, analyte] of Object.entries(analytes)) {
    const record = recordOf(trees, shipped === "edan-i15" ? "OBX-4" : "OBX-3", code);
    draft = withPatch(draft, analytePatch(formOf(draft), record, analyte)!);
  }
  const read = readProfileText(printProfile(formOf(draft)), "made");
  if ("problems" in read) throw new Error(read.problems.map(({ message }) => message).join("\n"));
  return read.profile;
}

/** The record whose place has the text; the first one with any text without. */
function recordOf(trees: readonly MakerNode[], place: string, text: string | undefined): MakerNode {
  const records = trees.flatMap(({ children }) => children).filter((each) => each.place === place.split("-")[0]);
  const found = records.find((each) => {
    const own = nodeAt(each, place)?.text ?? "";
    return text === undefined ? own !== "" : own.split("~").includes(text);
  });
  if (found === undefined) throw new Error(`no record has ${text ?? "a text"} at ${place}`);
  return found;
}
