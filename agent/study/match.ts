import type { Patient } from "../../shared/api/patient.ts";
import { readSex } from "../../shared/clinical/sex.ts";
import { fold } from "../../shared/clinical/species.ts";
import type { Report } from "../report/report.ts";
import type { TestOrder } from "../spool/queries/orders.ts";

/** The one patient, or why there is none and who it may be, the likeliest first. */
export type Match =
  | { readonly patient: Patient; readonly reason: null; readonly candidates: readonly [] }
  | { readonly patient: null; readonly reason: string; readonly candidates: readonly string[] };

/** The clinic's patients of the Report's species with its name or nearly so, and who has an event on the day of the sample. */
export interface Namesakes {
  readonly all: readonly Patient[];
  readonly appointed: ReadonlySet<string>;
}

/**
 * Never the wrong patient: only an exact identifier matches, only if it names one patient,
 * and only if the device does not say that the animal is of another species.
 * `found`: the patients whom the Report's identifiers name exactly; `orders`: those of ours whose accession it carries;
 * `namesakes`: null where the clinic does not let names match; `isFetched`: the clinic's patients were fetched at least once.
 */
export function match(
  report: Report,
  found: readonly Patient[],
  orders: readonly TestOrder[] = [],
  namesakes: Namesakes | null = null,
  isFetched = true,
): Match {
  const [patient, ...others] = found;
  const gone = orders.find(({ patientFp }) => found.every(({ fp }) => fp !== patientFp));
  if (gone !== undefined) {
    const reason = `accession ${gone.accession} was issued for a patient whom the clinic has no more`;
    return { patient: null, reason, candidates: found.map(({ fp }) => fp) };
  }
  if (patient === undefined) {
    if (report.identifier !== null && !isFetched) return unmatched(NEVER_FETCHED);
    if (report.identifier !== null) {
      return { patient: null, reason: `no patient has the identifier "${report.identifier}"`, candidates: [] };
    }
    return namesakes === null ? unmatched("the device sent no patient identifier") : byName(report, namesakes);
  }
  const candidates = found.map(({ fp }) => fp);
  if (others.length > 0) {
    const [order] = orders;
    const reason =
      order === undefined
        ? `the identifiers sent name ${found.length} patients`
        : `accession ${order.accession} was issued for another patient than the one the identifiers sent name`;
    return { patient: null, reason, candidates };
  }
  if (report.species !== null && report.species !== patient.species) {
    const reason = `species contradiction: the device says ${report.species}, the patient is a ${patient.species}`;
    return { patient: null, reason, candidates };
  }
  return { patient, reason: null, candidates: [] };
}

const NEVER_FETCHED = "the clinic's patients were never fetched: waiting for the first list";

/** By what a patient was found, for whoever asks later. */
export function describeMatch(report: Report, patient: Patient, orders: readonly TestOrder[]): string {
  const [order] = orders;
  if (order !== undefined) return `matched ${patient.fp} by accession ${order.accession}`;
  const { identifier, otherIdentifiers } = report;
  if (identifier === null && otherIdentifiers.every((text) => !text.toUpperCase().includes(patient.fp.slice(-26)))) {
    return `matched ${patient.fp} by its name, the only ${patient.species} called so, with an event that day`;
  }
  return `matched ${patient.fp} by ${identifier === null ? "its fp in another field" : `the identifier "${identifier}"`}`;
}

/** A sex or date of birth that differs, or a weight that is another animal's. */
const WEIGHT_FACTOR_MAX = 1.5;

/**
 * The rule that a clinic may switch on: the only patient of the species with the name, who has an event on that day. The name
 * must be nobody else's of the whole clinic, nor nearly so, for that one may have come without an appointment, or be a twin.
 */
function byName(report: Report, { all, appointed }: Namesakes): Match {
  const { name } = report.patient_hint;
  if (name === null || report.species === null) {
    return unmatched("the device sent no patient identifier, nor a name with a species");
  }
  const [patient] = all.filter((each) => fold(each.name) === fold(name));
  const candidates = all.map(({ fp }) => fp);
  if (patient === undefined) {
    return { patient: null, reason: `no ${report.species} of the clinic is called "${name}"`, candidates };
  }
  if (all.length > 1) {
    return { patient: null, reason: `${all.length} patients are called "${name}" or nearly so`, candidates };
  }
  if (!appointed.has(patient.fp)) {
    return { patient: null, reason: `"${name}" has no event on the day of the sample`, candidates };
  }
  const contradiction = whyNotThis(report, patient);
  if (contradiction !== null) {
    return { patient: null, reason: `"${name}" may be another: ${contradiction}`, candidates };
  }
  return { patient, reason: null, candidates: [] };
}

function whyNotThis({ patient_hint: hint }: Report, patient: Patient): string | null {
  const [said, known] = [readSex(hint.sex), readSex(patient.sex)];
  if (said !== null && known !== null && said !== known)
    return `the device says ${hint.sex}, the patient is ${patient.sex}`;
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
