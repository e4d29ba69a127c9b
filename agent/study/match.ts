import type { Patient } from "../../shared/api/patient.ts";
import { readSex } from "../../shared/clinical/sex.ts";
import { fold } from "../../shared/clinical/species.ts";
import type { Report } from "../report/report.ts";
import type { TestOrder } from "../spool/queries/orders/orders.ts";

/** The one patient of a Report, or the reason why there is none and the candidates, the likeliest first. */
export type Match =
  | { readonly patient: Patient; readonly reason: null; readonly candidates: readonly [] }
  | { readonly patient: null; readonly reason: string; readonly candidates: readonly string[] };

/** The clinic's patients of the Report's species with the same or a similar name. */
export interface Namesakes {
  readonly all: readonly Patient[];
  /** The fps of all patients with an event on the day of the sample. */
  readonly appointed: ReadonlySet<string>;
}

/**
 * Decides which patient a Report belongs to. Only an exact identifier of exactly one patient matches, unless the device states
 * another species.
 * @param found the patients that the Report's identifiers name exactly
 * @param orders the orders whose accession is among its identifiers
 * @param namesakes null if the clinic does not allow a match by name
 * @param isFetched whether the clinic's patients have been fetched at least once
 * @param sampleNumbers the numbers of the sample that stand for a typed identifier
 */
export function match(
  report: Report,
  found: readonly Patient[],
  orders: readonly TestOrder[] = [],
  namesakes: Namesakes | null = null,
  isFetched = true,
  sampleNumbers: readonly string[] = [],
): Match {
  const [patient, ...others] = found;
  const orphaned = orders.find(({ patientFp }) => found.every(({ fp }) => fp !== patientFp));
  if (orphaned !== undefined) {
    const reason = `accession ${orphaned.accession} was issued for a patient that the clinic no longer has`;
    return { patient: null, reason, candidates: found.map(({ fp }) => fp) };
  }
  if (patient === undefined) {
    const typed = typedText(report, sampleNumbers);
    if (typed !== null) return unmatched(isFetched ? `no patient has the ${typed}` : NEVER_FETCHED);
    return namesakes === null ? unmatched("the device sent no patient identifier") : matchByName(report, namesakes);
  }
  const candidates = found.map(({ fp }) => fp);
  if (others.length > 0) {
    const [order] = orders;
    const reason =
      order === undefined
        ? `the identifiers name ${found.length} patients`
        : `accession ${order.accession} was issued for another patient than the identifiers name`;
    return { patient: null, reason, candidates };
  }
  if (report.species !== null && report.species !== patient.species) {
    const reason = `species contradiction: the device says ${report.species}, the patient is a ${patient.species}`;
    return { patient: null, reason, candidates };
  }
  return { patient, reason: null, candidates: [] };
}

const NEVER_FETCHED = "the clinic's patients were never fetched: waiting for the first list";

/** A device counts its samples with few digits, and another patient may have that card number. */
const RUNNING_NUMBER = /^(?:\d{1,4}|0+)$/;

/** Returns the numbers of the sample that may name its patient: none beside a typed identifier, and no running number. */
export function patientNumbers({ identifier, sampleIds = [] }: Report): readonly string[] {
  if (identifier !== null) return [];
  return sampleIds.filter((id) => /[\p{L}\p{N}]/u.test(id) && !RUNNING_NUMBER.test(id));
}

/** Names in words what the patient was looked up by; null for nothing. */
function typedText({ identifier }: Report, sampleNumbers: readonly string[]): string | null {
  if (identifier !== null) return `identifier "${identifier}"`;
  return sampleNumbers.length === 0 ? null : `sample number ${sampleNumbers.map((id) => `"${id}"`).join(" or ")}`;
}

/** Describes in a sentence how a patient was found. */
export function describeMatch(
  report: Report,
  patient: Patient,
  orders: readonly TestOrder[],
  sampleNumbers: readonly string[] = [],
): string {
  const [order] = orders;
  if (order !== undefined) return `matched ${patient.fp} by accession ${order.accession}`;
  const { identifier, otherIdentifiers } = report;
  if (sampleNumbers.length > 0) return `matched ${patient.fp} by the ${typedText(report, sampleNumbers)}`;
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
    return unmatched("the device sent no patient identifier, nor a name with a species");
  }
  const [patient] = all.filter((each) => fold(each.name) === fold(name));
  const candidates = all.map(({ fp }) => fp);
  if (patient === undefined) {
    return { patient: null, reason: `the clinic has no ${report.species} with the name "${name}"`, candidates };
  }
  if (all.length > 1) {
    return { patient: null, reason: `${all.length} patients have the name "${name}" or a similar one`, candidates };
  }
  if (!appointed.has(patient.fp)) {
    return { patient: null, reason: `"${name}" has no event on the day of the sample`, candidates };
  }
  const problem = contradictionProblem(report, patient);
  if (problem !== null) {
    return { patient: null, reason: `"${name}" may be another patient: ${problem}`, candidates };
  }
  return { patient, reason: null, candidates: [] };
}

/** Compares sex, date of birth and weight. @returns null without a contradiction */
function contradictionProblem({ patient_hint: hint }: Report, patient: Patient): string | null {
  const [sentSex, knownSex] = [readSex(hint.sex), readSex(patient.sex)];
  if (sentSex !== null && knownSex !== null && sentSex !== knownSex) {
    return `the device says ${hint.sex}, the patient is ${patient.sex}`;
  }
  if (hint.date_of_birth !== null && patient.date_of_birth !== null && hint.date_of_birth !== patient.date_of_birth) {
    return `the device says born on ${hint.date_of_birth}, the patient on ${patient.date_of_birth}`;
  }
  if (hint.weight_kg !== null && patient.weight_kg !== null) {
    const [light, heavy] = [hint.weight_kg, patient.weight_kg].toSorted((a, b) => a - b);
    if (Number(heavy) > Number(light) * WEIGHT_FACTOR_MAX) {
      return `the device says ${hint.weight_kg} kg, the patient has ${patient.weight_kg}`;
    }
  }
  return null;
}

function unmatched(reason: string): Match {
  return { patient: null, reason, candidates: [] };
}
