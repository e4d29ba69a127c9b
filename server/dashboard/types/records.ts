import type { Soap, SoapStatus } from "../../../shared/api/soap.ts";

// SOAP records, as the pages show and write them.

/** A patient as another screen names it. */
export interface NamedPatient {
  fp: string;
  name: string;
  species: string;
}

export interface RecordSummary extends Pick<Soap, "fp" | "soap_type" | "status" | "signed_at" | "created_at"> {
  patient: NamedPatient;
  /** The clinic that performed the examination and owns the record. */
  clinic: { fp: string; name: string };
  is_own: boolean;
  amends_fp: string | null;
}

/** The response to `GET /records`. */
export interface RecordList {
  items: RecordSummary[];
  total: number;
  page: number;
  page_size: number;
  has_more: boolean;
}

/** The fields that a user writes. */
export type RecordContent = Pick<Soap, "soap_type" | "subjective" | "objective" | "assessment" | "plan">;

/** The response to `GET /records/<fp>`, and of each write. */
export interface RecordDetail extends RecordSummary, RecordContent {
  /** Identifies the content. An edit and a move name the version that the user saw. */
  version: string;
  /** The status that this clinic may give the record; null for another clinic's record and after LOCKED. */
  next_status: SoapStatus | null;
  /** The records that correct this one, the oldest first. */
  amended_by: Pick<RecordSummary, "fp" | "status" | "created_at">[];
}

/** The body of `POST /records`. */
export interface NewRecord extends RecordContent {
  patient_fp: string;
}

/** The body of `PATCH /records/<fp>`. */
export interface RecordEdit extends Partial<RecordContent> {
  version: string;
}

/** The body of `POST /records/<fp>/move`. */
export interface RecordMove {
  version: string;
  to: SoapStatus;
}

/** Whether the text of a record may still change. */
export function isOpen(status: SoapStatus): boolean {
  return status === "DRAFT" || status === "IN_PROGRESS";
}
