import type Database from "better-sqlite3";

// Unmatched messages wait for their patient. The spool indexes them by the keys that would name the patient, so the cost of
// a change in the directory does not depend on how many messages wait.

/** The keys that would match a message, as they were looked up in one version of the directory. */
export interface Waiting {
  /** Identifiers as sent, and patient fps. */
  readonly keys: readonly string[];
  readonly version: number;
}

/** Statements on the table `waiting`, for the operations that change patients and settle messages. */
export function waitingOn(db: Database.Database) {
  const sql = {
    version: db.prepare("SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'directoryVersion'").pluck(),
    raiseVersion: db.prepare(
      `INSERT INTO meta (key, value) VALUES ('directoryVersion', '1')
       ON CONFLICT (key) DO UPDATE SET value = CAST(value AS INTEGER) + 1`,
    ),
    wake: db.prepare("UPDATE waiting SET due = 1 WHERE key = ? AND due = 0"),
    wakeIdentifiers: db.prepare(
      "UPDATE waiting SET due = 1 WHERE key IN (SELECT identifier FROM identifier WHERE patient_fp = ?) AND due = 0",
    ),
    wakeAll: db.prepare("UPDATE waiting SET due = 1 WHERE due = 0"),
    add: db.prepare("INSERT INTO waiting (key, message, due) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"),
    addRefused: db.prepare(
      `INSERT INTO waiting (key, message, due)
       SELECT s.patient_fp, MIN(l.message), 0 FROM study s JOIN message_study l ON l.fp = s.fp AND l.revision = s.revision
       WHERE s.fp = ? AND s.revision = ? AND s.patient_fp IS NOT NULL GROUP BY s.fp ON CONFLICT DO NOTHING`,
    ),
    end: db.prepare("DELETE FROM waiting WHERE message = ?"),
  };
  const version = () => (sql.version.get() as number | undefined) ?? 0;

  return {
    /** Counts the changes of the directory. */
    version,

    /** A patient came, changed or left. */
    patientChanged(fp: string): void {
      sql.wake.run(fp);
      sql.wakeIdentifiers.run(fp);
      sql.raiseVersion.run();
    },

    /** These identifiers were given to a patient, or taken from one. */
    identifiersChanged(identifiers: readonly string[]): void {
      for (const identifier of identifiers) sql.wake.run(identifier);
      if (identifiers.length > 0) sql.raiseVersion.run();
    },

    /** The first full list of patients is here: each message is assessed again, with or without a patient. */
    listArrived(): void {
      sql.wakeAll.run();
      sql.raiseVersion.run();
    },

    /** Replaces what a message waits for. It is due at once if the directory changed after the lookup. */
    set(message: string, waiting: Waiting | null): void {
      sql.end.run(message);
      if (waiting === null) return;
      const due = waiting.version === version() ? 0 : 1;
      for (const key of waiting.keys) sql.add.run(key, message, due);
    },

    /** The server filed a study to nobody although it has a patient: it waits for a change of that patient. */
    studyRefused(fp: string, revision: number): void {
      sql.addRefused.run(fp, revision);
    },
  };
}
