import type { PrintedTarget } from "../../../shared/api/quality.ts";
import type { DeviceResult } from "../../report/report.ts";
import type { ControlMaterial } from "../../report/sample.ts";
import type { Pattern, ProfileBase } from "../profile.ts";
import type { LinkOptions } from "./link.ts";
import type { OrderFormat as Hl7OrderFormat } from "./order-format.ts";
import type { Segment } from "./message/segment.ts";
import type { PracticeSettings } from "./registry/settings.ts";

/** MLLP framing, and how messages are acknowledged and decoded if they do not declare it. */
type MllpLink = { readonly kind: "mllp" } & LinkOptions;

/** Device that sends HL7 v2 messages. */
export interface Hl7Profile extends ProfileBase {
  readonly protocol: "hl7";
  readonly link: MllpLink;
  /** Name in the API; null for the header's sender (MSH-3). */
  readonly device_name: string | null;
  /** Name in the API if MSH-3 should hold it and is empty. */
  readonly defaultName?: string;
  /**
   * Expected `MSH-3|MSH-4`. A message of another sender is quarantined, because another table may apply. An empty sender does not
   * exclude the model, and neither does any sender of a message that names the model elsewhere.
   */
  readonly sender?: Pattern;
  /** MSH-11 that this device sends for patients too, although table 0103 means training or debugging. */
  readonly patientProcessing?: Pattern;
  /** OBR-4, or a note, of runs that are not for a patient, beyond the usual words. */
  readonly notForPatients?: Pattern;
  /** An order without PID is a control, unless its specimen has the role of a patient. */
  readonly controlWithoutPatient?: true;
  /** OBR field with the time of the run, before OBR-7. */
  readonly runTime?: number;
  /** Analyte names of an OBX, the most reliable first; default the names in OBX-3, and in OBX-4 if OBX-3 holds none. */
  readonly code?: (obx: Segment) => readonly string[];
  /** Catalogue's codes of this device's names, where the catalogue has none or another analyte. */
  readonly analytes?: Readonly<Record<string, string>>;
  /** Fields of the patient that the device does not write at the standard's place. */
  readonly patient?: (segments: PatientSegments) => PatientFields;
  /** OBX-3 of the row with the species, if PID lacks it. */
  readonly speciesRow?: Pattern;
  /** OBX-3 of rows about the run, sample or patient, which become comments. */
  readonly remarks?: Pattern;
  /** OBX-3 of rows that comment on the row before, as a note does. */
  readonly commentRows?: Pattern;
  /** A PID with an identifier and a birthday after the run is a control's: its lot, and the end of its validity. */
  readonly controlLot?: true;
  /** The places of control material that are this device's own. */
  readonly control?: ControlPlaces;
  /** Returns what an order's rows lack if its message was cut; null for complete ones. A cut message is quarantined. */
  readonly damage?: (rows: readonly Segment[]) => string | null;
  /** Results of a row with more or fewer than one. An empty list: the row stays in the message. */
  readonly results?: (result: DeviceResult, obx: Segment, context: RowContext) => readonly DeviceResult[];
  /** OBR field with a further number of the sample. */
  readonly sampleField?: number;
  /** Reads comments on the sample from the OBR. */
  readonly comments?: (obr: Segment) => readonly string[];
  /** `""` in OBX-5 is an empty value, and deletes none. */
  readonly nullIsEmpty?: true;
  /** OBX-11 that are final on this device, although table 0085 differs. */
  readonly finalStatuses?: Pattern;
  /** Reads why the device withholds a value; "" for an accepted one. */
  readonly withheld?: (obx: Segment) => string;
  /** Meaning of the device's marks in OBX-8: H, L, N, or other words. Marks that are not listed stay as sent. */
  readonly flags?: Readonly<Record<string, string>>;
  /** Marks in OBX-8 by which the device doubts a value, in words. The value gets no flag. */
  readonly doubts?: Readonly<Record<string, string>>;
  /** Reads value and unit from the note after an OBX without a value; null for another note. */
  readonly noteValue?: (note: string) => { readonly value: string; readonly unit: string } | null;
  /** Order format of a device that accepts orders. Queries of other devices get "no order". */
  readonly orders?: Hl7OrderFormat;
  /** Practice software: its messages bring animals, owners and orders, not results. */
  readonly registry?: PracticeSettings;
  /** Hours within which messages of one sample are one study, for a device that sends one test per message. */
  readonly collectHours?: number;
  /** Only messages of one test are collected, and only by a number that no counter has. */
  readonly collectSingles?: true;
}

/** The places of control material. */
export interface ControlPlaces {
  readonly material: (segments: Pick<PatientSegments, "PID" | "OBR">) => ControlMaterial;
  /** Reads the target of a row. Its printed range is the patients'; null without a target. */
  readonly target?: (segments: { readonly OBR: Segment; readonly OBX?: Segment }) => PrintedTarget | null;
  /** Reads the result that the device writes into the OBR of a control; null without one. */
  readonly inOrder?: (obr: Segment) => DeviceResult | null;
}

/** Segments that may hold fields of the patient. One that the message lacks is empty. */
export interface PatientSegments {
  readonly PID: Segment;
  readonly PV1: Segment;
  readonly OBR: Segment;
}

/** Fields of a patient. A missing or an empty one is at the standard's place. */
export interface PatientFields {
  readonly identifier?: string;
  readonly name?: string;
  readonly owner?: string;
  /** In the device's terms; default PID-35. Null: the device has none, even if PID-35 is filled. */
  readonly species?: string | null;
  readonly sex?: string;
  readonly born?: string;
}

/** Notes of a row, and all rows of its order. */
export interface RowContext {
  readonly notes: readonly string[];
  readonly rows: readonly Segment[];
}
