import type { Modality, PatientHint } from "../../shared/api/study.ts";
import type { DeviceResult } from "./report.ts";

/** Control material, as the device describes it. Empty and absent texts count alike. */
export interface ControlMaterial {
  readonly material?: string;
  readonly level?: string;
  readonly lot?: string;
  readonly expires?: string;
  /** The device's verdict on the run: `PASS`. */
  readonly verdict?: string;
}

/** One sample of one patient as the device described it. It becomes one study per modality. */
export interface Sample {
  readonly device_name: string;
  readonly identifier: string | null;
  readonly otherIdentifiers: readonly string[];
  /** Numbers of the sample as sent. Empty and repeated ones are dropped, and all after the eighth. */
  readonly sampleIds?: readonly string[];
  readonly patient_hint: PatientHint;
  /** Patient and specimen numbers as sent: parts of a measurement's identity. */
  readonly patient: readonly string[];
  readonly specimen: readonly string[]; // the second is the device's own number, the others are the orderer's
  /**
   * Times as sent: of the results (completed before started), of the order (collected before ordered), of the message.
   */
  readonly times: { readonly results: readonly string[]; readonly order: readonly string[]; readonly sent: string };
  /** The sample is control material: it becomes a control run and never a study. */
  readonly control?: ControlMaterial;
  /** The device declares urine. */
  readonly urine: boolean;
  /** The device declares blood. Without it, a ketone meter's KET would make the glucose with it urine. */
  readonly blood?: boolean;
  readonly results: readonly DeviceResult[];
  /** Rows of the run or the patient, which are not results: `Take Mode: O`. */
  readonly settings?: readonly string[];
  readonly notes: readonly string[];
  readonly comments: readonly string[];
}

/** Columns of a profile that apply to every sample. */
export interface SampleProfile {
  readonly modality: Modality | null;
  readonly valueSuffix?: string;
  readonly collectHours?: number;
  /** Only messages of one test are collected, and only by a number that no counter has: this table knows no model. */
  readonly collectSingles?: true;
  /** Reads 7,41 as 7.41. Default true. */
  readonly decimalComma?: boolean;
}

/** Returns the result's name for a sentence. */
export function labelOf(names: readonly string[]): string {
  return names[0] ?? NO_CODE;
}

export const NO_CODE = "(no code)";
