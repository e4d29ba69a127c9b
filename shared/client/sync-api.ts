// Types of the sync API, made from its OpenAPI document: npm run contract.

/** The owner, for people of the clinic. `/api/v1` shows only a fingerprint. */
export interface OwnerOfSyncPatient {
  /** The id of the owner in your software. */
  external_id: string;
  /** Name of the owner. */
  name: string;
  /** Phone number, as people write it. */
  phone?: string | null;
  /** E-mail address. */
  email?: string | null;
}

/** All facts of a patient. A field that is absent or null is unknown; it does not keep its old value. */
export interface SyncPatient {
  /** The id in your software. It never changes, and is compared as text: `00417` is not `417`. */
  external_id: string;
  /** Name of the patient. */
  name: string;
  /** Species in a word or code of English, Turkish, German, French or Spanish: `Canine`, `kedi`, `Frettchen`, a SNOMED CT code. A species that `/api/v1` has no word for, such as horse, is stored as it is and served as `exotic`. */
  species: string;
  owner: OwnerOfSyncPatient;
  /** Breed in the clinic's words. */
  breed?: string | null;
  /** Sex in a word or code: `M`, `FS`, `male neutered`, `kısır dişi`, `Wallach`, `castrado`, `M^Y`. Null if unknown. */
  sex?: string | null;
  /** Date of birth. Null if unknown. */
  date_of_birth?: string | null;
  /** Weight in kilograms. Null if unknown. */
  weight_kg?: number | null;
  /** Numbers that staff type at an analyzer, or a reader reads. A result with one of them is filed to this patient. The `external_id` is not one: send it as a `card` if staff type it. */
  identifiers?: Array<{
    /** What carries the number. */
    type: "microchip" | "card" | "tattoo" | "other";
    /** The number as text, with its leading zeros. */
    value: string;
  }>;
  /** Time of the last change in your software. An item that is older than the stored one changes nothing. Without it, the item that arrives last counts. */
  updated_at?: string;
  /** Day or time of death. Null or absent if the patient lives. */
  deceased_at?: string | null;
  /** A patient that is not removed. */
  deleted?: false;
}

/** A patient that is removed. The other fields are checked and not stored. */
export interface RemovedSyncPatient {
  /** The id in your software. It never changes, and is compared as text: `00417` is not `417`. */
  external_id: string;
  /** Name of the patient. */
  name?: string;
  /** Species in a word or code of English, Turkish, German, French or Spanish: `Canine`, `kedi`, `Frettchen`, a SNOMED CT code. A species that `/api/v1` has no word for, such as horse, is stored as it is and served as `exotic`. */
  species?: string;
  owner?: OwnerOfSyncPatient;
  /** Breed in the clinic's words. */
  breed?: string | null;
  /** Sex in a word or code: `M`, `FS`, `male neutered`, `kısır dişi`, `Wallach`, `castrado`, `M^Y`. Null if unknown. */
  sex?: string | null;
  /** Date of birth. Null if unknown. */
  date_of_birth?: string | null;
  /** Weight in kilograms. Null if unknown. */
  weight_kg?: number | null;
  /** Numbers that staff type at an analyzer, or a reader reads. A result with one of them is filed to this patient. The `external_id` is not one: send it as a `card` if staff type it. */
  identifiers?: Array<{
    /** What carries the number. */
    type: "microchip" | "card" | "tattoo" | "other";
    /** The number as text, with its leading zeros. */
    value: string;
  }>;
  /** Time of the last change in your software. An item that is older than the stored one changes nothing. Without it, the item that arrives last counts. */
  updated_at?: string;
  /** Day or time of death. Null or absent if the patient lives. */
  deceased_at?: string | null;
  /** Removes the patient. Its results stay and wait for a patient. */
  deleted: true;
}

/** Patients of one source. */
export interface SyncPatients {
  /** Name of your software at this clinic. An `external_id` is an id of its source. `file` is the source of files that are imported at the dashboard. */
  source: string;
  /** `partial`: patients that are not among the items stay as they are. `full`: patients of the source that are neither among the items nor in `all` are removed. */
  mode: "partial" | "full";
  /** With `mode: full`: the external ids of all patients that your software has, for more than 500. Send the patients with `partial` first, then one `full` request with `all` and no items. Without it the items are all patients. */
  all?: string[];
  /** At most 500 items. */
  items: Array<SyncPatient | RemovedSyncPatient>;
}

