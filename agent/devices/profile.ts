import type { Modality } from "../../shared/study.ts";
import type { AstmLinkOptions } from "../astm/link.ts";
import type { OrderFormat } from "../astm/orders.ts";
import type { AstmRecord } from "../astm/records.ts";

// What one model of device is like. A profile is a table: the code that reads messages knows no model by name.

export interface AstmProfile {
  readonly id: string;
  readonly protocol: "astm";
  /** How it departs from LIS01-A2 on the wire. */
  readonly link?: Omit<AstmLinkOptions, "role">;
  /** As the API publishes it; null: what the header's sender (H-5) says. */
  readonly device_name: string | null;
  /** null: decided by the analytes, one study a modality. */
  readonly modality: Modality | null;
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
  /** What may follow a value and is no part of it. */
  readonly valueSuffix?: RegExp;
}

export type Profile = AstmProfile;
