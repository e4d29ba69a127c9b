import type { Patient } from "../../../shared/api/patient.ts";
import { readSex } from "../../../shared/clinical/sex.ts";
import { fold } from "../../../shared/clinical/species.ts";
import type { Attributes } from "./attribute-table.ts";

// Entry of the Modality Worklist (PS3.4 table K.6-1) with the data of a veterinary clinic.

/** Imaging appointment or order of a patient. */
export interface ScheduledStep {
  readonly patient: Patient;
  readonly accession: string;
  readonly studyUid: string;
  /** `YYYYMMDDHHMMSS` in the device's zone. */
  readonly start: string;
  /** Ordered procedures as the clinic names them; empty for an appointment. */
  readonly procedures: readonly string[];
  readonly stationAe: string;
  readonly modality: string;
}

export function worklistEntry(step: ScheduledStep): Attributes {
  const { patient, accession, start, procedures, stationAe, modality } = step;
  const procedure = (procedures.join(", ") || "Imaging").slice(0, 64);
  const species = SPECIES_CODES[patient.species];
  return {
    AccessionNumber: [accession],
    ReferringPhysicianName: [],
    ReferencedStudySequence: [],
    ReferencedPatientSequence: [],
    // The first component is the responsible party's name, the second the patient's (PS3.5 §6.2.1.1).
    PatientName: [`^${component(patient.name)}`],
    PatientID: [patient.fp.slice("patient_".length)],
    PatientBirthDate: optional(patient.date_of_birth?.replaceAll("-", "")),
    PatientSex: optional(readSex(patient.sex)),
    PatientWeight: optional(patient.weight_kg?.toString().slice(0, 16)),
    MedicalAlerts: [],
    Allergies: [],
    PregnancyStatus: ["4"], // unknown
    PatientSpeciesDescription: [word(patient.species)],
    PatientSpeciesCodeSequence: species === undefined ? [] : [species],
    PatientSexNeutered: optional(neutered(patient.sex)),
    PatientBreedDescription: optional(patient.breed === null ? null : word(patient.breed)),
    PatientBreedCodeSequence: [],
    BreedRegistrationSequence: [],
    // The API has only the owner's number.
    ResponsiblePerson: [patient.owner_customer_fp],
    ResponsiblePersonRole: ["OWNER"],
    ResponsibleOrganization: [],
    StudyInstanceUID: [step.studyUid],
    RequestingPhysician: [],
    RequestedProcedureDescription: [word(procedure)],
    RequestedProcedureCodeSequence: [],
    AdmissionID: [],
    SpecialNeeds: [],
    CurrentPatientLocation: [],
    PatientState: [],
    ScheduledProcedureStepSequence: [
      {
        Modality: optional(modality),
        RequestedContrastAgent: [],
        ScheduledStationAETitle: [stationAe],
        ScheduledProcedureStepStartDate: [start.slice(0, 8)],
        ScheduledProcedureStepStartTime: [start.slice(8)],
        ScheduledPerformingPhysicianName: [],
        ScheduledProcedureStepDescription: [word(procedure)],
        ScheduledProtocolCodeSequence: [],
        ScheduledProcedureStepID: [accession],
        ScheduledStationName: [],
        ScheduledProcedureStepLocation: [],
        PreMedication: [],
        ScheduledProcedureStepStatus: ["SCHEDULED"],
      },
    ],
    RequestedProcedureID: [accession],
    RequestedProcedurePriority: ["ROUTINE"],
    PatientTransportArrangements: [],
    ConfidentialityConstraintOnPatientDataDescription: [],
  };
}

/** Species codes of CID 7454. */
const SPECIES_CODES: Readonly<Record<string, Attributes>> = {
  dog: sct("448771007", "Canis lupus familiaris"),
  cat: sct("448169003", "Felis catus"),
  rabbit: sct("36571002", "Oryctolagus cuniculus"),
  horse: sct("35354009", "Equus caballus"),
  cow: sct("34618005", "Bos taurus"),
};

function sct(code: string, meaning: string): Attributes {
  return { CodeValue: [code], CodingSchemeDesignator: ["SCT"], CodeMeaning: [meaning] };
}

function neutered(sex: string | null): string | null {
  const words = fold(sex ?? "");
  if (/ (neutered|spayed|castrated|sterili[sz]ed|mn|nm|mc|cm|fs|sf|fn|nf|kisir|kastre) /.test(words)) return "ALTERED";
  return / (intact|entire) /.test(words) ? "UNALTERED" : null;
}

/** Replaces delimiters: a backslash separates values, an equals sign representations, a caret components. */
function component(text: string): string {
  return word(text).replace(/[\^=]/g, " ").slice(0, 62);
}

function word(text: string): string {
  return text
    .replace(/[\\\p{Cc}]/gu, " ")
    .trim()
    .slice(0, 64);
}

function optional(value: string | null | undefined): readonly string[] {
  return value ? [value] : [];
}
