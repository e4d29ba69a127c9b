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

/** Statements on the table `pending_match`, for the operations that change patients and file messages. */
export function pendingMatchesOn(db: Database.Database) {
  const sql = {
    version: db.prepare("SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'directoryVersion'").pluck(),
    raiseVersion: db.prepare(
      `INSERT INTO meta (key, value) VALUES ('directoryVersion', '1')
       ON CONFLICT (key) DO UPDATE SET value = CAST(value AS INTEGER) + 1`,
    ),
    markDue: db.prepare("UPDATE pending_match SET due = 1 WHERE match_key = ? AND due = 0"),
    markIdentifiersDue: db.prepare(
      `UPDATE pending_match SET due = 1
       WHERE match_key IN (SELECT identifier FROM identifier WHERE patient_fp = ?) AND due = 0`,
    ),
    markAllDue: db.prepare("UPDATE pending_match SET due = 1 WHERE due = 0"),
    add: db.prepare("INSERT INTO pending_match (match_key, message, due) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"),
    addRefused: db.prepare(
      `INSERT INTO pending_match (match_key, message, due)
       SELECT s.patient_fp, MIN(l.message), 0 FROM study s JOIN message_study l ON l.fp = s.fp AND l.revision = s.revision
       WHERE s.fp = ? AND s.revision = ? AND s.patient_fp IS NOT NULL GROUP BY s.fp ON CONFLICT DO NOTHING`,
    ),
    remove: db.prepare("DELETE FROM pending_match WHERE message = ?"),
    removeOfStudy: db.prepare(
      "DELETE FROM pending_match WHERE message IN (SELECT message FROM message_study WHERE fp = ? AND revision = ?)",
    ),
  };
  const version = () => (sql.version.get() as number | undefined) ?? 0;

  return {
    /** The number of changes of the directory. */
    version,

    /** Makes the messages due that wait for a patient who was added, changed or removed. */
    patientChanged(fp: string): void {
      sql.markDue.run(fp);
      sql.markIdentifiersDue.run(fp);
      sql.raiseVersion.run();
    },

    /** Makes the messages due that wait for identifiers that a patient got or lost. */
    identifiersChanged(identifiers: readonly string[]): void {
      for (const identifier of identifiers) sql.markDue.run(identifier);
      if (identifiers.length > 0) sql.raiseVersion.run();
    },

    /** Makes every message due after the first full sync. */
    directoryFetched(): void {
      sql.markAllDue.run();
      sql.raiseVersion.run();
    },

    /** Replaces the keys of a message; null removes them. It is due immediately if the directory changed after the lookup. */
    set(message: string, matchKeys: MatchKeys | null): void {
      sql.remove.run(message);
      if (matchKeys === null) return;
      const due = matchKeys.version === version() ? 0 : 1;
      for (const key of matchKeys.keys) sql.add.run(key, message, due);
    },

    /** Ends the wait of a study's messages. */
    removeOfStudy(fp: string, revision: number): void {
      sql.removeOfStudy.run(fp, revision);
    },

    /** Makes the message of an unmatched study wait for a change of the study's patient. */
    addRefusedStudy(fp: string, revision: number): void {
      sql.addRefused.run(fp, revision);
    },
  };
}
