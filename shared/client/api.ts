// Types of the read API, made from its OpenAPI document: npm run contract.

/** A patient, without its records. */
export interface Patient {
  /** Fingerprint of the patient. */
  fp: string;
  /** Name of the patient. */
  name: string;
  /** Species in lower case: `dog`, `cat`, `rabbit`, `bird`, `reptile` or `exotic`. */
  species: string;
  /** Breed, in the clinic's words; null if unknown. */
  breed: string | null;
  /** Sex, in the clinic's words; null if unknown. */
  sex: string | null;
  /** Date of birth, without a time; null if unknown. */
  date_of_birth: string | null;
  /** Weight in kilograms; null if unknown. */
  weight_kg: number | null;
  /** Fingerprint of the owner. */
  owner_customer_fp: string;
  /** Time at which the patient was created. */
  created_at: string;
  /** Time of the last change, or of the last connection to a clinic. `updated_since` compares it. */
  updated_at: string;
}

/** One page of a list. */
export interface PatientPage {
  /** The records of this page. */
  items: Patient[];
  /** Number of all matches, not only of those on this page. */
  total: number;
  /** Number of this page. */
  page: number;
  /** Greatest number of records on a page. */
  page_size: number;
  /** True if more pages follow. */
  has_more: boolean;
  /** An addition to the published specification. Number of records of this page that are damaged in the database, and therefore not in `items`. Absent if there are none. */
  left_out?: number;
}

/** A success. */
export interface PatientPageEnvelope {
  /** True in every success, false in every error. */
  success: true;
  data: PatientPage;
  /** A word for people; programs read `success`. */
  message: string;
}

/** A success. */
export interface PatientEnvelope {
  /** True in every success, false in every error. */
  success: true;
  data: Patient;
  /** A word for people; programs read `success`. */
  message: string;
}

/** A SOAP record in a list. */
export interface ListedSoapRecord {
  /** Fingerprint of the record. */
  fp: string;
  /** Fingerprint of the patient. */
  patient_fp: string;
  /** Type of the record in upper case, such as `EXAMINATION`. */
  soap_type: string;
  /** Stage of the record, in this order. A `SIGNED` or `LOCKED` record is immutable. */
  status: "DRAFT" | "IN_PROGRESS" | "SIGNED" | "LOCKED";
  /** The owner's report, as free text; null if not recorded. */
  subjective: string | null;
  /** Findings of the examination, as free text; null if not recorded. */
  objective: string | null;
  /** Assessment of the findings, as free text; null if not recorded. */
  assessment: string | null;
  /** Summary of the plan, as free text, without the structured plan items; null if not recorded. */
  plan: string | null;
  /** Fingerprint of the clinic that owns the record. */
  performed_by_clinic_fp: string;
  /** Time of the signature; null until `SIGNED`. */
  signed_at: string | null;
  /** Time at which the record was created. */
  created_at: string;
  /** Time of the last change that the clinic sees, which is the connection to its patient if that is later. */
  updated_at: string;
}

/** One page of a list. */
export interface SoapPage {
  /** The records of this page. */
  items: ListedSoapRecord[];
  /** Number of all matches, not only of those on this page. */
  total: number;
  /** Number of this page. */
  page: number;
  /** Greatest number of records on a page. */
  page_size: number;
  /** True if more pages follow. */
  has_more: boolean;
  /** An addition to the published specification. Number of records of this page that are damaged in the database, and therefore not in `items`. Absent if there are none. */
  left_out?: number;
}

/** A success. */
export interface SoapPageEnvelope {
  /** True in every success, false in every error. */
  success: true;
  data: SoapPage;
}

/** A SOAP examination record. */
export interface SoapRecord {
  /** Fingerprint of the record. */
  fp: string;
  /** Fingerprint of the patient. */
  patient_fp: string;
  /** Type of the record in upper case, such as `EXAMINATION`. */
  soap_type: string;
  /** Stage of the record, in this order. A `SIGNED` or `LOCKED` record is immutable. */
  status: "DRAFT" | "IN_PROGRESS" | "SIGNED" | "LOCKED";
  /** The owner's report, as free text; null if not recorded. */
  subjective: string | null;
  /** Findings of the examination, as free text; null if not recorded. */
  objective: string | null;
  /** Assessment of the findings, as free text; null if not recorded. */
  assessment: string | null;
  /** Summary of the plan, as free text, without the structured plan items; null if not recorded. */
  plan: string | null;
  /** Fingerprint of the clinic that owns the record. */
  performed_by_clinic_fp: string;
  /** Time of the signature; null until `SIGNED`. */
  signed_at: string | null;
  /** Time at which the record was created. */
  created_at: string;
}

