import type { Patient } from "../shared/patient.ts";
import type { Report } from "./report.ts";

/** The one patient, or why there is none and who it may be, the likeliest first. */
export type Match =
  | { readonly patient: Patient; readonly reason: null; readonly candidates: readonly [] }
  | { readonly patient: null; readonly reason: string; readonly candidates: readonly string[] };

/**
 * Never the wrong patient (house, section 6): only an exact identifier matches, only if it names one patient,
 * and only if the device does not say that the animal is of another species.
 * `found`: the patients whom the Report's identifiers name exactly.
 */
export function match(report: Report, found: readonly Patient[]): Match {
  const [patient, ...others] = found;
  if (patient === undefined) {
    const reason =
      report.identifier === null
        ? "the device sent no patient identifier"
        : `no patient has the identifier "${report.identifier}"`;
    return { patient: null, reason, candidates: [] };
  }
  const candidates = found.map(({ fp }) => fp);
  if (others.length > 0) {
    return { patient: null, reason: `the identifiers sent name ${found.length} patients`, candidates };
  }
  if (report.species !== null && report.species !== patient.species) {
    const reason = `species contradiction: the device says ${report.species}, the patient is a ${patient.species}`;
    return { patient: null, reason, candidates };
  }
  return { patient, reason: null, candidates: [] };
}
