import type { MatchCode } from "../../shared/api/filing-code.ts";
import type { Patient } from "../../shared/api/patient.ts";
import { type ReasonOf, reasonOf } from "../../shared/api/reason.ts";
import { readSex } from "../../shared/clinical/sex.ts";
import { fold, servedSpecies } from "../../shared/clinical/species.ts";
import type { Report } from "../report/report.ts";
import type { TestOrder } from "../spool/queries/orders/orders.ts";

/** The one patient of a Report, or the reason for no match and the candidates, the likeliest first. */
export type Match =
  | { readonly patient: Patient; readonly reason: null; readonly candidates: readonly [] }
  | { readonly patient: null; readonly reason: ReasonOf<MatchCode>; readonly candidates: readonly string[] };

/** The clinic's patients of the Report's species with the same or a similar name. */
export interface Namesakes {
  readonly all: readonly Patient[];
  /** The fps of all patients with an event on the day of the sample. */
  readonly appointed: ReadonlySet<string>;
}

/** The facts of the clinic's directory about a Report. */
interface Found {
  /** The patients that the Report's identifiers name exactly. */
  readonly patients: readonly Patient[];
  /** The orders whose accession is among its identifiers. */
  readonly orders: readonly TestOrder[];
  /** Null if the clinic does not allow a match by name. */
  readonly namesakes: Namesakes | null;
  /** Whether the clinic's patients have been fetched at least once. */
  readonly isFetched: boolean;
  /** The numbers of the sample that replace a typed identifier; see patientNumbers(). */
  readonly sampleNumbers: readonly string[];
}

/**
 * Decides which patient a Report belongs to. Only an exact identifier of exactly one patient matches, unless the device states
 * another species.
 */
export function match(report: Report, { patients, orders, namesakes, isFetched, sampleNumbers }: Found): Match {
  const [patient, ...others] = patients;
  const candidates = patients.map(({ fp }) => fp);
  const orphaned = orders.find(({ patientFp }) => !candidates.includes(patientFp));
  if (orphaned !== undefined) {
    return { patient: null, reason: reasonOf("MATCH.ACCESSION_OF_REMOVED", orphaned.accession), candidates };
  }
  if (report.animals !== undefined) return unmatched("MATCH.SEVERAL_PATIENTS", String(report.animals));
  if (patient === undefined) {
    const { identifier } = report;
    const isTyped = identifier !== null || sampleNumbers.length > 0;
    if (isTyped && !isFetched) return unmatched("MATCH.NO_DIRECTORY");
    if (identifier !== null) return unmatched("MATCH.UNKNOWN_IDENTIFIER", identifier);
    if (isTyped) return unmatched("MATCH.UNKNOWN_SAMPLE", ...sampleNumbers);
    return namesakes === null ? unmatched("MATCH.NO_IDENTIFIER") : matchByName(report, namesakes);
  }
  if (others.length > 0) {
    const [order] = orders;
    const reason =
      order === undefined
        ? reasonOf("MATCH.SEVERAL_PATIENTS", String(patients.length))
        : reasonOf("MATCH.ACCESSION_OF_OTHER", order.accession);
    return { patient: null, reason, candidates };
  }
  if (report.species !== null && servedSpecies(report.species) !== patient.species) {
    return { patient: null, reason: reasonOf("MATCH.SPECIES", report.species, patient.species), candidates };
  }
  return { patient, reason: null, candidates: [] };
}

/** A device counts its samples with few digits, and another patient may have that card number. */
const RUNNING_NUMBER = /^(?:\d{1,4}|0+)$/;

/** Returns the numbers of the sample that may name its patient: none with a typed identifier, and no running number. */
export function patientNumbers({ identifier, sampleIds = [] }: Report): readonly string[] {
  if (identifier !== null) return [];
  return sampleIds.filter((id) => /[\p{L}\p{N}]/u.test(id) && !RUNNING_NUMBER.test(id));
}

/** Describes in a sentence how a patient was found. */
export function describeMatch(
  { identifier, otherIdentifiers }: Report,
  patient: Patient,
  { orders: [order], sampleNumbers }: Pick<Found, "orders" | "sampleNumbers">,
): string {
  if (order !== undefined) return `matched ${patient.fp} by accession ${order.accession}`;
  if (sampleNumbers.length > 0) {
    return `matched ${patient.fp} by the sample number ${sampleNumbers.map((id) => `"${id}"`).join(" or ")}`;
  }
  if (identifier === null && otherIdentifiers.every((text) => !text.toUpperCase().includes(patient.fp.slice(-26)))) {
    return `matched ${patient.fp} by its name: the only ${patient.species} with it, and with an event on that day`;
  }
  return `matched ${patient.fp} by ${identifier === null ? "its fp in another field" : `the identifier "${identifier}"`}`;
}

/** Ratio of two weights above which they belong to different patients. */
const WEIGHT_FACTOR_MAX = 1.5;

/**
 * Matches by name, if the clinic allows it: the only patient of the species with the name, with an event on the day of the sample.
 * No other patient of the clinic may have a similar name, because that one may have come without an appointment, or be a twin.
 */
function matchByName(report: Report, { all, appointed }: Namesakes): Match {
  const { name } = report.patient_hint;
  if (name === null || report.species === null) {
    return unmatched("MATCH.NO_IDENTIFIER_OR_NAME");
  }
  const [patient] = all.filter((each) => fold(each.name) === fold(name));
  const candidates = all.map(({ fp }) => fp);
  if (patient === undefined) {
    return { patient: null, reason: reasonOf("MATCH.NAME_UNKNOWN", report.species, name), candidates };
  }
  if (all.length > 1) {
    return { patient: null, reason: reasonOf("MATCH.NAME_SEVERAL", String(all.length), name), candidates };
  }
  if (!appointed.has(patient.fp)) {
    return { patient: null, reason: reasonOf("MATCH.NAME_NO_EVENT", name), candidates };
  }
  const reason = contradiction(report, name, patient);
  if (reason !== null) return { patient: null, reason, candidates };
  return { patient, reason: null, candidates: [] };
}

/** Compares sex, date of birth and weight. @returns the name, the device's fact and the patient's; null without a contradiction */
function contradiction({ patient_hint: hint }: Report, name: string, patient: Patient): ReasonOf<MatchCode> | null {
  const [sentSex, knownSex] = [readSex(hint.sex), readSex(patient.sex)];
  if (sentSex !== null && knownSex !== null && sentSex !== knownSex) {
    return reasonOf("MATCH.NAME_OTHER_SEX", name, hint.sex ?? "", patient.sex ?? "");
  }
  if (hint.date_of_birth !== null && patient.date_of_birth !== null && hint.date_of_birth !== patient.date_of_birth) {
    return reasonOf("MATCH.NAME_OTHER_BIRTH", name, hint.date_of_birth, patient.date_of_birth);
  }
  if (hint.weight_kg !== null && patient.weight_kg !== null) {
    const [light, heavy] = [hint.weight_kg, patient.weight_kg].toSorted((a, b) => a - b);
    if (Number(heavy) > Number(light) * WEIGHT_FACTOR_MAX) {
      return reasonOf("MATCH.NAME_OTHER_WEIGHT", name, String(hint.weight_kg), String(patient.weight_kg));
    }
  }
  return null;
}

function unmatched(code: MatchCode, ...values: readonly string[]): Match {
  return { patient: null, reason: reasonOf(code, ...values), candidates: [] };
}
