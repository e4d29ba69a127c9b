import type { Modality } from "../../shared/study.ts";
import type { AstmLinkOptions } from "../astm/link.ts";
import type { OrderFormat } from "../astm/orders.ts";
import type { AstmRecord, Charset } from "../astm/records.ts";
import type { LinkOptions } from "../hl7/link.ts";
import type { Segment } from "../hl7/message.ts";
import type { DeviceResult } from "../report.ts";

// What one model of device is like. A profile is a table: the code that reads messages knows no model by name.

interface ProfileBase {
  readonly id: string;
  /** null: decided by the analytes, one study a modality. */
  readonly modality: Modality | null;
  /** How messages stand on the wire: declared here, never found out by the agent on its own. */
  readonly link: LinkKind;
  /** Serial settings in which the device leaves its factory, where they are not LIS01's 9600 8N1. */
  readonly serial?: { readonly dataBits: 7; readonly parity: "none" | "even"; readonly stopBits: 1 | 2 };
  /** What may follow a value and is no part of it. */
  readonly valueSuffix?: RegExp;
}

export type LinkKind =
  /** Frames of LIS01-A2, and how the device departs from it. */
  | ({ readonly kind: "lis01" } & Omit<AstmLinkOptions, "role">)
  /** Records as plain lines; `digitPrefixed`: with their frames' numbers left before them. */
  | { readonly kind: "raw-records"; readonly digitPrefixed: boolean }
  /** STX, text, and ETX or SUB; nothing is acknowledged. */
  | { readonly kind: "one-way"; readonly end: "ETX" | "SUB" }
  /** ENQ, body, EOT, ETX, acknowledged whole; `bodyProblem`: why these bytes are no whole body, null where they are. */
  | { readonly kind: "enq-etx"; readonly bodyProblem: (body: Uint8Array) => string | null }
  | MllpLink
  /** XML documents of POCT1-A. */
  | { readonly kind: "poct1a" };

/** VT, an HL7 message, FS CR; how it is acknowledged and decoded where the message itself says something else, or nothing. */
export type MllpLink = { readonly kind: "mllp" } & LinkOptions;

/** A device that sends LIS02-A2 records. */
export interface AstmProfile extends ProfileBase {
  readonly protocol: "astm";
  /** As the API publishes it; null: what the header's sender (H-5) says. */
  readonly device_name: string | null;
  /** H-5 as sent; another sender on this connection is quarantined, not read with the wrong table. */
  readonly sender?: RegExp;
  /** The names of the analyte of an R record, the most trustworthy first. */
  readonly code: (r: AstmRecord) => readonly string[];
  /** The animal's species in the device's words, from its P record. */
  readonly species?: (p: AstmRecord) => string;
  readonly owner?: (p: AstmRecord) => string;
  /** O records whose test id (O-5) matches, and their results, are not for a patient. */
  readonly skipOrder?: RegExp;
  /** It asks for orders and takes them; absent: it is sent none, and its queries stay unanswered. */
  readonly orders?: OrderFormat;
  /** Numbers of fields that do not stand where LIS02-A2 has them. */
  readonly fields?: Partial<FieldNumbers>;
  /** What text is in that is no UTF-8; Windows-1252, which holds Latin-1, where it is not said. */
  readonly charset?: Charset;
}

export interface FieldNumbers {
  /** H-12, processing id. */
  readonly processing: number;
  /** H-14, date and time of the message. */
  readonly sentAt: number;
  /** P-18, weight. */
  readonly weight: number;
  /** R-9, result status. */
  readonly resultStatus: number;
}

/** A device that sends HL7 v2 messages. */
export interface Hl7Profile extends ProfileBase {
  readonly protocol: "hl7";
  readonly link: MllpLink;
  /** As the API publishes it; null: what the header's sender (MSH-3) says. */
  readonly device_name: string | null;
  /** `MSH-3|MSH-4` as sent; another sender on this connection is quarantined, not read with the wrong table. */
  readonly sender?: RegExp;
  /** The names of the analyte of an OBX, the most trustworthy first; absent: those of OBX-3. */
  readonly code?: (obx: Segment) => readonly string[];
  /** The animal's species in the device's words, from its PID; absent: PID-35. */
  readonly species?: (pid: Segment) => string;
  /** OBX-3 of the row whose value says the species where PID does not. */
  readonly speciesRow?: RegExp;
  readonly owner?: (pid: Segment) => string;
  /** OBX-3 of rows about the run, the sample or the animal: kept as comments. */
  readonly remarks?: RegExp;
  /** The value (group `value`, its unit in `unit`) in the note behind an OBX that has none itself. */
  readonly noteValue?: RegExp;
  /** One test a message: those of one sample within so many hours are one study. */
  readonly collectHours?: number;
}

/** A device whose messages are texts in a layout of its own. */
export interface TextProfile extends ProfileBase {
  readonly protocol: "text";
  readonly device_name: string;
  /** What a message (one character a byte) says. A text that is not wholly of the layout is a problem: no part of it is read. */
  readonly read: (text: string) => TextReading;
}

export type TextReading =
  | { readonly is: "sample"; readonly sample: TextSample }
  | { readonly is: "not-for-patients"; readonly reason: string }
  | { readonly is: "problem"; readonly reason: string };

/** One animal's sample; what the device does not say is "". */
export interface TextSample {
  /** As typed at the device. */
  readonly identifier: string;
  readonly name: string;
  readonly species: string;
  /** The device's own number of the sample. */
  readonly specimen: string;
  /** `YYYYMMDDHHMM`, the device's clock. */
  readonly measuredAt: string;
  readonly results: readonly DeviceResult[];
}

/** A device that converses in POCT1-A. How it departs from the others is told by who it says it is (poct1/habits.ts). */
export interface Poct1Profile extends ProfileBase {
  readonly protocol: "poct1a";
  readonly link: { readonly kind: "poct1a" };
}

export type Profile = AstmProfile | Hl7Profile | TextProfile | Poct1Profile;
