import type { Config } from "../config/values/schema.ts";
import { readSpool } from "../spool/access.ts";
import type { FilingDevice } from "../study/assess.ts";
import { reassess, type ReassessedMessage, store } from "../tools/offline/reprocess.ts";

/**
 * Reads the messages of a new device again with its changed profile. A message stays as it was filed if the other profile would
 * make a second study of it, or if a newer result of its study arrives meanwhile.
 */
export async function reprocessFirst(
  config: Config,
  analyzers: ReadonlyMap<string, FilingDevice>,
  device: string,
  since: number,
): Promise<void> {
  const states = ["filed", "unmatched", "quarantined", "not-for-patients"] as const;
  const wanted = { states, devices: [device], since };
  const known = { analyzers, imaging: new Map<string, never>() };
  const done = await reassess(config.data, wanted, known, config.matchPatientsByName ?? false, () => undefined);
  store(
    config.data,
    done.filter((message) => replacesItself(config.data, message)),
  );
}

function replacesItself(data: string, { message, settlement }: ReassessedMessage): boolean {
  const keys = readSpool(data, (db) =>
    db
      .prepare(
        `SELECT DISTINCT s.dedupe_key FROM message_study l JOIN study s ON s.fp = l.fp AND s.revision = l.revision
         WHERE l.message = ?`,
      )
      .pluck()
      .all(message.id),
  );
  const next = settlement.studies.map(({ body }) => body.dedupe_key);
  return keys.every((key) => next.includes(String(key))) && (keys.length === 0 || next.length === keys.length);
}
