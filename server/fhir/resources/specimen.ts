import type { Specimen } from "fhir/r4.js";
import type { Place, StudyFacts } from "./facts.ts";
import { idOf, reference } from "./ids.ts";
import { basedOn } from "./service-request.ts";
import { catalogued, notesOf } from "./terms.ts";

/** Encodes the sample of a lab study. Its type is known if all results of the catalogue are of one. */
export function specimen(facts: StudyFacts, place: Place): Specimen {
  const { study, order, updatedAt } = facts;
  const types = new Set(study.results.map((result) => catalogued(result, study.modality)?.specimen ?? null));
  const [type = null, ...others] = types;
  const answered = basedOn(facts, place);
  return {
    resourceType: "Specimen",
    id: idOf(study.fp),
    meta: { lastUpdated: new Date(updatedAt).toISOString() },
    identifier: [{ system: place.systemOf("study"), value: study.fp }],
    ...(order === null ? {} : { accessionIdentifier: { system: place.systemOf("accession"), value: order.accession } }),
    ...(type === null || others.length > 0 ? {} : { type: { text: type } }),
    subject: reference("Patient", idOf(study.patient_fp)),
    ...(answered === null ? {} : { request: [answered] }),
    ...notesOf(study),
  };
}
