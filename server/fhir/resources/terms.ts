import type { CodeableConcept, Coding, Quantity } from "fhir/r4.js";
import type { Modality, Result, Study } from "../../../shared/api/study.ts";
import { type Analyte, analytes } from "../../../shared/clinical/analytes/analytes.ts";
import { loincOf } from "../../../shared/clinical/analytes/loinc.ts";
import { ucumOf } from "../../../shared/clinical/analytes/unit-spellings.ts";

// The one table of terms: the words of the API in the code systems that FHIR names.

const SNOMED = "http://snomed.info/sct";
const LOINC = "http://loinc.org";
const UCUM = "http://unitsofmeasure.org";
const INTERPRETATION = "http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation";
const DATA_ABSENT = "http://terminology.hl7.org/CodeSystem/data-absent-reason";
const OBSERVATION_CATEGORY = "http://terminology.hl7.org/CodeSystem/observation-category";
const DIAGNOSTIC_SERVICE = "http://terminology.hl7.org/CodeSystem/v2-0074";
const DICOM = "http://dicom.nema.org/resources/ontology/DCM";
const GENDER_STATUS = "http://hl7.org/fhir/animal-genderstatus";

/**
 * Species that are one species. Dog and cat: species list of the EU laboratory guide 2.0.0; rabbit: DICOM PS3.16 CID 7454. `bird`,
 * `reptile` and `exotic` are groups of the API, and stay words.
 */
const SPECIES: Readonly<Record<string, string>> = { dog: "448771007", cat: "448169003", rabbit: "36571002" };

/** FHIR has no empty strings. */
export function hasWords(text: string | null | undefined): text is string {
  return text !== null && text !== undefined && text.trim() !== "";
}

export function speciesConcept(species: string): CodeableConcept {
  const code = SPECIES[species];
  return { ...(code === undefined ? {} : { coding: [{ system: SNOMED, code }] }), text: species };
}

export function genderStatusConcept(isNeutered: boolean): CodeableConcept {
  return { coding: [{ system: GENDER_STATUS, code: isNeutered ? "neutered" : "intact" }] };
}

interface ModalityTerms {
  /** The words of a report without an ordered panel. */
  readonly name: string;
  /** Code of the diagnostic service (HL7 table 0074). */
  readonly service: string;
  readonly observation: "laboratory" | "imaging";
  /** Images of RADIOLOGY may be CR, DX, CT or MR, so it has no code of DICOM. */
  readonly dicom?: string;
}

export const MODALITIES: Readonly<Record<Modality, ModalityTerms>> = {
  HEMATOLOGY: { name: "Hematology", service: "HM", observation: "laboratory" },
  BIOCHEMISTRY: { name: "Biochemistry", service: "CH", observation: "laboratory" },
  URINALYSIS: { name: "Urinalysis", service: "URN", observation: "laboratory" },
  RADIOLOGY: { name: "Radiology", service: "RAD", observation: "imaging" },
  ULTRASOUND: { name: "Ultrasound", service: "RUS", observation: "imaging", dicom: "US" },
  ENDOSCOPY: { name: "Endoscopy", service: "OTH", observation: "imaging", dicom: "ES" },
};

export function isImaging(modality: Modality): boolean {
  return MODALITIES[modality].observation === "imaging";
}

export function reportCategory(modality: Modality): CodeableConcept {
  return { coding: [{ system: DIAGNOSTIC_SERVICE, code: MODALITIES[modality].service }] };
}

export function observationCategory(modality: Modality): CodeableConcept {
  return { coding: [{ system: OBSERVATION_CATEGORY, code: MODALITIES[modality].observation }] };
}

export function imagingModality(modality: Modality): Coding {
  const { dicom, name } = MODALITIES[modality];
  return dicom === undefined ? { display: name } : { system: DICOM, code: dicom, display: name };
}

/** The device's words on the sample or the images. A report has no place for them but its conclusion, which they are not. */
export function notesOf({ comments = [] }: Study): { note?: { text: string }[] } {
  const note = comments.filter(hasWords).map((text) => ({ text }));
  return note.length === 0 ? {} : { note };
}

/** Why an observation has no value. */
export const NO_VALUE: CodeableConcept = { coding: [{ system: DATA_ABSENT, code: "unknown" }] };

const analyteOf = new Map(analytes.map((analyte) => [`${analyte.api_code} ${analyte.modality}`, analyte]));

/** Finds the catalogue's analyte of a result. Undefined for a code of the device, and for measurements in images. */
export function catalogued({ analyte, code_source }: Result, modality: Modality): Analyte | undefined {
  return code_source === "device" ? undefined : analyteOf.get(`${analyte} ${modality}`);
}

export function analyteConcept(result: Result, modality: Modality): CodeableConcept {
  const analyte = catalogued(result, modality);
  const loinc = analyte === undefined ? null : loincOf(analyte, result.unit);
  return { ...(loinc === null ? {} : { coding: [{ system: LOINC, code: loinc }] }), text: result.analyte };
}

/** A value with its unit. A unit outside UCUM has no code. */
export function quantity(value: number, unit: string | null, comparator?: Result["comparator"]): Quantity {
  const code = hasWords(unit) ? ucumOf(unit) : null;
  return {
    value,
    ...(comparator === undefined ? {} : { comparator }),
    ...(hasWords(unit) ? { unit } : {}),
    ...(code === null ? {} : { system: UCUM, code }),
  };
}

const FLAGS = { normal: "N", low: "L", high: "H" } as const;

/** Returns the code of a flag. Null without one, which does not mean normal. */
export function interpretation(result: Result): CodeableConcept | null {
  const code = interpretationCode(result);
  return code === null ? null : { coding: [{ system: INTERPRETATION, code }] };
}

function interpretationCode({ flag, abnormal, value, reference_range }: Result): string | null {
  if (flag === null) return abnormal === true ? "A" : null;
  if (flag !== "critical") return FLAGS[flag];
  const bounds = boundsOf(reference_range);
  if (bounds === null || value === null) return "AA";
  return value > bounds.high ? "HH" : value < bounds.low ? "LL" : "AA";
}

/** A device may print `.5`, and a plus sign. */
const BOUND = String.raw`([-+]?(?:\d+(?:\.\d+)?|\.\d+))`;
const INTERVAL = new RegExp(`^${BOUND}-${BOUND}$`);

/** Reads a printed interval. Null for one that is not two numbers. */
export function boundsOf(range: string | null): { readonly low: number; readonly high: number } | null {
  const [, low, high] = INTERVAL.exec(range ?? "") ?? [];
  return low === undefined || high === undefined ? null : { low: Number(low), high: Number(high) };
}
