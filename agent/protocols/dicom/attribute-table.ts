// The attributes of worklist, MPPS and storage commitment by the keywords of PS3.6.

const ATTRIBUTE = {
  SpecificCharacterSet: [0x0008_0005, "CS"],
  AccessionNumber: [0x0008_0050, "SH"],
  Modality: [0x0008_0060, "CS"],
  InstitutionName: [0x0008_0080, "LO"],
  ReferringPhysicianName: [0x0008_0090, "PN"],
  CodeValue: [0x0008_0100, "SH"],
  CodingSchemeDesignator: [0x0008_0102, "SH"],
  CodingSchemeVersion: [0x0008_0103, "SH"],
  CodeMeaning: [0x0008_0104, "LO"],
  ReferencedStudySequence: [0x0008_1110, "SQ"],
  ReferencedPerformedProcedureStepSequence: [0x0008_1111, "SQ"],
  ReferencedPatientSequence: [0x0008_1120, "SQ"],
  ReferencedImageSequence: [0x0008_1140, "SQ"],
  ReferencedSOPClassUID: [0x0008_1150, "UI"],
  ReferencedSOPInstanceUID: [0x0008_1155, "UI"],
  TransactionUID: [0x0008_1195, "UI"],
  FailureReason: [0x0008_1197, "US"],
  FailedSOPSequence: [0x0008_1198, "SQ"],
  ReferencedSOPSequence: [0x0008_1199, "SQ"],
  PatientName: [0x0010_0010, "PN"],
  PatientID: [0x0010_0020, "LO"],
  IssuerOfPatientID: [0x0010_0021, "LO"],
  PatientBirthDate: [0x0010_0030, "DA"],
  PatientSex: [0x0010_0040, "CS"],
  PatientWeight: [0x0010_1030, "DS"],
  MedicalAlerts: [0x0010_2000, "LO"],
  Allergies: [0x0010_2110, "LO"],
  PregnancyStatus: [0x0010_21c0, "US"],
  PatientSpeciesDescription: [0x0010_2201, "LO"],
  PatientSpeciesCodeSequence: [0x0010_2202, "SQ"],
  PatientSexNeutered: [0x0010_2203, "CS"],
  PatientBreedDescription: [0x0010_2292, "LO"],
  PatientBreedCodeSequence: [0x0010_2293, "SQ"],
  BreedRegistrationSequence: [0x0010_2294, "SQ"],
  ResponsiblePerson: [0x0010_2297, "PN"],
  ResponsiblePersonRole: [0x0010_2298, "CS"],
  ResponsibleOrganization: [0x0010_2299, "LO"],
  StudyInstanceUID: [0x0020_000d, "UI"],
  SeriesInstanceUID: [0x0020_000e, "UI"],
  RequestingPhysician: [0x0032_1032, "PN"],
  RequestedProcedureDescription: [0x0032_1060, "LO"],
  RequestedProcedureCodeSequence: [0x0032_1064, "SQ"],
  RequestedContrastAgent: [0x0032_1070, "LO"],
  AdmissionID: [0x0038_0010, "LO"],
  SpecialNeeds: [0x0038_0050, "LO"],
  CurrentPatientLocation: [0x0038_0300, "LO"],
  PatientState: [0x0038_0500, "LO"],
  ScheduledStationAETitle: [0x0040_0001, "AE"],
  ScheduledProcedureStepStartDate: [0x0040_0002, "DA"],
  ScheduledProcedureStepStartTime: [0x0040_0003, "TM"],
  ScheduledPerformingPhysicianName: [0x0040_0006, "PN"],
  ScheduledProcedureStepDescription: [0x0040_0007, "LO"],
  ScheduledProtocolCodeSequence: [0x0040_0008, "SQ"],
  ScheduledProcedureStepID: [0x0040_0009, "SH"],
  ScheduledStationName: [0x0040_0010, "SH"],
  ScheduledProcedureStepLocation: [0x0040_0011, "SH"],
  PreMedication: [0x0040_0012, "LO"],
  ScheduledProcedureStepStatus: [0x0040_0020, "CS"],
  ScheduledProcedureStepSequence: [0x0040_0100, "SQ"],
  ReferencedNonImageCompositeSOPInstanceSequence: [0x0040_0220, "SQ"],
  PerformedProcedureStepStatus: [0x0040_0252, "CS"],
  PerformedProcedureStepID: [0x0040_0253, "SH"],
  ScheduledStepAttributesSequence: [0x0040_0270, "SQ"],
  PerformedSeriesSequence: [0x0040_0340, "SQ"],
  RequestedProcedureID: [0x0040_1001, "SH"],
  RequestedProcedurePriority: [0x0040_1003, "SH"],
  PatientTransportArrangements: [0x0040_1004, "LO"],
  ConfidentialityConstraintOnPatientDataDescription: [0x0040_3001, "LO"],
} as const satisfies Record<string, readonly [tag: number, vr: string]>;

export type Keyword = keyof typeof ATTRIBUTE;
export type SequenceKeyword = { [Name in Keyword]: (typeof ATTRIBUTE)[Name][1] extends "SQ" ? Name : never }[Keyword];
export type TextKeyword = Exclude<Keyword, SequenceKeyword>;

type Texts = { readonly [Name in TextKeyword]?: readonly string[] };
type Sequences = { readonly [Name in SequenceKeyword]?: readonly Attributes[] };

/** Attributes of a dataset with their values; an attribute without a value has an empty list. */
export interface Attributes extends Texts, Sequences {}

export const KEYWORDS = Object.keys(ATTRIBUTE) as Keyword[];
export const KEYWORD_BY_TAG = new Map(KEYWORDS.map((keyword) => [ATTRIBUTE[keyword][0] as number, keyword]));
/** Keywords in the order of their tags. */
export const KEYWORDS_BY_TAG = KEYWORDS.toSorted((one, other) => ATTRIBUTE[one][0] - ATTRIBUTE[other][0]);

export function tagOf(keyword: Keyword): number {
  return ATTRIBUTE[keyword][0];
}

export function vrOf(keyword: Keyword): string {
  return ATTRIBUTE[keyword][1];
}

export function isSequence(keyword: Keyword): keyword is SequenceKeyword {
  return vrOf(keyword) === "SQ";
}
