import iconv from "iconv-lite";
import { concat } from "../bytes.ts";
import { ascii, latin1 } from "./bytes.ts";
import { type Encoding, LONG_VRS, UNDEFINED_LENGTH } from "./dataset.ts";
import { type Dataset, encodeDataset } from "./encode.ts";

// Small datasets that are read whole: identifiers of queries, procedure steps and commitments. Attributes have the
// standard's keywords; unlisted attributes are skipped.

const ATTRIBUTE = {
  SpecificCharacterSet: [0x0008_0005, "CS"],
  AccessionNumber: [0x0008_0050, "SH"],
  Modality: [0x0008_0060, "CS"],
  InstitutionName: [0x0008_0080, "LO"],
  ReferringPhysicianName: [0x0008_0090, "PN"],
  CodeValue: [0x0008_0100, "SH"],
  CodingSchemeDesignator: [0x0008_0102, "SH"],
  CodingSchemeVersion: [0x0008_0103, "SH"],
  CodeMeaning: [0x0008_0104, "LO"],
  ReferencedStudySequence: [0x0008_1110, "SQ"],
  ReferencedPerformedProcedureStepSequence: [0x0008_1111, "SQ"],
  ReferencedPatientSequence: [0x0008_1120, "SQ"],
  ReferencedImageSequence: [0x0008_1140, "SQ"],
  ReferencedSOPClassUID: [0x0008_1150, "UI"],
  ReferencedSOPInstanceUID: [0x0008_1155, "UI"],
  TransactionUID: [0x0008_1195, "UI"],
  FailureReason: [0x0008_1197, "US"],
  FailedSOPSequence: [0x0008_1198, "SQ"],
  ReferencedSOPSequence: [0x0008_1199, "SQ"],
  PatientName: [0x0010_0010, "PN"],
  PatientID: [0x0010_0020, "LO"],
  IssuerOfPatientID: [0x0010_0021, "LO"],
  PatientBirthDate: [0x0010_0030, "DA"],
  PatientSex: [0x0010_0040, "CS"],
  PatientWeight: [0x0010_1030, "DS"],
  MedicalAlerts: [0x0010_2000, "LO"],
  Allergies: [0x0010_2110, "LO"],
  PregnancyStatus: [0x0010_21c0, "US"],
  PatientSpeciesDescription: [0x0010_2201, "LO"],
  PatientSpeciesCodeSequence: [0x0010_2202, "SQ"],
  PatientSexNeutered: [0x0010_2203, "CS"],
  PatientBreedDescription: [0x0010_2292, "LO"],
  PatientBreedCodeSequence: [0x0010_2293, "SQ"],
  BreedRegistrationSequence: [0x0010_2294, "SQ"],
  ResponsiblePerson: [0x0010_2297, "PN"],
  ResponsiblePersonRole: [0x0010_2298, "CS"],
  ResponsibleOrganization: [0x0010_2299, "LO"],
  StudyInstanceUID: [0x0020_000d, "UI"],
  SeriesInstanceUID: [0x0020_000e, "UI"],
  RequestingPhysician: [0x0032_1032, "PN"],
  RequestedProcedureDescription: [0x0032_1060, "LO"],
  RequestedProcedureCodeSequence: [0x0032_1064, "SQ"],
  RequestedContrastAgent: [0x0032_1070, "LO"],
  AdmissionID: [0x0038_0010, "LO"],
  SpecialNeeds: [0x0038_0050, "LO"],
  CurrentPatientLocation: [0x0038_0300, "LO"],
  PatientState: [0x0038_0500, "LO"],
  ScheduledStationAETitle: [0x0040_0001, "AE"],
  ScheduledProcedureStepStartDate: [0x0040_0002, "DA"],
  ScheduledProcedureStepStartTime: [0x0040_0003, "TM"],
  ScheduledPerformingPhysicianName: [0x0040_0006, "PN"],
  ScheduledProcedureStepDescription: [0x0040_0007, "LO"],
  ScheduledProtocolCodeSequence: [0x0040_0008, "SQ"],
  ScheduledProcedureStepID: [0x0040_0009, "SH"],
  ScheduledStationName: [0x0040_0010, "SH"],
  ScheduledProcedureStepLocation: [0x0040_0011, "SH"],
  PreMedication: [0x0040_0012, "LO"],
  ScheduledProcedureStepStatus: [0x0040_0020, "CS"],
  ScheduledProcedureStepSequence: [0x0040_0100, "SQ"],
  ReferencedNonImageCompositeSOPInstanceSequence: [0x0040_0220, "SQ"],
  PerformedProcedureStepStatus: [0x0040_0252, "CS"],
  PerformedProcedureStepID: [0x0040_0253, "SH"],
  ScheduledStepAttributesSequence: [0x0040_0270, "SQ"],
  PerformedSeriesSequence: [0x0040_0340, "SQ"],
  RequestedProcedureID: [0x0040_1001, "SH"],
  RequestedProcedurePriority: [0x0040_1003, "SH"],
  PatientTransportArrangements: [0x0040_1004, "LO"],
  ConfidentialityConstraintOnPatientDataDescription: [0x0040_3001, "LO"],
} as const satisfies Record<string, readonly [tag: number, vr: string]>;

