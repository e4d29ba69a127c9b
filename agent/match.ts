import type { Patient } from "../shared/patient.ts";
import type { Report } from "./report.ts";
import type { TestOrder } from "./spool-operations.ts";

/** The one patient, or why there is none and who it may be, the likeliest first. */
export type Match =
  | { readonly patient: Patient; readonly reason: null; readonly candidates: readonly [] }
  | { readonly patient: null; readonly reason: string; readonly candidates: readonly string[] };

/**
 * Never the wrong patient (house, section 6): only an exact identifier matches, only if it names one patient,
 * and only if the device does not say that the animal is of another species.
 * `found`: the patients whom the Report's identifiers name exactly; `orders`: those of ours whose accession it carries.
 */
export function match(report: Report, found: readonly Patient[], orders: readonly TestOrder[] = []): Match {
  const [patient, ...others] = found;
  const gone = orders.find(({ patientFp }) => found.every(({ fp }) => fp !== patientFp));
  if (gone !== undefined) {
    const reason = `accession ${gone.accession} was issued for a patient whom the clinic has no more`;
    return { patient: null, reason, candidates: found.map(({ fp }) => fp) };
  }
  if (patient === undefined) {
    const reason =
      report.identifier === null
        ? "the device sent no patient identifier"
        : `no patient has the identifier "${report.identifier}"`;
    return { patient: null, reason, candidates: [] };
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
