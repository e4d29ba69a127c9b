import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { createLink } from "../../../../agent/connection/create-link.ts";
import { profileById } from "../../../../agent/devices/index.ts";
import type { Profile } from "../../../../agent/devices/profile.ts";
import { encodeBccText } from "../../../../agent/protocols/text/bcc-link.ts";
import { redact } from "../../../../agent/tools/capture/redact.ts";
import { replay } from "../../../../agent/tools/offline/replay.ts";
import { fixturesFolder } from "../../../support/runner/fixtures.ts";
import { session } from "../../../support/protocols/astm.ts";
import { frameOf } from "../../../support/protocols/hl7.ts";
import { fixedContext } from "../../../support/protocols/wire.ts";
import { segment } from "../../protocols/hl7/registry/messages.ts";

// Goal: a redacted recording has no names and is read as before. Method: every redacted fixture passes link and reader. Further
// tests cover the fields with names in each protocol.

const captures = readdirSync(fixturesFolder, { recursive: true, encoding: "utf8" }).filter((file) =>
  /\.(astm|hl7|poct1)$/.test(file),
);

function profileOf(id: string): Profile {
  const found = profileById(id);
  if (found === undefined) throw new Error(`${id} is not a profile`);
  return found;
}

const context = { device: "chem-1", timeZone: "UTC", receivedAt: Date.parse("2026-11-21T13:00:00Z") };

function play(bytes: Uint8Array, profile: Profile) {
  return replay([bytes], profile, context, null);
}

function redacted(bytes: Uint8Array, profile: Profile, messages: readonly Uint8Array[] = []): string {
  return Buffer.from(redact(bytes, profile, messages)).toString("latin1");
}

/** Returns the messages that the profile's link delivers. */
function messagesOf(bytes: Uint8Array, profile: Profile): Uint8Array[] {
  const link = createLink(profile, fixedContext);
  const actions = [...link.receive(bytes), ...link.close()];
  return actions.flatMap((action) => (action.do === "deliver" ? [action.message] : []));
}

/** Removes names from a reading, also from the dedupe keys that a name distinguishes. */
function withoutNames(bytes: Uint8Array, profile: Profile): unknown {
  const { warnings, messages } = play(bytes, profile);
  return {
    warnings,
    messages: messages.map(({ incomplete, reading, studies }) => ({
      incomplete,
      is: reading.is,
      reports: (reading.is === "reports" ? reading.reports : []).map(({ rows, identifier, species, acquired_at }) => ({
        rows,
        identifier,
        species,
        acquired_at,
      })),
      hints: studies.map(({ patient_hint }) => ({ ...patient_hint, name: null, owner: null, other: null })),
    })),
  };
}