/** A success. */
export interface SoapEnvelope {
  /** True in every success, false in every error. */
  success: true;
  data: SoapRecord;
}

/** An analyte of the catalogue. */
export interface Analyte {
  /** Code that results have as `analyte`. With `modality` it names one analyte: `GLU` is one of blood and one of urine. */
  code: string;
  /** Kind of the study: the first three are lab studies, the others imaging studies. */
  modality: "HEMATOLOGY" | "BIOCHEMISTRY" | "URINALYSIS" | "RADIOLOGY" | "ULTRASOUND" | "ENDOSCOPY";
  /** What is measured, such as `blood`, `urine` or `feces`. */
  specimen: string;
  /** Name in English. */
  name: string;
  /** Name in Turkish. */
  name_tr: string;
  /** `ordinal`: the rank of a step such as `2+`. `word`: the value is in words, so that `value` is null. */
  value_type: "numeric" | "ordinal" | "word";
  /** Unit of the reference data; null for ranks and words. Results keep the unit of their device. */
  unit: string | null;
  /** That unit in UCUM; null without one. */
  ucum: string | null;
  /** LOINC codes of this finding. Several differ by what the unit measures; empty if none is known. */
  loinc: string[];
  /** The word of a normal result, such as `Negative`; null for a number, and for words without one. */
  expected_word: string | null;
}

/** One page of a list. */
export interface AnalytePage {
  /** The records of this page. */
  items: Analyte[];
  /** Number of all matches, not only of those on this page. */
  total: number;
  /** Number of this page. */
  page: number;
  /** Greatest number of records on a page. */
  page_size: number;
  /** True if more pages follow. */
  has_more: boolean;
  /** An addition to the published specification. Number of records of this page that are damaged in the database, and therefore not in `items`. Absent if there are none. */
  left_out?: number;
}

/** A success. */
export interface AnalytePageEnvelope {
  /** True in every success, false in every error. */
  success: true;
  data: AnalytePage;
}

/** One analyte of a study. */
export interface AnalyteResult {
  /** Short code of the analyte, such as `GLU`; the device's own code if `code_source` is `device`. */
  analyte: string;
  /** The measured value, in `unit`; null for a value in words, which stands in `value_text`. */
  value: number | null;
  /** Unit of `value`; null if it has none. */
  unit: string | null;
  /** Lower and upper bound with an ASCII hyphen, such as `3.3-6.1`; null if no interval applies. */
  reference_range: string | null;
  /** The value against the reference interval of the patient's species at `acquired_at`. A bound is `normal`, a value beyond a critical limit `critical`; null if no interval applies, which does not mean normal. */
  flag: "normal" | "low" | "high" | "critical" | null;
  /** Present if `value` is a bound: a printed `<0.2` is the value 0.2 with the comparator `<`. */
  comparator?: "<" | "<=" | ">" | ">=";
  /** The value as printed: the words if `value` is null, such as `Positive`, or the grade if `value` is the rank of an ordinal result, such as `2+`. */
  value_text?: string;
  /** Origin of `analyte`; absent for a code that the catalogue found. `device`: the device's own code, so that `reference_range` and `flag` are null. `clinic`: the clinic mapped the device's code to this analyte. */
  code_source?: "device" | "clinic";
  /** Present if the words of `value_text` are not the expected ones, such as `Positive` of a test for an infection. `flag` is null, because it compares numbers. */
  abnormal?: true;
  /** Present if the device doubts the value: its reason, in words. `flag` is then null. */
  comment?: string;
  /** Only with `include=codes`: the LOINC code of the analyte in its unit; null if the catalogue has none. */
  loinc?: string | null;
  /** Only with `include=codes`: `unit` in UCUM; null without a known one. */
  ucum?: string | null;
  /** State of the analyzer's quality control when it measured the value. `failed`: the last control before it failed. `warning`: that control was a little off, or the next one failed. `none`: no control is known, or none within the clinic's schedule. Absent for a device whose controls the clinic did not keep here then. It never changes a value or a flag, and may change later, when a control comes late or is corrected. */
  quality?: "ok" | "warning" | "failed" | "none";
}

