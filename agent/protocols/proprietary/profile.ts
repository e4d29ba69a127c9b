import type { ProfileBase } from "../profile.ts";
import type { DeviceResult } from "../../report/report.ts";

export type TextLinkKind =
  /** STX, text, and ETX or SUB; nothing is acknowledged. */
  | { readonly kind: "one-way"; readonly end: "ETX" | "SUB" }
  /** ENQ, body, EOT, ETX, acknowledged whole; `bodyProblem`: why these bytes are no whole body, null where they are. */
  | { readonly kind: "enq-etx"; readonly bodyProblem: (body: Uint8Array) => string | null };

/** A device whose messages are texts in a layout of its own. */
export interface TextProfile extends ProfileBase {
  readonly protocol: "text";
  readonly link: TextLinkKind;
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
