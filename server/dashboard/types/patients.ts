import type { EventStatus, EventType } from "../../../shared/api/calendar.ts";
import type { Patient } from "../../../shared/api/patient.ts";
import type { SoapStatus } from "../../../shared/api/soap.ts";
import type { Modality, Result } from "../../../shared/api/study.ts";
import type { SentValue } from "../../../shared/clinical/units/value-text.ts";
import type { RecentChange, ShownOwner } from "./animals.ts";
import type { DeviceDifference, NotComparable, ResultChange } from "../../../shared/clinical/compare/compare.ts";
import type { OtherClinic } from "./connections.ts";
import type { UsedStock } from "./stock.ts";

// The list of a clinic's patients, and the page of one patient.

/**
 * The animals that a user can choose, in the order of every list: the words of the API, and those that it serves as `bird`, `reptile` or
 * `exotic`.
 */
export const SPECIES = [
  ...(["dog", "cat", "rabbit"] as const),
  ...(["bird", "african_grey", "hispaniolan_amazon", "parrotlet", "ringneck_parakeet", "chicken"] as const),
  ...(["reptile", "hermanns_tortoise", "greek_tortoise", "marginated_tortoise", "horsfield_tortoise"] as const),
  ...(["desert_tortoise", "green_iguana", "chinese_water_dragon"] as const),
  ...([
    "horse",
    "donkey",
    "mule",
    "cow",
    "buffalo",
    "sheep",
    "goat",
    "pig",
    "potbellied_pig",
    "alpaca",
    "llama",
  ] as const),
  ...(["ferret", "guinea_pig", "hamster", "rat", "mouse", "gerbil", "chinchilla", "exotic"] as const),
] as const;

/** The columns by which the server sorts the list; `-` is the other way round. */
export const PATIENT_SORTS = ["name", "-name", "owner", "-owner", "age", "-age"] as const;
export type PatientSort = (typeof PATIENT_SORTS)[number];

/** The response to `GET .../patients`: one page of the connected patients, by name unless the request sorts them. */
export interface PatientList {
  patients: ListedPatient[];
  total: number;
  page_size: number;
  /** Where each first letter begins in a list by name of several pages; empty for another list. */
  letters: PatientLetter[];
}

export interface PatientLetter {
  /** `#` for names that start with a number or a sign. */
  letter: string;
  page: number;
  /** The first patient of the letter. */
  fp: string;
}

export interface ListedPatient extends Pick<Patient, "fp" | "name" | "species" | "breed" | "sex" | "date_of_birth"> {
  /** The animal itself where `species` names a group, such as `horse`. */
  precise_species: string | null;
  is_deceased: boolean;
  owner_name: string | null;
  /** Card numbers and microchips. */
  identifiers: string[];
  /** Time of the newest study; null without one. */
  last_study_at: string | null;
}

/** The response to `GET .../patients/:fp`. */
export interface PatientOverview {
  patient: Patient;
  /** The animal itself where the species of the patient names a group, such as `horse`. */
  precise_species: string | null;
  deceased_at: string | null;
  identifiers: string[];
  owner: ShownOwner;
  /** The other animals of the owner that this clinic sees. */
  siblings: { fp: string; name: string; species: string }[];
  /** Whether other clinics see the patient too. */
  is_shared: boolean;
  /** The changes that can be undone, the newest first. */
  recent_changes: RecentChange[];
  /** Openings and ends of this clinic's connection, the newest first. `by` is a user; null if another clinic ended it. */
  connection_changes: { active: boolean; changed_at: string; by: string | null }[];
  /** Other clinics that requested the patient since this one is connected, the newest first. */
  other_clinics: OtherClinic[];
  /** The newest first. */
  records: PatientRecord[];
  /** Appointments in this clinic, the newest first. */
  appointments: PatientAppointment[];
  /** The stock that this clinic used for the patient, the newest first. */
  used_stock: UsedStock[];
}