/** A lab or imaging study in a list. */
export interface ListedStudy {
  /** Fingerprint of the study. */
  fp: string;
  /** Fingerprint of the patient. */
  patient_fp: string;
  /** Kind of the study: the first three are lab studies, the others imaging studies. */
  modality: "HEMATOLOGY" | "BIOCHEMISTRY" | "URINALYSIS" | "RADIOLOGY" | "ULTRASOUND" | "ENDOSCOPY";
  /** Name of the instrument. */
  device_name: string;
  /** Every study is completed. */
  status: "COMPLETED";
  /** Time of the measurement or of the images. */
  acquired_at: string;
  /** Empty for an imaging study without measurements. */
  results: AnalyteResult[];
  /** Present if the patient's species, breed, sex or date of birth was corrected after the results were flagged: the species whose intervals they have. A person flags them again. */
  flagged_species?: string;
  /** The analyzer's words on the sample, such as indices of hemolysis. Absent without any. */
  comments?: string[];
  /** The order that the study answers. Absent without one. */
  order?: {
    /** Fingerprint of the order. */
    fp: string;
    /** Number of the order in the software that sent it; null for an order of the dashboard. */
    placer_number: string | null;
  };
  /** Number of the sample: that of its order, else, for the clinic whose device sent the study, the first one that the device sent, which may be whatever a person typed there. Absent without one. */
  accession?: string;
  /** DICOM Study Instance UID (0020,000D) of the images. Absent without one. */
  study_instance_uid?: string;
  /** Number of this revision. Absent for the first one. */
  revision?: number;
  /** Time at which this revision replaced one that clinics could read. Absent if none could. */
  corrected_at?: string;
  /** The worst `quality` of the results: `failed`, then `warning`, `none`, `ok`. Absent for a device whose controls the clinic did not keep here then. */
  quality?: "ok" | "warning" | "failed" | "none";
  /** Time since which the clinic reads this revision: of the filing, of a correction, or of the connection to the patient. `updated_since` compares it. */
  updated_at: string;
}

/** One page of a list. */
export interface StudyPage {
  /** The records of this page. */
  items: ListedStudy[];
  /** Number of all matches, not only of those on this page. */
  total: number;
  /** Number of this page. */
  page: number;
  /** Greatest number of records on a page. */
  page_size: number;
  /** True if more pages follow. */
  has_more: boolean;
  /** An addition to the published specification. Number of records of this page that are damaged in the database, and therefore not in `items`. Absent if there are none. */
  left_out?: number;
}

/** A success. */
export interface StudyPageEnvelope {
  /** True in every success, false in every error. */
  success: true;
  data: StudyPage;
}

/** A lab or imaging study. */
export interface DiagnosticStudy {
  /** Fingerprint of the study. */
  fp: string;
  /** Fingerprint of the patient. */
  patient_fp: string;
  /** Kind of the study: the first three are lab studies, the others imaging studies. */
  modality: "HEMATOLOGY" | "BIOCHEMISTRY" | "URINALYSIS" | "RADIOLOGY" | "ULTRASOUND" | "ENDOSCOPY";
  /** Name of the instrument. */
  device_name: string;
  /** Every study is completed. */
  status: "COMPLETED";
  /** Time of the measurement or of the images. */
  acquired_at: string;
  /** Empty for an imaging study without measurements. */
  results: AnalyteResult[];
  /** Present if the patient's species, breed, sex or date of birth was corrected after the results were flagged: the species whose intervals they have. A person flags them again. */
  flagged_species?: string;
  /** The analyzer's words on the sample, such as indices of hemolysis. Absent without any. */
  comments?: string[];
  /** The order that the study answers. Absent without one. */
  order?: {
    /** Fingerprint of the order. */
    fp: string;
    /** Number of the order in the software that sent it; null for an order of the dashboard. */
    placer_number: string | null;
  };
  /** Number of the sample: that of its order, else, for the clinic whose device sent the study, the first one that the device sent, which may be whatever a person typed there. Absent without one. */
  accession?: string;
  /** DICOM Study Instance UID (0020,000D) of the images. Absent without one. */
  study_instance_uid?: string;
  /** Number of this revision. Absent for the first one. */
  revision?: number;
  /** Time at which this revision replaced one that clinics could read. Absent if none could. */
  corrected_at?: string;
  /** The worst `quality` of the results: `failed`, then `warning`, `none`, `ok`. Absent for a device whose controls the clinic did not keep here then. */
  quality?: "ok" | "warning" | "failed" | "none";
}

