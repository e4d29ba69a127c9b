import type { AstmLinkOptions } from "./link.ts";
import type { ProfileBase } from "../profile.ts";
import type { OrderFormat } from "./orders.ts";
import type { AstmRecord, Charset } from "./records.ts";

export type AstmLinkKind =
  /** Frames of LIS01-A2, and how the device departs from it. */
  | ({ readonly kind: "lis01" } & Omit<AstmLinkOptions, "role">)
  /** Records as plain lines; `digitPrefixed`: with their frames' numbers left before them. */
  | { readonly kind: "raw-records"; readonly digitPrefixed: boolean };

/** A device that sends LIS02-A2 records. */
export interface AstmProfile extends ProfileBase {
  readonly protocol: "astm";
  readonly link: AstmLinkKind;
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