/** What became of each item. */
export interface SyncAnswer {
  /** True if nothing was stored. */
  dry_run: boolean;
  /** Of a dry run: send it in `commit_token` with the same body, and the request is refused if its outcomes would differ. Null otherwise. */
  commit_token: string | null;
  counts: {
    /** Items with this outcome. */
    created: number;
    /** Items with this outcome. */
    updated: number;
    /** Items with this outcome. */
    unchanged: number;
    /** Items with this outcome. */
    deleted: number;
    /** Items with this outcome. */
    rejected: number;
  };
  /** One outcome for each item, in order. */
  items: Array<{
    /** Position in the request, from 0. */
    index: number;
    /** The id of the item; null if it has none. */
    external_id: string | null;
    /** Fingerprint of the record in `/api/v1`; null if nothing is stored, and for a new one in a dry run. */
    fp: string | null;
    /** What became of the item. */
    outcome: "created" | "updated" | "unchanged" | "deleted" | "rejected";
    /** Why the item was rejected. Of another item: `older`, if a newer state is stored, so that it changed nothing; `merged`, if its `external_id` was merged, so that its facts went to the survivor, or its removal changed nothing. Of an appointment: `unknown_member`, `cancelled` by the clinic, `closed`. */
    errors: Array<{
      /** The field, such as `owner/name`. Empty for the item itself. */
      field: string;
      /** Name of the fault, for programs. */
      code: string;
      /** A sentence for people. Its words may change. */
      message: string;
    }>;
  }>;
  /** With `mode: full`: what was removed because it is absent, the first 500. `counts.deleted` has all. */
  absent?: Array<{
    /** The id in your software. */
    external_id: string;
    /** Fingerprint of the record in `/api/v1`. */
    fp: string;
  }>;
}

/** All facts of an owner. A field that is absent or null is unknown; it does not keep its old value. */
export interface SyncOwner {
  /** The id of the owner in your software. */
  external_id: string;
  /** Name of the owner. */
  name: string;
  /** Phone number, as people write it. */
  phone?: string | null;
  /** E-mail address. */
  email?: string | null;
  /** Time of the last change in your software. An item that is older than the stored one changes nothing. Without it, the item that arrives last counts. */
  updated_at?: string;
}

/** Owners of one source. */
export interface SyncOwners {
  /** Name of your software at this clinic. An `external_id` is an id of its source. `file` is the source of files that are imported at the dashboard. */
  source: string;
  /** Owners that are not among the items stay as they are. */
  mode: "partial";
  /** At most 500 items. */
  items: SyncOwner[];
}

/** What became of each item. */
export interface SyncOwnersAnswer {
  /** True if nothing was stored. */
  dry_run: boolean;
  /** Of a dry run: send it in `commit_token` with the same body, and the request is refused if its outcomes would differ. Null otherwise. */
  commit_token: string | null;
  counts: {
    /** Items with this outcome. */
    created: number;
    /** Items with this outcome. */
    updated: number;
    /** Items with this outcome. */
    unchanged: number;
    /** Items with this outcome. */
    deleted: number;
    /** Items with this outcome. */
    rejected: number;
  };
  /** One outcome for each item, in order. */
  items: Array<{
    /** Position in the request, from 0. */
    index: number;
    /** The id of the item; null if it has none. */
    external_id: string | null;
    /** Fingerprint of the record in `/api/v1`; null if nothing is stored, and for a new one in a dry run. */
    fp: string | null;
    /** What became of the item. */
    outcome: "created" | "updated" | "unchanged" | "deleted" | "rejected";
    /** Why the item was rejected. Of another item: `older`, if a newer state is stored, so that it changed nothing; `merged`, if its `external_id` was merged, so that its facts went to the survivor, or its removal changed nothing. Of an appointment: `unknown_member`, `cancelled` by the clinic, `closed`. */
    errors: Array<{
      /** The field, such as `owner/name`. Empty for the item itself. */
      field: string;
      /** Name of the fault, for programs. */
      code: string;
      /** A sentence for people. Its words may change. */
      message: string;
    }>;
  }>;
}

/** An order of tests for a sample of one patient. Only `cancelled` may change later: cancel an order and send another one. */
export interface SyncOrder {
  /** The id in your software. It never changes, and is compared as text: `00417` is not `417`. */
  external_id: string;
  /** The `external_id` of the patient, which the same source has sent to `/sync/v1/patients`. */
  patient: string;
  /** Names of the tests: analytes such as `ALT` or a LOINC code. With `device` they may be the words of that device, such as a panel. */
  tests: string[];
  /** Id of the device at the clinic. Null or absent: any device that queries the order. */
  device?: string | null;
  /** Time of the order. */
  ordered_at: string;
  /** True cancels the order. An order with results is not cancelled. */
  cancelled?: boolean;
}

/** Orders of one source. */
export interface SyncOrders {
  /** Name of your software at this clinic. An `external_id` is an id of its source. `file` is the source of files that are imported at the dashboard. */
  source: string;
  /** Orders that are not among the items stay as they are. */
  mode: "partial";
  /** At most 500 items. */
  items: SyncOrder[];
}

