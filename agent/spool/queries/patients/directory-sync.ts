import type Database from "better-sqlite3";
import type { PendingMatches } from "./pending-matches.ts";

// Updates of the stored patient directory: patients and their identifiers, as the server sent them.

export interface PatientRow {
  readonly fp: string;
  readonly body: string;
}

export interface PatientIdentifiers {
  readonly patientFp: string;
  readonly identifiers: readonly string[];
}

/** A patient who was deleted, or whose connection to the clinic was closed. `at` is in ms since 1970. */
export interface RemovedPatient {
  readonly fp: string;
  readonly at: number;
}

/** The SQL of the operations below. */
function statementsOn(db: Database.Database) {
  return {
    body: db.prepare("SELECT body FROM patient WHERE fp = ?").pluck(),
    upsertPatient: db.prepare(
      `INSERT INTO patient (fp, body, sync_generation) VALUES (@fp, @body, @generation)
       ON CONFLICT (fp) DO UPDATE SET body = @body, sync_generation = @generation`,
    ),
    markPatient: db.prepare("UPDATE patient SET sync_generation = ? WHERE fp = ?"),
    deletePatient: db.prepare("DELETE FROM patient WHERE fp = ?"),
    identifiersOf: db.prepare("SELECT identifier FROM identifier WHERE patient_fp = ?").pluck(),
    markIdentifiers: db.prepare("UPDATE identifier SET sync_generation = ? WHERE patient_fp = ?"),
    deleteIdentifiers: db.prepare("DELETE FROM identifier WHERE patient_fp = ?"),
    insertIdentifier: db.prepare(
      "INSERT INTO identifier (identifier, patient_fp, sync_generation) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
    ),
    outdatedPatients: db.prepare("SELECT fp FROM patient WHERE sync_generation <> ?").pluck(),
    deleteOutdatedIdentifiers: db.prepare("DELETE FROM identifier WHERE sync_generation <> ?"),
  };
}

/**
 * Part of operationsOn(). A sync generation is the start of a full sync, in ms since 1970; null for an incremental sync. A later one may
 * be less, after a clock was set back.
 */
export function directorySyncOperationsOn(
  db: Database.Database,
  pendingMatches: PendingMatches,
  { setMeta }: { readonly setMeta: (key: string, value: string) => void },
) {
  const sql = statementsOn(db);
  const bodyOf = (fp: string) => sql.body.get(fp) as string | undefined;
  const remove = (fp: string) => {
    pendingMatches.patientChanged(fp);
    sql.deleteIdentifiers.run(fp);
    sql.deletePatient.run(fp);
  };
  return {
    /** Stores patients and returns how many are new or changed. Unchanged patients are not written. */
    upsertPatients(patients: readonly PatientRow[], generation: number | null): number {
      let changed = 0;
      for (const { fp, body } of patients) {
        if (bodyOf(fp) === body) {
          if (generation !== null) sql.markPatient.run(generation, fp);
          continue;
        }
        sql.upsertPatient.run({ fp, body, generation: generation ?? 0 });
        pendingMatches.patientChanged(fp);
        changed += 1;
      }
      return changed;
    },

    /** Replaces the identifiers of each patient. */
    setIdentifiers(rows: readonly PatientIdentifiers[], generation: number | null): void {
      for (const { patientFp, identifiers } of rows) {
        const known = sql.identifiersOf.all(patientFp) as string[];
        const removed = known.filter((identifier) => !identifiers.includes(identifier));
        const added = identifiers.filter((identifier) => !known.includes(identifier));
        const changed = [...removed, ...added];
        if (changed.length === 0) {
          if (generation !== null) sql.markIdentifiers.run(generation, patientFp);
          continue;
        }
        sql.deleteIdentifiers.run(patientFp);
        for (const identifier of identifiers) {
          sql.insertIdentifier.run(identifier, patientFp, generation ?? 0);
        }
        pendingMatches.identifiersChanged(changed);
      }
    },

    /** Removes patients, unless they changed after their removal. @returns how many */
    removePatients(removed: readonly RemovedPatient[]): number {
      const deleted = removed.filter(({ fp, at }) => {
        const body = bodyOf(fp);
        return body !== undefined && Date.parse((JSON.parse(body) as { updated_at: string }).updated_at) <= at;
      });
      for (const { fp } of deleted) remove(fp);
      return deleted.length;
    },

    /** Ends a full sync: removes the patients that it did not find, and stores the progress of the directory. */
    endFullSync(generation: number, progress: string, isFirst: boolean): void {
      for (const fp of sql.outdatedPatients.all(generation) as string[]) remove(fp);
      sql.deleteOutdatedIdentifiers.run(generation);
      setMeta("directory", progress);
      if (isFirst) pendingMatches.directoryFetched();
    },
  };
}
