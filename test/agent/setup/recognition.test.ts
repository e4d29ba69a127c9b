import fs from "node:fs";
import { describe, expect, onTestFinished, test } from "vitest";
import { useOwnProfiles } from "../../../agent/devices/index.ts";
import { OwnProfiles } from "../../../agent/devices/own/own-profiles.ts";
import { readProfileText } from "../../../agent/devices/table/load.ts";
import { analyzerNames, candidatesOf, misfit, tieOf } from "../../../agent/setup/candidates.ts";
import { recording, recordings } from "../../support/runner/fixtures.ts";
import { temporaryFolder } from "../../support/machine/processes.ts";
import { bytes, sessionOf } from "../protocols/astm/wire.ts";

// The set-up proposes profiles for devices that hide their names, each kind as a made input, and for every fixture without its sender.

const ranked = (sample: Uint8Array) => candidatesOf([{ bytes: sample, line: null, caller: null }]);
const proposed = (sample: Uint8Array) => ranked(sample)[0]?.shown.profile;

const ROWS = ["OBX|1|NM|ALT||61|U/L|10-118||||F", "OBX|2|NM|CREA||1.1|mg/dL|0.5-1.8||||F"];

/** A message of HL7 in its frame. `header`: MSH-3 to MSH-6. */
function hl7(header: string, rows: readonly string[] = ROWS, order = "OBR|1||S-1|Panel"): Buffer {
  const msh = `MSH|^~\\&|${header}|20261121113100||ORU^R01|1|P|2.3.1||||||UNICODE`;
  return Buffer.from(`\v${[msh, "PID|1||4711||Zeytin", order, ...rows].join("\r")}\r\x1c\r`);
}

/** A recording with other fields in its header: the pieces at these indexes between separators. */
function withHeader(name: string, change: (fields: string[]) => void): Buffer {
  const text = recording(name).toString("latin1");
  return Buffer.from(
    text.replaceAll(/MSH\|[^\r]*/g, (line) => {
      const fields = line.split("|");
      change(fields);
      return fields.join("|");
    }),
    "latin1",
  );
}

const unsent = (fields: string[]) => {
  fields[2] = "";
  fields[3] = "";
};

describe("a device that names itself", () => {
  test.each([
    ["H30 Vet^2101|||", "edan-h30"],
    ["EDANLAB|H30_Vet||", "edan-h30"],
    ["i15^2301|||", "edan-i15"],
    ["BC-30 Vet^1.2|||", "mindray-bc"],
    ["Mindray|BC-5000Vet||", "mindray-bc"],
    ["BS-430^9|||", "mindray-bs"],
    ["DH56^1|||", "dymind-df"],
    ["Z3 CRP|||", "zybio-z"],
    ["UT-5160^2|||", "urit-5160"],
    ["8031|||", "urit-chem"],
    ["C10|||", "bionote-vcheck-c10"],
    ["Vcheck H6|||", "bionote-vcheck-h6"],
    ["F200^1|||", "bionote-vcheck"],
    ["SMT-120VP^3|||", "seamaty-smt"],
    ["iChroma III^1|||", "ichroma-iii"],
    ["NX600|||", "fuji-dri-chem-nx-hl7"],
    ["BA400|||", "biosystems-ba"],
    ["Exigo H400^1|||", "boule-exigo"],
    ["Clinitek Status+|||", "siemens-clinitek"],
    ["Celercare V5|||", "celercare"],
    ["VH50|||", "genrui-vh30"],
  ])("by its model in MSH-3 or MSH-4 alone, %s: %s", (header, profile) => {
    expect(proposed(hl7(header))).toBe(profile);
    expect(proposed(hl7(header.toUpperCase()))).toBe(profile);
    expect(proposed(hl7(header.toLowerCase()))).toBe(profile);
  });

  test.each([
    ["OBR|1||1|URIT^UT-5160", "urit-5160"],
    ["OBR|1||1|Mindray^BS-240", "mindray-bs"],
    ["OBR|1||1|EDANLAB^H30Pro^Sample", "edan-h30"],
    ["OBR|1||1|EDAN^i15", "edan-i15"],
    ["OBR|1||1|urit^8030", "urit-chem"],
  ])("in OBR-4 alone, with any sender, %s: %s", (order, profile) => {
    expect(proposed(hl7("|||", ROWS, order))).toBe(profile);
    expect(proposed(hl7("LAB-2|Clinic||", ROWS, order))).toBe(profile);
  });

  test("in MSH-21, in the event, in the software or in the instrument alone", () => {
    const at = (index: number, text: string) =>
      withHeader("mindray-bc/wrong-sender.hl7", (fields) => {
        unsent(fields);
        while (fields.length <= index) fields.push("");
        fields[index] = text;
      });
    expect(proposed(at(20, "1.2.3^Vcheck C10"))).toBe("bionote-vcheck-c10");
    expect(proposed(at(8, "ORU^R01^Clinitek"))).toBe("siemens-clinitek");
    expect(proposed(hl7("|||", ["SFT|Boule Medical AB|r1", ...ROWS]))).toBe("boule-exigo");
    const instrument = ROWS.map((row) => `${row}|||||ADMIN||A400^Biosystems`);
    expect(proposed(hl7("|||", instrument))).toBe("biosystems-ba");
  });
});

