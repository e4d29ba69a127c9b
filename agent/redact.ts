import type { AstmProfile } from "./astm/profile.ts";
import { AstmRecord, STANDARD_DELIMITERS } from "./astm/records.ts";
import { ETB, ETX, hexByte, STX } from "./bytes.ts";
import type { Profile } from "./devices/profile.ts";
import { Segment, STANDARD_DELIMITERS as HL7_DELIMITERS } from "./hl7/message.ts";
import type { Hl7Profile } from "./hl7/profile.ts";
import type { TextProfile } from "./text-profile.ts";

// Replaces names in the bytes of a wire, so that a recording can be given away. The length stays: a letter becomes X,
// framing and delimiters are kept, and a checksum that was right is right again.

/** By record or segment the places of its fields, counted from 0 at its type or name. */
type NamePlaces = Readonly<Record<string, readonly number[]>>;

/** LIS02-A2: P-6 name, P-7 mother's name, P-11 address, P-13 telephone, P-14 physician; O-11, O-17, O-18 and R-11 staff. */
const ASTM_NAMES: NamePlaces = { P: [5, 6, 10, 12, 13], O: [10, 16, 17], R: [10] };
/** HL7 v2.5.1 chapters 3, 4 and 7: names, addresses and telephones of patient, owner and staff. */
const HL7_NAMES: NamePlaces = {
  PID: [5, 6, 9, 11, 13, 14],
  NK1: [2, 4, 5],
  PV1: [7, 8, 9, 17],
  ORC: [10, 11, 12],
  OBR: [10, 16, 28, 32, 33, 34, 35],
  OBX: [16],
};
/** POCT1-A elements of people: their attributes V and those of the elements within. */
const POCT1_NAMES = /<(PT\.name|PT\.address|OPR\.name)\b[^>]*?(?:\/>|>[^]*?<\/\1\s*>)/g;
const POCT1_VALUE = /(?<=\sV\s*=\s*)(?:"[^"]*"|'[^']*')/g;

/** The bytes without names. `messages`: those that the bytes hold, for a layout that has no fields. */
export function redact(wire: Uint8Array, profile: Profile, messages: readonly Uint8Array[]): Uint8Array {
  switch (profile.protocol) {
    case "astm":
      return redactAstm(wire, profile);
    case "hl7":
      return bytesOf(redactHl7(textOf(wire), profile));
    case "poct1a":
      return bytesOf(textOf(wire).replace(POCT1_NAMES, (names) => names.replace(POCT1_VALUE, neutralQuoted)));
    case "text":
      return bytesOf(redactText(textOf(wire), profile, messages));
  }
}

/** A name may run over the end of a frame: the texts of all frames are redacted as one and put back. */
function redactAstm(wire: Uint8Array, profile: AstmProfile): Uint8Array {
  const frames = profile.link.kind === "lis01" ? framesOf(wire) : [];
  const places = frames.length === 0 ? [...wire.keys()] : frames.flatMap(placesOf);
  const owner = profile.owner?.(new AstmRecord(FIELDS, STANDARD_DELIMITERS));
  const names: NamePlaces = {
    ...ASTM_NAMES,
    P: [...ASTM_NAMES["P"]!, Number(owner)],
    R: ASTM_NAMES["R"]!.filter((place) => place + 1 !== profile.fields?.resultStatus),
  };
  let [field, kept] = ["|", "\\^"];
  const redacted = textOf(Uint8Array.from(places, (place) => wire[place]!)).replace(/[^\r\n]+/g, (record) => {
    // A digit in front is the number of a frame whose framing was taken off.
    const [, type = "", separator = "", others = ""] = /^\d?([A-Z])(.?)(.{0,2})/i.exec(record) ?? [];
    if (type.toUpperCase() === "H") [field, kept] = [separator, others];
    return redactFields(record, field, kept, names[type.toUpperCase()] ?? []);
  });
  const bytes = Uint8Array.from(wire);
  for (const [index, place] of places.entries()) bytes[place] = redacted.charCodeAt(index);
  for (const frame of frames) mendChecksum(wire, bytes, frame);
  return bytes;
}

/** The place of the owner where a profile has one of its own: every field holds its place. */
const FIELDS = Array.from({ length: 50 }, (_, place) => place).join("|");

interface Frame {
  /** Its text, behind the number. */
  readonly from: number;
  /** Its ETX or ETB. */
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

/** Changes the checksum (LIS01-A2 §6.3.3) by what the frame has changed: one that was wrong stays wrong. */
function mendChecksum(wire: Uint8Array, bytes: Uint8Array, { from, to }: Frame): void {
  const written = textOf(wire.subarray(to + 1, to + 3));
  if (!/^[0-9A-F]{2}$/i.test(written)) return;
  let change = 0;
  for (let place = from; place < to; place++) change += bytes[place]! - wire[place]!;
  if (change !== 0) bytes.set(bytesOf(hexByte((Number.parseInt(written, 16) + change) & 0xff)), to + 1);
}

function redactHl7(text: string, profile: Hl7Profile): string {
  const owner = profile.owner?.(new Segment(`PID${FIELDS.slice(1)}`, HL7_DELIMITERS));
  const names: NamePlaces = { ...HL7_NAMES, PID: [...HL7_NAMES["PID"]!, Number(owner)] };
  let [field, kept] = ["|", "^~&"];
  // VT begins a message.
  return text.replace(/[^\r\n\v]+/g, (segment) => {
    const name = segment.slice(0, 3).toUpperCase();
    if (name === "MSH") [field, kept] = [segment.slice(3, 4), `${segment.slice(4, 6)}${segment.slice(7, 8)}`];
    return redactFields(segment, field, kept, names[name] ?? []);
  });
}

function redactFields(text: string, separator: string, kept: string, places: readonly number[]): string {
  if (places.length === 0 || separator === "") return text;
  const fields = text.split(separator);
  return fields.map((field, place) => (places.includes(place) ? neutral(field, kept) : field)).join(separator);
}

/** In a layout of the device's own, the name that its profile reads is replaced wherever it stands. */
function redactText(text: string, profile: TextProfile, messages: readonly Uint8Array[]): string {
  let redacted = text;
  for (const message of messages) {
    const reading = profile.read(textOf(message));
    if (reading.is === "sample" && reading.sample.name !== "")
      redacted = redacted.replaceAll(reading.sample.name, neutral(reading.sample.name, ""));
  }
  return redacted;
}

function neutralQuoted(value: string): string {
  return value.slice(0, 1) + neutral(value.slice(1, -1), "") + value.slice(-1);
}

/** X for every byte but spaces, control characters, the delimiters that are kept, and quotes: `""` deletes a field. */
function neutral(text: string, kept: string): string {
  return Array.from(text, (char) => (char <= " " || `"${kept}`.includes(char) ? char : "X")).join("");
}

/** One character a byte: whatever the charset, places stay the same. */
function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("latin1");
}

function bytesOf(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, "latin1"));
}
