// The checksums of patients and of their identifiers, and the columns that they cover. `updated_at` is a stamp of each change,
// and not covered. The fps of the owner and of the patient are covered in place of ids, since a damaged row may get the id of another.

export const PATIENT = {
  table: "patient",
  column: "checksum",
  of: [
    "fp",
    "name",
    "species",
    "breed",
    "sex",
    "date_of_birth",
    "weight_kg",
    "owner_customer_fp",
    "created_at",
    "deleted_at",
  ],
} as const;

/** The columns for a query that joins patients. It selects `owner_customer_fp` beside them. */
export const PATIENT_CONTENT = [
  "patient.fp",
  "patient.name",
  "patient.species",
  "patient.breed",
  "patient.sex",
  "patient.date_of_birth",
  "patient.weight_kg",
  "patient.created_at",
  "patient.deleted_at",
  "patient.checksum",
] as const;

/** An identifier of another patient would take the results of this one. */
export const IDENTIFIER = {
  table: "patient_identifier",
  column: "checksum",
  of: ["patient_fp", "identifier"],
} as const;