describe("a device that names nobody", () => {
  test.each([
    ["OBX|1|NM|6690-2^WBC^LN||9.8|10*9/L~OBX|2|IS|08001^Take Mode^99MRC||O", "mindray-bc"],
    ["OBX|1|NM|6690-2^WBC^LN||9.8|10*9/L~OBX|2|NM|10013^P-LCC^99MRC||61|10*9/L", "mindray-bc"],
    ["OBX|1|NM|6690-2^WBC^LN||9.8|10*9/L~OBX|2|IS|02001^Take Mode^99MRC||O", "dymind-df"],
    ["OBX|1|NM|ALT^ALT^VCHECK||143|U/L", "bionote-vcheck-c10"],
    ["OBX|1|NM|BN0010^Canine CRP^LN||12|mg/L", "bionote-vcheck"],
    ["OBX|1|NM|3D010000002329101^GLU^JC10||105|mg/dL", "fuji-dri-chem-nx-hl7"],
  ])("but has a maker's codes, %s: %s", (rows, profile) => {
    expect(proposed(hl7("|||", rows.split("~")))).toBe(profile);
  });

  test.each([
    ["OBX|1|NM|WBC||9.8|10^9/L~OBX|2|NM|Neu#||7.0|10^9/L~OBX|3|NM|PDW-CV||12.9|%", "dymind-df"],
    ["OBX|1|NM|WBC||10.4|10*9/L~OBX|2|NM|LYMA||2.2|10*9/L~OBX|3|NM|GRNR||72|%", "boule-exigo"],
    ["OBX|1|NM|WBC||9.8|10^9/L~OBX|2|NM|RDW_CV||13.9|%~OBX|3|NM|P_LCR||24|%", "urit-5160"],
    ["OBX||NM|0|WBC|9.5|10\\S\\3/uL||0~OBX||NM|0|RDW_SD|41|fL||0", "edan-h30"],
    ["OBX||NM|0|pH|7.312||7.350^7.450~OBX||NM|0|Na+|148|mmol/L|140^153", "edan-i15"],
  ])("but has bare names that only it writes, %s: %s", (rows, profile) => {
    expect(proposed(hl7("|||", rows.split("~")))).toBe(profile);
  });

  test("but has names of several makers is proposed only without another sender", () => {
    const rows = ["OBX|1|NM|WBC||9.8|10^9/L", "OBX|2|NM|RDW_CV||13.9|%"];
    expect(proposed(hl7("|||", rows))).toBe("urit-5160");
    expect(proposed(hl7("ACME^1|X1||", rows))).toBe("generic-hl7");
  });

  test("and has bare names of everybody gets the general profile, above all special ones", () => {
    const [first, ...others] = ranked(hl7("|||"));
    expect(first?.shown.profile).toBe("generic-hl7");
    for (const { shown } of others) expect(shown.score).toBeLessThan(first?.shown.score ?? 0);
  });
});

