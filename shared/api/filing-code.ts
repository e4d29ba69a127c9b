/** Why an agent finds no patient for a result. */
export type MatchCode =
  | "MATCH.NO_IDENTIFIER"
  | "MATCH.NO_IDENTIFIER_OR_NAME"
  /** A clinic's own profile found the patient, and no person has placed a study of it yet. */
  | "MATCH.UNCONFIRMED_PROFILE"
  | "MATCH.UNKNOWN_IDENTIFIER"
  | "MATCH.UNKNOWN_SAMPLE"
  | "MATCH.NO_DIRECTORY"
  | "MATCH.SEVERAL_PATIENTS"
  | "MATCH.ACCESSION_OF_REMOVED"
  | "MATCH.ACCESSION_OF_OTHER"
  | "MATCH.SPECIES"
  | "MATCH.NAME_UNKNOWN"
  | "MATCH.NAME_SEVERAL"
  | "MATCH.NAME_NO_EVENT"
  | "MATCH.NAME_OTHER_SEX"
  | "MATCH.NAME_OTHER_BIRTH"
  | "MATCH.NAME_OTHER_WEIGHT";

/** Why a server did not file a pushed study as it came. Servers of other versions may know more. */
export type OutcomeCode =
  /** The push names no patient. */
  | "PATIENT.NONE"
  | "PATIENT.UNKNOWN"
  | "PATIENT.NOT_CONNECTED"
  /** A person took the study from a patient, or left it without one. */
  | "PATIENT.LEFT_OPEN"
  /** The number by which the agent matched names another patient now, or none. */
  | "MATCH.IDENTIFIER_MOVED"
  /** The number by which the agent matched named another patient when the sample was measured. */
  | "MATCH.IDENTIFIER_EARLIER"
  /** The name by which the agent matched names no patient with an appointment now, or several. */
  | "MATCH.NAME_MOVED"
  /** The order by whose accession the agent matched is of another patient, or this clinic has no such order. */
  | "MATCH.ORDER_MOVED"
  /** The patient died days before the sample was measured. */
  | "MATCH.DECEASED"
  /** The device states another species than the patient has now. */
  | "MATCH.OTHER_SPECIES"
  /** The study is filed to another patient, and an agent moves no filed study. */
  | "STUDY.FILED_ELSEWHERE"
  /** The same, where a person placed it. */
  | "STUDY.PLACED_ELSEWHERE"
  /** The fp is of another clinic's study. */
  | "STUDY.FP_TAKEN"
  | "STUDY.OTHER_BODY"
  | "STUDY.OLDER_REVISION"
  /** Its dedupe key is stored under another fp, with the same results or with others. */
  | "STUDY.TWIN"
  | "STUDY.OTHER_TWIN"
  | "STUDY.DAMAGED"
  | "STUDY.DAMAGED_PLACEMENT"
  | "RECORD.DAMAGED"
  | "STUDY.INVALID"
  /** Its time is after the server's clock, which may be wrong. */
  | "STUDY.AFTER_CLOCK"
  | "CLINIC.FULL"
  | "CLINIC.SUSPENDED";

/** Why a study no longer has the patient that it was filed to. */
export type TakenCode = "PERSON.TOOK_BACK" | "PERSON.REOPENED" | "PERSON.UNREJECTED" | "PATIENT.DELETED";

export type FilingCode = MatchCode | OutcomeCode | TakenCode;

/** The codes of a match that no longer holds. */
export const MOVED_CODES: ReadonlySet<string> = new Set<OutcomeCode>([
  "MATCH.IDENTIFIER_MOVED",
  "MATCH.IDENTIFIER_EARLIER",
  "MATCH.NAME_MOVED",
  "MATCH.ORDER_MOVED",
  "MATCH.DECEASED",
  "MATCH.OTHER_SPECIES",
]);
