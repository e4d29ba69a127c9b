import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { profilesNamedIn } from "../../../agent/devices/detection/protocol-marks.ts";
import { profileById, profiles } from "../../../agent/devices/index.ts";
import { encodeMllp } from "../../../agent/protocols/mllp.ts";
import { candidatesOf, looksLike, misfit } from "../../../agent/setup/candidates.ts";
import { readingOf } from "../../../agent/tools/offline/rank-profiles.ts";
import { recording, recordings } from "../../support/runner/fixtures.ts";
import { bytes, sessionOf } from "../protocols/astm/wire.ts";

// The profiles that the set-up proposes for heard bytes, and excludes.

const heard = (sample: Uint8Array) => candidatesOf([{ bytes: sample, line: null, caller: null }]);
const proposed = (sample: Uint8Array) => heard(sample)[0]?.shown.profile;

const captures = fileURLToPath(new URL("../../../../shared/captures/", import.meta.url));

/** Captures of real devices, with the frames that some lack. They are outside the repository. */
function capturesIn(folder: "astm" | "hl7"): { readonly name: string; readonly bytes: Uint8Array }[] {
  if (!existsSync(captures)) return [];
  return readdirSync(join(captures, folder))
    .filter((name) => !/\.md$|^idexx/.test(name))
    .map((name) => {
      const logged = readFileSync(join(captures, folder, name));
      if (folder === "astm") return { name, bytes: logged };
      const end = logged.indexOf(0x1c);
      return { name, bytes: encodeMllp(logged.subarray(logged[0] === 0x0b ? 1 : 0, end < 0 ? undefined : end)) };
    });
}

const all = [...recordings, ...capturesIn("hl7"), ...capturesIn("astm")];

/** Returns the number of results that each profile reads by name; no entry for one that reads none. */
function readBy(sample: Uint8Array): ReadonlyMap<string, number> {
  const counts = profiles.map((profile) => [profile.id, readingOf(sample, profile)?.known ?? 0] as const);
  return new Map(counts.filter(([, count]) => count > 0));
}

/** Profiles of recordings whose folder has another name: of another device's dialect, or of bytes that prove nothing. */
const OTHERS: Readonly<Record<string, string | undefined>> = {
  "abaxis-vetscan-vs2/wrong-sender.astm": "generic-astm",
  "dirui-h100/unknown-line.astm": undefined,
  "generic-astm/erba.astm": "transasia-em200",
  "generic-astm/pentra.astm": "horiba-pentra",
  "generic-astm/sysmex-xn.astm": "sysmex-xn",
  "generic-astm/vitros.astm": "vitros",
  "generic-hl7/noise.hl7": undefined, // no VT
  "generic-hl7/other-type.hl7": "practice-system", // ADT
  "mindray-bc/wrong-sender.hl7": "generic-hl7",
  "mindray-bc2800vet/cut.astm": undefined,
  "mindray-bc2800vet/qc-run.astm": undefined,
  "mindray-bc/heartbeat.hl7": "generic-hl7",
  "radiometer-abl9/wrong-sender.astm": undefined, // the only profile of its frame refuses it
};

test.each(recordings.map(({ name, bytes: sample }) => [name, sample] as const))(
  "%s is of the profile that the set-up proposes",
  (name, sample) => {
    expect(proposed(sample)).toBe(name in OTHERS ? OTHERS[name] : name.split("/")[0]);
  },
);

/** Recordings whose own profile knows that a value is invalid, or that a message is not a patient's. */
const HELD_BACK = [
  ...["bionote-vcheck-m10/cut-curve.hl7", "bionote-vcheck-m10/half-tree.hl7", "edan-h30/not-a-sample.hl7"],
  ...["bionote-vcheck-m10/internal-control-failed.hl7", "edan-i15/blood-gas.hl7", "epoc/without-patient.astm"],
  ...["skyla/demo.astm", "skyla/liver-panel.astm", "skyla/name-in-ibm850.astm"],
  ...["urit-5160/control.hl7", "urit-5160/percentages-and-doubts.hl7", "urit-5160__vendor-example.hl7"],
];

test.each(all.map(({ name, bytes: sample }) => [name, sample] as const))(
  "%s: no other suggested profile reads more, and a general one excludes none that reads as much",
  (name, sample) => {
    const counts = readBy(sample);
    const candidates = heard(sample);
    const [first, ...others] = candidates.map(({ shown }) => shown.profile);
    if (first === undefined) return;
    const own = counts.get(first) ?? 0;
    const more = others.filter((id) => (counts.get(id) ?? 0) > own);
    expect(more.filter((id) => !(HELD_BACK.includes(name) && id.startsWith("generic-")))).toEqual([]);
    const framing = (id: string) => [profileById(id)?.protocol, profileById(id)?.link.kind].join(" ");
    const sisters = [...counts].filter(([id, count]) => framing(id) === framing(first) && count >= own);
    const argued = sisters.filter(([id]) => first.startsWith("generic-") && misfit(id, candidates) !== null);
    expect(argued).toEqual([]);
  },
);

