// The checksums of patients and of their identifiers, and the columns that they cover. `updated_at` is a stamp of each change,
// and not covered.

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
    "owner_customer_id",
    "created_at",
    "deleted_at",
  ],
} as const;

/** The columns for a query that joins patients. */
export const PATIENT_CONTENT = [
  "patient.fp",
  "patient.name",
  "patient.species",
  "patient.breed",
  "patient.sex",
  "patient.date_of_birth",
  "patient.weight_kg",
  "patient.owner_customer_id",
  "patient.created_at",
  "patient.deleted_at",
  "patient.checksum",
] as const;

/** Covers the fp of the patient, since a damaged row may get the id of another one, whose results it would then take. */
export const IDENTIFIER = {
  table: "patient_identifier",
  column: "checksum",
  of: ["patient_fp", "identifier"],
} as const;
