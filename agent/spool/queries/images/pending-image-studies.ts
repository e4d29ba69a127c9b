import type Database from "better-sqlite3";

// Studies of images that wait to be assessed. A study is complete when no instance was received for its quiet time.

/** A study of images and the time at which it is complete, in ms since 1970. */
export interface PendingImageStudy {
  readonly studyUid: string;
  readonly dueAt: number;
}

/** Part of operationsOn(). */
export function pendingImageStudyOperationsOn(db: Database.Database) {
  const sql = {
    awaitDue: db.prepare(
      `INSERT INTO pending_image_study (study_uid, due_at) SELECT DISTINCT i.study_uid, @at FROM instance i JOIN message m ON m.id = i.message
       WHERE i.message IN (SELECT message FROM pending_match WHERE due = 1)
         AND m.device IN (SELECT value FROM json_each(@devices)) ON CONFLICT DO NOTHING`,
    ),
    // A clock that is set back leaves due times far ahead. No study is due later than its quiet time from now.
    boundStudies: db.prepare("UPDATE pending_image_study SET due_at = @now + quiet_ms WHERE due_at > @now + quiet_ms"),
    nextStudy: db.prepare(
      `SELECT study_uid AS studyUid, due_at AS dueAt FROM pending_image_study WHERE study_uid NOT IN (SELECT value FROM json_each(?))
       ORDER BY due_at LIMIT 1`,
    ),
    endStudy: db.prepare("DELETE FROM pending_image_study WHERE study_uid = ? AND due_at = ?"),
    hasten: db.prepare("UPDATE pending_image_study SET due_at = MIN(due_at, ?) WHERE study_uid = ?"),
  };
  return {
    /** Queues image studies again whose awaited patient was added or changed. @returns whether there are any */
    queueMatchedImageStudies(devices: readonly string[], at: number): boolean {
      return sql.awaitDue.run({ devices: JSON.stringify(devices), at }).changes > 0;
    },

    /** The study that is complete first, except those in progress; null if none is queued. */
    nextImageStudy(now: number, inProgress: readonly string[]): PendingImageStudy | null {
      sql.boundStudies.run({ now });
      return (sql.nextStudy.get(JSON.stringify(inProgress)) as PendingImageStudy | undefined) ?? null;
    },

    /** Makes queued studies due now. */
    scheduleImageStudiesEarlier(studies: readonly string[], at: number): void {
      for (const study of studies) sql.hasten.run(at, study);
    },

    /** Removes a study that was assessed, unless another instance changed its due time. */
    endImageStudy(studyUid: string, dueAt: number): void {
      sql.endStudy.run(studyUid, dueAt);
    },
  };
}