export type Keyword = keyof typeof ATTRIBUTE;
export type SequenceKeyword = { [Name in Keyword]: (typeof ATTRIBUTE)[Name][1] extends "SQ" ? Name : never }[Keyword];
export type TextKeyword = Exclude<Keyword, SequenceKeyword>;

type Texts = { readonly [Name in TextKeyword]?: readonly string[] };
type Sequences = { readonly [Name in SequenceKeyword]?: readonly Attributes[] };
/** Attributes of a dataset with their values; an attribute without a value has an empty list. */
export interface Attributes extends Texts, Sequences {}

export const KEYWORDS = Object.keys(ATTRIBUTE) as Keyword[];
const KEYWORD_BY_TAG = new Map(KEYWORDS.map((keyword) => [ATTRIBUTE[keyword][0] as number, keyword]));
const BY_TAG = KEYWORDS.toSorted((one, other) => ATTRIBUTE[one][0] - ATTRIBUTE[other][0]);

function tagOf(keyword: Keyword): number {
  return ATTRIBUTE[keyword][0];
}

export function vrOf(keyword: Keyword): string {
  return ATTRIBUTE[keyword][1];
}

export function isSequence(keyword: Keyword): keyword is SequenceKeyword {
  return vrOf(keyword) === "SQ";
}

export interface ReadAttributes {
  readonly attributes: Attributes;
  /** The dataset has attributes that the table lacks. */
  readonly someUnknown: boolean;
}

const DEPTH_MAX = 8;
const ITEM = 0xfffe_e000;
const ITEM_END = 0xfffe_e00d;
const SEQUENCE_END = 0xfffe_e0dd;
/** VRs that Specific Character Set applies to (PS3.5 §6.1.2.3). */
const TEXT_VRS = new Set(["SH", "LO", "ST", "LT", "PN", "UC", "UT"]);
/** VRs in which a backslash is text. */
const SINGLE_VALUE_VRS = new Set(["ST", "LT", "UT"]);

class Malformed extends Error {}

/** Reads the attributes of a little endian dataset. @returns a string with the problem of an invalid one */
export function readAttributes(bytes: Uint8Array, encoding: Encoding): ReadAttributes | string {
  const reader = new Reader(bytes, encoding);
  try {
    const attributes = reader.read(bytes.length, "", 0);
    return { attributes, someUnknown: reader.someUnknown };
  } catch (error) {
    if (error instanceof Malformed) return error.message;
    throw error;
  }
}

class Reader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #encoding: Encoding;
  #at = 0;
  someUnknown = false;

  constructor(bytes: Uint8Array, encoding: Encoding) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#encoding = encoding;
  }

  /** Reads the elements up to `end`, or up to the delimiter of an item of undefined length. */
  read(end: number | null, outerCharset: string, depth: number): Attributes {
    if (depth > DEPTH_MAX) throw new Malformed(`sequences nested deeper than ${DEPTH_MAX} levels`);
    const attributes: Partial<Record<Keyword, readonly string[] | readonly Attributes[]>> = {};
    let charset = outerCharset;
    while (end === null || this.#at < end) {
      const tag = this.#tag();
      if (tag === ITEM_END && end === null) {
        this.#take(4);
        break;
      }
      const { vr, length } = this.#vrAndLength(tag);
      const keyword = KEYWORD_BY_TAG.get(tag);
      if (keyword === undefined) this.someUnknown = true;
      if (vr === "SQ" || length === UNDEFINED_LENGTH) {
        const items = this.#items(length, charset, depth + 1);
        if (keyword !== undefined && isSequence(keyword)) attributes[keyword] = items;
        continue;
      }
      const value = this.#take(length);
      if (keyword === undefined || isSequence(keyword)) continue;
      if (keyword === "SpecificCharacterSet") charset = latin1(value).trim();
      attributes[keyword] = valuesOf(value, vrOf(keyword), charset);
    }
    return attributes as Attributes;
  }

  #items(length: number, charset: string, depth: number): Attributes[] {
    const end = length === UNDEFINED_LENGTH ? null : this.#end(length);
    const items: Attributes[] = [];
    while (end === null || this.#at < end) {
      const tag = this.#tag();
      const itemLength = this.#uint32();
      if (tag === SEQUENCE_END && end === null) break;
      if (tag !== ITEM) throw new Malformed("no item where one has to begin in a sequence");
      items.push(this.read(itemLength === UNDEFINED_LENGTH ? null : this.#end(itemLength), charset, depth));
    }
    return items;
  }

  #vrAndLength(tag: number): { vr: string; length: number } {
    if (!this.#encoding.explicitVr) {
      const keyword = KEYWORD_BY_TAG.get(tag);
      return { vr: keyword === undefined ? "UN" : vrOf(keyword), length: this.#uint32() };
    }
    const vr = latin1(this.#take(2));
    if (!LONG_VRS.has(vr)) return { vr, length: this.#uint16() };
    this.#take(2);
    return { vr, length: this.#uint32() };
  }

  #tag(): number {
    return this.#uint16() * 0x1_0000 + this.#uint16();
  }

  #uint16(): number {
    this.#end(2);
    this.#at += 2;
    return this.#view.getUint16(this.#at - 2, true);
  }

  #uint32(): number {
    this.#end(4);
    this.#at += 4;
    return this.#view.getUint32(this.#at - 4, true);
  }

  #take(length: number): Uint8Array {
    const end = this.#end(length);
    const taken = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }

  #end(length: number): number {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new Malformed(`${end - this.#bytes.length} bytes missing at the end`);
    return end;
  }
}