/** What became of each item. */
export interface SyncOrdersAnswer {
  /** True if nothing was stored. */
  dry_run: boolean;
  /** Of a dry run: send it in `commit_token` with the same body, and the request is refused if its outcomes would differ. Null otherwise. */
  commit_token: string | null;
  counts: {
    /** Items with this outcome. */
    created: number;
    /** Items with this outcome. */
    updated: number;
    /** Items with this outcome. */
    unchanged: number;
    /** Items with this outcome. */
    deleted: number;
    /** Items with this outcome. */
    rejected: number;
  };
  /** One outcome for each item, in order. */
  items: Array<{
    /** Position in the request, from 0. */
    index: number;
    /** The id of the item; null if it has none. */
    external_id: string | null;
    /** Fingerprint of the record in `/api/v1`; null if nothing is stored, and for a new one in a dry run. */
    fp: string | null;
    /** What became of the item. */
    outcome: "created" | "updated" | "unchanged" | "deleted" | "rejected";
    /** Why the item was rejected. Of another item: `older`, if a newer state is stored, so that it changed nothing; `merged`, if its `external_id` was merged, so that its facts went to the survivor, or its removal changed nothing. Of an appointment: `unknown_member`, `cancelled` by the clinic, `closed`. */
    errors: Array<{
      /** The field, such as `owner/name`. Empty for the item itself. */
      field: string;
      /** Name of the fault, for programs. */
      code: string;
      /** A sentence for people. Its words may change. */
      message: string;
    }>;
    /** Number of the sample for its label: staff type or scan it at the analyzer. Null if nothing is stored, and for a new order in a dry run. */
    accession: string | null;
  }>;
}

/** All facts of an appointment. A field that is absent or null is unknown; it does not keep its old value. The status of the event is the clinic's: staff move it at the dashboard. */
export interface SyncAppointment {
  /** The id in your software. It never changes, and is compared as text: `00417` is not `417`. */
  external_id: string;
  /** Title of the event. */
  title: string;
  /** Start of the appointment. */
  start_at: string;
  /** End of the appointment, at its start or later. */
  end_at: string;
  /** Type of the event; `APPOINTMENT` if it is absent. */
  type?: "APPOINTMENT" | "SURGERY" | "VACCINATION" | "CHECKUP" | "EMERGENCY" | "SALE";
  /** The `external_id` of the patient, which the same source has sent to `/sync/v1/patients`. Null or absent without a patient. */
  patient?: string | null;
  /** Name of the member of the clinic who has the appointment, as the dashboard shows it. An unknown name leaves the event unassigned, with the code `unknown_member`. */
  assigned?: string | null;
  /** Time of the last change in your software. An item that is older than the stored one changes nothing. Without it, the item that arrives last counts. */
  updated_at?: string;
  /** An appointment that takes place. */
  deleted?: false;
}

/** An appointment that your software cancelled or deleted. The other fields are checked and not stored. If it is sent again later, it gets a new event. */
export interface CancelledSyncAppointment {
  /** The id in your software. It never changes, and is compared as text: `00417` is not `417`. */
  external_id: string;
  /** Title of the event. */
  title?: string;
  /** Start of the appointment. */
  start_at?: string;
  /** End of the appointment, at its start or later. */
  end_at?: string;
  /** Type of the event; `APPOINTMENT` if it is absent. */
  type?: "APPOINTMENT" | "SURGERY" | "VACCINATION" | "CHECKUP" | "EMERGENCY" | "SALE";
  /** The `external_id` of the patient, which the same source has sent to `/sync/v1/patients`. Null or absent without a patient. */
  patient?: string | null;
  /** Name of the member of the clinic who has the appointment, as the dashboard shows it. An unknown name leaves the event unassigned, with the code `unknown_member`. */
  assigned?: string | null;
  /** Time of the last change in your software. An item that is older than the stored one changes nothing. Without it, the item that arrives last counts. */
  updated_at?: string;
  /** Cancels the appointment: its event gets the status `CANCELLED`. One that is `CLOSED` stays. */
  deleted: true;
}

/** Appointments of one source. */
export interface SyncAppointments {
  /** Name of your software at this clinic. An `external_id` is an id of its source. `file` is the source of files that are imported at the dashboard. */
  source: string;
  /** `partial`: appointments that are not among the items stay as they are. `full`: appointments of the source that begin later than now, that nobody has checked in, and that are neither among the items nor in `all` are cancelled. Past ones stay. */
  mode: "partial" | "full";
  /** With `mode: full`: the external ids of all appointments that your software has, for more than 500. Send the appointments with `partial` first, then one `full` request with `all` and no items. Without it the items are all appointments. */
  all?: string[];
  /** At most 500 items. */
  items: Array<SyncAppointment | CancelledSyncAppointment>;
}