export interface PatientRecord {
  fp: string;
  soap_type: string;
  status: SoapStatus;
  /** Whether this clinic performed the examination. */
  is_own: boolean;
  created_at: string;
  signed_at: string | null;
  /** Start of the assessment, else of the owner's report; null without both. */
  summary: string | null;
}

export interface PatientAppointment {
  fp: string;
  title: string;
  type: EventType;
  status: EventStatus;
  start_at: string;
}

/** The response to `GET .../patients/:fp/results`, and with `?analyte=` the same with this substance's values alone. */
export interface PatientResults {
  patient_name: string;
  /** The newest first. */
  studies: PatientStudy[];
  /** Number of studies that the clinic may see. */
  total: number;
  /** Names of the analytes of these studies, in the order in which a report lists them. */
  analytes: AnalyteName[];
  /** With `?analyte=`: the other substances that have a number, each under its newest name. */
  others?: AnalyteName[];
  /** Without `?analyte=`: analytes that two devices measured within a day, the newest first. */
  side_by_side?: SideBySide[];
  /** Number of studies that the database has damaged, and that the list therefore leaves out. */
  left_out: number;
}

export interface AnalyteName {
  modality: Modality;
  code: string;
  name: string;
  name_tr: string;
}

export interface PatientStudy {
  fp: string;
  modality: Modality;
  device_name: string;
  /** Tells devices of one name apart: a number within the response, and the clinic's own id of the device. */
  device: number;
  device_id: string | null;
  acquired_at: string;
  values: ResultValue[];
}

/** A result in the unit of its row, with the bounds of its interval as numbers. */
export interface ResultValue extends Result {
  /** The value as it is printed, with its comparator. */
  text: string;
  /** Present if it was sent in another unit. */
  sent?: SentValue;
  low: number | null;
  high: number | null;
  /** The device's name for a code of its own. */
  device_label: string | null;
  /** The change since the value before, or why the two do not compare; null for the first one and for words. */
  change: ResultChange | null;
  /** With `?analyte=`: its place among the curves; null for words. */
  curve?: CurvePlace | null;
  /** Present if a control of the device failed before or after the measurement. */
  control_failed?: true;
}

export interface CurvePlace {
  /** Values of one number compare with each other and make a line; 0 has the newest value. Null for a bound such as `<0.2`. */
  line: number | null;
  /** Why the value does not compare with the newest; null if it does. */
  apart: NotComparable | null;
  /** Present if the value was converted from another name of the substance, such as UREA for BUN. */
  other_name?: string;
}

/** The results of two devices, the earlier one first. */
export interface SideBySide {
  studies: [PatientStudyHead, PatientStudyHead];
  rows: SideBySideRow[];
}

export type PatientStudyHead = Omit<PatientStudy, "values">;

export interface SideBySideRow {
  analyte: string;
  name: string | null;
  name_tr: string | null;
  values: [DeviceValue, DeviceValue];
  difference: DeviceDifference;
}

export interface DeviceValue {
  analyte: string;
  text: string;
  unit: string | null;
}

const DAY_MS = 86_400_000;

/**
 * Gives the age on a day in the units that people use: years and months, or months, weeks or days of a young animal. Both days
 * are like `2026-11-21`. @returns nothing for a birth after the day
 */
export function ageOn(day: string, dateOfBirth: string): { unit: "year" | "month" | "week" | "day"; count: number }[] {
  const [year = 0, month = 0, date = 0] = day.split("-").map(Number);
  const [birthYear = 0, birthMonth = 0, birthDate = 0] = dateOfBirth.split("-").map(Number);
  const days = Math.round((Date.parse(day) - Date.parse(dateOfBirth)) / DAY_MS);
  if (!(days >= 0)) return [];
  const months = (year - birthYear) * 12 + month - birthMonth - (date < birthDate ? 1 : 0);
  if (days < 14) return [{ unit: "day", count: days }];
  if (months < 3) return [{ unit: "week", count: Math.floor(days / 7) }];
  if (months < 12) return [{ unit: "month", count: months }];
  const years = { unit: "year" as const, count: Math.floor(months / 12) };
  return months % 12 === 0 ? [years] : [years, { unit: "month", count: months % 12 }];
}