describe("a device under another brand", () => {
  test.each([
    ["urit-5160/vet.hl7", "urit-5160"],
    ["urit-5160/percentages-and-doubts.hl7", "urit-5160"],
    ["boule-exigo/dog-three-parts.hl7", "boule-exigo"],
    ["bionote-vcheck-h6/blood-count.hl7", "bionote-vcheck-h6"],
    ["bionote-vcheck-c10/oul-r22.hl7", "bionote-vcheck-c10"],
    ["mindray-bs/three-tests.hl7", "mindray-bs"],
    ["edan-h30/one-sample.hl7", "edan-h30"],
    ["biosystems-ba/one-sample.hl7", "biosystems-ba"],
  ])("%s: %s", (name, profile) => {
    const branded = withHeader(name, (fields) => {
      fields[2] = "VetLine^7";
      fields[3] = "Acme";
    });
    expect(proposed(branded)).toBe(profile);
  });
});

describe("a device of ASTM", () => {
  const message = (header: string, rows: readonly string[]) =>
    bytes(sessionOf(header, "P|1|4711", "O|1|S-1||^^^ALT", ...rows, "L|1|N"));

  test("with odd delimiters and an empty sender gets the general profile, though others accept an empty one", () => {
    const odd = bytes(
      sessionOf("H|`^&||||||||||P|E 1394-97", "P|1|4711", "O|1|S-1||^^^ALT", "R|1|^^^ALT|61|U/L", "L|1|N"),
    );
    expect(proposed(odd)).toBe("generic-astm");
    const another = odd.toString("latin1").replace("H|`^&", "H|~!*").replaceAll("^^^", "!!!");
    expect(proposed(Buffer.from(another, "latin1"))).toBe("generic-astm");
  });

  test("whose serial number is its sender is no VITROS without the codes of one", () => {
    expect(proposed(message("H|\\^&|||3600999", ["R|1|^^^ALT|61|U/L"]))).toBe("generic-astm");
    expect(proposed(message("H|\\^&|||3600999", ["R|1|^^^1.0000+001+1.0|61|U/L"]))).toBe("vitros");
  });

  test.each([
    ["abaxis-vetscan-vs2/dog.astm", "abaxis-vetscan-vs2"],
    ["skyla/liver-panel.astm", "skyla"],
  ])("%s with another check, or without one, is of %s", (name, profile) => {
    const text = recording(name).toString("latin1");
    const checked = (check: string) => {
      const ends = ["\x03", "\x17"];
      return ends.reduce((sent, end) => {
        const [first = "", ...rest] = sent.split(end);
        return [first, ...rest.map((piece) => check + piece.slice(2))].join(end);
      }, text);
    };
    const [xor, none] = ["00", ""].map((check) => Buffer.from(checked(check), "latin1"));
    expect(proposed(xor!)).toBe(profile);
    expect(proposed(none!)).toBe(profile);
  });
});

describe("the words for a person", () => {
  test("say what the device calls itself, where, and how many rows are read", () => {
    const [first] = ranked(recording("boule-exigo/dog-three-parts.hl7"));
    expect(first?.shown).toMatchObject({
      profile: "boule-exigo",
      named: { text: "BM850", place: "MSH-3.1" },
      mark: "own",
      rows: { read: 14, of: 16 },
    });
    const [vitros] = ranked(recording("vitros/thyroid-and-indices.astm"));
    expect(vitros?.shown.named).toEqual({ text: "3600999", place: "H-5.1" });
    expect(ranked(recording("generic-astm/one-frame.astm"))[0]?.shown).toMatchObject({ named: null, isGeneral: true });
  });

  test("two profiles that fit alike are a tie with the rows that differ, and others are none", () => {
    const rows = ["OBX|1|IS|08001^Take Mode^99MRC||O", "OBX|2|NM|Neu#||7.0|10^9/L||A", "OBX|3|NM|NLR||2.9"];
    const alike = hl7("|||", [...rows, "OBX|5|ST|Remark||seen"]);
    expect(tieOf(ranked(alike))?.rows).toEqual([{ name: "Remark", read: [null, "seen"] }]);
    expect(tieOf(ranked(hl7("BC-5380|||", rows)))).toBeNull();
    expect(tieOf(ranked(hl7("|||")))).toBeNull();
  });

  test("a special profile that reads more argues against another, and one that reads as much does not", () => {
    const vetscan = ranked(recording("abaxis-vetscan-vs2/dog.astm"));
    expect(misfit("generic-astm", vetscan)).toContain("choose abaxis-vetscan-vs2");
    const clinitek = ranked(recording("genrui-vh30/blood-count.hl7"));
    expect(misfit("generic-hl7", clinitek)).toContain("choose genrui-vh30");
    const asMuch = ranked(hl7("BC-5380|Mindray||"));
    expect(asMuch[0]?.shown.profile).toBe("mindray-bc");
    expect(misfit("generic-hl7", asMuch)).toBeNull();
  });
});