/** A success. */
export interface StudyEnvelope {
  /** True in every success, false in every error. */
  success: true;
  data: DiagnosticStudy;
}

/** One step of the way of a study. */
export interface TrailStep {
  /** `measured` by the device; `received`: the agent had the bytes on its disk and acknowledged them; `stored` here as a revision; `refused`: another body under a known revision; `changed` by a person's command; `offered` to a webhook; `handed` to practice software or a folder; `opened`: the owner's report; `read` by a key or a user. */
  hop: "measured" | "received" | "stored" | "refused" | "changed" | "offered" | "handed" | "opened" | "read";
  /** Time of the step by the clock of `clock`. */
  at: string;
  /** Whose clock the time is from. */
  clock: "device" | "agent" | "server";
  /** Revision of the study. */
  revision?: number;
  /** Who did it: a device's id, a user, the name of a key, the host of a webhook. */
  by?: string;
  /** Why the revision came: `pushed`, `assigned`, `moved`, `merged` and others. */
  cause?: string;
  /** How the agent found the animal: fp, identifier, accession or name. */
  rule?: string;
  /** The animal of the revision; null while it waits for one, and for an animal of other clinics. */
  patient_fp?: string | null;
  /** The agent's id of the message of the device; of a message that was `handed`, its MSH-10. */
  message_id?: string;
  /** Bytes of the message. */
  bytes?: number;
  /** `received`: of the exact bytes of the message. `stored`: of the revision's study as JSON without blanks. */
  sha256?: string;
  /** Number of the attempt, from 1. */
  attempt?: number;
  /** The event of a webhook, or the command of a person. */
  event?: string;
  /** HTTP status of the receiver; null without an answer. */
  status?: number | null;
  /** End of the attempt; null if nothing shows it. */
  ended_at?: string | null;
  /** `acknowledged` by the receiver, or written to the disk of the folder. */
  outcome?: "acknowledged" | "refused" | "failed";
  /** How often it was read or opened. */
  times?: number;
  /** Time of the last of them. */
  last_at?: string;
  /** A code, or the words of the receiver's fault. */
  reason?: string;
}

/** A part of the way that nothing shows. */
export interface TrailGap {
  /** `NO_RECEIPT`: the agent did not tell of the bytes. `REVISION_MISSING`: the revision is not stored. `CLOCKS_DISAGREE`: the agent's clock was ahead. `NO_END`: nothing shows how the attempt ended. */
  code: "NO_RECEIPT" | "REVISION_MISSING" | "CLOCKS_DISAGREE" | "NO_END";
  /** Revision of the study. */
  revision?: number;
  /** Number of the attempt. */
  attempt?: number;
}

/** The way of a study from its device to its readers. */
export interface Trail {
  /** Fingerprint of the study. */
  fp: string;
  /** Revision that the clinic reads now. */
  revision: number;
  /** The earliest first. */
  steps: TrailStep[];
  /** Parts of the way that nothing shows. */
  gaps: TrailGap[];
}

/** A success. */
export interface TrailEnvelope {
  /** True in every success, false in every error. */
  success: true;
  data: Trail;
}

/** An event of the clinic's calendar. Its times are UTC; it has no time zone of its own. */
export interface CalendarEvent {
  /** Fingerprint of the event. */
  fp: string;
  /** Title of the event. */
  title: string;
  /** Type of the event. */
  type: "APPOINTMENT" | "SURGERY" | "VACCINATION" | "CHECKUP" | "EMERGENCY" | "SALE";
  /** Stage of the event, in this order; `CANCELLED` is an end of its own. */
  status: "SCHEDULED" | "CHECKED_IN" | "IN_PROGRESS" | "PENDING_CHECKOUT" | "CLOSED" | "CANCELLED";
  /** Start of the event. `start_date` and `end_date` compare it. */
  start_at: string;
  /** End of the event. */
  end_at: string;
  /** Fingerprint of the patient; null if there is none. */
  patient_fp: string | null;
  /** Fingerprint of the assigned user; null if there is none. */
  assigned_user_fp: string | null;
}

