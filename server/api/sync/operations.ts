import type { Static } from "typebox";
import type { Operation } from "../../http/openapi/document.ts";
import { exampleFp } from "../../http/openapi/examples.ts";
import {
  type SyncAnswer,
  SyncMerge,
  type SyncMergeAnswer,
  SyncOwners,
  SyncPatients,
} from "../../records/registry/sync/messages.ts";
import { SyncAppointments, type SyncAppointmentsAnswer } from "../../records/registry/sync/appointment-items.ts";
import { SyncOrders, type SyncOrdersAnswer } from "../../records/registry/sync/order-items.ts";
import { syncParameters } from "./request.ts";

// The operations of /sync/v1 in its document.

/** A made-up request to /sync/v1/patients, and its answer. */
const example = {
  body: {
    source: "example-pims",
    mode: "partial",
    items: [
      {
        external_id: "00417",
        name: "Pamuk",
        species: "Kedi",
        sex: "FS",
        owner: { external_id: "3001", name: "Ada Örnek" },
        identifiers: [{ type: "microchip", value: "900085000123456" }],
        updated_at: "2026-11-21T06:45:00Z",
      },
      { external_id: "00500", name: "Boncuk", species: "Zebra?", owner: { external_id: "3001", name: "Ada Örnek" } },
    ],
  },
  answer: {
    dry_run: false,
    commit_token: null,
    counts: { created: 1, updated: 0, unchanged: 0, deleted: 0, rejected: 1 },
    items: [
      { index: 0, external_id: "00417", fp: exampleFp("patient"), outcome: "created", errors: [] },
      {
        index: 1,
        external_id: "00500",
        fp: null,
        outcome: "rejected",
        errors: [
          {
            field: "species",
            code: "unknown_species",
            message:
              'species is "Zebra?", expected a word for one of dog, cat, rabbit, bird, reptile, exotic, horse, cow',
          },
        ],
      },
    ],
  } satisfies SyncAnswer,
};

/** The common part of the operations. */
const common = {
  header: "x-api-key",
  permissions: ["clinic.sync.write"],
  parameters: { dry_run: syncParameters.dry_run, commit_token: syncParameters.commit_token },
  idempotencyKey: true,
  errors: [
    "SYNC.INVALID_BODY",
    "SYNC.STATE_MOVED",
    "SYNC.ID_REUSED",
    "SYNC.TOO_MANY_ITEMS",
    "REQUEST.INVALID_BODY",
    "REQUEST.TOO_LARGE",
  ],
} satisfies Partial<Operation>;

export const patients = {
  ...common,
  parameters: syncParameters,
  errors: [...common.errors, "SYNC.TOO_MANY_REMOVALS"],
  operationId: "syncPatients",
  summary: "Send patients and their owners",
  description:
    "Creates, updates and removes patients of the key's clinic. A patient is known by `source` and `external_id`, so that sending " +
    "an item again changes nothing. The items that are valid are stored together; each item has its own outcome. Results of " +
    "analyzers that wait for a patient are filed to it by the clinic's agent within a minute. `updated_at` of your software alone " +
    "decides which state is newer: there is no `If-Match`, and an item without `updated_at` counts when it arrives.",
  body: SyncPatients,
  bodyExample: example.body,
  example: example.answer,
} satisfies Operation;

export const owners = {
  ...common,
  operationId: "syncOwners",
  summary: "Send owners",
  description:
    "Creates and updates owners, as they change without their patients. The items of patients name their owners too; the newest " +
    "item of either kind counts.",
  body: SyncOwners,
  bodyExample: {
    source: "example-pims",
    mode: "partial",
    items: [{ external_id: "3001", name: "Ada Örnek", phone: "+90 555 000 00 00" }],
  },
  example: {
    dry_run: false,
    commit_token: null,
    counts: { created: 0, updated: 1, unchanged: 0, deleted: 0, rejected: 0 },
    items: [{ index: 0, external_id: "3001", fp: exampleFp("customer"), outcome: "updated", errors: [] }],
  } satisfies SyncAnswer,
} satisfies Operation;

