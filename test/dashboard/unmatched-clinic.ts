import type { PatientHint, PushedStudy } from "../../shared/api/study.ts";
import { newFp } from "../../shared/api/fp.ts";
import { type Measurement, resultsOf } from "../../shared/clinical/results.ts";
import { clinic, connection, keyPermissions, patient, study, type TestServer } from "../server/harness.ts";

// A clinic with studies that wait for a user, for tests of unmatched studies.

export const ours = newFp("clinic");
export const theirs = newFp("clinic");

export const dog = patient({ name: "Karabaş", species: "dog", external_ids: ["10021"] });
export const cat = patient({ name: "Pamuk", species: "cat", external_ids: ["10022"] });
export const foreign = patient({ name: "Rex" });

export const clinicEntities = [
  [clinic(ours), clinic(theirs), dog, cat, foreign],
  [connection(dog.fp, ours), connection(cat.fp, ours), connection(foreign.fp, theirs)],
];

const nothing = study().patient_hint;

/** Builds the study of an agent that found no patient: one ALT of 100 U/L, which is high for a dog and normal for a cat. */
export function waiting(hint: Partial<PatientHint> = {}, changes: Partial<PushedStudy> = {}): PushedStudy {
  const { device_name, acquired_at } = study();
  const printed = { value: 100, text: "100", unit: "U/L", comparator: null, ordinal: false };
  const alt: Measurement = { code: "ALT", ...printed, device_range: null, device_flag: null };
  const context = { signalment: null, instrument: device_name, acquired_at, ranges: null };
  const results = resultsOf([alt], context, ['unmatched: no patient has the identifier "4711"']);
  return study({ ...results, patient_hint: { ...nothing, identifier: null, ...hint }, ...changes });
}

/** Pushes studies as an agent of a clinic. */
export async function pushTo(server: TestServer, clinicFp: string, ...studies: PushedStudy[]): Promise<void> {
  await server.push(await server.makeKey(clinicFp, [...keyPermissions, "clinic.lab.view"]), ...studies);
}

/** Reads a study as a program of the clinic does. @returns null if the API has none */
export async function readStudy(server: TestServer, fp: string) {
  const key = await server.makeKey(ours, [...keyPermissions, "clinic.lab.view"]);
  const { status, body } = await server.get(key, `/api/v1/lab/diagnostics/${fp}`);
  return status === 200 ? body.data : null;
}

/** Builds a study with one result under a code that the catalogue does not know. */
export function unknownCode({
  code = "413",
  unit = "mg/dL",
  word,
}: {
  code?: string;
  unit?: string | null;
  word?: string;
} = {}): PushedStudy {
  const value = word === undefined ? { value: 118 } : { value: null, value_text: word };
  const result = { analyte: code, ...value, unit, reference_range: null, flag: null, code_source: "device" as const };
  return study({ results: [result] });
}