/** All matching events. */
export type CalendarEventList = CalendarEvent[];

/** An item of the clinic's inventory. */
export interface InventoryItem {
  /** Fingerprint of the item. */
  fp: string;
  /** Name of the item. */
  name: string;
  /** Category in upper case: `MEDICATION`, `VACCINE`, `CONSUMABLE`, `SERVICE` and others. */
  category: string;
  /** Stock keeping unit; null if the item has none. */
  sku: string | null;
  /** Unit of stock, such as `vial`. */
  unit: string;
  /** Quantity in stock, in `unit`. */
  quantity_on_hand: number;
  /** A quantity below it is low stock; an equal one is not. */
  low_stock_threshold: number;
  /** Unit price in the smallest unit of the currency: 45000 is 450.00. */
  unit_price_cents: number;
  /** Currency of the price (ISO 4217). */
  currency: "TRY" | "USD" | "EUR" | "GBP";
  /** True if the item has no physical stock: a fee, a procedure. */
  is_virtual: boolean;
}

/** One page of a list. */
export interface InventoryItemPage {
  /** The records of this page. */
  items: InventoryItem[];
  /** Number of all matches, not only of those on this page. */
  total: number;
  /** Number of this page. */
  page: number;
  /** Greatest number of records on a page. */
  page_size: number;
  /** True if more pages follow. */
  has_more: boolean;
  /** An addition to the published specification. Number of records of this page that are damaged in the database, and therefore not in `items`. Absent if there are none. */
  left_out?: number;
}

/** A success. */
export interface InventoryItemPageEnvelope {
  /** True in every success, false in every error. */
  success: true;
  data: InventoryItemPage;
}

/** A record that the clinic no longer reads. */
export interface RemovedRecord {
  /** Fingerprint of the patient, diagnostic study, SOAP record, calendar event or inventory item. */
  fp: string;
  /** Time at which it left. It never falls from one change of the clinic to the next. */
  removed_at: string;
  /** Of a patient that was merged: fingerprint of the patient that has its studies and records. */
  merged_into?: string;
}

/** One page of a list. */
export interface RemovedPage {
  /** The records of this page. */
  items: RemovedRecord[];
  /** Number of all matches, not only of those on this page. */
  total: number;
  /** Number of this page. */
  page: number;
  /** Greatest number of records on a page. */
  page_size: number;
  /** True if more pages follow. */
  has_more: boolean;
  /** An addition to the published specification. Number of records of this page that are damaged in the database, and therefore not in `items`. Absent if there are none. */
  left_out?: number;
}

/** A success. */
export interface RemovedPageEnvelope {
  /** True in every success, false in every error. */
  success: true;
  data: RemovedPage;
}

/** Something that happened to a record of the clinic. The record itself has its own endpoint. */
export interface ClinicEvent {
  /** Kind of the record. */
  kind: "patient" | "study" | "soap" | "calendar_event" | "inventory_item" | "order";
  /** What happened. `created`: the clinic reads the record since then. `changed`. `removed`: the clinic no longer reads it; of an order, that it was cancelled. `merged`: a patient went into the one that `merged_into` names. `signed`: a SOAP record was signed. `amended`: a signed one was amended by the signed record that `amended_by` names. `low`: the stock of an item fell below its threshold. */
  change: "created" | "changed" | "removed" | "merged" | "signed" | "amended" | "low";
  /** Fingerprint of the record. */
  fp: string;
  /** Time of the change. */
  at: string;
  /** Of a study: its revision after the change. Newer ones may exist. */
  revision?: number;
  /** Of a merged patient: fingerprint of the patient that got its records. */
  merged_into?: string;
  /** Of an amended record: fingerprint of its amendment. */
  amended_by?: string;
}

/** One page of the feed. */
export interface EventPage {
  /** The events of this page, the first one first. */
  items: ClinicEvent[];
  /** Greatest number of events on a page. */
  page_size: number;
  /** True if more events follow. */
  has_more: boolean;
}