/** What became of each item. */
export interface SyncAppointmentsAnswer {
  /** True if nothing was stored. */
  dry_run: boolean;
  /** Of a dry run: send it in `commit_token` with the same body, and the request is refused if its outcomes would differ. Null otherwise. */
  commit_token: string | null;
  counts: {
    /** Items with this outcome. */
    created: number;
    /** Items with this outcome. */
    updated: number;
    /** Items with this outcome. */
    unchanged: number;
    /** Items with this outcome. */
    deleted: number;
    /** Items with this outcome. */
    rejected: number;
  };
  /** One outcome for each item, in order. */
  items: Array<{
    /** Position in the request, from 0. */
    index: number;
    /** The id of the item; null if it has none. */
    external_id: string | null;
    /** Fingerprint of the record in `/api/v1`; null if nothing is stored, and for a new one in a dry run. */
    fp: string | null;
    /** What became of the item. */
    outcome: "created" | "updated" | "unchanged" | "deleted" | "rejected";
    /** Why the item was rejected. Of another item: `older`, if a newer state is stored, so that it changed nothing; `merged`, if its `external_id` was merged, so that its facts went to the survivor, or its removal changed nothing. Of an appointment: `unknown_member`, `cancelled` by the clinic, `closed`. */
    errors: Array<{
      /** The field, such as `owner/name`. Empty for the item itself. */
      field: string;
      /** Name of the fault, for programs. */
      code: string;
      /** A sentence for people. Its words may change. */
      message: string;
    }>;
  }>;
  /** With `mode: full`: what was cancelled because it is absent, the first 500. `counts.deleted` has all. */
  absent?: Array<{
    /** The id in your software. */
    external_id: string;
    /** Fingerprint of the record in `/api/v1`. */
    fp: string;
  }>;
}

/** What became of a merge. */
export interface SyncMergeAnswer {
  /** `unchanged`: they were merged before. */
  outcome: "merged" | "unchanged";
  /** Fingerprint of the patient that stays. */
  fp: string;
  /** Fingerprint of the patient that went; null if none was stored, or it went before. */
  merged_fp: string | null;
  moved: {
    /** Diagnostic studies that went to the survivor. */
    studies: number;
    /** SOAP records that went to the survivor. */
    soap_records: number;
    /** Calendar events that went to the survivor. */
    events: number;
  };
}

/** Codes of the errors. A later server may have more. */
export type ErrorCode =
  | "REQUEST.MALFORMED"
  | "SYNC.INVALID_BODY"
  | "REQUEST.INVALID_BODY"
  | "REQUEST.INVALID_PARAMETER"
  | "AUTH.UNAUTHORIZED"
  | "AUTH.FORBIDDEN"
  | "CLINIC.SUSPENDED"
  | "SERVER.INTERNAL"
  | "RECORD.DAMAGED"
  | "SERVER.UNAVAILABLE"
  | "API_KEY.RATE_LIMIT_EXCEEDED"
  | "SYNC.STATE_MOVED"
  | "SYNC.TOO_MANY_REMOVALS"
  | "SYNC.ID_REUSED"
  | "SYNC.TOO_MANY_ITEMS"
  | "REQUEST.TOO_LARGE"
  | "SYNC.MERGE_REFUSED"
  | "REQUEST.TIMEOUT"
  | "REQUEST.HEADERS_TOO_LARGE"
  | "ROUTE.NOT_FOUND"
  | "ROUTE.METHOD_NOT_ALLOWED";

/** The envelope of every error. */
export interface ErrorEnvelope {
  success: false;
  error: { code: ErrorCode; message: string; severity: "error" | "warning"; details?: Record<string, unknown> };
}

/** What each operation takes and returns. */
export interface operations {
  /** Send patients and their owners. */
  "/sync/v1/patients": { body: SyncPatients; answer: SyncAnswer };
  /** Send owners. */
  "/sync/v1/owners": { body: SyncOwners; answer: SyncOwnersAnswer };
  /** Send orders of tests. */
  "/sync/v1/orders": { body: SyncOrders; answer: SyncOrdersAnswer };
  /** Send appointments. */
  "/sync/v1/appointments": { body: SyncAppointments; answer: SyncAppointmentsAnswer };
  /** Merge two patients. */
  "/sync/v1/patients/merge": {
    body: {
      /** Name of your software at this clinic. An `external_id` is an id of its source. `file` is the source of files that are imported at the dashboard. */
      source: string;
      /** The external id of the patient that stays. */
      survivor: string;
      /** The external id of the patient that goes. */
      merged: string;
    };
    answer: SyncMergeAnswer;
  };
}