export const orders = {
  ...common,
  operationId: "syncOrders",
  summary: "Send orders of tests",
  description:
    "Orders tests for samples of patients that the same source has sent. The answer has the accession of each order for the label of " +
    "its tube. The clinic's devices get the orders when they query them, and the study that answers one has `order` in `/api/v1`. " +
    "An order never changes but for its cancellation.",
  body: SyncOrders,
  bodyExample: {
    source: "example-pims",
    mode: "partial",
    items: [
      { external_id: "10231", patient: "00417", tests: ["ALT", "CREA"], ordered_at: "2026-11-21T09:50:00+03:00" },
    ],
  },
  example: {
    dry_run: false,
    commit_token: null,
    counts: { created: 1, updated: 0, unchanged: 0, deleted: 0, rejected: 0 },
    items: [
      {
        index: 0,
        external_id: "10231",
        fp: exampleFp("order"),
        outcome: "created",
        errors: [],
        accession: "T4KQ7WMX",
      },
    ],
  } satisfies Static<typeof SyncOrdersAnswer>,
} satisfies Operation;

export const appointments = {
  ...common,
  parameters: syncParameters,
  errors: [...common.errors, "SYNC.TOO_MANY_REMOVALS"],
  operationId: "syncAppointments",
  summary: "Send appointments",
  description:
    "Creates, changes and cancels appointments of the clinic's calendar, for patients that the same source has sent or for none. " +
    "`GET /api/v1/calendar/events` and the dashboard show their events. Your software decides title, type, times, patient and member; " +
    "staff move the status on at the dashboard.",
  body: SyncAppointments,
  bodyExample: {
    source: "example-pims",
    mode: "partial",
    items: [
      {
        external_id: "5001",
        title: "Dental check-up",
        type: "CHECKUP",
        start_at: "2026-11-24T09:00:00+03:00",
        end_at: "2026-11-24T09:30:00+03:00",
        patient: "00417",
        assigned: "Ece Yıldız",
        updated_at: "2026-11-21T06:45:00Z",
      },
      { external_id: "5002", deleted: true, updated_at: "2026-11-21T06:46:00Z" },
    ],
  },
  example: {
    dry_run: false,
    commit_token: null,
    counts: { created: 1, updated: 0, unchanged: 0, deleted: 1, rejected: 0 },
    items: [
      { index: 0, external_id: "5001", fp: exampleFp("calevt"), outcome: "created", errors: [] },
      { index: 1, external_id: "5002", fp: exampleFp("calevt"), outcome: "deleted", errors: [] },
    ],
  } satisfies Static<typeof SyncAppointmentsAnswer>,
} satisfies Operation;

export const merge = {
  header: common.header,
  permissions: common.permissions,
  operationId: "mergePatients",
  summary: "Merge two patients",
  description:
    "Makes one patient of two. Studies, SOAP records, calendar events and numbers of `merged` go to `survivor`, whose own facts stay. " +
    "Then `merged` does not exist in `/api/v1` any more, and `GET /api/v1/changes` names its successor. Later items of its external id go " +
    "to the survivor, with the code `merged`; its removal changes nothing. Sending the merge again changes nothing. Refused are, by " +
    "`details.code`: `same`, `unknown_survivor`, `unknown_merged`, `removed_survivor`, `circle`, `merged_elsewhere`, `other_species`, " +
    "`other_clinics`. A patient that was removed before it is merged leaves its studies at the dashboard, where a person places them.",
  body: SyncMerge,
  bodyExample: { source: "example-pims", survivor: "00417", merged: "00988" },
  example: {
    outcome: "merged",
    fp: exampleFp("patient"),
    merged_fp: exampleFp("patient"),
    moved: { studies: 3, soap_records: 0, events: 1 },
  } satisfies SyncMergeAnswer,
  errors: ["SYNC.INVALID_BODY", "SYNC.MERGE_REFUSED", "REQUEST.INVALID_BODY", "REQUEST.TOO_LARGE"],
} satisfies Operation;