test("a clinic's own profile wins of two that fit alike, and is no question", () => {
  const data = temporaryFolder();
  onTestFinished(() => {
    useOwnProfiles("");
    fs.rmSync(data, { recursive: true });
  });
  const sample = hl7("BC-5380|Mindray||");
  expect(proposed(sample)).toBe("mindray-bc");
  const text = `schema: 1
profile: own/our-bc
revision: 1
extends: mindray-bc@1
device: { name: Our BC }
rows: [{ as: remark, when: { OBX-3: ^CREA } }] # one point less
`;
  const read = readProfileText(text, "our-bc.yaml");
  if ("problems" in read) throw new Error(JSON.stringify(read.problems));
  new OwnProfiles(data).put(read.form);
  useOwnProfiles(data);
  const candidates = ranked(sample);
  expect(candidates.slice(0, 2).map(({ shown }) => shown.profile)).toEqual(["own/our-bc@1", "mindray-bc"]);
  expect(tieOf(candidates)).toBeNull();
  expect(analyzerNames()).toContainEqual({ profile: "own/our-bc@1", name: "Our BC" });
});

test.each([
  ["own frame marks", "<SB>MSH|^~\\&|X1||||20261121||ORU^R01|1|P|2.3.1\rOBX|1|NM|ALT||61\r<EB>"],
  ["SOH and EOT of another maker", "\x01H|\\^&|||X1\rP|1\rO|1|S-1\rR|1|^^^ALT|61\rL|1|N\r\x04"],
  ["UTF-16", Buffer.from("\vMSH|^~\\&|BC-5380||||20261121||ORU^R01|1|P|2.3.1\r\x1c\r", "utf16le").toString("latin1")],
  ["a binary head", "\0\0\x01\x2cMSH|^~\\&|BC-5380||||20261121||ORU^R01|1|P|2.3.1\rOBX|1|NM|ALT||61\r"],
  ["values in a text of its own", "#R;X1;4711;Zeytin\n#V;ALT;61;U/L\n#V;CREA;1.1;mg/dL\n#E\n"],
])("no profile is proposed for %s", (_kind, text) => {
  expect(ranked(Buffer.from(text, "latin1"))).toEqual([]);
});

test("records between STX and ETX without frame numbers propose the profile without frames", () => {
  const sent = Buffer.from("\x02H|\\^&|||X1\rP|1\rO|1|S-1\rR|1|^^^ALT|61\rL|1|N\r\x03", "latin1");
  expect(ranked(sent).map(({ shown }) => shown.profile)).toEqual(["generic-astm-raw"]);
});

/** A recording without its sender, which is MSH-3 and MSH-4. */
const blanked = recordings
  .filter(({ name }) => name.endsWith(".hl7") && !/^generic-hl7\/|wrong-sender|heartbeat/.test(name))
  .map(({ name }) => ({ name, sample: withHeader(name, unsent) }));

/** Recordings that hold nothing of their device without its sender: queries, and results in a table that many makers write. */
const NAMELESS: readonly string[] = [
  ...["bionote-vcheck-c10/query.hl7", "bionote-vcheck-h6/query.hl7", "celercare/panel.hl7", "dymind-df/query.hl7"],
  ...["genrui-vh30/blood-count.hl7", "mindray-bc/query.hl7", "seamaty-smt/panel.hl7"],
  ...["zybio-z/control-run.hl7", "zybio-z/decimal-commas.hl7", "zybio-z/quality-control.hl7"],
];

test("four of five recordings of HL7 without their sender are recognised by content, and the others are known", () => {
  const wrong = blanked.filter(({ name, sample }) => proposed(sample) !== name.split("/")[0]).map(({ name }) => name);
  expect(wrong).toEqual(NAMELESS);
  expect(wrong.length / blanked.length).toBeLessThan(0.2);
});
