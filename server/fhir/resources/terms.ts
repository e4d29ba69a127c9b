import type { CodeableConcept, Coding, Quantity } from "fhir/r4.js";
import type { Modality, Result, Study } from "../../../shared/api/study.ts";
import { type Analyte, analytes } from "../../../shared/clinical/analytes/analytes.ts";
import { ucumOf } from "../../../shared/clinical/analytes/unit-spellings.ts";
import { factorOf } from "../../../shared/clinical/analytes/units.ts";

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

/** LOINC codes by the kind of the unit sent, where the catalogue has codes of both kinds (LOINC names: `[Mass/volume]`, `[Moles/volume]`). */
const BY_QUANTITY: Readonly<Record<string, { readonly mass: string; readonly moles: string }>> = {
  GLU: { mass: "2345-7", moles: "14749-6" },
  CREA: { mass: "2160-0", moles: "14682-9" },
  BUN: { mass: "3094-0", moles: "14937-7" },
  UREA: { mass: "3091-6", moles: "22664-7" },
  TBIL: { mass: "1975-2", moles: "14631-6" },
  DBIL: { mass: "1968-7", moles: "14629-0" },
  CHOL: { mass: "2093-3", moles: "14647-2" },
  HDL: { mass: "2085-9", moles: "14646-4" },
  LDL: { mass: "13457-7", moles: "39469-2" },
  NONHDL: { mass: "43396-1", moles: "70204-3" },
  TRIG: { mass: "2571-8", moles: "14927-8" },
  CA: { mass: "17861-6", moles: "2000-8" },
  PHOS: { mass: "2777-1", moles: "14879-1" },
  MG: { mass: "19123-9", moles: "2601-3" },
  URIC: { mass: "3084-1", moles: "14933-6" },
  UCREA: { mass: "2161-8", moles: "14683-7" },
  FT4: { mass: "3024-7", moles: "14920-3" },
};

/** Chooses the LOINC code by the unit sent, since a code names a mass or an amount. Null if the catalogue has none for it. */
function loincOf(analyte: Analyte, unit: string | null): string | null {
  const [first = null] = analyte.loinc;
  if (analyte.canonical_unit === null) return first;
  // The unit is unknown, and so is the quantity, unless all units of the analyte measure one.
  const quantities = new Set(analyte.units.map((each) => quantityOf(analyte, each.unit)));
  const kind = unit === null ? (quantities.size === 1 ? [...quantities][0] : null) : quantityOf(analyte, unit);
  const pair = BY_QUANTITY[analyte.code];
  if (pair !== undefined) return kind === "mass" || kind === "moles" ? pair[kind] : null;
  return kind === quantityOf(analyte, analyte.canonical_unit) ? first : null;
}

/** The kind of quantity that a unit measures. A milliequivalent of an ion with one charge is a millimole. */
function quantityOf(analyte: Analyte, unit: string): "mass" | "moles" | "equivalents" | "other" {
  if (/^[munpf]?mol\//.test(unit)) return "moles";
  if (unit.startsWith("mEq/")) {
    const isMoles = analyte.canonical_unit?.startsWith("mmol/") === true && factorOf(analyte, unit) === 1;
    return isMoles ? "moles" : "equivalents";
  }
  return /^[kmunp]?g(\/|$)/.test(unit) ? "mass" : "other";
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
