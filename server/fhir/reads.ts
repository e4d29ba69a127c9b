import type { FhirResource } from "fhir/r4.js";
import type { Session } from "../database/query.ts";
import { ApiError } from "../http/errors.ts";
import { listInstruments } from "../records/walks/walked-instruments.ts";
import { findWalkedOrder } from "../records/walks/walked-orders.ts";
import { findWalkedStudy, hasLeft } from "../records/walks/walked-studies.ts";
import { factsOfOrder, factsOfStudy, findPatientFacts } from "./facts.ts";
import { diagnosticReport } from "./resources/diagnostic-report.ts";
import { deviceResource } from "./resources/device.ts";
import type { Place, StudyFacts } from "./resources/facts.ts";
import { deviceId, fpOf, resultOf } from "./resources/ids.ts";
import { imagingStudy } from "./resources/imaging-study.ts";
import { observation } from "./resources/observation.ts";
import { patientResource } from "./resources/patient.ts";
import { serviceRequest } from "./resources/service-request.ts";
import { specimen } from "./resources/specimen.ts";
import { isImaging } from "./resources/terms.ts";
import type { SearchType } from "./search/searches.ts";

/** Reads for the clinic of a key. */
export interface Reader {
  readonly session: Session;
  readonly clinicId: number;
  /** Responds 404 instead of 403 for a record of a patient without a connection to the clinic. */
  readonly concealUnconnected: boolean;
}

/** Reads one resource. @throws ApiError 403, 404, or 410 for one that left the clinic's lists */
export async function readResource(reader: Reader, type: SearchType, id: string, place: Place): Promise<FhirResource> {
  const { session, clinicId } = reader;
  switch (type) {
    case "Patient": {
      const fp = fpOf("patient", id);
      const found = fp === null ? undefined : await findPatientFacts(session, clinicId, fp);
      if (found === undefined || !found.connected) throw await missing(reader, { type, id, fp }, found);
      return patientResource(found.facts, place);
    }
    case "ServiceRequest": {
      const fp = fpOf("order", id);
      const row = fp === null ? undefined : await findWalkedOrder(session, clinicId, fp);
      if (row === undefined) throw await missing(reader, { type, id, fp });
      return serviceRequest(await factsOfOrder(session, row), place);
    }
    case "Device": {
      const name = (await listInstruments(session, clinicId)).find((each) => deviceId(each) === id);
      if (name === undefined) throw await missing(reader, { type, id, fp: null });
      return deviceResource(name, place);
    }
    default:
      return readOfStudy(reader, type, id, place);
  }
}

/** The types of resources that a study becomes. */
export type StudyType = Exclude<SearchType, "Patient" | "ServiceRequest" | "Device">;

async function readOfStudy(reader: Reader, type: StudyType, id: string, place: Place): Promise<FhirResource> {
  const { session, clinicId } = reader;
  const { fp, index } =
    type === "Observation" ? (resultOf(id) ?? { fp: null, index: 0 }) : { fp: fpOf("cds", id), index: 0 };
  const found = fp === null ? undefined : await findWalkedStudy(session, clinicId, fp);
  if (found === undefined || !found.connected) throw await missing(reader, { type, id, fp }, found);
  const resource = ofStudy(type, await factsOfStudy(session, clinicId, found), index, place);
  if (resource === undefined) throw await missing(reader, { type, id, fp: null });
  return resource;
}

/** Encodes a study as a type of resource. Undefined for one that it does not become: a sample of images, images of a sample. */
export function ofStudy(type: StudyType, facts: StudyFacts, index: number, place: Place): FhirResource | undefined {
  const isOfImages = isImaging(facts.study.modality);
  switch (type) {
    case "DiagnosticReport":
      return diagnosticReport(facts, place);
    case "Observation":
      return observation(facts, index, place);
    case "Specimen":
      return isOfImages ? undefined : specimen(facts, place);
    case "ImagingStudy":
      return isOfImages ? imagingStudy(facts, place) : undefined;
  }
}

interface Asked {
  readonly type: SearchType;
  readonly id: string;
  /** Null for an id that names no record. */
  readonly fp: string | null;
}

/** The error of a resource that the clinic does not read. */
async function missing(
  { session, clinicId, concealUnconnected }: Reader,
  { type, id, fp }: Asked,
  found?: { readonly connected: boolean },
): Promise<ApiError> {
  const name = `${type} ${id.slice(0, 64).replaceAll(/\p{C}/gu, "")}`;
  if (found?.connected === false && !concealUnconnected) {
    return new ApiError("PATIENT.ACCESS_DENIED", type === "Patient" ? name : `the patient of ${name}`);
  }
  const isGone = fp !== null && found === undefined && (await hasLeft(session, clinicId, fp));
  return new ApiError(isGone ? "RECORD.GONE" : "RECORD.NOT_FOUND", name);
}
