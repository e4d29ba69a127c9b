import type { CalendarEvent } from "../../../shared/api/calendar.ts";
import type { ClinicEvent } from "../../../shared/api/clinic-event.ts";
import type { FpKind } from "../../../shared/api/fp.ts";
import type { InventoryItem } from "../../../shared/api/inventory.ts";
import type { RemovedRecord } from "../../../shared/api/removed-record.ts";
import type { Patient } from "../../../shared/api/patient.ts";
import type { ListedSoap, Soap } from "../../../shared/api/soap.ts";
import type { ListedStudy, ReadStudy, Study } from "../../../shared/api/study.ts";
import type { Trail } from "../../../shared/api/trail.ts";
import { refusal, refusalText } from "../../dashboard/types/refusals.ts";
import { ApiError, type ErrorCode, type ErrorEnvelope } from "../errors.ts";

// Made-up records and errors for the API document.

/** A made-up ULID, recognisable by the word EXAMP1E. */
export const exampleUlid = `01EXAMP1E${"0".repeat(17)}`;

/** A made-up fingerprint of a kind. */
export function exampleFp(kind: FpKind): string {
  return `${kind}_${exampleUlid}`;
}

const patient: Patient = {
  fp: exampleFp("patient"),
  name: "Karabaş",
  species: "dog",
  breed: null,
  sex: "male",
  date_of_birth: "2019-04-12",
  weight_kg: 12.5,
  owner_customer_fp: exampleFp("customer"),
  created_at: "2026-10-01T08:00:00.000Z",
  updated_at: "2026-11-20T10:05:00.000Z",
};

const soap: Soap = {
  fp: exampleFp("soap"),
  patient_fp: patient.fp,
  soap_type: "EXAMINATION",
  status: "SIGNED",
  subjective: "Limping since yesterday.",
  objective: "Left hind leg painful on palpation.",
  assessment: "Sprain suspected.",
  plan: "Rest, control in a week.",
  performed_by_clinic_fp: exampleFp("clinic"),
  signed_at: "2026-11-20T09:40:00.000Z",
  created_at: "2026-11-20T09:00:00.000Z",
};

const study: Study = {
  fp: exampleFp("cds"),
  patient_fp: patient.fp,
  modality: "BIOCHEMISTRY",
  device_name: "Example analyzer",
  status: "COMPLETED",
  acquired_at: "2026-11-20T10:00:00.000Z",
  results: [
    { analyte: "GLU", value: 5.2, unit: "mmol/L", reference_range: "3.3-6.1", flag: "normal" },
    { analyte: "TBIL", value: 0.2, unit: "mg/dL", reference_range: null, flag: null, comparator: "<" },
    {
      analyte: "CPV Ag",
      value: null,
      unit: null,
      reference_range: null,
      flag: null,
      value_text: "Positive",
      code_source: "device",
    },
  ],
};

const event: CalendarEvent = {
  fp: exampleFp("calevt"),
  title: "Check-up",
  type: "CHECKUP",
  status: "SCHEDULED",
  start_at: "2026-11-25T09:00:00.000Z",
  end_at: "2026-11-25T09:30:00.000Z",
  patient_fp: patient.fp,
  assigned_user_fp: null,
};

const item: InventoryItem = {
  fp: exampleFp("invitem"),
  name: "Rabies vaccine",
  category: "VACCINE",
  sku: "EXAMPLE-1",
  unit: "vial",
  quantity_on_hand: 12,
  low_stock_threshold: 10,
  unit_price_cents: 45_000,
  currency: "TRY",
  is_virtual: false,
};

const readStudy: ReadStudy = {
  ...study,
  results: study.results.map((result) => ({ ...result, quality: "ok" })),
  quality: "ok",
  accession: "T000123",
  revision: 2,
  corrected_at: "2026-11-20T10:05:00.000Z",
};

const listedStudy: ListedStudy = { ...readStudy, updated_at: "2026-11-20T10:05:00.000Z" };

const listedSoap: ListedSoap = { ...soap, updated_at: "2026-11-20T09:40:00.000Z" };

const removed: RemovedRecord = { fp: exampleFp("cds"), removed_at: "2026-11-20T10:15:00.000Z" };

const trail: Trail = {
  fp: study.fp,
  revision: 1,
  steps: [
    { hop: "measured", at: study.acquired_at, clock: "device", by: study.device_name },
    {
      ...{ hop: "received", at: "2026-11-20T10:00:02.000Z", clock: "agent", revision: 1, by: "chem-1" },
      ...{ message_id: exampleUlid, bytes: 412, sha256: "a1".repeat(32) },
    },
    {
      ...{ hop: "stored", at: "2026-11-20T10:00:02.400Z", clock: "server", revision: 1, by: "chem-1", cause: "pushed" },
      ...{ rule: "identifier", patient_fp: patient.fp, sha256: "b2".repeat(32) },
    },
    {
      ...{ hop: "offered", at: "2026-11-20T10:00:03.000Z", clock: "server", by: "pims.example", event: "study.filed" },
      ...{ attempt: 1, status: 200, ended_at: "2026-11-20T10:00:03.100Z" },
    },
  ],
  gaps: [],
};

const events: ClinicEvent[] = [
  { kind: "study", change: "created", fp: study.fp, at: "2026-11-20T10:05:00.000Z", revision: 1 },
  { kind: "soap", change: "signed", fp: soap.fp, at: "2026-11-20T10:10:00.000Z" },
  {
    kind: "patient",
    change: "merged",
    fp: "patient_01EXAMP1E00000000000000001",
    at: "2026-11-20T10:20:00.000Z",
    merged_into: patient.fp,
  },
];

