import type { Pattern } from "../../../agent/protocols/profile.ts";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { profiles } from "../../../agent/devices/index.ts";
import type { AstmProfile } from "../../../agent/protocols/astm/profile.ts";
import type { Hl7Profile } from "../../../agent/protocols/hl7/profile.ts";
import type { Reading } from "../../../agent/report/report.ts";
import { read } from "../../../agent/study/read.ts";
import { soakCount } from "../../support/soak.ts";
import { context } from "../records.ts";

// The number of rows that a device sends is the number of rows published and rows listed with a reason, for every profile and
// any code, value and unit. Each value starts with a number of its own, so that no row can hide another.

const RUNS = soakCount(400);

/** Texts that a device may write into a field: known and unknown codes, words, marks, separators of neither protocol. */
const text = fc.string({ unit: fc.constantFrom(...Array.from("ABCLYMGHU#%-_.+*<>/ 0123456789µé")), maxLength: 12 });
const code = fc.oneof(fc.constantFrom("ALT", "GLU", "WBC", "LYM%", "413", "GLI", "pH", "2345-7", "Take Mode"), text);
const unit = fc.oneof(fc.constantFrom("", "%", "1", "mg/dL", "10*9/L", "L/L", "U/L"), text);
const word = fc.constantFrom("", "Positive", "neg", "1+", "----", "****", "HEM", "NOT DETECTED", "INVALID");
const row = fc.record({ code, unit, word, name: text });
const rows = fc.array(row, { minLength: 1, maxLength: 12 });
type Row = { readonly code: string; readonly unit: string; readonly word: string; readonly name: string };

/** Returns the value as sent: a number that only this row has, or a word. */
function valueOf({ word: printed }: Row, index: number): string {
  return printed === "" ? `${1000 + index}.5` : printed;
}

/** Returns the results that a reading accounts for: rows, rows listed with a reason, remarks and data of the run. */
function accounted(reading: Reading): { rows: number; listed: number; text: string } {
  if (reading.is === "not-for-patients") return { rows: 0, listed: 0, text: reading.reason };
  if (reading.is === "quarantined") return { rows: 0, listed: reading.reason.split("; ").length, text: reading.reason };
  const all = reading.reports.flatMap((report) => report.rows);
  const listed = reading.reports.flatMap(({ leftOut }) => leftOut);
  const remarks = reading.reports.flatMap(({ comments, notes }) => [...comments, ...notes]);
  const words = [...all.map((each) => each.text), ...listed, ...remarks, ...reading.notes];
  return { rows: all.length, listed: listed.length, text: words.join("\n") };
}

/** Returns the numbers that a reading lost, and a sentence if it has more results than were sent. */
function faultsOf(sent: readonly Row[], reading: Reading): string[] {
  const { rows: published, listed, text: words } = accounted(reading);
  const values = sent.map(valueOf);
  // Several rows may have the same word. A number is unique.
  const lost = values.filter((value) => /^\d{4}\.5$/.test(value) && !words.includes(value));
  const isMore = reading.is === "reports" && published + listed > sent.length;
  return isMore ? [...lost, `${published} rows and ${listed} listed, of ${sent.length} sent`] : lost;
}

const SENDERS_ASTM = [
  ...["Analyzer^1", "ABAXIS, INC.^VetScan VS2^3.1^0", "Skyla^VB1", "EPOC^Blood Analysis", "DCA VANTAGE^04", "ABX"],
  ...["ABL80 BASIC^399999", "ABL9^SN1", "XN-350^00-24", "3600999", "EM-200"],
];
const SENDERS_HL7 = [
  ...["LAB-1|Vendor", "BC-5380|Mindray", "Mindray|BS-240", "DF5x|Dymind", "Z3|Zybio", "1|BioNote", "M10X1|PCR_LAB01"],
  ...["URIT|UT-5160", "urit|8030", "DRI-CHEM|FUJIFILM", "SMT-120VP|", "Genrui|VH30"],
  ...["H30_Pro^1|EDANLAB", "EDAN|i15^1", "Clinitek Status|", "BA200|Biosystems", "1|ichroma3"],
];

function senderOf(candidates: readonly string[], { id, sender }: { id: string; sender?: Pattern }): string {
  const found = candidates.find((each) => sender === undefined || sender.test(each));
  if (found === undefined) throw new Error(`no sender of this test fits profile ${id}: add one`);
  return found;
}

function astmMessage(sent: readonly Row[], profile: AstmProfile): Buffer {
  const header = `H|\\^&|||${senderOf(SENDERS_ASTM, profile)}|||||||P|LIS2-A2|20261121120000`;
  const records = sent.map((each, index) => {
    const fields = ["R", index + 1, `^^^${each.code}`, valueOf(each, index), each.unit, "", "", "", "F"];
    return fields.join("|");
  });
  const lines = [header, "P|1|4711", "O|1|S-4711||^^^Panel|R||20261121110000", ...records, "L|1|N"];
  return Buffer.from(lines.map((line) => `${line}\r`).join(""), "utf8");
}

function hl7Message(sent: readonly Row[], profile: Hl7Profile): Buffer {
  const sender = senderOf(SENDERS_HL7, profile);
  const segments = sent.map((each, index) => {
    const fields = ["OBX", index + 1, "NM", `${each.code}^${each.name}^L`, "", valueOf(each, index), each.unit];
    return [...fields, "", "", "", "", "F"].join("|");
  });
  const header = `MSH|^~\\&|${sender}|||20261121120000||ORU^R01|1|P|2.5.1||||||UTF-8`;
  const lines = [header, "PID|1||4711^^^^MR||Zeytin", "OBR|1||S-4711|CHEM|||20261121113015", ...segments];
  return Buffer.from(lines.map((line) => `${line}\r`).join(""), "utf8");
}

describe("every row is published or listed with its reason", () => {
  test.each(profiles.filter((profile) => profile.protocol === "astm"))("$id", (profile) => {
    fc.assert(
      fc.property(rows, (sent) => {
        expect(faultsOf(sent, read(astmMessage(sent, profile), profile, context))).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });

  const withResults = profiles.filter((profile) => profile.protocol === "hl7").filter(({ registry }) => !registry);
  test.each(withResults)("$id", (profile) => {
    fc.assert(
      fc.property(rows, (sent) => {
        expect(faultsOf(sent, read(hl7Message(sent, profile), profile, context))).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });
});
