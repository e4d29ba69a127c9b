import type { Bundle, FhirResource, OperationOutcome } from "fhir/r4.js";
import { expect } from "vitest";
import type { Permission } from "../../../server/http/auth/api-keys.ts";
import { newFp } from "../../../shared/api/fp.ts";
import { faultsOf } from "../../support/clinic/fhir.ts";
import { clinic, connection, patient, startServer, study, type TestServer } from "../harness.ts";

// A clinic with two animals, read over FHIR. Every response is checked.

export const ours = newFp("clinic");
export const dog = patient({ sex: "male_neutered", breed: "Kangal" });
export const bird = patient({ name: "Boncuk", species: "bird", sex: null, date_of_birth: null });
export const [first, second] = [newFp("cds"), newFp("cds")];

export const lab = study({
  fp: first,
  patient_fp: dog.fp,
  comments: ["HEM: 0"],
  results: [
    { analyte: "GLU", value: 5.2, unit: "mmol/L", reference_range: "3.30-6.10", flag: "normal" },
    { analyte: "TBIL", value: 0.2, unit: "mg/dL", reference_range: null, flag: null, comparator: "<" },
    { analyte: "ALT", value: 900, unit: "U/L", reference_range: "10-118", flag: "critical" },
    { analyte: "CPV", value: null, unit: null, reference_range: null, flag: null, value_text: "Positive" },
    { analyte: "XYZ", value: 7, unit: "odd", reference_range: null, flag: null, code_source: "device" },
    { analyte: "CREA", value: null, unit: null, reference_range: null, flag: null, value_text: "5-10" },
  ],
});
export const scan = study({
  fp: second,
  patient_fp: bird.fp,
  modality: "ULTRASOUND",
  device_name: "US 7",
  acquired_at: "2026-11-21T09:00:00.000Z",
  results: [],
  source: { device_id: "us", message_id: "2", study_instance_uid: "1.2.3.4" },
});

export interface Answer<R> {
  readonly status: number;
  readonly headers: Record<string, unknown>;
  readonly body: R;
}

/** Asks for a path below /fhir/R4, or for the address of a link. */
export async function ask<R extends FhirResource = Bundle>(
  server: TestServer,
  key: string | null,
  path: string,
  headers: Record<string, string> = {},
): Promise<Answer<R>> {
  const url = path.startsWith("http")
    ? path.replace("http://localhost:80", "").replace("http://localhost", "")
    : `/fhir/R4/${path}`;
  const response = await server.app.inject({
    url,
    headers: { ...(key === null ? {} : { authorization: `Bearer ${key}` }), ...headers },
  });
  const body = response.json<R>();
  expect([url, response.headers["content-type"]]).toEqual([url, "application/fhir+json; charset=utf-8"]);
  expect([url, faultsOf(body)]).toEqual([url, []]);
  return { status: response.statusCode, headers: response.headers, body };
}

/** Starts a server with the clinic, its two studies, and a key. */
export async function startPractice(permissions: Permission[] = ["clinic.patient.view"]) {
  const server = await startServer(clinic(ours), dog, bird, connection(dog.fp, ours), connection(bird.fp, ours));
  const agent = await server.makeKey(ours, ["clinic.lab.ingest"]);
  expect(await server.push(agent, lab, scan)).toMatchObject([{ outcome: "filed" }, { outcome: "filed" }]);
  const key = await server.makeKey(ours, permissions);
  return {
    ...{ server, agent, key },
    read: <R extends FhirResource>(path: string) => ask<R>(server, key, path),
    search: (path: string) => ask(server, key, path),
    refusal: (path: string, withKey: string | null = key, headers = {}) =>
      ask<OperationOutcome>(server, withKey, path, headers),
  };
}

/** The types and ids of the matches, or of what is included. */
export function named({ entry = [] }: Bundle, mode: "match" | "include" = "match"): string[] {
  return entry
    .filter(({ search }) => search?.mode === mode)
    .map(({ resource }) => `${resource?.resourceType}/${resource?.id}`);
}

export function next({ link = [] }: Bundle): string | null {
  return link.find(({ relation }) => relation === "next")?.url ?? null;
}
