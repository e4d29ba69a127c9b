import type { AstmLinkOptions } from "./link.ts";
import type { ProfileBase } from "../profile.ts";
import type { OrderFormat } from "./orders.ts";
import type { AstmRecord, Charset } from "./records.ts";

type AstmLinkKind =
  /** Frames of LIS01-A2, with the device's departures from it. */
  | ({ readonly kind: "lis01" } & Omit<AstmLinkOptions, "role">)
  /** Records as plain lines. `digitPrefixed`: their frame numbers are left before them. */
  | { readonly kind: "raw-records"; readonly digitPrefixed: boolean }
  /** Records from SOH to EOT, without checksum. The agent acknowledges each message with one ACK. */
  | { readonly kind: "soh-eot" };

/** Device that sends LIS02-A2 records. */
export interface AstmProfile extends ProfileBase {
  readonly protocol: "astm";
  readonly link: AstmLinkKind;
  /** Name in the API; null for the header's sender (H-5). */
  readonly device_name: string | null;
  /** Expected H-5. A message of another sender is quarantined, because another table may apply. */
  readonly sender?: RegExp;
  /** Analyte names of an R record, the most reliable first. */
  readonly code: (r: AstmRecord) => readonly string[];
  /** Reads the patient's species, in the device's terms, from the P record. */
  readonly species?: (p: AstmRecord) => string;
  readonly owner?: (p: AstmRecord) => string;
  /** Pattern of O-5. Matching orders and their results are not for a patient. */
  readonly skipOrder?: RegExp;
  /** Order format of a device that accepts orders. Other devices get no orders, and no reply to queries. */
  readonly orders?: OrderFormat;
  /** Moves the fields of a record, without its CR, to their numbers in LIS02-A2. */
  readonly mendRecord?: (record: string) => string;
  /** Numbers of fields that depart from LIS02-A2. */
  readonly fields?: Partial<FieldNumbers>;
  /** Charset of text that is not UTF-8; default Windows-1252, a superset of Latin-1. */
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
