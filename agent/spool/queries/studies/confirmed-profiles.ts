import type Database from "better-sqlite3";

// A clinic's own profile may name the wrong patient. A person confirms it once for each device, by placing its first study.

/** Later studies of a confirmed profile are filed too, so that one is among the latest. */
const LATEST_STUDIES = 1_000;

export function confirmedProfilesOn(db: Database.Database) {
  const isFiled = db
    .prepare(
      `SELECT 1 FROM (SELECT state, body FROM study ORDER BY rowid DESC LIMIT ${LATEST_STUDIES})
       WHERE state = 'filed' AND json_extract(body, '$.source.device_id') = @device
         AND json_extract(body, '$.source.profile') = @profile LIMIT 1`,
    )
    .pluck();
  return {
    /** Whether a study that this revision of an own profile read for the device is filed to a patient. */
    isProfileConfirmed(device: string, profile: string): boolean {
      return isFiled.get({ device, profile }) !== undefined;
    },
  };
}