/** Profiles of the captures, by the prefix of their names. Captures without frames are of records alone. */
const CAPTURED: Readonly<Record<string, string>> = {
  ...{
    "abaxis-vetscan-vs2": "abaxis-vetscan-vs2",
    abbott: "mythic",
    arkray: "arkray-spotchem-ez",
    cobas: "generic-astm",
  },
  ...{ "epoc-edm": "generic-astm-raw", "fuji-dri": "fuji-dri-chem-nx", "skyla-solution": "generic-astm-raw" },
  ...{ "mindray-bc2800vet__handshake-on": "mindray-bc2800vet", sysmex: "generic-astm", transasia: "transasia-em200" },
  ...{ "mindray-bc2800vet__handshake-off": "mindray-bc2800vet-one-way", vitros: "vitros" },
  ...{ "bionote-vcheck-": "bionote-vcheck", biosystems: "biosystems-ba", boule: "boule-exigo", dymind: "dymind-df" },
  ...{ "edan-h30": "edan-h30", "fuji-nx600__type-4": "fuji-dri-chem-nx-hl7", "mindray-bc20s": "mindray-bc" },
  ...{ "mindray-bc5380": "mindray-bc", "mindray-bs": "mindray-bs", siemens: "siemens-clinitek", urit: "urit-5160" },
};

test.skipIf(!existsSync(captures))("each capture is of the profile that the set-up proposes", () => {
  const wrong = [...capturesIn("hl7"), ...capturesIn("astm")].flatMap(({ name, bytes: sample }) => {
    const wanted = Object.entries(CAPTURED).find(([start]) => name.startsWith(start))?.[1];
    return proposed(sample) === wanted ? [] : [{ name, wanted, proposed: proposed(sample) }];
  });
  expect(wrong).toEqual([]);
});

/** A recording with another sender, in MSH-3 and MSH-4. */
function sentBy(name: string, sender: string): Uint8Array {
  const text = recording(name).toString("latin1");
  return Buffer.from(text.replaceAll(/(MSH\|[^|]*\|)[^|]*\|[^|]*/g, `$1${sender}`), "latin1");
}

test.each([
  ["mindray-bc/dog.hl7", "|", "mindray-bc"],
  ["mindray-bc/dog.hl7", "bc-5000vet|MINDRAY", "mindray-bc"],
  ["mindray-bs/three-tests.hl7", "|", "mindray-bs"],
  ["dymind-df/decimal-comma.hl7", "|", "dymind-df"],
  ["dymind-df/decimal-comma.hl7", "DH36|", "dymind-df"],
  ["boule-exigo/dog-three-parts.hl7", "LAB-2|Clinic", "boule-exigo"],
  ["urit-5160/vet.hl7", "InSight V3 Plus|Woodley", "urit-5160"],
  ["edan-h30/one-sample.hl7", "|", "edan-h30"],
  ["edan-i15/blood-gas.hl7", "|", "edan-i15"],
  ["fuji-dri-chem-nx-hl7/serum.hl7", "|", "fuji-dri-chem-nx-hl7"],
  ["biosystems-ba/one-sample.hl7", "|", "biosystems-ba"],
  ["bionote-vcheck/canine-crp.hl7", "|", "bionote-vcheck"],
])("%s with the sender %o is recognised by its content as %s", (name, sender, profile) => {
  const sample = sentBy(name, sender);
  expect(proposed(sample)).toBe(profile);
  expect(profilesNamedIn(sample.subarray(1))[0]).toBe(profile);
  expect(looksLike(sample.subarray(1), "generic-hl7")?.profile).toBe(profile);
});

test("ABAXIS in the header beats any analyzer with ASTM, though the rest was not sent yet", () => {
  const [header = ""] = sessionOf("H|\\^&|||ABAXIS, INC.^VetScan VS2^3.1^0|||||||P").split("<EOT>");
  const candidates = heard(bytes(header)).map(({ shown }) => [shown.profile, shown.score]);
  expect(candidates).toEqual([
    ["abaxis-vetscan-vs2", 95],
    ["generic-astm", 90],
  ]);
  expect(misfit("generic-astm", heard(bytes(header)))).toContain("choose abaxis-vetscan-vs2");
});

test("a special profile that leaves out what the general one misreads is not argued against", () => {
  const text = recording("urit-5160/percentages-and-doubts.hl7").toString("latin1");
  const unnamed = Buffer.from(
    text
      .replace("|URIT|UT-5160|", "|LAB-2|Clinic|")
      .replace(/UT-?5160/g, "")
      .replace(/\|0-10/g, "|0-20")
      .replaceAll("_", "-"),
    "latin1",
  );
  const candidates = heard(unnamed);
  expect(candidates[0]?.shown.profile).toBe("generic-hl7");
  expect(misfit("urit-5160", candidates)).toBeNull();
});

test("a special profile that cannot read the bytes is argued against", () => {
  const own = heard(recording("generic-astm/one-frame.astm"));
  expect(misfit("abaxis-vetscan-vs2", own)).toContain("choose generic-astm");
  expect(misfit("mindray-bc", own)).toContain("choose generic-astm");
});
