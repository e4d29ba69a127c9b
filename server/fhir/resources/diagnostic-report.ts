import type { DiagnosticReport } from "fhir/r4.js";
import type { Place, StudyFacts } from "./facts.ts";
import { idOf, observationId, reference } from "./ids.ts";
import { basedOn } from "./service-request.ts";
import { isImaging, MODALITIES, reportCategory } from "./terms.ts";

/** Encodes a study. Its results are Observations of their own, and its report as PDF is a link. */
export function diagnosticReport(facts: StudyFacts, place: Place): DiagnosticReport {
  const { study, history, order, issuedAt, updatedAt } = facts;
  const { fp, modality, results } = study;
  const answered = basedOn(facts, place);
  return {
    resourceType: "DiagnosticReport",
    id: idOf(fp),
    meta: { lastUpdated: new Date(updatedAt).toISOString() },
    identifier: [{ system: place.systemOf("study"), value: fp }],
    ...(answered === null ? {} : { basedOn: [answered] }),
    status: history.report,
    category: [reportCategory(modality)],
    code: { text: order?.panel ?? MODALITIES[modality].name },
    subject: reference("Patient", idOf(study.patient_fp)),
    effectiveDateTime: study.acquired_at,
    issued: new Date(issuedAt).toISOString(),
    ...(isImaging(modality)
      ? { imagingStudy: [reference("ImagingStudy", idOf(fp))] }
      : { specimen: [reference("Specimen", idOf(fp))] }),
    ...(results.length === 0
      ? {}
      : { result: results.map((_, index) => reference("Observation", observationId(fp, index))) }),
    presentedForm: [{ contentType: "application/pdf", url: place.reportUrl(fp) }],
  };
}
