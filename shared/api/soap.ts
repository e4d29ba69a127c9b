import { type Static, Type } from "typebox";
import { fpPattern } from "./fp.ts";
import { Nullable, TIMESTAMP_PATTERN } from "../schema/schema.ts";
import { textForm } from "../schema/text-form.ts";

export const SoapStatus = Type.Enum(["DRAFT", "IN_PROGRESS", "SIGNED", "LOCKED"], {
  description: "Stage of the record, in this order. A `SIGNED` or `LOCKED` record is immutable.",
});
export type SoapStatus = Static<typeof SoapStatus>;

const text = (description: string) => Nullable(Type.String({ maxLength: 100_000, description }));

/** A SOAP examination record as GET /api/v1/soap/{fp} returns it. */
export const Soap = Type.Object(
  {
    fp: Type.String({ pattern: fpPattern("soap"), description: "Fingerprint of the record." }),
    patient_fp: Type.String({ pattern: fpPattern("patient"), description: "Fingerprint of the patient." }),
    soap_type: Type.String({
      pattern: textForm(
        "^[A-Z][A-Z0-9_]{0,63}$",
        "upper-case letters, digits and underscores such as MEDICATION or EXAMINATION",
      ),
      description: "Type of the record in upper case, such as `EXAMINATION`.",
    }),
    status: SoapStatus,
    subjective: text("The owner's report, as free text; null if not recorded."),
    objective: text("Findings of the examination, as free text; null if not recorded."),
    assessment: text("Assessment of the findings, as free text; null if not recorded."),
    plan: text("Summary of the plan, as free text, without the structured plan items; null if not recorded."),
    performed_by_clinic_fp: Type.String({
      pattern: fpPattern("clinic"),
      description: "Fingerprint of the clinic that owns the record.",
    }),
    signed_at: Nullable(
      Type.String({ pattern: TIMESTAMP_PATTERN, description: "Time of the signature; null until `SIGNED`." }),
    ),
    created_at: Type.String({ pattern: TIMESTAMP_PATTERN, description: "Time at which the record was created." }),
  },
  { title: "SoapRecord", description: "A SOAP examination record.", additionalProperties: false },
);
export type Soap = Static<typeof Soap>;

/** A record as GET /api/v1/soap lists it. */
export const ListedSoap = Type.Object(
  {
    ...Soap.properties,
    updated_at: Type.String({
      pattern: TIMESTAMP_PATTERN,
      description:
        "Time of the last change that the clinic sees, which is the connection to its patient if that is later.",
    }),
  },
  { title: "ListedSoapRecord", description: "A SOAP record in a list.", additionalProperties: false },
);
export type ListedSoap = Static<typeof ListedSoap>;