/** A success. */
export interface EventPageEnvelope {
  /** True in every success, false in every error. */
  success: true;
  data: EventPage;
}

/** Codes of the errors. A later server may have more. */
export type ErrorCode =
  | "REQUEST.MALFORMED"
  | "REQUEST.INVALID_PARAMETER"
  | "AUTH.UNAUTHORIZED"
  | "AUTH.FORBIDDEN"
  | "CLINIC.SUSPENDED"
  | "SERVER.INTERNAL"
  | "RECORD.DAMAGED"
  | "SERVER.UNAVAILABLE"
  | "API_KEY.RATE_LIMIT_EXCEEDED"
  | "PATIENT.ACCESS_DENIED"
  | "PATIENT.NOT_FOUND"
  | "REQUEST.URL_TOO_LONG"
  | "AUTH.RATE_LIMITED"
  | "RECORD.REFUSED"
  | "CALENDAR.INVALID_RANGE"
  | "EVENTS.EXPIRED"
  | "REQUEST.TIMEOUT"
  | "REQUEST.HEADERS_TOO_LARGE"
  | "ROUTE.NOT_FOUND"
  | "ROUTE.METHOD_NOT_ALLOWED";

/** The envelope of every error. */
export interface ErrorEnvelope {
  success: false;
  error: { code: ErrorCode; message: string; severity: "error" | "warning"; details?: Record<string, unknown> };
}

/** A GET with its query or the parameter of its path, in the form that openapi-fetch takes. */
interface Get<Body, Place> {
  parameters: Record<string, never>;
  get: {
    parameters: Place & { header?: { "If-None-Match"?: string } };
    responses: { 200: Answer<Body>; default: Answer<ErrorEnvelope> };
  };
}

interface Answer<Body> {
  headers: Record<string, unknown>;
  content: { "application/json": Body };
}