describe("a redacted recording", () => {
  test.each(captures)("%s keeps its length and reads the same, without names", (capture) => {
    const profile = profileOf(dirname(capture));
    const bytes = new Uint8Array(readFileSync(join(fixturesFolder, capture)));
    const texts = profile.protocol === "text" ? messagesOf(bytes, profile) : [];
    const after = redact(bytes, profile, texts);
    expect(after.length).toBe(bytes.length);
    expect(redact(after, profile, texts)).toEqual(after);
    const names = (each: Uint8Array) =>
      play(each, profile).messages.flatMap(({ studies }) =>
        studies.flatMap(({ patient_hint: { name, owner } }) => [name, owner]),
      );
    for (const name of names(after)) expect(name ?? "").toMatch(/^[X "%&]*$/);
    expect(names(after).map((name) => name === null)).toEqual(names(bytes).map((name) => name === null));
    expect(withoutNames(after, profile)).toEqual(withoutNames(bytes, profile));
  });
});

describe("names", () => {
  test("names of an ASTM record are replaced across frames and repeats, with valid checksums", () => {
    const vetscan = profileOf("abaxis-vetscan-vs2");
    const records = [
      "H|\\^&|||ABAXIS, INC.^VetScan VS2",
      "P|1|4711|||Yilmaz^Rex|Kaya||M||Moda 5||5551234|Dr. Can|Yilmaz^7 Yrs|Dog",
      "L|1|N",
    ];
    const text = redacted(session(records), vetscan);
    expect(text).toContain("P|1|4711|||XXXXXX^XXX|XXXX||M||XXXX X||XXXXXXX|XXX XXX|XXXXXX^X XXX|Dog");
    expect(play(Buffer.from(text, "latin1"), vetscan).warnings).toEqual([]);
    const generic = profileOf("generic-astm");
    const split = Buffer.concat([
      Buffer.from("\x05\x021H|\\^&\r\x0357\r\n\x022P|1|4711|||Yil\x17", "latin1"),
      Buffer.from("00\r\n\x023maz^Rex\r\x0300\r\n", "latin1"),
    ]);
    const masked = redacted(split, generic);
    expect(masked).toContain("P|1|4711|||XXX\x17");
    expect(masked).toContain("\x023XXX^XXX\r\x03");
  });

  test("names are replaced in a frame whose wrong checksum stays wrong", () => {
    const profile = profileOf("generic-astm");
    const right = session(["H|\\^&", "P|1|4711|||Rex", "L|1|N"]);
    const at = Buffer.from(right).indexOf("Rex\r\x03") + 5;
    const wrong = Uint8Array.from(right);
    wrong[at] = wrong[at] === 0x30 ? 0x31 : 0x30;
    expect(play(redact(right, profile, []), profile).warnings).toEqual([]);
    expect(play(redact(wrong, profile, []), profile).warnings[0]).toMatch(/^checksum/);
  });

  test("names of HL7 segments are replaced with any delimiters that MSH declares", () => {
    const profile = profileOf("generic-hl7");
    const bytes = frameOf([
      "MSH|^~\\&|LAB|V|||20261120100000||ORU^R01|1|P|2.3.1",
      "PID|1||4711^^^^MR||Yılmaz^Rex~Kaya^Max||20190504|M|||Moda 5||555",
      "NK1|1|Yılmaz^Ali|SELF|Moda 5|555",
      "OBR|1||S-1|CHEM||||||Can^Dr",
    ]);
    const text = redacted(bytes, profile);
    expect(text).toContain("PID|1||4711^^^^MR||XXXXXXX^XXX~XXXX^XXX||20190504|M|||XXXX X||XXX\r");
    expect(text).toContain("NK1|1|XXXXXXX^XXX|SELF|XXXX X|XXX\r");
    expect(text).toContain("OBR|1||S-1|CHEM||||||XXX^XX\r");
    const owner = segment("NK1", { 2: "Yılmaz^Ali", 6: "+90555", 13: "Barınak", 30: "Kaya^Can", 33: "P7" });
    const kin = frameOf(["MSH|^~\\&|PIMS", owner, "MRG|00988||||||Kaya^Max"]);
    const theirs = segment("NK1", { 2: "XXXXXXX^XXX", 6: "XXXXXX", 13: "XXXXXXXX", 30: "XXXX^XXX", 33: "P7" });
    expect(redacted(kin, profileOf("practice-system"))).toContain(`${theirs}\rMRG|00988||||||XXXX^XXX\r`);
    const last = Buffer.from("\x0bMSH|^~\\&|LAB\rPID|1||4711||Rex\x1c\r");
    expect(redacted(last, profile)).toBe("\x0bMSH|^~\\&|LAB\rPID|1||4711||XXX\x1c\r");
    const own = frameOf(["MSH#!*\\%#LAB#V", "PID#1##4711##Rex!Kaya"]);
    expect(redacted(own, profile)).toContain("PID#1##4711##XXX!XXXX\r");
  });

  test("names of POCT1-A are replaced in PT.name, its children and OPR.name, in either quotes", () => {
    const profile = profileOf("generic-poct1a");
    const xml = `<PT><PT.patient_id V="4711"/><PT.name V='Rex "R"'/><PT.name><GIV V="Rex"/><FAM V="Kaya"/></PT.name></PT><OPR><OPR.operator_id V="vt1"/><OPR.name V="Elif"/></OPR>`;
    expect(redacted(Buffer.from(xml), profile)).toBe(
      `<PT><PT.patient_id V="4711"/><PT.name V='XXX "X"'/><PT.name><GIV V="XXX"/><FAM V="XXXX"/></PT.name></PT><OPR><OPR.operator_id V="vt1"/><OPR.name V="XXXX"/></OPR>`,
    );
  });

  test("names of a proprietary layout are found by its profile", () => {
    const profile = profileOf("fuji-dri-chem-nx");
    const bytes = readFileSync(join(fixturesFolder, "fuji-dri-chem-nx/four-slides.astm"));
    const text = redacted(bytes, profile, [bytes.subarray(1, -2)]);
    expect(text).toContain(",4711         ,XXXXXX       ,");
    expect(text.replace("XXXXXX", "Zeytin").slice(0, -1)).toBe(bytes.toString("latin1").slice(0, -1));
    // The BCC follows the text.
    expect(Buffer.from(encodeBccText(Buffer.from(text.slice(1, -2)))).toString("latin1")).toBe(text);
  });
});
