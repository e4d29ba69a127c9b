import type { Measurement } from "../../shared/clinical/results.ts";
import type { ControlRun, DeviceEvent, PrintedTarget } from "../../shared/api/quality.ts";
import type { Modality, NotReported, PatientHint } from "../../shared/api/study.ts";

/** Report of one patient's sample: field names of the API, values of the device. */
export interface Report {
  readonly device_name: string;
  readonly modality: Modality;
  /** Identifies the measurement across resends: device, patient, specimen and time as sent. */
  readonly dedupe_key: string;
  /** Collection of a device that sends one test per message. */
  readonly collect?: Collection;
  /** Identifier as typed at the device: the fp, a card number, a microchip. */
  readonly identifier: string | null;
  /** Further fields that are compared with the fp and its ULID only: a specimen number may look like a card number. */
  readonly otherIdentifiers: readonly string[];
  /** Numbers of the sample: of its order, specimen and container. Absent without any. */
  readonly sampleIds?: readonly string[];
  /** Number of animals that the images of one study name, which then has no patient. Absent for one. */
  readonly animals?: number;
  readonly patient_hint: PatientHint;
  /** API species of the device's species; null for a missing or unknown one. */
  readonly species: string | null;
  readonly acquired_at: string;
  /** A time of the device that its clock can hardly have shown rightly. Absent without one. */
  readonly suspectTime?: string;
  readonly rows: readonly Measurement[];
  /** Analytes, by API name, whose earlier results are withdrawn unless a row replaces them. */
  readonly withdrawn?: readonly string[];
  /** Codes whose rows have the device's own code. A guessed analyte would get the interval and the flag of another test. */
  readonly unmapped: readonly string[];
  /** Results without a row, each with its reason. */
  readonly leftOut: readonly string[];
  /** Results without a value that the device sent all the same, for the people who read the study. Absent without any. */
  readonly notReported?: readonly NotReported[];
  /** Decisions and doubts. */
  readonly notes: readonly string[];
  readonly comments: readonly string[];
}

/** A run of control material, as its message describes it. It names no patient. Filing adds the fp and the source. */
export type ControlDraft = Omit<ControlRun, "fp" | "source">;

/** Joins the Report to a study whose dedupe_key has this prefix, if both were measured within `withinMs`. */
export interface Collection {
  readonly prefix: string;
  readonly withinMs: number;
  /**
   * Difference that makes a second result of an analyte another measurement, such as a point of a glucose curve. The value counts
   * too if the time is not the device's. Absent if a second result always replaces the first.
   */
  readonly repeatedBy?: "time" | "time and value";
  /** Key of the message alone. A study that has it was filed by a version without this collection, and keeps the message. */
  readonly ownKey?: string;
}

/** One result as the device wrote it. Fields that the device leaves out are "". */
export interface DeviceResult {
  /** Analyte names, the most reliable first. */
  readonly names: readonly string[];
  /** The device's own code; default the first name. The row has it if the catalogue lacks all names. */
  readonly code?: string;
  /** The device's own name of the test; default the second name. */
  readonly label?: string;
  readonly value: string;
  /** The value is a grade or a rank even if it has digits only. */
  readonly isWord?: true;
  readonly unit: string;
  readonly range: string;
  /** The target that the device prints with a control's value, in place of a range. */
  readonly target?: PrintedTarget;
  /** The device's flags, joined by blanks. `<` and `>` bound the value. */
  readonly flag: string;
  /** Reason why the value is not final; null for a final one. */
  readonly notFinal: string | null;
  /** The earlier value is withdrawn. */
  readonly withdraws?: boolean;
  /** The device's doubt about the value, in words. The value gets no flag. */
  readonly doubt?: string | null;
}

/** An event that a device reports about itself, before it has its fp and its source. */
export type DeviceEventDraft = Omit<DeviceEvent, "fp" | "source">;

/** Result of reading one message. */
export type Reading = (
  | { readonly is: "reports"; readonly reports: readonly Report[]; readonly notes: readonly string[] }
  | { readonly is: "not-for-patients"; readonly reason: string }
  /** `withdrawals`: withdrawals of a message without results. */
  | { readonly is: "quarantined"; readonly reason: string; readonly withdrawals?: readonly Report[] }
) & {
  /** Its runs of control material. Absent without any; a quarantined message has none. */
  readonly controls?: readonly ControlDraft[];
  /** Events that the device reports about itself. Absent without any. */
  readonly events?: readonly DeviceEventDraft[];
};

/** Facts that a message does not hold. */
export interface ReadContext {
  readonly device: string;
  /** IANA zone of the device's clock. */
  readonly timeZone: string;
  /** Milliseconds since 1970. */
  readonly receivedAt: number;
  /** The clinic's analytes of the device's codes, folded by foldName(). Each is a code of the catalogue. */
  readonly codes?: ReadonlyMap<string, string>;
  /** Numbers of samples that the clinic uses for control material, folded by foldNumber(). */
  readonly controls?: ReadonlySet<string>;
}

/** Lists the parts of a message that its studies lack, for the message list. Nothing is dropped silently. */
export function describe({ unmapped, leftOut }: Report): string[] {
  return [...(unmapped.length > 0 ? [`unmapped: ${unmapped.join(", ")}`] : []), ...leftOut];
}
