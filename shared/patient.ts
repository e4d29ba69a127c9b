import { type Static, Type } from "typebox";
import { fpPattern } from "./fp.ts";
import { DATE_PATTERN, Nullable, TIMESTAMP_PATTERN } from "./schema.ts";

/** A patient as GET /api/v1/patients returns it (specification, section 2.2). */
export const Patient = Type.Object(
  {
    fp: Type.String({ pattern: fpPattern("patient") }),
    name: Type.String(),
    species: Type.String({ description: "lower case: dog, cat, rabbit, bird, reptile, exotic" }),
    breed: Nullable(Type.String()),
    sex: Nullable(Type.String()),
    date_of_birth: Nullable(Type.String({ pattern: DATE_PATTERN })),
    weight_kg: Nullable(Type.Number()),
    owner_customer_fp: Type.String({ pattern: fpPattern("customer") }),
    created_at: Type.String({ pattern: TIMESTAMP_PATTERN }),
    updated_at: Type.String({ pattern: TIMESTAMP_PATTERN }),
  },
  { additionalProperties: false },
);
export type Patient = Static<typeof Patient>;
