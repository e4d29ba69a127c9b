import type { ImagingStudy } from "fhir/r4.js";
import type { Place, StudyFacts } from "./facts.ts";
import { idOf, reference } from "./ids.ts";
import { basedOn } from "./service-request.ts";
import { imagingModality, notesOf } from "./terms.ts";

/** Encodes a study of images. The archive has its series, and this server does not know them. */
export function imagingStudy(facts: StudyFacts, place: Place): ImagingStudy {
  const { study, studyInstanceUid, updatedAt } = facts;
  const answered = basedOn(facts, place);
  return {
    resourceType: "ImagingStudy",
    id: idOf(study.fp),
    meta: { lastUpdated: new Date(updatedAt).toISOString() },
    identifier: [
      ...(studyInstanceUid === null ? [] : [{ system: "urn:dicom:uid", value: `urn:oid:${studyInstanceUid}` }]),
      { system: place.systemOf("study"), value: study.fp },
    ],
    status: "available",
    modality: [imagingModality(study.modality)],
    subject: reference("Patient", idOf(study.patient_fp)),
    started: study.acquired_at,
    ...(answered === null ? {} : { basedOn: [answered] }),
    ...notesOf(study),
  };
}
