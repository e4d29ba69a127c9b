import { errorMessage } from "../runtime/error-message.ts";
import { VERSION } from "../runtime/program-files.ts";

// Decides the steps that bring a database to the schema of this program. Agent and server run them, all in one transaction.

/** A change of the schema. Append only: a released one never changes. */
export interface Migration {
  readonly sql: string;
  /** Statements that take the change back and keep what an older program stores. Null for the migrations of 0.1.0. */
  readonly undo: string | null;
  /** Whether a program that lacks it goes on beside it. Several servers ask, on PostgreSQL alone. */
  readonly beside?: boolean;
  /** Indexes that its statements create if they are missing. PostgreSQL builds them before, while servers write. */
  readonly indexes?: readonly { readonly name: string; readonly on: string }[];
}

/** A migration that a database has. Program and undo are null if a program of 0.1.0 applied it. */
export interface AppliedMigration {
  readonly version: number;
  /** Version of the program that applied it. */
  readonly program: string | null;
  readonly undo: string | null;
  readonly beside?: boolean | null;
}

export interface StoredSchema {
  readonly version: number;
  /** The migrations that this program does not know, newest first. */
  readonly newer: readonly AppliedMigration[];
}

export interface SchemaOptions {
  readonly migrations: readonly Migration[];
  /** Whether this program takes back the migrations of a newer one. */
  readonly undoNewer: boolean;
}

export type SchemaStep =
  | ({ readonly do: "apply"; readonly version: number } & Migration)
  | { readonly do: "undo"; readonly version: number; readonly sql: string };

/**
 * @returns the steps in order; none if this program goes on beside a newer one
 * @throws Error if the database is newer, and not every newer migration can be taken back
 */
export function schemaSteps(database: string, stored: StoredSchema, options: SchemaOptions): SchemaStep[] {
  const { migrations, undoNewer } = options;
  const known = migrations.length;
  if (stored.version <= known) {
    const steps = migrations.map((step, index) => ({ do: "apply", version: index + 1, ...step }) as const);
    return steps.slice(stored.version);
  }
  if (!undoNewer && servesOlder(stored)) return [];
  const undo = stored.newer.flatMap((step) =>
    step.undo === null ? [] : [{ do: "undo", version: step.version, sql: step.undo } as const],
  );
  if (!undoNewer || undo.length < stored.version - known) throw newerSchema(database, stored, known);
  return undo;
}

/** Whether this program goes on beside the newer migrations of the database. */
export function servesOlder({ newer }: StoredSchema): boolean {
  return newer.length > 0 && newer.every(({ beside }) => beside === true);
}

/** @returns an error with the version that can use the database */
export function newerSchema(database: string, stored: StoredSchema, known: number): Error {
  const program = stored.newer[0]?.program;
  const found = `schema ${stored.version}${program ? ` of version ${program}` : ""}`;
  const remedy = newerRemedy(stored);
  return new Error(`${database} has ${found}, this version ${VERSION} knows schemas up to ${known}: ${remedy}`);
}

/** @returns what to do about a database that is newer than this program */
export function newerRemedy({ newer }: StoredSchema): string {
  const program = newer[0]?.program;
  const needed = program ? `version ${program} or newer` : "the version that wrote it";
  return `install ${needed}, or restore a backup from before its update`;
}

/** @returns an error that says that the database is as before */
export function failedMigration(database: string, error: unknown): Error {
  const advice = "install the version before again, and report this error";
  return new Error(`${database} could not be updated and stays as it was (${errorMessage(error)}): ${advice}`, {
    cause: error,
  });
}

/** Whether the launcher of an upgrade asks this older program to take back what a newer one migrated. */
export function isUndoRequested(): boolean {
  return process.env["VETWIRE_UNDO"] === "1";
}
