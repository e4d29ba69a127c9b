import type { Measurement } from "../../shared/clinical/results.ts";
import type { Modality, PatientHint } from "../../shared/api/study.ts";

/** Stage 3: what a device said of one animal's sample, in our words but with its values. */
export interface Report {
  readonly device_name: string;
  readonly modality: Modality;
  /** Names this measurement whoever sends it again: device, patient, specimen and time as sent. */
  readonly dedupe_key: string;
  /** Its device sends one test a message. */
  readonly collect?: Collection;
  /** As typed at the device: the fp, a card number, a microchip. */
  readonly identifier: string | null;
  /** Other fields that may hold our own fp or its ULID, and nothing else: a specimen number can look like a card number. */
  readonly otherIdentifiers: readonly string[];
  readonly patient_hint: PatientHint;
  /** What the device takes the animal for, as an API species; null where it does not say or we do not know the word. */
  readonly species: string | null;
  readonly acquired_at: string;
  readonly rows: readonly Measurement[];
  /** Analytes, as the API names them, whose earlier results no longer stand, unless there is a row of them. Absent: none. */
  readonly withdrawn?: readonly string[];
  /** Codes no analyte of the catalogue has: never guessed. */
  readonly unmapped: readonly string[];
  /** Results that make no row, each with its reason. */
  readonly leftOut: readonly string[];
  /** What was decided or doubted. */
  readonly notes: readonly string[];
  readonly comments: readonly string[];
}

/** A study whose dedupe_key begins so is this one's too, if the two were measured that near to each other. */
export interface Collection {
  readonly prefix: string;
  readonly withinMs: number;
}

/** One result as a device wrote it, in whatever protocol; what it does not say is "". */
export interface DeviceResult {
  /** The names of the analyte, the most trustworthy first. */
  readonly names: readonly string[];
  readonly value: string;
  readonly unit: string;
  readonly range: string;
  readonly flag: string;
  /** Why this is no final value; null where it is one. */
  readonly notFinal: string | null;
  /** What was sent for it before no longer stands. */
  readonly withdraws?: boolean;
}

/** What stage 3 makes of one message. */
export type Reading =
  | { readonly is: "reports"; readonly reports: readonly Report[]; readonly notes: readonly string[] }
  | { readonly is: "not-for-patients"; readonly reason: string }
  /** `withdrawals`: without a result, what it takes back of earlier messages, if there were any. */
  | { readonly is: "quarantined"; readonly reason: string; readonly withdrawals?: readonly Report[] };

/** What a message cannot know of itself. */
export interface ReadContext {
  readonly device: string;
  /** IANA zone of the device's clock. */
  readonly timeZone: string;
  /** Milliseconds since 1970. */
  readonly receivedAt: number;
}

/** What a message held and its studies do not, for the message list: nothing is dropped silently. */
export function describe({ unmapped, leftOut }: Report): string[] {
  return [...(unmapped.length > 0 ? [`unmapped: ${unmapped.join(", ")}`] : []), ...leftOut];
}
