import type { Pattern } from "../../../agent/protocols/profile.ts";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { genericPoct1a } from "../../../agent/devices/generic-poct1a.ts";
import { profiles } from "../../../agent/devices/index.ts";
import type { Profile } from "../../../agent/devices/profile.ts";
import type { AstmProfile } from "../../../agent/protocols/astm/profile.ts";
import type { Hl7Profile } from "../../../agent/protocols/hl7/profile.ts";
import type { Reading } from "../../../agent/report/report.ts";
import { read } from "../../../agent/study/read.ts";
import { soakCount } from "../../support/runner/soak.ts";
import { context } from "../records.ts";
import { hello, said } from "../protocols/poct1/wire.ts";

// The number of rows that a device sends is the number of rows published and rows listed with a reason, for every profile and
// any code, value and unit. Each value starts with a number of its own, so that no row can hide another. No control's result is a
// patient's, and no bound is an exact value.

const RUNS = soakCount(400);
const NOW = "20261121120000";

/** Texts that a device may write into a field: known and unknown codes, words, marks, separators of neither protocol. */
const anyText = fc.string({ unit: fc.constantFrom(...Array.from("ABCLYMGHU#%-_.+*<>/ 0123456789µé")), maxLength: 12 });
const anyCode = fc.oneof(
  fc.constantFrom("ALT", "GLU", "WBC", "LYM%", "413", "GLI", "pH", "2345-7", "Take Mode"),
  anyText,
);
const anyUnit = fc.oneof(fc.constantFrom("", "%", "1", "mg/dL", "10*9/L", "L/L", "U/L"), anyText);
const anyWord = fc.constantFrom("", "Positive", "neg", "1+", "----", "****", "HEM", "NOT DETECTED", "INVALID");
const anyRow = fc.record({ code: anyCode, unit: anyUnit, word: anyWord, name: anyText });
const anyRows = fc.array(anyRow, { minLength: 1, maxLength: 12 });
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

/** Fields of a message beside its results. */
interface Changes {
  /** H-12 or MSH-11. */
  readonly purpose?: string;
  readonly sample?: string;
  readonly identifier?: string;
  readonly name?: string;
  /** O-12. */
  readonly action?: string;
  /** OBR-15.7. */
  readonly role?: string;
}

/** `flag`: R-7, OBX-8 or the interpretation. */
interface Sent {
  readonly code: string;
  readonly name: string;
  readonly value: string;
  readonly unit: string;
  readonly flag?: string;
}

const sentOf = (row: Row, index: number): Sent => ({ ...row, value: valueOf(row, index) });

function astmMessage(sent: readonly Sent[], profile: AstmProfile, changes: Changes = {}): Buffer {
  const { purpose = "P", sample = "S-4711", identifier = "4711", name = "", action = "" } = changes;
  const processing = profile.fields?.processing ?? 12;
  const header = ["H", "\\^&", "", "", senderOf(SENDERS_ASTM, profile), "", "", "", "", "", "", "P", "LIS2-A2", NOW];
  header[processing - 1] = purpose;
  const results = sent.map(({ code, value, unit, flag = "" }, index) =>
    ["R", index + 1, `^^^${code}`, value, unit, "", flag, "", "F"].join("|"),
  );
  const order = ["O", "1", sample, "", "^^^Panel", "R", "", "20261121110000", "", "", "", action].join("|");
  const lines = [header.join("|"), `P|1|${identifier}||||${name}`, order, ...results, "L|1|N"];
  return Buffer.from(lines.map((line) => `${line}\r`).join(""), "utf8");
}

function hl7Message(sent: readonly Sent[], profile: Hl7Profile, changes: Changes = {}): Buffer {
  const { purpose = "P", sample = "S-4711", identifier = "4711", name = "Zeytin", role = "" } = changes;
  const segments = sent.map(({ code, name: label, value, unit, flag = "" }, index) =>
    ["OBX", index + 1, "NM", `${code}^${label}^L`, "", value, unit, "", flag, "", "", "F"].join("|"),
  );
  const header = `MSH|^~\\&|${senderOf(SENDERS_HL7, profile)}|||${NOW}||ORU^R01|1|${purpose}|2.5.1||||||UTF-8`;
  const order = `OBR|1||${sample}|CHEM|||20261121113015||||||||${role === "" ? "" : `^^^^^^${role}`}`;
  const lines = [header, `PID|1||${identifier}^^^^MR||${name}`, order, ...segments];
  return Buffer.from(lines.map((line) => `${line}\r`).join(""), "utf8");
}

/** @param subject element of the results: PT of a patient, CTC of a control */
function poct1Message(
  sent: readonly Sent[],
  { identifier = "4711", role = "OBS" }: Changes = {},
  subject = "PT",
): Buffer {
  const field = (element: string, value: string, more = "") => `<${element} V="${escaped(value)}"${more}/>`;
  const observations = sent.map(({ code, name, value, unit, flag = "" }) => {
    const id = field("OBS.observation_id", code, ` DN="${escaped(name)}"`);
    const marks = flag === "" ? "" : field("OBS.interpretation_cd", flag);
    return `<OBS>${id}${field("OBS.value", value, ` U="${escaped(unit)}"`)}${marks}</OBS>`;
  });
  const number = subject === "PT" ? field("PT.patient_id", identifier) : field("CTC.lot_number", identifier);
  const times = field("SVC.observation_dttm", "2026-11-21T12:55:10+03:00") + field("SVC.sequence_nbr", "12");
  const owned = `<${subject}>${number}${observations.join("")}</${subject}>`;
  const service = `<SVC>${field("SVC.role_cd", role)}${times}${owned}</SVC>`;
  return Buffer.from(hello() + said("OBS.R01", 3, service), "utf8");
}

