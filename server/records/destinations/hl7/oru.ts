import { components, escaped, escapedLines, hl7Time, segment } from "./segments.ts";

// HL7 2.5.1 ORU^R01 of one study: what a receiver lacks, given what it holds. Pure: the bytes depend on the arguments alone.

/** A code of two systems, the second one local. */
export interface Coded {
  readonly code: string;
  readonly name: string;
  readonly system: string;
  readonly local: { readonly code: string; readonly name: string; readonly system: string } | null;
}

export interface OruPatient {
  readonly fp: string;
  /** Its number in the practice software, spelled as there, and the software. */
  readonly number: string;
  readonly authority: string | null;
  /** The owner's last name. */
  readonly family: string | null;
  readonly name: string;
  /** YYYY-MM-DD. */
  readonly born: string | null;
  /** PID-8. */
  readonly sex: "M" | "F" | "U";
  readonly neutered: boolean | null;
  readonly species: Coded;
}

export interface OruResult {
  readonly loinc: string | null;
  readonly code: string;
  readonly name: string;
  readonly value:
    | { readonly type: "NM"; readonly number: string }
    | { readonly type: "SN"; readonly parts: readonly string[] }
    | { readonly type: "CWE"; readonly code: string; readonly name: string; readonly printed: string }
    | { readonly type: "ST"; readonly text: string }
    /** The result was not obtained, or is not final yet. */
    | { readonly type: "none"; readonly isPending: boolean };
  readonly unit: { readonly text: string; readonly isUcum: boolean } | null;
  readonly range: string | null;
  /** A code of table 0078; null without an interval. */
  readonly flag: string | null;
  readonly at: number;
  /** Time of the analysis, if it has one of its own. */
  readonly analysedAt: number | null;
  readonly device: string | null;
  readonly notes: readonly string[];
}

export interface OruStudy {
  readonly fp: string;
  readonly patient: OruPatient;
  /** The order's number in the software that sent it, in its components. Empty without an order. */
  readonly placer: readonly string[];
  /** The ordered code, or the kind of the study. */
  readonly panel: { readonly code: string; readonly name: string; readonly system: string };
  readonly acquiredAt: number;
  readonly comments: readonly string[];
  readonly results: readonly OruResult[];
  readonly pdf: Uint8Array | null;
}

/** The expectations of the site, and the message itself. */
export interface OruHeader {
  readonly controlId: string;
  readonly at: number;
  readonly zone: string;
  readonly application: string;
  readonly facility: string;
  readonly animalFirst: boolean;
  readonly localFirst: boolean;
}

/** An observation that a receiver holds, in encoded fields. */
interface HeldObservation {
  readonly fields: Readonly<Record<number, string>>;
  readonly notes: readonly string[];
}

/** The part of a study that a receiver holds. */
export interface Held {
  readonly patient_fp: string;
  readonly pid: string;
  readonly orc: string;
  readonly obr: Readonly<Record<number, string>>;
  readonly comments: readonly string[];
  readonly observations: readonly HeldObservation[];
  readonly pdf: boolean;
}

export function parseHeld(text: string | null): Held[] {
  return text === null ? [] : [JSON.parse(text) as Held];
}

/** Joins what a receiver holds to what it may hold, the newest first. Null for nothing. */
export function joined(all: readonly Held[]): Held | null {
  const [newest, ...older] = all;
  if (newest === undefined) return null;
  const observations = all
    .flatMap((held) => held.observations)
    .toSorted((one, other) => Number(isMissing(one)) - Number(isMissing(other)))
    .filter((row, index, rows) => rows.findIndex((other) => isSame(other, row)) === index);
  return { ...newest, observations, pdf: newest.pdf || older.some(({ pdf }) => pdf) };
}

/**
 * The report of a study: new, or the correction of one that the receiver holds. `uncertain` is what it may hold since. Null if it
 * lacks nothing.
 */
