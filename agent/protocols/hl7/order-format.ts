import type { Patient } from "../../../shared/api/patient.ts";
import { readSex } from "../../../shared/clinical/sex.ts";
import { readNeutered } from "../../../shared/clinical/sex.ts";
import type { Pattern } from "../profile.ts";
import type { Stamp } from "./message/acknowledgement-message.ts";

// Order format of a device, and the fields of a patient in it.

/** Order format of a device, where the standard leaves a choice. */
export interface OrderFormat {
  /** Codes of species. A species without a code is omitted. Default: the API's words. */
  readonly species?: Readonly<Record<string, string>>;
  /** Sex codes of neutered patients; by default the same as for other patients. */
  readonly neutered?: Readonly<Record<"M" | "F", string>>;
  /** Pattern and example of the device's test codes, if it does not accept an analyte's name or code. */
  readonly tests?: { readonly pattern: Pattern; readonly example: string };
  /** Coding system of the test codes, in OBR-4. */
  readonly testSystem?: string;
  /** OBR-4 of every order, for a device that always runs one panel. */
  readonly panel?: readonly string[];
  /** OML^O33 holds the patient's age and weight in rows after the order. */
  readonly patientRows?: true;
  /** OBX-3 of the row with the species in ORR^O02. */
  readonly speciesRow?: readonly string[];
  /** Line numbers (DSP-1) of a DSR^Q03. */
  readonly lines?: DisplayLines;
  /** DSR^Q03 is sent before QCK^Q02, without waiting: the device acknowledges the first after the second. */
  readonly displayFirst?: boolean;
}

export interface DisplayLines {
  readonly identifier?: number;
  readonly name: number;
  readonly born?: number;
  /** Line numbers of the age and its unit: whole years (Y), or months (M) in the first year. */
  readonly age?: { readonly number: number; readonly unit: number };
  readonly sex: number;
  readonly weight?: number;
  readonly species?: number;
  readonly specimen: number;
  readonly orderedAt?: number;
  /** Line number of the first test; the others follow. A device with fixed tests has a line number for each. */
  readonly tests: number | Readonly<Record<string, number>>;
}

export function sexOf({ sex }: Patient, { neutered }: OrderFormat): string | null {
  const letter = readSex(sex);
  return letter !== null && neutered !== undefined && readNeutered(sex) === true ? neutered[letter] : letter;
}

/** Returns the whole months from birth to the time of the message. */
export function ageInMonths({ date_of_birth }: Patient, { time }: Stamp): number | null {
  if (date_of_birth === null) return null;
  const [born, now] = [date_of_birth.replaceAll("-", ""), time.slice(0, 8)];
  const months = monthOf(now) - monthOf(born) - (now.slice(6) < born.slice(6) ? 1 : 0);
  return months < 0 ? null : months;
}

/** Returns the month of `YYYYMMDD`, counted from the year 0. */
function monthOf(day: string): number {
  return Number(day.slice(0, 4)) * 12 + Number(day.slice(4, 6));
}

export function identifierOf({ fp }: Patient): string {
  return fp.slice("patient_".length);
}

export function speciesCode({ species }: Patient, format: OrderFormat): string {
  return format.species === undefined ? species : (format.species[species] ?? "");
}