function valuesOf(bytes: Uint8Array, vr: string, charset: string): readonly string[] {
  if (bytes.length === 0) return [];
  if (vr === "US") {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return Array.from({ length: Math.floor(bytes.length / 2) }, (_, index) => String(view.getUint16(index * 2, true)));
  }
  const text = TEXT_VRS.has(vr) ? iconv.decode(Buffer.from(bytes), encodingNamed(charset)) : latin1(bytes);
  const values = SINGLE_VALUE_VRS.has(vr) ? [text] : text.split("\\");
  const trimmed = values.map((value) => value.replace(/[\0 ]+$/, "").trimStart());
  return trimmed.every((value) => value === "") ? [] : trimmed;
}

/** Encodes a dataset, with its character set if needed: `charset` if it has all characters. */
export function encodeAttributes(attributes: Attributes, encoding: Encoding, charset = ""): Uint8Array {
  const letters = charactersOf(attributes);
  const chosen = [charset, ...CHARSET_PREFERENCE].find((name) => holds(name, letters)) ?? UTF_8;
  const declared = chosen === "" ? attributes : { ...attributes, SpecificCharacterSet: [chosen] };
  return encodeDataset(elementsOf(declared, chosen), encoding);
}

function elementsOf(attributes: Attributes, charset: string): Dataset {
  return BY_TAG.flatMap((keyword) => {
    const value = attributes[keyword];
    if (value === undefined) return [];
    const encoded = isSequence(keyword)
      ? (value as readonly Attributes[]).map((item) => elementsOf(item, charset))
      : encodeValues(value as readonly string[], vrOf(keyword), charset);
    return [[tagOf(keyword), vrOf(keyword), encoded] as const];
  });
}

function encodeValues(values: readonly string[], vr: string, charset: string): Uint8Array {
  if (vr === "US") return concat(values.map((value) => Uint8Array.of(Number(value) & 0xff, Number(value) >> 8)));
  const text = values.join("\\");
  const bytes = TEXT_VRS.has(vr) ? iconv.encode(text, encodingNamed(charset)) : ascii(text);
  return bytes.length % 2 === 0 ? bytes : concat([bytes, ascii(vr === "UI" ? "\0" : " ")]);
}

const UTF_8 = "ISO_IR 192";
/** Character sets in order of preference, the most widely supported first; "" is the default repertoire, ASCII. */
const CHARSET_PREFERENCE = ["", "ISO_IR 100", "ISO_IR 148", UTF_8];
/** Defined terms (PS3.3 tables C.12-2 to C.12-5). Of code extensions only the first set is read. */
const ENCODINGS: Readonly<Record<string, string>> = {
  "": "ascii",
  "6": "ascii",
  "100": "iso-8859-1",
  "101": "iso-8859-2",
  "109": "iso-8859-3",
  "110": "iso-8859-4",
  "144": "iso-8859-5",
  "127": "iso-8859-6",
  "126": "iso-8859-7",
  "138": "iso-8859-8",
  "148": "iso-8859-9",
  "203": "iso-8859-15",
  "166": "tis620",
  "13": "shift_jis",
  "192": "utf8",
};

function encodingNamed(charset: string): string {
  const [first = ""] = charset.split("\\");
  if (first === "GB18030" || first === "GBK") return first;
  // Text of an unknown repertoire is decoded byte by byte, so that nothing is lost.
  return ENCODINGS[first.replace(/^ISO(_| 2022 )IR /, "").trim()] ?? "iso-8859-1";
}

function holds(charset: string, text: string): boolean {
  const encoding = encodingNamed(charset);
  return iconv.decode(iconv.encode(text, encoding), encoding) === text;
}

function charactersOf(attributes: Attributes): string {
  return KEYWORDS.flatMap((keyword) => {
    const value = attributes[keyword];
    if (value === undefined) return [];
    if (isSequence(keyword)) return (value as readonly Attributes[]).map(charactersOf);
    return TEXT_VRS.has(vrOf(keyword)) ? (value as readonly string[]) : [];
  }).join("");
}