export function reportMessage(
  study: OruStudy,
  header: OruHeader,
  before: Held | null,
  uncertain: Held | null = null,
): { readonly message: string; readonly held: Held } | null {
  const { patient, results, pdf } = study;
  const known = joined([uncertain, before].flatMap((held) => held ?? []));
  const observations = observationsOf(results, header, known);
  const held: Held = {
    patient_fp: patient.fp,
    pid: pidOf(patient, header),
    orc: segment("ORC", { 1: "RE", 2: components(...study.placer), 3: components(study.fp, OWN) }),
    obr: obrOf(study, header),
    comments: study.comments,
    observations,
    pdf: pdf !== null,
  };
  if (before !== null && uncertain === null && sameContent(before, held)) return null;
  const rows = observations.map((row) => ({ ...row, status: statusOf(row, before, uncertain) }));
  const removed = (known?.observations ?? [])
    .filter((old) => !isMissing(old) && observations.every((row) => !isSame(row, old)))
    .map(({ fields }) => ({
      fields: { 2: fields[2] ?? "", 3: fields[3] ?? "", 4: fields[4] ?? "" },
      notes: [],
      status: "D",
    }));
  const report = pdf === null ? [] : [pdfRow(pdf, before?.pdf === true ? "C" : "F")];
  const measured = [...rows, ...removed];
  const all = [...measured, ...report];
  // A report with other words, such as those about a control, corrects no value.
  const isCorrection =
    measured.some(({ status }) => status === "C" || status === "D") || rows.some((row) => isLost(row, before));
  const isPending = results.some(({ value }) => value.type === "none" && value.isPending);
  const ofReport = isPending ? "P" : isCorrection ? "C" : "F";
  return { message: messageOf(held, all, { ...header, status: ofReport }), held };
}

/** Takes back a report from the animal that it names, row by row. */
export function withdrawalMessage(held: Held, header: OruHeader): string {
  const rows = held.observations.filter((row) => !isMissing(row)).map((row) => ({ ...row, status: "W" }));
  const report = held.pdf ? [{ fields: { 2: "ED", 3: PDF_CODE }, notes: [], status: "D" }] : [];
  return messageOf(held, [...rows, ...report], { ...header, status: "X" });
}

const OWN = "VETWIRE";
const LOCAL = "99VW";
const PDF_CODE = components("PDF", "Report", LOCAL);

interface StatedRow extends HeldObservation {
  readonly status: string;
}

function messageOf(
  { pid, orc, obr, comments }: Held,
  rows: readonly StatedRow[],
  header: OruHeader & { readonly status: string },
): string {
  const { controlId, at, zone, application, facility, status } = header;
  const time = hl7Time(at, zone);
  const site = escaped(facility);
  const lines = [
    `MSH|^~\\&|${OWN}|${site}|${escaped(application)}|${site}|${time}||ORU^R01^ORU_R01|${escaped(controlId)}|P|2.5.1||||||UNICODE UTF-8`,
    ...[pid, orc, segment("OBR", { ...obr, 22: time, 25: status })],
    ...notes(comments),
    ...rows.flatMap((row, index) => [
      segment("OBX", { ...row.fields, 1: String(index + 1), 11: row.status }),
      ...notes(row.notes),
    ]),
  ];
  return lines.map((line) => `${line}\r`).join("");
}

function notes(texts: readonly string[]): string[] {
  return texts.map((text, index) => segment("NTE", { 1: String(index + 1), 2: "L", 3: escapedLines(text) }));
}

function pidOf(patient: OruPatient, { animalFirst }: OruHeader): string {
  const { number, authority, family, name, born, sex, neutered, species } = patient;
  const alteration = neutered === null ? [] : [neutered ? "Y" : "N"];
  const [first, second] = animalFirst ? [name, family] : [family, name];
  return segment("PID", {
    1: "1",
    3: components(number, null, null, authority, "PI"),
    5: components(first, second, null, null, null, null, "L"),
    7: (born ?? "").replaceAll("-", ""),
    8: components(sex, ...alteration),
    35: coded(species),
  });
}

function coded({ code, name, system, local }: Coded): string {
  return components(code, name, system, ...(local === null ? [] : [local.code, local.name, local.system]));
}

function obrOf({ fp, placer, panel, acquiredAt }: OruStudy, { zone }: OruHeader): Record<number, string> {
  return {
    1: "1",
    2: components(...placer),
    3: components(fp, OWN),
    4: components(panel.code, panel.name, panel.system),
    7: hl7Time(acquiredAt, zone),
  };
}

