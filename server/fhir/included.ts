import type { FhirResource } from "fhir/r4.js";
import { findWalkedOrder } from "../records/walks/walked-orders.ts";
import { factsOfOrder, findPatientFacts } from "./facts.ts";
import type { Match } from "./matches.ts";
import { ofStudy, type Reader } from "./reads.ts";
import { deviceResource } from "./resources/device.ts";
import type { Place, StudyFacts } from "./resources/facts.ts";
import { patientResource } from "./resources/patient.ts";
import { serviceRequest } from "./resources/service-request.ts";

/** Reads what the matches refer to, each resource once. */
export async function includedResources(
  reader: Reader,
  matches: readonly Match[],
  includes: ReadonlySet<string>,
  place: Place,
): Promise<FhirResource[]> {
  const studies = matches.flatMap(({ study }) => study ?? []);
  const found = [
    ...(includes.has("subject") || includes.has("patient") ? await patientsOf(reader, matches, place) : []),
    ...(includes.has("based-on") || includes.has("basedon") ? await ordersOf(reader, studies, place) : []),
    ...(includes.has("device")
      ? unique(studies.map(({ study }) => study.device_name)).map((name) => deviceResource(name, place))
      : []),
    ...(includes.has("specimen") ? studies.flatMap((study) => ofStudy("Specimen", study, 0, place) ?? []) : []),
    ...(includes.has("result") ? studies.flatMap((study) => resultsOf(study, place)) : []),
  ];
  // The address of an entry is unique in its Bundle (bdl-7).
  return [...new Map(found.map((resource) => [`${resource.resourceType}/${resource.id}`, resource])).values()];
}

async function patientsOf({ session, clinicId }: Reader, matches: readonly Match[], place: Place) {
  const resources: FhirResource[] = [];
  for (const fp of unique(matches.flatMap(({ patientFp }) => patientFp ?? []))) {
    const found = await findPatientFacts(session, clinicId, fp);
    if (found?.connected === true) resources.push(patientResource(found.facts, place));
  }
  return resources;
}

async function ordersOf({ session, clinicId }: Reader, studies: readonly StudyFacts[], place: Place) {
  const resources: FhirResource[] = [];
  for (const fp of unique(studies.flatMap(({ order }) => order?.fp ?? []))) {
    const row = await findWalkedOrder(session, clinicId, fp);
    if (row !== undefined) resources.push(serviceRequest(await factsOfOrder(session, row), place));
  }
  return resources;
}

function resultsOf(study: StudyFacts, place: Place): FhirResource[] {
  return study.study.results.flatMap((_, index) => ofStudy("Observation", study, index, place) ?? []);
}

function unique(values: readonly string[]): string[] {
  return [...new Set(values)];
}
