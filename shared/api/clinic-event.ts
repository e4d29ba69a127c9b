import { type Static, Type } from "typebox";
import { fpPattern, ULID } from "./fp.ts";
import { TIMESTAMP_PATTERN } from "../schema/schema.ts";

/** The kinds of records whose changes are events. */
export const eventKinds = ["patient", "study", "soap", "calendar_event", "inventory_item", "order"] as const;
export type EventKind = (typeof eventKinds)[number];

const eventChanges = ["created", "changed", "removed", "merged", "signed", "amended", "low"] as const;
export type EventChange = (typeof eventChanges)[number];

/** An event of a record, as GET /api/v1/events returns it. */
export const ClinicEvent = Type.Object(
  {
    kind: Type.Enum([...eventKinds], { description: "Kind of the record." }),
    change: Type.Enum([...eventChanges], {
      description:
        "What happened. `created`: the clinic reads the record since then. `changed`. `removed`: the clinic no longer reads it; " +
        "of an order, that it was cancelled. `merged`: a patient went into the one that `merged_into` names. `signed`: a SOAP " +
        "record was signed. `amended`: a signed one was amended by the signed record that `amended_by` names. `low`: the stock " +
        "of an item fell below its threshold.",
    }),
    fp: Type.String({
      pattern: `^(patient|cds|soap|calevt|invitem|order)_${ULID}$`,
      description: "Fingerprint of the record.",
    }),
    at: Type.String({ pattern: TIMESTAMP_PATTERN, description: "Time of the change." }),
    revision: Type.Optional(
      Type.Integer({ minimum: 1, description: "Of a study: its revision after the change. Newer ones may exist." }),
    ),
    merged_into: Type.Optional(
      Type.String({
        pattern: fpPattern("patient"),
        description: "Of a merged patient: fingerprint of the patient that got its records.",
      }),
    ),
    amended_by: Type.Optional(
      Type.String({ pattern: fpPattern("soap"), description: "Of an amended record: fingerprint of its amendment." }),
    ),
  },
  {
    title: "ClinicEvent",
    description: "Something that happened to a record of the clinic. The record itself has its own endpoint.",
    additionalProperties: false,
  },
);
export type ClinicEvent = Static<typeof ClinicEvent>;
