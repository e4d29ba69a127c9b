import type Database from "better-sqlite3";

// A clinic's own profile may name the wrong patient. A person confirms it once for each device, by placing its first study.

export function confirmedProfilesOn(db: Database.Database) {
  // Its index is study_own_profile. A profile that is confirmed stays so as long as one of its studies is kept.
  const isFiled = db
    .prepare(
      `SELECT 1 FROM study WHERE state = 'filed' AND instr(body, '"profile":"own/') > 0
         AND CASE WHEN json_valid(body) THEN json_extract(body, '$.source.device_id') END = @device
         AND CASE WHEN json_valid(body) THEN json_extract(body, '$.source.profile') END = @profile LIMIT 1`,
    )
    .pluck();
  return {
    /** Whether a study that this revision of an own profile read for the device is filed to a patient. */
    isProfileConfirmed(device: string, profile: string): boolean {
      return isFiled.get({ device, profile }) !== undefined;
    },
  };
}
