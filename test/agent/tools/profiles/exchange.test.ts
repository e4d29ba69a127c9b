import fs from "node:fs";
import path from "node:path";
import { strFromU8, strToU8, unzipSync, zipSync } from "fflate";
import { beforeEach, describe, expect, test } from "vitest";
import { recover } from "../../../../agent/connection/recovery.ts";
import { profileById, useOwnProfiles } from "../../../../agent/devices/index.ts";
import { type OwnProfile, OwnProfiles } from "../../../../agent/devices/own/own-profiles.ts";
import { readProfileText } from "../../../../agent/devices/table/load.ts";
import { readSpool } from "../../../../agent/spool/access.ts";
import { effectsOf, effectText } from "../../../../agent/tools/profiles/effects.ts";
import { exportProfile } from "../../../../agent/tools/profiles/export-profile.ts";
import { fileNameOf, readingOf, unpackProfile } from "../../../../agent/tools/profiles/profile-file.ts";
import { shipProfile } from "../../../../agent/tools/profiles/ship-profile.ts";
import { frameOf } from "../../../support/protocols/hl7.ts";
import { temporaryFolder } from "../../../support/machine/processes.ts";
import { useSpool } from "../../../support/spool.ts";

const used = useSpool();

/** The owner stands in a note segment, and the name in OBR-4 if it has letters. */
const PROFILE = `schema: 1
profile: own/acme-x1
revision: 3
extends: generic-hl7@1
device: { name: Acme X1, modality: HEMATOLOGY }
patient:
  identifier: { at: OBR-4, when: { OBR-4: '\\d' } }
  name: { at: OBR-4, unless: { OBR-4: '\\d' } }
analytes: { CREA: GLU, K1: WBC }
rows: [{ as: remark, when: { OBX-3: '^Mode$' } }]
orders: {}
`;

const MESSAGE = frameOf([
  "MSH|^~\\&|ACME||||||ORU^R01|1|P|2.3.1",
  "PID|1||||Karabas",
  "OBR|1||S-1|Zeytin|||20260101090000",
  "NTE|1||brought by Yılmaz",
  "OBX|1|ST|Mode||WB|||||F",
  "OBX|2|NM|WBC||7.5|10*9/L|6.00-17.00|N|||F",
  "OBX|3|NM|XYZ||1|||||F",
]);

const about = { model: "Acme X1", firmware: "1.2", evidence: "capture", timeZone: "UTC", receivedAt: 0 } as const;

let own: OwnProfile;
let message: string;

beforeEach(async () => {
  const store = new OwnProfiles(used.folder);
  const read = readProfileText(PROFILE, "test.yaml");
  if ("problems" in read) throw new Error(JSON.stringify(read.problems));
  const reference = store.put(read.form);
  useOwnProfiles(used.folder);
  own = store.read(reference) as OwnProfile;
  const session = used.spool.openSession("hema-1", reference);
  await new Promise<void>((resolve) =>
    used.spool.append({ device: "hema-1", session, kind: "chunk", bytes: MESSAGE, durable: true }, () => resolve()),
  );
  await recover(used.spool, profileById);
  message = readSpool(used.folder, (db) => String(db.prepare("SELECT id FROM message").pluck().get()));
});

function exported(hidden: readonly string[], operators: readonly string[] = []): Uint8Array {
  const request = { profile: own, messages: [message], hidden, about, operators };
  const device = { profile: own.profile, timeZone: "UTC" };
  return readSpool(used.folder, (db) => exportProfile(db, used.folder, request, () => device));
}