const ENTITIES: Readonly<Record<string, string>> = { "<": "&lt;", ">": "&gt;", "&": "&amp;", '"': "&quot;" };
const escaped = (written: string) => written.replace(/[<>&"]/g, (character) => ENTITIES[character] ?? character);

type MessageOf = (sent: readonly Sent[], changes?: Changes) => Buffer;
type Device = readonly [id: string, profile: Profile, messageOf: MessageOf];

/** Every profile of the three protocols that a message of another device can be written for, with its writer. */
const devices = profiles.flatMap((profile): Device[] => {
  if (profile.protocol === "astm")
    return [[profile.id, profile, (sent, changes) => astmMessage(sent, profile, changes)]];
  if (profile.protocol === "hl7" && profile.registry === undefined)
    return [[profile.id, profile, (sent, changes) => hl7Message(sent, profile, changes)]];
  return profile.protocol === "poct1a" ? [[profile.id, profile, (sent, changes) => poct1Message(sent, changes)]] : [];
});

test.each(devices)("%s: every row is published or listed with its reason", (_, profile, messageOf) => {
  fc.assert(
    fc.property(anyRows, (sent) => {
      expect(faultsOf(sent, read(messageOf(sent.map(sentOf)), profile, context))).toEqual([]);
    }),
    { numRuns: RUNS },
  );
});

/** A bound as devices print it: before the number, with and without a blank, or as a flag of the row. */
const anyBound = fc.record({
  sign: fc.constantFrom("<", ">", "<=", ">=", "≤", "≥"),
  blank: fc.constantFrom("", " "),
  isFlag: fc.boolean(),
  row: anyRow,
});

test.each(devices)("%s: no bound is published as an exact value", (_, profile, messageOf) => {
  fc.assert(
    fc.property(fc.array(anyBound, { minLength: 1, maxLength: 6 }), (bounds) => {
      const sent = bounds.map(({ sign, blank, isFlag, row: { code, name, unit } }, index) => {
        const number = `${1000 + index}.5`;
        const flag = sign.startsWith("<") || sign === "≤" ? "<" : ">";
        const fields = { code, name, unit };
        return isFlag ? { ...fields, value: number, flag } : { ...fields, value: `${sign}${blank}${number}` };
      });
      const reading = read(messageOf(sent), profile, context);
      const published = reading.is === "reports" ? reading.reports.flatMap((report) => report.rows) : [];
      expect(published.filter(({ value, comparator }) => value !== null && comparator === null)).toEqual([]);
    }),
    { numRuns: RUNS },
  );
});

/** The ways in which each protocol says that a run is no patient's. */
const CONTROLS: Readonly<Record<string, readonly Changes[]>> = {
  astm: [
    { action: "Q" },
    { purpose: "Q" },
    { purpose: "D" },
    { sample: "QC-1", identifier: "" },
    { sample: "Control High", identifier: "" },
    { identifier: "QC 2", sample: "" },
  ],
  hl7: [
    { purpose: "T" },
    { purpose: "D" },
    { role: "Q" },
    { sample: "QC-1", identifier: "", name: "" },
    { sample: "CTRL 2", identifier: "", name: "" },
    { sample: "", identifier: "QC-1", name: "" },
  ],
  poct1a: [{ role: "LQC" }, { role: "EQC" }, { role: "CAL" }, { identifier: "QC-1" }],
};

/** Returns whether a device marks patients' results this way too, as iChroma does with T. */
const isPatients = (profile: Profile, { purpose = "" }: Changes) =>
  profile.protocol === "hl7" && profile.patientProcessing?.test(purpose) === true;

const runs = devices.flatMap(([id, profile, messageOf]) =>
  (CONTROLS[profile.protocol] ?? [])
    .filter((changes) => !isPatients(profile, changes))
    .map((changes) => [id, JSON.stringify(changes), profile, messageOf, changes] as const),
);

test.each(runs)("%s: no result of a control run (%s) is a patient's", (_, _way, profile, messageOf, changes) => {
  fc.assert(
    fc.property(anyRows, (sent) => {
      expect(read(messageOf(sent.map(sentOf), changes), profile, context)).toMatchObject({ is: "not-for-patients" });
    }),
    { numRuns: Math.ceil(RUNS / 20) },
  );
});

test("POCT1-A: no result of a control's lot (CTC) is a patient's", () => {
  fc.assert(
    fc.property(anyRows, (sent) => {
      const message = poct1Message(sent.map(sentOf), { identifier: "4711" }, "CTC");
      expect(read(message, genericPoct1a, context)).toMatchObject({ is: "not-for-patients" });
    }),
    { numRuns: RUNS },
  );
});
