import type { Patient } from "../../../shared/api/patient.ts";
import type { Study } from "../../../shared/api/study.ts";
import type { StudyQuality } from "../../../shared/clinical/control/study-quality.ts";

// The facts that the encoders read. They know neither a database nor a request.

/** Where the server is reached, and the systems of its identifiers. */
export interface Place {
  /** The base of the FHIR interface, without a slash at its end. */
  readonly base: string;
  /** The system of the fps of patients, studies, orders and devices. */
  readonly systemOf: (kind: "patient" | "study" | "order" | "device" | "accession") => string;
  /** The system of the numbers that a practice software gave. */
  readonly sourceSystem: (source: string, kind: "animal" | "order") => string;
  /** The address of the report of a study as PDF. */
  readonly reportUrl: (studyFp: string) => string;
}

export interface PatientFacts {
  readonly patient: Patient;
  /** Its numbers in the practice software of the clinic. */
  readonly names: readonly { readonly source: string; readonly externalId: string }[];
}

export interface StudyFacts {
  readonly study: Study;
  /** Species of the patient, as the API serves it. */
  readonly species: string;
  /** When this revision came to the server, ms since 1970. */
  readonly issuedAt: number;
  /** When the clinic's view of it changed last, ms since 1970. */
  readonly updatedAt: number;
  readonly studyInstanceUid: string | null;
  readonly history: StudyHistory;
  /** The state of its device's controls; null where its clinic kept none. */
  readonly quality: StudyQuality | null;
  /** The order of the study if it is one of the clinic; an order of another clinic is not readable. */
  readonly order: OrderName | null;
}

/** The facts that a receiver of an earlier revision has to know. */
export interface StudyHistory {
  readonly report: "final" | "corrected" | "appended" | "amended";
  /** The state of each result, by its index. */
  readonly results: readonly ("final" | "corrected" | "amended")[];
}

export interface OrderName {
  readonly fp: string;
  readonly accession: string;
  readonly panel: string | null;
  /** The software that sent it, and its number there. */
  readonly placer: { readonly source: string; readonly number: string } | null;
}

export interface OrderFacts extends OrderName {
  readonly patientFp: string;
  readonly tests: readonly string[];
  readonly orderedAt: number;
  readonly updatedAt: number;
  readonly status: "active" | "completed" | "revoked";
}
