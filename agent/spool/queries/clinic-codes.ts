import type Database from "better-sqlite3";

// The clinic's analytes of its devices' codes, as the server had them at the last sync. They are kept as one value of `meta`.

/** Key of the value in `meta`. */
export const CLINIC_CODES = "codes";

export interface ClinicCode {
  readonly device_id: string;
  readonly code: string;
  /** A code of the server's catalogue. */
  readonly analyte: string;
}

/** Reads the stored value; none before the first sync. */
export function parseClinicCodes(stored: string | null): readonly ClinicCode[] {
  return JSON.parse(stored ?? "[]") as ClinicCode[];
}

/** Lists the clinic's codes in a spool. */
export function listClinicCodes(db: Database.Database): readonly ClinicCode[] {
  const stored = db.prepare("SELECT value FROM meta WHERE key = ?").pluck().get(CLINIC_CODES) as string | undefined;
  return parseClinicCodes(stored ?? null);
}
