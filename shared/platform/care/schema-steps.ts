import { errorMessage } from "../../runtime/error-message.ts";
import { VERSION } from "../../files/program-files.ts";

// The version of a database's schema. It only goes up: a program refuses the database of a newer one.

/** The row of `migration` with the newest version. */
export interface StoredSchema {
  /** 0 for a database without tables. */
  readonly version: number;
  /** Version of the program that applied it. Null in a database without tables. */
  readonly program: string | null;
}

export const EMPTY: StoredSchema = { version: 0, program: null };

/** Columns of the table with the applied versions, for both engines. */
export const MIGRATION_TABLE =
  "migration (version integer primary key, applied_at bigint not null, program text not null)";

/** Keeps the versions that a database lacks. @throws Error if the database is newer */
export function missingVersions(
  database: string,
  stored: StoredSchema,
  migrations: readonly string[],
): { readonly version: number; readonly sql: string }[] {
  if (stored.version > migrations.length) throw newerSchema(database, stored, migrations.length);
  return migrations.map((sql, index) => ({ version: index + 1, sql })).slice(stored.version);
}

/** @returns an error with the version that can use the database */
export function newerSchema(database: string, stored: StoredSchema, known: number): Error {
  const found = `schema ${stored.version} of version ${stored.program}`;
  return new Error(
    `${database} has ${found}, this version ${VERSION} knows schemas up to ${known}: ${newerRemedy(stored)}`,
  );
}

/** @returns what to do about a database that is newer than this program */
export function newerRemedy({ program }: StoredSchema): string {
  return `install version ${program} or newer, or restore a backup from before its update`;
}

/** @returns an error with the note that the database is as before */
export function failedMigration(database: string, error: unknown): Error {
  const advice = "install the version before again, and report this error";
  return new Error(`${database} could not be updated and stays as it was (${errorMessage(error)}): ${advice}`, {
    cause: error,
  });
}
