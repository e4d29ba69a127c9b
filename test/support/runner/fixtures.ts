import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import type { Patient } from "../../../shared/api/patient.ts";

// The captures in fixtures/ of analyzers, and the two patients whose numbers they carry.

export const fixturesFolder = `${path.resolve(import.meta.dirname, "../../../fixtures")}/`;

export const dog: Patient = {
  fp: "patient_01JA2Z3Y4X5W6V7T8S9R0QPNMK",
  name: "Zeytin",
  species: "dog",
  breed: null,
  sex: "FS",
  date_of_birth: "2019-05-04",
  weight_kg: 17.4,
  owner_customer_fp: "customer_01JA2Z3Y4X5W6V7T8S9R0QPNMA",
  created_at: "2026-01-05T08:00:00.000Z",
  updated_at: "2026-01-05T08:00:00.000Z",
};

export const cat: Patient = {
  ...dog,
  fp: "patient_01JA2Z3Y4X5W6V7T8S9R0QPNMC",
  name: "Lokum",
  species: "cat",
  sex: "MN",
  weight_kg: 4.6,
};

/** The recordings of ASTM, HL7 and POCT1-A devices; `name` is the path within fixtures/. */
export const recordings: readonly { readonly name: string; readonly bytes: Buffer }[] = readdirSync(fixturesFolder, {
  recursive: true,
  encoding: "utf8",
})
  .filter((name) => /\.(astm|hl7|poct1)$/.test(name))
  .toSorted()
  .map((name) => ({ name, bytes: readFileSync(path.join(fixturesFolder, name)) }));

/** @returns the bytes of a recording */
export function recording(name: string): Buffer {
  return readFileSync(path.join(fixturesFolder, name));
}
