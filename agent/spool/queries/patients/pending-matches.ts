import type Database from "better-sqlite3";

// Unmatched messages wait for their patient. They are indexed by the keys that would name the patient, so the cost of a
// directory change does not depend on the number of messages.

/** The keys that would match a message, looked up in one version of the directory. */
export interface MatchKeys {
  /** Identifiers as sent, and patient fps. */
  readonly keys: readonly string[];
  readonly version: number;
}

export type PendingMatches = ReturnType<typeof pendingMatchesOn>;

/** Statements on the table `waiting`, for the operations that change patients and file messages. */
export function pendingMatchesOn(db: Database.Database) {
  const sql = {
    version: db.prepare("SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'directoryVersion'").pluck(),
    raiseVersion: db.prepare(
      `INSERT INTO meta (key, value) VALUES ('directoryVersion', '1')
       ON CONFLICT (key) DO UPDATE SET value = CAST(value AS INTEGER) + 1`,
    ),
    wake: db.prepare("UPDATE pending_match SET due = 1 WHERE match_key = ? AND due = 0"),
    wakeIdentifiers: db.prepare(
      "UPDATE pending_match SET due = 1 WHERE match_key IN (SELECT identifier FROM identifier WHERE patient_fp = ?) AND due = 0",
    ),
    wakeAll: db.prepare("UPDATE pending_match SET due = 1 WHERE due = 0"),
    add: db.prepare("INSERT INTO pending_match (match_key, message, due) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"),
    addRefused: db.prepare(
      `INSERT INTO pending_match (match_key, message, due)
       SELECT s.patient_fp, MIN(l.message), 0 FROM study s JOIN message_study l ON l.fp = s.fp AND l.revision = s.revision
       WHERE s.fp = ? AND s.revision = ? AND s.patient_fp IS NOT NULL GROUP BY s.fp ON CONFLICT DO NOTHING`,
    ),
    end: db.prepare("DELETE FROM pending_match WHERE message = ?"),
  };
  const version = () => (sql.version.get() as number | undefined) ?? 0;

  return {
    /** The number of changes of the directory. */
    version,

    /** A patient was added, changed or removed. */
    patientChanged(fp: string): void {
      sql.wake.run(fp);
      sql.wakeIdentifiers.run(fp);
      sql.raiseVersion.run();
    },

    /** These identifiers were added to a patient or removed from one. */
    identifiersChanged(identifiers: readonly string[]): void {
      for (const identifier of identifiers) sql.wake.run(identifier);
      if (identifiers.length > 0) sql.raiseVersion.run();
    },

    /** The first full sync ended. Every waiting message becomes due. */
    directoryFetched(): void {
      sql.wakeAll.run();
      sql.raiseVersion.run();
    },

    /** Replaces the keys of a message; null removes them. It is due at once if the directory changed after the lookup. */
    set(message: string, waiting: MatchKeys | null): void {
      sql.end.run(message);
      if (waiting === null) return;
      const due = waiting.version === version() ? 0 : 1;
      for (const key of waiting.keys) sql.add.run(key, message, due);
    },

    /** Makes the message of an unmatched study wait for a change of the study's patient. */
    addRefusedStudy(fp: string, revision: number): void {
      sql.addRefused.run(fp, revision);
    },
  };
}
