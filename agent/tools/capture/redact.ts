import type { AstmProfile } from "../../protocols/astm/profile.ts";
import { AstmRecord, STANDARD_DELIMITERS } from "../../protocols/astm/records.ts";
import { crc16Of, ETB, ETX, hexByte, STX, xorOf } from "../../protocols/bytes.ts";
import { ownProfile } from "../../devices/index.ts";
import { isOwn } from "../../devices/own/reference.ts";
import type { Profile } from "../../devices/profile.ts";
import { shippedForm } from "../../devices/table/load.ts";
import type { Hl7Profile } from "../../protocols/hl7/profile.ts";
import { Segment, STANDARD_DELIMITERS as HL7_DELIMITERS } from "../../protocols/hl7/message/segment.ts";
import type { TextProfile } from "../../protocols/text/profile.ts";
import { conditionalFields, conditionalFieldsOf, PATIENT_SEGMENTS, SEGMENT } from "./conditional-places.ts";

// Replaces names in a recording, so that it can be given away. The length stays: a letter becomes X, framing and delimiters
// are kept, and the checksum follows the text.

/** Field positions by record type or segment name; the type or name itself is position 0. */
type NamePlaces = Readonly<Record<string, readonly number[]>>;

/** LIS02-A2: P-6 name, P-7 mother's name, P-11 address, P-13 telephone, P-14 physician; O-11, O-17, O-18 and R-11 staff. */
const ASTM_NAMES: NamePlaces = { P: [5, 6, 10, 12, 13], O: [10, 16, 17], R: [10] };
/** HL7 v2.5.1 chapters 3, 4 and 7: names, addresses and telephones of patient, owner and staff. */
const HL7_NAMES: NamePlaces = {
  PID: [5, 6, 9, 11, 13, 14],
  NK1: [2, 4, 5, 6, 13, 30, 31, 32],
  MRG: [7],
  GT1: [3, 4, 5, 6, 7],
  PV1: [7, 8, 9, 17],
  ORC: [10, 11, 12],
  OBR: [10, 16, 28, 32, 33, 34, 35],
  OBX: [16],
};
/** POCT1-A elements with names: the pattern covers attributes V, also of nested elements. */
const POCT1_NAMES = /<(PT\.name|PT\.address|OPR\.name)\b[^>]*?(?:\/>|>[^]*?<\/\1\s*>)/g;
const POCT1_VALUE = /(?<=\sV\s*=\s*)(?:"[^"]*"|'[^']*')/g;

/**
 * Returns the bytes without names. `messages` are the recording's messages, for a layout without fields. `hidden` are further texts
 * to replace, of an ASTM or HL7 device.
 */
export function redact(
  wire: Uint8Array,
  profile: Profile,
  messages: readonly Uint8Array[],
  hidden: readonly string[] = [],
): Uint8Array {
  switch (profile.protocol) {
    case "astm":
      return redactAstm(wire, profile, hidden);
    case "hl7":
      return bytesOf(withoutHidden(redactHl7(textOf(wire), profile), hidden));
    case "poct1a":
      return bytesOf(textOf(wire).replace(POCT1_NAMES, (names) => names.replace(POCT1_VALUE, neutralQuoted)));
    case "text":
      return bytesOf(redactText(textOf(wire), profile, messages));
    case "file":
      throw new Error(
        "a file has names in many places: make one of your own for a capture, or write it unchanged with --raw",
      );
  }
}

/** Redacts the texts of all frames as one, because a name may continue in the next frame. */
function redactAstm(wire: Uint8Array, profile: AstmProfile, hidden: readonly string[]): Uint8Array {
  const frames = profile.link.kind === "lis01" ? framesOf(wire) : [];
  const places = frames.length === 0 ? [...wire.keys()] : frames.flatMap(placesOf);
  const owner = profile.owner?.(new AstmRecord(FIELDS, STANDARD_DELIMITERS));
  const standard: NamePlaces = {
    ...ASTM_NAMES,
    // Under a condition the profile reads no owner here.
    P: [...ASTM_NAMES["P"]!, ...(owner === undefined || owner === "" ? [] : [Number(owner)])],
    R: ASTM_NAMES["R"]!.filter((place) => place + 1 !== profile.fields?.resultStatus),
  };
  const names = merged(standard, shifted(namePlacesOf(profile)));
  let [field, kept] = ["|", "\\^"];
  const records = textOf(Uint8Array.from(places, (place) => wire[place]!)).replace(/[^\r\n]+/g, (record) => {
    // A leading digit is the number of a frame without its framing.
    const [, type = "", separator = "", others = ""] = /^\d?([A-Z])(.?)(.{0,2})/i.exec(record) ?? [];
    if (type.toUpperCase() === "H") [field, kept] = [separator, others];
    const delimiters = { ...STANDARD_DELIMITERS, field, repeat: kept.slice(0, 1), component: kept.slice(1, 2) };
    const read = new AstmRecord(record, delimiters);
    const conditional = conditionalFieldsOf(type.toUpperCase(), read, profile.id).map((place) => place - 1);
    const redactedRecord = redactFields(record, field, kept, [...(names[type.toUpperCase()] ?? []), ...conditional]);
    const onSample = type === "O" ? profile.nameOnSample?.(read) : "";
    return without(redactedRecord, onSample, kept);
  });
  const redacted = withoutHidden(records, hidden);
  const bytes = Uint8Array.from(wire);
  for (const [index, place] of places.entries()) bytes[place] = redacted.charCodeAt(index);
  for (const frame of frames) mendChecksum(wire, bytes, frame);
  return bytes;
}