/** The operations by their paths. */
export interface paths {
  /** List patients. */
  "/api/v1/patients": Get<
    PatientPageEnvelope,
    {
      query?: {
        /** Page number; the first page is 1. */
        page?: number;
        /** Greatest number of records on a page. */
        page_size?: number;
        /** Only this species: `dog`, `cat`, `rabbit`, `bird`, `reptile` or `exotic`. Another value matches nothing. */
        species?: string;
        /** Only patients whose last change became visible at or after this time. A date alone is its first instant, a time without a zone is UTC. */
        updated_since?: string;
        /** Continues a walk: the value that the `Link` header of the page before has. Other parameters stay as they were, and `page` is left out. No record that stays on the list is missing or comes twice, whatever leaves it meanwhile. */
        after?: string;
      };
      path?: never;
    }
  >;
  /** Get a patient. */
  "/api/v1/patients/{fp}": Get<
    PatientEnvelope,
    {
      query?: never;
      path: {
        /** Fingerprint of the record, `patient_` and a ULID. */
        fp: string;
      };
    }
  >;
  /** List SOAP records. */
  "/api/v1/soap": Get<
    SoapPageEnvelope,
    {
      query?: {
        /** Greatest number of records on a page. */
        page_size?: number;
        /** Only records of this patient. One without an active connection to the clinic has none. */
        patient_fp?: string;
        /** Only records whose last change became visible at or after this time. A date alone is its first instant, a time without a zone is UTC. */
        updated_since?: string;
        /** Continues a walk: the value that the `Link` header of the page before has. Other parameters stay as they were, and `page` is left out. No record that stays on the list is missing or comes twice, whatever leaves it meanwhile. */
        after?: string;
      };
      path?: never;
    }
  >;
  /** Get a SOAP record. */
  "/api/v1/soap/{fp}": Get<
    SoapEnvelope,
    {
      query?: never;
      path: {
        /** Fingerprint of the record, `soap_` and a ULID. */
        fp: string;
      };
    }
  >;
  /** List analytes. */
  "/api/v1/lab/analytes": Get<
    AnalytePageEnvelope,
    {
      query?: {
        /** Page number; the first page is 1. */
        page?: number;
        /** Greatest number of analytes on a page. */
        page_size?: number;
      };
      path?: never;
    }
  >;
  /** List diagnostic studies. */
  "/api/v1/lab/diagnostics": Get<
    StudyPageEnvelope,
    {
      query?: {
        /** Page number; the first page is 1. */
        page?: number;
        /** Greatest number of records on a page. */
        page_size?: number;
        /** Only studies of this patient. One without an active connection to the clinic has none. */
        patient_fp?: string;
        /** Only studies whose last change became visible at or after this time. A date alone is its first instant, a time without a zone is UTC. */
        updated_since?: string;
        /** An addition to the published specification. `codes` adds `loinc` and `ucum` to each result. */
        include?: "codes";
        /** Continues a walk: the value that the `Link` header of the page before has. Other parameters stay as they were, and `page` is left out. No record that stays on the list is missing or comes twice, whatever leaves it meanwhile. */
        after?: string;
      };
      path?: never;
    }
  >;
  /** Get a diagnostic study. */
  "/api/v1/lab/diagnostics/{fp}": Get<
    StudyEnvelope,
    {
      query?: never;
      path: {
        /** Fingerprint of the record, `cds_` and a ULID. */
        fp: string;
      };
    }
  >;
  /** Get the way of a study. */
  "/api/v1/lab/diagnostics/{fp}/trail": Get<
    TrailEnvelope,
    {
      query?: never;
      path: {
        /** Fingerprint of the record, `cds_` and a ULID. */
        fp: string;
      };
    }
  >;
  /** List calendar events. */
  "/api/v1/calendar/events": Get<
    CalendarEventList,
    {
      query?: {
        /** First instant of the range; by default the start of today in UTC. A date alone is its first instant, a time without a zone is UTC. */
        start_date?: string;
        /** First instant after the range, at most 90 days after `start_date`; by default 30 days from today, or from a later `start_date`. A date alone is its first instant, a time without a zone is UTC. */
        end_date?: string;
        /** Only events of this type. */
        type?: "APPOINTMENT" | "SURGERY" | "VACCINATION" | "CHECKUP" | "EMERGENCY" | "SALE";
        /** Only events in this status. */
        status?: "SCHEDULED" | "CHECKED_IN" | "IN_PROGRESS" | "PENDING_CHECKOUT" | "CLOSED" | "CANCELLED";
        /** An addition to the published specification. Only events whose last change became visible at or after this time. A date alone is its first instant, a time without a zone is UTC. */
        updated_since?: string;
        /** Greatest number of records on a page. */
        page_size?: number;
        /** Continues a walk: the value that the `Link` header of the page before has. Other parameters stay as they were, and `page` is left out. No record that stays on the list is missing or comes twice, whatever leaves it meanwhile. */
        after?: string;
      };
      path?: never;
    }
  >;
  /** List inventory items. */
  "/api/v1/inventory": Get<
    InventoryItemPageEnvelope,
    {
      query?: {
        /** Page number; the first page is 1. */
        page?: number;
        /** Greatest number of records on a page. */
        page_size?: number;
        /** Only this category: `MEDICATION`, `VACCINE`, `CONSUMABLE`, `SERVICE` or another, in upper case. */
        category?: string;
        /** If true, only items below their `low_stock_threshold`. */
        low_stock_only?: boolean;
        /** An addition to the published specification. Only items whose last change became visible at or after this time. A date alone is its first instant, a time without a zone is UTC. */
        updated_since?: string;
        /** Continues a walk: the value that the `Link` header of the page before has. Other parameters stay as they were, and `page` is left out. No record that stays on the list is missing or comes twice, whatever leaves it meanwhile. */
        after?: string;
      };
      path?: never;
    }
  >;
  /** List what left the lists. */
  "/api/v1/changes": Get<
    RemovedPageEnvelope,
    {
      query?: {
        /** Greatest number of records on a page. */
        page_size?: number;
        /** What left after it: the `Sync-Cursor` of the last request or of another list, a time, or the value in the `Link` header of the page before. By default everything. */
        after?: string;
      };
      path?: never;
    }
  >;
  /** List what happened. */
  "/api/v1/events": Get<
    EventPageEnvelope,
    {
      query?: {
        /** Greatest number of events on a page. */
        page_size?: number;
        /** Only events after this position: the `Sync-Cursor` of an earlier page, or the value in its `Link` header. `latest` is the end of the feed. By default all kept events. */
        after?: string;
      };
      path?: never;
    }
  >;
}
