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

/** An identifier of another patient would take the results of this one. */
export const IDENTIFIER = {
  table: "patient_identifier",
  column: "checksum",
  of: ["patient_fp", "identifier"],
} as const;