/** Fields that contain their own position. They show which one a profile reads the owner from. */
const FIELDS = Array.from({ length: 50 }, (_, place) => place).join("|");

interface Frame {
  /** Start of the text, after the frame number. */
  readonly from: number;
  /** Position of ETX or ETB. */
  readonly to: number;
}

function framesOf(wire: Uint8Array): Frame[] {
  const frames: Frame[] = [];
  for (let start = wire.indexOf(STX); start >= 0; start = wire.indexOf(STX, start + 1)) {
    let end = start + 1;
    while (end < wire.length && ![ETX, ETB, STX].includes(wire[end]!)) end += 1;
    if (end >= start + 2) frames.push({ from: start + 2, to: end });
  }
  return frames;
}

function placesOf({ from, to }: Frame): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index);
}

/** Changes the checksum (LIS01-A2 §6.3.3) by the difference of the text, so that a wrong one stays wrong. */
function mendChecksum(wire: Uint8Array, bytes: Uint8Array, { from, to }: Frame): void {
  const written = textOf(wire.subarray(to + 1, to + 3));
  if (!/^[0-9A-F]{2}$/i.test(written)) return;
  let change = 0;
  for (let place = from; place < to; place++) change += bytes[place]! - wire[place]!;
  if (change !== 0) bytes.set(bytesOf(hexByte((Number.parseInt(written, 16) + change) & 0xff)), to + 1);
}

function redactHl7(text: string, profile: Hl7Profile): string {
  const own = Object.fromEntries(PATIENT_SEGMENTS.map((name) => [name, placesIn(name, profile)]));
  const names = merged({ ...HL7_NAMES, ...own }, namePlacesOf(profile));
  let [field, kept] = ["|", "^~&"];
  let [PID, PV1] = [new Segment("PID", HL7_DELIMITERS), new Segment("PV1", HL7_DELIMITERS)];
  const conditional = conditionalFields(text, profile.id);
  let index = -1;
  return text.replace(SEGMENT, (segment) => {
    index += 1;
    const name = segment.slice(0, 3).toUpperCase();
    if (name === "MSH") [field, kept] = [segment.slice(3, 4), `${segment.slice(4, 6)}${segment.slice(7, 8)}`];
    const [component = "", repetition = ""] = kept;
    const read = new Segment(segment, { ...HL7_DELIMITERS, field, component, repetition });
    if (name === "PID") [PID, PV1] = [read, new Segment("PV1", HL7_DELIMITERS)];
    if (name === "PV1") PV1 = read;
    // The reader takes a name that repeats an identifier for none.
    const isNamed =
      name !== "PID" || read.field(5) === "" || ![2, 3, 4].some((place) => read.field(place) === read.field(5));
    const places = (names[name] ?? []).filter((place) => isNamed || place !== 5);
    const redacted = redactFields(segment, field, kept, [...places, ...(conditional.get(index) ?? [])]);
    // Staff type the name into a field that may also hold a number.
    const holdsName = name === "OBR" || (name === "PID" && isOwn(profile.id));
    if (!holdsName) return redacted;
    const { name: typed, owner } = profile.patient?.({ PID, PV1, OBR: name === "OBR" ? read : NO_ORDER }) ?? {};
    return without(without(redacted, typed, kept), owner, kept);
  });
}

const NO_ORDER = new Segment("OBR", HL7_DELIMITERS);

function merged(places: NamePlaces, further: NamePlaces): NamePlaces {
  const names = [...new Set([...Object.keys(places), ...Object.keys(further)])];
  return Object.fromEntries(names.map((name) => [name, [...(places[name] ?? []), ...(further[name] ?? [])]]));
}

/** Returns the places of names in a segment: the standard's, unless the device uses them for other data, and its own. */
function placesIn(segment: (typeof PATIENT_SEGMENTS)[number], { patient }: Hl7Profile): number[] {
  const numbered = (name: string) => new Segment(name === segment ? `${name}${FIELDS.slice(1)}` : name, HL7_DELIMITERS);
  const {
    name = "",
    owner = "",
    ...others
  } = patient?.({ PID: numbered("PID"), PV1: numbered("PV1"), OBR: numbered("OBR") }) ?? {};
  const data = Object.values(others).map(Number);
  return [
    ...(HL7_NAMES[segment] ?? []).filter((place) => !data.includes(place)),
    ...[name, owner].filter(Boolean).map(Number),
  ];
}

