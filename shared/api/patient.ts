import { type Static, Type } from "typebox";
import { fpPattern } from "./fp.ts";
import { DATE_PATTERN, Nullable, TIMESTAMP_PATTERN } from "../schema/schema.ts";

/** A patient as GET /api/v1/patients returns it. */
export const Patient = Type.Object(
  {
    fp: Type.String({ pattern: fpPattern("patient"), description: "Fingerprint of the patient." }),
    name: Type.String({ description: "Name of the patient." }),
    species: Type.String({
      description: "Species in lower case: `dog`, `cat`, `rabbit`, `bird`, `reptile` or `exotic`.",
    }),
    breed: Nullable(Type.String({ description: "Breed, in the clinic's words; null if unknown." })),
    sex: Nullable(Type.String({ description: "Sex, in the clinic's words; null if unknown." })),
    date_of_birth: Nullable(
      Type.String({ pattern: DATE_PATTERN, description: "Date of birth, without a time; null if unknown." }),
    ),
    weight_kg: Nullable(Type.Number({ description: "Weight in kilograms; null if unknown." })),
    owner_customer_fp: Type.String({ pattern: fpPattern("customer"), description: "Fingerprint of the owner." }),
    created_at: Type.String({ pattern: TIMESTAMP_PATTERN, description: "Time at which the patient was created." }),
    updated_at: Type.String({
      pattern: TIMESTAMP_PATTERN,
      description: "Time of the last change, or of the last connection to a clinic. `updated_since` compares it.",
    }),
  },
  { title: "Patient", description: "A patient, without its records.", additionalProperties: false },
);
export type Patient = Static<typeof Patient>;