/** The fields of each result. OBX-4 counts the results of one code, and a row keeps the number that the receiver knows. */
function observationsOf(results: readonly OruResult[], header: OruHeader, before: Held | null): HeldObservation[] {
  const ids = results.map((result) => identifier(result, header));
  return results.map((result, index) => {
    const id = ids[index] ?? "";
    const before4 = (before?.observations ?? [])
      .filter(({ fields }) => fields[3] === id)
      .map(({ fields }) => fields[4] ?? "");
    const nth = ids.slice(0, index + 1).filter((other) => other === id).length;
    const isAlone = ids.filter((other) => other === id).length === 1;
    const isUncounted = before4.length > 0 ? before4.includes("") : isAlone;
    const { unit, range, flag, at, analysedAt, device, notes: words } = result;
    return {
      fields: {
        ...valueFields(result),
        3: id,
        4: nth === 1 && isUncounted ? "" : String(nth),
        6: unit === null ? "" : unit.isUcum ? components(unit.text, null, "UCUM") : escaped(unit.text),
        7: escaped(range ?? ""),
        8: flag ?? "",
        14: hl7Time(at, header.zone),
        18: device === null ? "" : components(device, OWN),
        19: analysedAt === null ? "" : hl7Time(analysedAt, header.zone),
      },
      notes: words,
    };
  });
}

function identifier({ loinc, code, name }: OruResult, { localFirst }: OruHeader): string {
  const local = [code, name, LOCAL];
  const standard = loinc === null ? null : [loinc, name, "LN"];
  if (localFirst) return components(...local, ...(standard ?? []));
  return components(...(standard ?? ["", "", ""]), ...local);
}

/** OBX-2 and OBX-5; for a result that was not obtained the status, too. */
function valueFields({ value }: OruResult): Record<number, string> {
  switch (value.type) {
    case "NM":
      return { 2: "NM", 5: value.number };
    case "SN":
      return { 2: "SN", 5: components(...value.parts) };
    case "CWE": {
      // CWE-9 is the text as the device printed it.
      return { 2: "CWE", 5: components(value.code, value.name, "SCT", "", "", "", "", "", value.printed) };
    }
    case "ST":
      return { 2: "ST", 5: escaped(value.text) };
    default:
      return { 11: value.isPending ? "I" : "X" };
  }
}

/** F for a new row and for one that stays, C for one that replaces another. */
function statusOf(row: HeldObservation, before: Held | null, uncertain: Held | null): string {
  const missing = row.fields[11];
  if (missing !== undefined) return missing;
  const old = rowOf(before, row);
  if (old === undefined || isMissing(old)) return "F";
  return isEqual(old, row) && isEqual(rowOf(uncertain, row) ?? row, row) ? "F" : "C";
}

/** Whether a row takes the value of one away. */
function isLost(row: HeldObservation, before: Held | null): boolean {
  const old = rowOf(before, row);
  return isMissing(row) && old !== undefined && !isMissing(old);
}

function rowOf(held: Held | null, row: HeldObservation): HeldObservation | undefined {
  return held?.observations.find((each) => isSame(each, row));
}

/** Whether a row has no value: not obtained, or pending. A value after it is not a correction. */
function isMissing({ fields }: HeldObservation): boolean {
  return fields[11] !== undefined;
}

function isSame(one: HeldObservation, other: HeldObservation): boolean {
  return one.fields[3] === other.fields[3] && (one.fields[4] ?? "") === (other.fields[4] ?? "");
}

function isEqual(one: HeldObservation, other: HeldObservation): boolean {
  return JSON.stringify([textOf(one.fields), one.notes]) === JSON.stringify([textOf(other.fields), other.notes]);
}

function textOf(fields: Readonly<Record<number, string>>): string {
  return segment("", fields);
}

function sameContent(one: Held, other: Held): boolean {
  const facts = ({ orc, obr, comments, observations, pdf }: Held) =>
    JSON.stringify([
      orc,
      textOf(obr),
      comments,
      observations.map(({ fields, notes: texts }) => [textOf(fields), texts]),
      pdf,
    ]);
  return facts(one) === facts(other);
}

/** The report as the last row. Base64 in one line: a line break would end the segment. */
function pdfRow(pdf: Uint8Array, status: string): StatedRow {
  const data = Buffer.from(pdf).toString("base64");
  return {
    fields: { 2: "ED", 3: PDF_CODE, 5: components(OWN, "Application", "PDF", "Base64", data) },
    notes: [],
    status,
  };
}