/** Returns the fields of which the data of a profile says that they hold the patient's or the owner's name. */
function namePlacesOf({ id }: Profile): Record<string, number[]> {
  const form = isOwn(id) ? ownForm(id) : shippedForm(id);
  const places: Record<string, number[]> = {};
  for (const place of placesOfSource([form?.patient?.name, form?.patient?.owner])) {
    const [, record = "", field] = /^([A-Z][A-Z0-9]{0,2})-(\d+)/.exec(place) ?? [];
    if (field !== undefined) (places[record] ??= []).push(Number(field));
  }
  return places;
}

function ownForm(reference: string) {
  const read = ownProfile(reference);
  return "form" in read ? read.form : null;
}

/** The record type of ASTM is the first field, and the first element here. */
function shifted(places: Readonly<Record<string, readonly number[]>>): Record<string, number[]> {
  return Object.fromEntries(
    Object.entries(places).map(([record, fields]) => [record, fields.map((field) => field - 1)]),
  );
}

/** Finds the places in a source of any form. A place with a condition may hold a number too; the profile reads which it is. */
function placesOfSource(source: unknown): string[] {
  if (typeof source === "string") return [source];
  if (Array.isArray(source)) return source.flatMap(placesOfSource);
  if (typeof source !== "object" || source === null || "when" in source || "unless" in source) return [];
  return "at" in source ? placesOfSource(source.at) : [];
}

/** Replaces these texts in each encoding that a device may send. */
function withoutHidden(text: string, hidden: readonly string[]): string {
  const written = hidden.flatMap((each) => [textOf(Buffer.from(each, "utf8")), textOf(Buffer.from(each, "latin1"))]);
  return written.reduce((rest, each) => (each === "" ? rest : rest.replaceAll(each, neutral(each, ""))), text);
}

function without(text: string, name: string | undefined, kept: string): string {
  return name === undefined || name === "" ? text : text.replaceAll(name, neutral(name, kept));
}

function redactFields(text: string, separator: string, kept: string, places: readonly number[]): string {
  if (places.length === 0 || separator === "") return text;
  const fields = text.split(separator);
  return fields.map((field, place) => (places.includes(place) ? neutral(field, kept) : field)).join(separator);
}

/** Replaces every occurrence of the names that the profile reads from a proprietary layout. */
function redactText(text: string, profile: TextProfile, messages: readonly Uint8Array[]): string {
  let redacted = text;
  for (const message of messages) {
    const reading = profile.read(textOf(message));
    if (reading.is !== "sample") continue;
    const { name, owner = "" } = reading.sample;
    for (const each of [name, owner].filter(Boolean)) redacted = redacted.replaceAll(each, neutral(each, ""));
  }
  switch (profile.link.kind) {
    case "bcc":
      return mendBccs(text, redacted, messages);
    case "crc-lines":
      return mendCheckNumbers(text, redacted, messages);
    case "one-way":
    case "until-words":
    case "enq-etx":
      return redacted;
  }
}

/** Changes the BCC after each message by the difference of its text, so that a wrong one stays wrong. */
function mendBccs(text: string, redacted: string, messages: readonly Uint8Array[]): string {
  let mended = redacted;
  let from = 0;
  for (const message of messages) {
    const start = text.indexOf(`${textOf(message)}\x03`, from);
    const end = start + message.length;
    if (start < 0 || end + 1 >= text.length) continue; // a text without BCC
    const change = xorOf(message) ^ xorOf(bytesOf(redacted.slice(start, end)));
    const bcc = String.fromCharCode(text.charCodeAt(end + 1) ^ change);
    mended = `${mended.slice(0, end + 1)}${bcc}${mended.slice(end + 2)}`;
    from = end + 2;
  }
  return mended;
}

/** Changes the check number after each message by the difference of its text. A smaller number gets leading zeros. */
function mendCheckNumbers(text: string, redacted: string, messages: readonly Uint8Array[]): string {
  let mended = "";
  let from = 0;
  for (const message of messages) {
    const start = text.indexOf(textOf(message), from);
    const end = start + message.length;
    const [, name = "", written = ""] = /^(END_\w+ *; *)(\d+)/.exec(text.slice(end, end + END_CHARS)) ?? [];
    if (start < 0 || written === "") continue; // a message without its end
    const change = crc16Of(message) ^ crc16Of(bytesOf(redacted.slice(start, end)));
    const number = String(Number(written) ^ change).padStart(written.length, "0");
    mended += `${redacted.slice(from, end)}${name}${number}`;
    from = end + name.length + written.length;
  }
  return mended + redacted.slice(from);
}

/** Max characters of an END line. */
const END_CHARS = 40;

function neutralQuoted(value: string): string {
  return value.slice(0, 1) + neutral(value.slice(1, -1), "") + value.slice(-1);
}

/** Replaces every byte by X but spaces, control characters, delimiters and quotes; `""` deletes a field. */
function neutral(text: string, kept: string): string {
  return Array.from(text, (char) => (char <= " " || `"${kept}`.includes(char) ? char : "X")).join("");
}

/** Decodes one character a byte, so that positions stay the same in any charset. */
function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("latin1");
}

function bytesOf(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, "latin1"));
}
