import type { ProfileBase } from "../profile.ts";
import type { FoundEvent } from "../../report/device-event.ts";
import type { DeviceResult } from "../../report/report.ts";
import type { ControlMaterial } from "../../report/sample.ts";
import type { BccTexts } from "./bcc-link.ts";
import type { TextOrders } from "./orders.ts";

type TextLinkKind =
  /** STX, text, and ETX or SUB, without acknowledgement. */
  | { readonly kind: "one-way"; readonly end: "ETX" | "SUB" }
  /** Text without a start byte that ends with these words, without acknowledgement. */
  | { readonly kind: "until-words"; readonly words: string }
  /**
   * ENQ, body, EOT, ETX, with one acknowledgement. `bodyProblem` returns why bytes are not a complete body, null for a complete
   * one.
   */
  | { readonly kind: "enq-etx"; readonly bodyProblem: (body: Uint8Array) => string | null }
  /** STX, text, ETX and BCC, without acknowledgement; the device may query orders. */
  | ({ readonly kind: "bcc" } & BccTexts)
  /** Lines from a header to END_RESULT or END_CALI with a check number, acknowledged in lines. */
  | { readonly kind: "crc-lines" };

/** Device with a text layout of its own. */
export interface TextProfile extends ProfileBase {
  readonly protocol: "text";
  readonly link: TextLinkKind;
  readonly device_name: string;
  /** Order queries of the device. Its results repeat the sample number of their order. */
  readonly orders?: TextOrders;
  /** Charset of names and remarks; default Latin-1. Katakana: the bytes A1 to DF are half-width (JIS X 0201). */
  readonly charset?: "katakana" | "utf8" | "windows-1251";
  /**
   * Reads a message, one character per byte. A text that departs from the layout is a problem, and no part of it is
   * read.
   */
  readonly read: (text: string) => TextReading;
}

export type TextReading =
  /** `control`: the sample is control material, for this reason. */
  | {
      readonly is: "sample";
      readonly sample: TextSample;
      readonly control?: ControlMaterial & { readonly reason: string };
      readonly events?: readonly FoundEvent[];
    }
  | { readonly is: "not-for-patients"; readonly reason: string; readonly events?: readonly FoundEvent[] }
  | { readonly is: "problem"; readonly reason: string };

/** Sample of one patient. Fields that the device leaves out are "". */
interface TextSample {
  /** Identifier as typed at the device. */
  readonly identifier: string;
  readonly name: string;
  readonly species: string;
  /** Sample number of the device. */
  readonly specimen: string;
  /** `YYYYMMDDHHMM` of the device's clock. */
  readonly measuredAt: string;
  readonly results: readonly DeviceResult[];
  readonly sex?: string;
  readonly owner?: string;
  /** `YYYYMMDD`. */
  readonly dateOfBirth?: string;
  readonly urine?: boolean;
  /** Name of the instrument, if it differs from the profile's. */
  readonly device_name?: string;
  readonly comments?: readonly string[];
  /** Decisions and doubts. */
  readonly notes?: readonly string[];
}
