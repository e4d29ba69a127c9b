import { type Static, Type } from "typebox";
import { fpPattern, ULID } from "./fp.ts";
import { TIMESTAMP_PATTERN } from "../schema/schema.ts";

/** A record that left the lists of a clinic, as GET /api/v1/changes returns it. */
export const RemovedRecord = Type.Object(
  {
    fp: Type.String({
      pattern: `^(patient|cds|soap|calevt|invitem)_${ULID}$`,
      description: "Fingerprint of the patient, diagnostic study, SOAP record, calendar event or inventory item.",
    }),
    removed_at: Type.String({
      pattern: TIMESTAMP_PATTERN,
      description: "Time at which it left. It never falls from one change of the clinic to the next.",
    }),
    merged_into: Type.Optional(
      Type.String({
        pattern: fpPattern("patient"),
        description: "Of a patient that was merged: fingerprint of the patient that has its studies and records.",
      }),
    ),
  },
  {
    title: "RemovedRecord",
    description: "A record that the clinic no longer reads.",
    additionalProperties: false,
  },
);
export type RemovedRecord = Static<typeof RemovedRecord>;
