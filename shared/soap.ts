import { type Static, Type } from "typebox";
import { fpPattern } from "./fp.ts";
import { Nullable, TIMESTAMP_PATTERN } from "./schema.ts";

export const SoapStatus = Type.Enum(["DRAFT", "IN_PROGRESS", "SIGNED", "LOCKED"]);
export type SoapStatus = Static<typeof SoapStatus>;

const text = () => Nullable(Type.String({ maxLength: 100_000 }));

/** A SOAP examination record as GET /api/v1/soap/{fp} returns it (specification, section 2.3). */
export const Soap = Type.Object(
  {
    fp: Type.String({ pattern: fpPattern("soap") }),
    patient_fp: Type.String({ pattern: fpPattern("patient") }),
    soap_type: Type.String({ pattern: "^[A-Z][A-Z0-9_]{0,63}$", description: "upper case: EXAMINATION" }),
    status: SoapStatus,
    subjective: text(),
    objective: text(),
    assessment: text(),
    plan: text(),
    performed_by_clinic_fp: Type.String({ pattern: fpPattern("clinic"), description: "the owning clinic" }),
    signed_at: Nullable(Type.String({ pattern: TIMESTAMP_PATTERN, description: "null until the record is SIGNED" })),
    created_at: Type.String({ pattern: TIMESTAMP_PATTERN }),
  },
  { additionalProperties: false },
);
export type Soap = Static<typeof Soap>;
