import type { Patient } from "fhir/r4.js";
import { readNeutered, readSex } from "../../../shared/clinical/sex.ts";
import type { PatientFacts, Place } from "./facts.ts";
import { idOf } from "./ids.ts";
import { genderStatusConcept, hasWords, speciesConcept } from "./terms.ts";

const ANIMAL = "http://hl7.org/fhir/StructureDefinition/patient-animal";

/** Encodes an animal. Its owner is left out, as at `/api/v1`. */
export function patientResource({ patient, names }: PatientFacts, place: Place): Patient {
  const { fp, name, species, breed, sex, date_of_birth, updated_at } = patient;
  const neutered = readNeutered(sex);
  const gender = readSex(sex);
  return {
    resourceType: "Patient",
    id: idOf(fp),
    meta: { lastUpdated: updated_at },
    extension: [
      {
        url: ANIMAL,
        extension: [
          { url: "species", valueCodeableConcept: speciesConcept(species) },
          ...(hasWords(breed) ? [{ url: "breed", valueCodeableConcept: { text: breed } }] : []),
          ...(neutered === null ? [] : [{ url: "genderStatus", valueCodeableConcept: genderStatusConcept(neutered) }]),
        ],
      },
    ],
    identifier: [
      { system: place.systemOf("patient"), value: fp },
      ...names.map(({ source, externalId }) => ({ system: place.sourceSystem(source, "animal"), value: externalId })),
    ],
    ...(hasWords(name) ? { name: [{ text: name }] } : {}),
    gender: gender === null ? "unknown" : gender === "M" ? "male" : "female",
    ...(date_of_birth === null ? {} : { birthDate: date_of_birth }),
  };
}
