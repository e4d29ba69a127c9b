import type Database from "better-sqlite3";
import type { OrderOperations, TestOrder } from "../orders/orders.ts";
import type { PendingMatches } from "./pending-matches.ts";

// The patient directory as it was fetched from the server: patients and their identifiers.

export interface PatientRow {
  readonly fp: string;
  readonly body: string;
}

/** A patient who was deleted, or whose connection to the clinic was closed. `at` is in ms since 1970. */
export interface RemovedPatient {
  readonly fp: string;
  readonly at: number;
}

/** The texts in a message that may name its patient. */
export interface PatientReferences {
  readonly accessions: readonly string[];
  readonly fps: readonly string[];
  readonly identifier: string | null;
}

/** Part of operationsOn(). */
export function patientOperationsOn(
  db: Database.Database,
  waits: PendingMatches,
  { ordersByAccession }: Pick<OrderOperations, "ordersByAccession">,
) {
  const sql = {
    upsertPatient: db.prepare(
      "INSERT INTO patient (fp, body, sync_generation) VALUES (@fp, @body, @syncGeneration) ON CONFLICT (fp) DO UPDATE SET body = @body, sync_generation = @syncGeneration",
    ),
    markPatientMet: db.prepare("UPDATE patient SET sync_generation = ? WHERE fp = ?"),
    dropPatient: db.prepare("DELETE FROM patient WHERE fp = ?"),
    identifiersOf: db.prepare("SELECT identifier FROM identifier WHERE patient_fp = ?").pluck(),
    markIdentifiersMet: db.prepare("UPDATE identifier SET sync_generation = ? WHERE patient_fp = ?"),
    dropIdentifiers: db.prepare("DELETE FROM identifier WHERE patient_fp = ?"),
    insertIdentifier: db.prepare(
      "INSERT INTO identifier (identifier, patient_fp, sync_generation) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
    ),
    patientByFp: db.prepare("SELECT body FROM patient WHERE fp = ?").pluck(),
    patientsByIdentifier: db
      .prepare(
        "SELECT p.body FROM identifier i JOIN patient p ON p.fp = i.patient_fp WHERE i.identifier = ? ORDER BY p.fp LIMIT 10",
      )
      .pluck(),
    unmet: db.prepare("SELECT fp FROM patient WHERE sync_generation < ?").pluck(),
    dropUnmetIdentifiers: db.prepare("DELETE FROM identifier WHERE sync_generation < ?"),
    patientsAfter: db.prepare("SELECT body FROM patient WHERE fp > ? ORDER BY fp LIMIT ?").pluck(),
    setProgress: db.prepare(
      "INSERT INTO meta (key, value) VALUES ('directory', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
    ),
  };
  const patientByFp = (fp: string) => (sql.patientByFp.get(fp) as string | undefined) ?? null;
  const forget = (fp: string) => {
    waits.patientChanged(fp);
    sql.dropIdentifiers.run(fp);
    sql.dropPatient.run(fp);
  };
  return {
    patientByFp,

    /**
     * Stores patients and returns how many are new or changed; unchanged patients are not written. `syncGeneration` is the time of
     * the full sync that met them, in ms since 1970; null for an incremental sync.
     */
    upsertPatients(patients: readonly PatientRow[], syncGeneration: number | null): number {
      let changed = 0;
      for (const { fp, body } of patients) {
        if (patientByFp(fp) === body) {
          if (syncGeneration !== null) sql.markPatientMet.run(syncGeneration, fp);
          continue;
        }
        sql.upsertPatient.run({ fp, body, syncGeneration: syncGeneration ?? 0 });
        waits.patientChanged(fp);
        changed += 1;
      }
      return changed;
    },

    /** Replaces the identifiers of each patient. `syncGeneration` as for upsertPatients(). */
    setIdentifiers(
      rows: readonly { patientFp: string; identifiers: readonly string[] }[],
      syncGeneration: number | null,
    ): void {
      for (const { patientFp, identifiers } of rows) {
        const known = sql.identifiersOf.all(patientFp) as string[];
        const taken = known.filter((identifier) => !identifiers.includes(identifier));
        const given = identifiers.filter((identifier) => !known.includes(identifier));
        const changed = [...taken, ...given];
        if (changed.length === 0) {
          if (syncGeneration !== null) sql.markIdentifiersMet.run(syncGeneration, patientFp);
          continue;
        }
        sql.dropIdentifiers.run(patientFp);
        for (const identifier of identifiers) sql.insertIdentifier.run(identifier, patientFp, syncGeneration ?? 0);
        waits.identifiersChanged(changed);
      }
    },

    /** Removes patients, except those that changed after their removal. @returns how many */
    removePatients(removed: readonly RemovedPatient[]): number {
      const gone = removed.filter(({ fp, at }) => {
        const body = patientByFp(fp);
        return body !== null && Date.parse((JSON.parse(body) as { updated_at: string }).updated_at) <= at;
      });
      for (const { fp } of gone) forget(fp);
      return gone.length;
    },

    /** Ends a full sync: removes the patients that it did not meet, and stores the progress of the directory. */
    endFullSync(syncGeneration: number, progress: string, isFirst: boolean): void {
      for (const fp of sql.unmet.all(syncGeneration) as string[]) forget(fp);
      sql.dropUnmetIdentifiers.run(syncGeneration);
      sql.setProgress.run(progress);
      if (isFirst) waits.directoryFetched();
    },

    /**
     * Returns the orders of these accessions, and the bodies of the patients that the orders, fps and identifier name.
     * A patient may be there twice. One operation saves round trips to the worker. `version` is the directory's.
     */
    resolveReferences({ accessions, fps, identifier }: PatientReferences): {
      orders: TestOrder[];
      patients: string[];
      version: number;
    } {
      const orders = ordersByAccession(accessions);
      const known = [...new Set([...orders.map(({ patientFp }) => patientFp), ...fps])].map(patientByFp);
      const identified = identifier === null ? [] : (sql.patientsByIdentifier.all(identifier) as string[]);
      const patients = [...known.filter((body) => body !== null), ...identified];
      return { orders, patients, version: waits.version() };
    },

    /** All patients, one page at a time, in the order of their fps. */
    patientsAfter(fp: string, limit: number): string[] {
      return sql.patientsAfter.all(fp, limit) as string[];
    },
  };
}