export const exampleOf = {
  ...{ patient, soap, listedSoap, study: readStudy, listedStudy, event, item, removed, trail, events },
};

const unmatched = refusal("SHARE.UNMATCHED");

const failedRequest = { details: { request_id: exampleUlid } };

/** The errors of the read API, each with the case in which it is returned. */
const errors: readonly (readonly [when: string, error: ApiError])[] = [
  [
    "The key is missing, unknown, expired or revoked.",
    new ApiError("AUTH.UNAUTHORIZED", "", { details: { header: "X-API-Key" } }),
  ],
  [
    "The key lacks the permission of this endpoint.",
    new ApiError("AUTH.FORBIDDEN", "", { details: { required: ["clinic.patient.view"] } }),
  ],
  ["The operator of the server has suspended the key's clinic.", new ApiError("CLINIC.SUSPENDED")],
  ["The key's budget is spent.", new ApiError("API_KEY.RATE_LIMIT_EXCEEDED", "12 seconds")],
  ["The key's budget is spent.", new ApiError("AUTH.RATE_LIMITED", "12 seconds")],
  ["No record has this fingerprint.", new ApiError("PATIENT.NOT_FOUND", `Patient ${patient.fp}`)],
  [
    "The key's clinic has no active connection to the patient.",
    new ApiError("PATIENT.ACCESS_DENIED", `patient ${patient.fp}`),
  ],
  ["Events after the position are no longer kept.", new ApiError("EVENTS.EXPIRED")],
  [
    "The clinic may not share the study; `details.code` names the reason.",
    new ApiError("RECORD.REFUSED", refusalText(unmatched), { details: { ...unmatched } }),
  ],
  [
    "The range is too long, or its end is before its start.",
    new ApiError("CALENDAR.INVALID_RANGE", "Date range must not exceed 90 days.", { details: { max_days: 90 } }),
  ],
  [
    "A query parameter is invalid.",
    new ApiError("REQUEST.INVALID_PARAMETER", "page_size is 500, expected a whole number from 1 to 100.", {
      details: {
        parameter: "page_size",
        value: "500",
        rule: "a whole number from 1 to 100",
        min: 1,
        max: 100,
      },
    }),
  ],
  ["The request is not valid HTTP.", new ApiError("REQUEST.MALFORMED", "The URL is not well formed.")],
  ["The request arrives too slowly.", new ApiError("REQUEST.TIMEOUT")],
  ["The fingerprint is too long.", new ApiError("REQUEST.URL_TOO_LONG")],
  ["The URL and the headers are too long.", new ApiError("REQUEST.HEADERS_TOO_LARGE")],
  ["No endpoint has this path.", new ApiError("ROUTE.NOT_FOUND", "/api/v1/example")],
  ["The path has another method; `Allow` names it.", new ApiError("ROUTE.METHOD_NOT_ALLOWED", "POST")],
  ["The server has a fault.", new ApiError("SERVER.INTERNAL", "", failedRequest)],
  ["The stored record is damaged.", new ApiError("RECORD.DAMAGED", "record", failedRequest)],
  ["The database does not respond.", new ApiError("SERVER.UNAVAILABLE", "", failedRequest)],
];

interface ErrorExample {
  readonly summary: string;
  readonly value: ErrorEnvelope;
}

export type ErrorExamples = ReadonlyMap<ErrorCode, ErrorExample>;

/** The errors that a client of the read API meets. */
export const errorExamples: ErrorExamples = examplesOf(errors);

const badSource = 'source is "a b", expected 1 to 64 letters, digits, dots, - or _, and not file';

/** The errors that practice software meets at /sync/v1. */
export const syncErrorExamples: ErrorExamples = examplesOf([
  ...errors.filter(([, { code }]) => !/^(PATIENT|CALENDAR|EVENTS|RECORD\.REFUSED)|URL_TOO_LONG|^AUTH.RATE/.test(code)),
  [
    "A part of the body around the items is invalid.",
    new ApiError("SYNC.INVALID_BODY", badSource, {
      details: { errors: [{ field: "source", code: "invalid", message: badSource }] },
    }),
  ],
  ["The body is not JSON.", new ApiError("REQUEST.INVALID_BODY", "The body is not UTF-8.")],
  [
    "A full list lacks more than a tenth of the patients or coming appointments.",
    new ApiError("SYNC.TOO_MANY_REMOVALS", "70 of 500 patients, at most a tenth without confirm_removals", {
      details: { removals: 70, patients: 500 },
    }),
  ],
  [
    "The patients cannot be merged.",
    new ApiError("SYNC.MERGE_REFUSED", "The patients are of different species", { details: { code: "other_species" } }),
  ],
  ["The state is another one than at the dry run.", new ApiError("SYNC.STATE_MOVED")],
  ["The Idempotency-Key belongs to another request.", new ApiError("SYNC.ID_REUSED")],
  ["The request has too many items.", new ApiError("SYNC.TOO_MANY_ITEMS", "501")],
  ["The body is too large.", new ApiError("REQUEST.TOO_LARGE", "The body is too large.")],
]);

function examplesOf(list: typeof errors): ErrorExamples {
  return new Map(list.map(([summary, { code, envelope }]) => [code, { summary, value: envelope }]));
}
