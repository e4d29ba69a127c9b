import type { ProfileBase } from "../profile.ts";
import type { LinkOptions } from "./link.ts";
import type { Segment } from "./message.ts";
import type { OrderFormat as Hl7OrderFormat } from "./orders.ts";

/** VT, an HL7 message, FS CR; how it is acknowledged and decoded where the message itself says something else, or nothing. */
export type MllpLink = { readonly kind: "mllp" } & LinkOptions;

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
  /** It asks for orders and takes them; absent: its queries are answered that there is none. */
  readonly orders?: Hl7OrderFormat;
  /** One test a message: those of one sample within so many hours are one study. */
  readonly collectHours?: number;
}