describe("the file of a profile", () => {
  test("an export has the profile, a capture without names and its rows, and an import finds them the same", () => {
    const bytes = exported(["Yılmaz"]);
    const parts = unzipSync(bytes);
    expect(Object.keys(parts).toSorted()).toEqual(["about.yaml", "captures/1.hl7", "expected/1.json", "profile.yaml"]);
    const capture = strFromU8(parts["captures/1.hl7"]!);
    expect(capture).not.toMatch(/Zeytin|Karabas|Y.+lmaz/);
    expect(capture).toContain("OBR|1||S-1|XXXXXX|||20260101090000");
    expect(capture).toHaveLength(Buffer.from(MESSAGE).toString("latin1").length);
    const read = unpackProfile(bytes, "acme.vetwire-profile");
    expect(read).toMatchObject({ form: own.form, about, differing: [] });
    expect(readingOf(read.captures.get("captures/1.hl7")!, read.profile, about)).toBe(
      "2 results, 1 code that the catalogue lacks, 0 without a value",
    );
    expect(fileNameOf(read.form)).toBe("acme-x1@3.vetwire-profile");
  });

  test("an export is refused while a name of the directory or an operator occurs", async () => {
    expect(() => exported([], ["Elif", "YILMAZ"])).toThrow(`message ${message} still has 1 names of the clinic`);
    const fp = "patient_01K9TEST000000000000000001";
    await used.spool.call("upsertPatients", [{ fp, body: JSON.stringify({ fp, name: "yilmaz" }) }], Date.now());
    expect(() => exported([])).toThrow("replace each with --hide, or take another message");
    expect(() => exported(["Yılmaz"])).not.toThrow();
  });

  test("an export is refused for a message that the profile does not read", async () => {
    const session = used.spool.openSession("hema-1", own.reference);
    const bytes = frameOf(["MSH|^~\\&|ACME||||||ORU^R01|2|P|2.3.1", "PID|1"]);
    await new Promise<void>((resolve) =>
      used.spool.append({ device: "hema-1", session, kind: "chunk", bytes, durable: true }, () => resolve()),
    );
    await recover(used.spool, profileById);
    message = readSpool(used.folder, (db) => String(db.prepare("SELECT MAX(id) FROM message").pluck().get()));
    expect(() => exported([])).toThrow(`own/acme-x1@3 reads no result in message ${message}`);
  });

  test("a file whose rows are not those that its captures give is named", () => {
    const parts = unzipSync(exported(["Yılmaz"]));
    const expected = strFromU8(parts["expected/1.json"]!).replace('"WBC"', '"PLT"');
    const read = unpackProfile(zipSync({ ...parts, "expected/1.json": strToU8(expected) }), "x");
    expect(read.differing).toEqual(["captures/1.hl7"]);
  });

  test("a faulty profile in a file is refused with its line", () => {
    const parts = unzipSync(exported(["Yılmaz"]));
    const text = strFromU8(parts["profile.yaml"]!).replace("patient:", "patiant:");
    expect(() => unpackProfile(zipSync({ ...parts, "profile.yaml": strToU8(text) }), "x")).toThrow(
      /^x\/profile\.yaml:\d+ patiant /m,
    );
  });

  test.each([
    ["a damaged one", strToU8("PK\x03\x04 nothing"), "x is damaged"],
    ["one that unpacks too large", zipSync({ a: new Uint8Array(9_000_000) }), "x unpacks to 9000000 bytes"],
    ["one without a profile", zipSync({ a: new Uint8Array(1) }), "x has no profile.yaml"],
  ])("%s is refused", (_, bytes, sentence) => {
    expect(() => unpackProfile(bytes, "x")).toThrow(sentence);
  });

  test("the effects of a profile are told in words, a renamed analyte first", () => {
    expect(effectsOf(own.form).map(effectText)).toEqual([
      "CHECK THIS: it calls a known code by another analyte: CREA = GLU",
      "it says itself where the patient is: identifier, name",
      "1 rule calls rows no results: remark",
      "it names 2 codes: CREA = GLU, K1 = WBC",
      "it joins messages of one sample within 1 h",
      "it can send orders to the device: off until agent.yaml has orders: true for the device",
    ]);
  });

  test("one command makes a file a profile of the project with its fixture", () => {
    const root = temporaryFolder();
    fs.mkdirSync(path.join(root, "agent/devices"), { recursive: true });
    fs.writeFileSync(path.join(root, "agent/devices/index.ts"), '  file("genrui-vh30"),\n  file("generic-hl7"),\n');
    const written = shipProfile(root, unpackProfile(exported(["Yılmaz"]), "x"));
    expect(written.map((file) => path.relative(root, file))).toEqual([
      "agent/devices/hl7/acme-x1.yaml",
      "fixtures/acme-x1/case-1.hl7",
      "agent/devices/index.ts",
    ]);
    expect(fs.readFileSync(written[0]!, "utf8")).toMatch(/^schema: 1\nprofile: acme-x1\nrevision: 1\n/);
    expect(fs.readFileSync(written[2]!, "utf8")).toBe(
      '  file("genrui-vh30"),\n  file("acme-x1"),\n  file("generic-hl7"),\n',
    );
    fs.rmSync(root, { recursive: true });
  });
});
