import type Database from "better-sqlite3";
import type { Collection } from "../../../report/report.ts";
import { type HeldStudy, isRepeated, isWithdrawal, type StudyBody, nextRevision } from "../../../report/revision.ts";
import { ROW_BYTES, type StoredBytes } from "../devices/stored-bytes.ts";

// The revisions of studies. A dedupe key names a study; the first message with that key gives the study its fp.

/** A study as filing made it. A known dedupe key keeps its fp; a new one takes `freshFp`. */
export interface StudyDraft extends StudyBody {
  readonly freshFp: string;
  /** Other dedupe keys that may name the same study. Null or absent without any. */
  readonly collect?: Collection | null;
}

/** The message that a draft was made from. */
interface DraftSource {
  readonly message: string;
  /** The message is assessed again for its patient alone. Later messages of its studies keep precedence. */
  readonly rematch?: boolean;
  readonly at: number;
}

export type StudyRevisions = ReturnType<typeof studyRevisionsOn>;

/** Statements on the tables `study` and `message_study`, for the operations that file messages. */
export function studyRevisionsOn(db: Database.Database, storedBytes: StoredBytes) {
  const sql = statementsOn(db);

  function latestRow(dedupeKey: string): StudyRow | undefined {
    return sql.latestByKey.get(dedupeKey) as StudyRow | undefined;
  }

  /** @returns the key of the nearest study in time that has no other measurement of the same analytes; null without any */
  function collectingKey({ prefix, withinMs, repeatedBy }: Collection, body: StudyBody["body"]): string | null {
    const studies = sql.keysBetween.all(prefix, `${prefix}~`) as StudyTime[];
    const near = nearestKeys(studies, body.acquired_at, withinMs);
    return near.find((key) => !isRepeated(asHeld(latestRow(key)!), body, repeatedBy)) ?? null;
  }

  /** @returns the key of the study that the draft belongs to: of one that collects it, else its own */
  function keyOf({ body, collect }: Pick<StudyDraft, "body" | "collect">): string {
    const ownKey = collect?.ownKey;
    if (ownKey !== undefined && latestRow(ownKey) !== undefined) return ownKey;
    return (collect && collectingKey(collect, body)) ?? body.dedupe_key;
  }

  function insertRevision(fp: string, revision: number, study: StudyBody, at: number): void {
    const { body, snapshot } = study;
    const row = { fp, revision, dedupeKey: body.dedupe_key, patientFp: body.patient_fp, at };
    const json = { body: JSON.stringify(body), snapshot: JSON.stringify(snapshot) };
    sql.insert.run({ ...row, ...json });
    storedBytes.add(body.source.device_id, json.body.length + json.snapshot.length + ROW_BYTES.study);
  }

  /** @returns the latest revision of a study that holds this message, or 0 */
  function linkedRevision(message: string, fp: string): number {
    return (sql.linkedRevision.get(message, fp) as number | null) ?? 0;
  }

  return {
    /** Stores a draft as a new revision if it changes its study. @returns the study's fp; null for a withdrawal of nothing */
    store(
      { freshFp, collect, body, ...rest }: StudyDraft,
      { message, rematch = false, at }: DraftSource,
    ): string | null {
      const dedupe_key = keyOf({ body, collect: collect ?? null });
      const draft = { body: { ...body, dedupe_key }, ...rest };
      const held = latestRow(dedupe_key);
      if (held === undefined && isWithdrawal(draft)) return null;
      const fp = held?.fp ?? freshFp;
      const isReplaced = rematch && held !== undefined && held.revision > linkedRevision(message, fp);
      const next = held === undefined ? draft : isReplaced ? null : nextRevision(asHeld(held), draft);
      const isNew = next !== null && next !== "again";
      const revision = (held?.revision ?? 0) + (isNew ? 1 : 0);
      if (next === "again") sql.queueAgain.run(fp, revision);
      if (isNew) {
        insertRevision(fp, revision, next, at);
        // The server files the earlier messages of the study with this revision.
        if (rematch && held !== undefined) sql.copyLinks.run({ fp, from: held.revision, to: revision });
      }
      sql.link.run(message, fp, revision);
      return fp;
    },

    keyOf,

    /** The number of the latest revision under a dedupe key, or 0. */
    numberOf(dedupeKey: string): number {
      return latestRow(dedupeKey)?.revision ?? 0;
    },

    /** The latest revision under a dedupe key, or null. */
    latest(dedupeKey: string): HeldStudy | null {
      const row = latestRow(dedupeKey);
      return row === undefined ? null : asHeld(row);
    },
  };
}

function statementsOn(db: Database.Database) {
  return {
    latestByKey: db.prepare(
      "SELECT fp, revision, body, snapshot, state FROM study WHERE dedupe_key = ? ORDER BY revision DESC LIMIT 1",
    ),
    keysBetween: db.prepare(
      `SELECT dedupe_key, json_extract(body, '$.acquired_at') AS acquired_at FROM study
       WHERE revision = 1 AND dedupe_key >= ? AND dedupe_key < ?`,
    ),
    insert: db.prepare(
      `INSERT INTO study (fp, revision, dedupe_key, patient_fp, body, snapshot, state, created_at)
       VALUES (@fp, @revision, @dedupeKey, @patientFp, @body, @snapshot, 'queued', @at)`,
    ),
    queueAgain: db.prepare(
      "UPDATE study SET state = 'queued', reason = NULL, settled_at = NULL WHERE fp = ? AND revision = ?",
    ),
    link: db.prepare("INSERT INTO message_study (message, fp, revision) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"),
    copyLinks: db.prepare(
      `INSERT INTO message_study (message, fp, revision)
       SELECT message, fp, @to FROM message_study WHERE fp = @fp AND revision = @from ON CONFLICT DO NOTHING`,
    ),
    linkedRevision: db.prepare("SELECT MAX(revision) FROM message_study WHERE message = ? AND fp = ?").pluck(),
  };
}

interface StudyTime {
  readonly dedupe_key: string;
  readonly acquired_at: string;
}

/** @returns the keys of the studies that are near enough in time, the nearest first */
function nearestKeys(studies: readonly StudyTime[], acquired_at: string, withinMs: number): string[] {
  const distance = (time: string) => Math.abs(Date.parse(time) - Date.parse(acquired_at));
  return studies
    .filter((study) => distance(study.acquired_at) <= withinMs)
    .toSorted((one, other) => distance(one.acquired_at) - distance(other.acquired_at))
    .map(({ dedupe_key }) => dedupe_key);
}

interface StudyRow {
  readonly fp: string;
  readonly revision: number;
  readonly body: string;
  readonly snapshot: string;
  readonly state: string;
}

function asHeld({ body, snapshot, state }: StudyRow): HeldStudy {
  return {
    body: JSON.parse(body) as StudyBody["body"],
    snapshot: JSON.parse(snapshot) as StudyBody["snapshot"],
    isUnmatched: state === "unmatched",
    isRejected: state === "rejected",
  };
}
