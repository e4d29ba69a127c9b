import type { ControlMaterial } from "../../report/sample.ts";
import type { AstmLinkOptions } from "./link.ts";
import type { Pattern, ProfileBase } from "../profile.ts";
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
  /**
   * Expected H-5. A message of another sender is quarantined, because another table may apply. An empty sender does not exclude the
   * model.
   */
  readonly sender?: Pattern;
  /** Analyte names of an R record, the most reliable first and the device's own code last; default R-3's names. */
  readonly code?: (r: AstmRecord) => readonly string[];
  /** Unit of an R record, if it is not R-5. */
  readonly unit?: (r: AstmRecord) => string;
  /** Reads the patient's species, in the device's terms, from the P record. */
  readonly species?: (p: AstmRecord) => string;
  readonly owner?: (p: AstmRecord) => string;
  /** Patient's name of a sample on which it was typed in place of a number. */
  readonly nameOnSample?: (o: AstmRecord) => string;
  /** Pattern of O-5 and of M records. Matching orders and their results are not for a patient. */
  readonly skipOrder?: Pattern;
  /** Reads the control material from the P and O records of its order; "" without one of them. */
  readonly control?: (records: { readonly P: AstmRecord | null; readonly O: AstmRecord | null }) => ControlMaterial;
  /** The device sends a P record for every patient. An order without one is of a control; results without both are quarantined. */
  readonly alwaysNamesPatient?: true;
  /** The R record is of urine, though neither O-16 nor a name states it. */
  readonly urine?: (r: AstmRecord) => boolean;
  /** Name and lot of the reagent of an order, from the order and its first result; an empty lot counts as absent. */
  readonly reagent?: (o: AstmRecord, r: AstmRecord | null) => { readonly name: string; readonly lot: string };
  /** R records about the run or the device. They are comments, not results. */
  readonly isRemark?: (r: AstmRecord) => boolean;
  /** Meanings of R-9 that depart from LIS02-A2 §9.9. */
  readonly statuses?: Readonly<Record<string, ResultStatus>>;
  /** Marks of R-7 by which the device doubts a value. */
  readonly doubtFlags?: Doubts;
  /** Marks before or after the value in R-4 by which the device doubts it: `?7.412`, `3@`. */
  readonly doubtMarks?: Doubts;
  /** Device that sends one test per message. */
  readonly collect?: SampleCollection;
  /** Order format of a device that accepts orders. Other devices get no orders, and no reply to queries. */
  readonly orders?: OrderFormat;
  /** Moves the fields of a record, without its CR, to their numbers in LIS02-A2. */
  readonly mendRecord?: (record: string) => string;
  /** Numbers of fields that depart from LIS02-A2. */
  readonly fields?: Partial<FieldNumbers>;
  /** Charset of text that is not UTF-8; default Windows-1252, a superset of Latin-1. */
  readonly charset?: Charset;
}

/** Doubts of the device in words, by its mark. */
type Doubts = Readonly<Record<string, string>>;

/** Meaning of a result status: a final value, a final value that the device doubts, or no final value. */
export type ResultStatus = "final" | { readonly doubt: string } | { readonly notFinal: string };

/**
 * Collects messages of a single result into one study, if they were measured within `hours`. `sample`: pattern of a
 * component of O-3 or O-4 that names one sample. A running number names none.
 */
interface SampleCollection {
  readonly hours: number;
  readonly sample: Pattern;
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
