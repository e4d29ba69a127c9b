import type Database from "better-sqlite3";
import { type StudyContent, studyCheck } from "../checks/row-checks.ts";
import type { Collection } from "../../../report/report.ts";
import { type HeldStudy, isRepeated, isWithdrawal, type StudyBody, nextRevision } from "../../../report/revision.ts";
import { ROW_BYTES, type StoredBytes } from "../devices/stored-bytes.ts";

// The revisions of studies. A dedupe key names a study; the first message with that key gives the study its fp.

/** A study as filing made it. A known dedupe key keeps its fp; a new one takes `freshFp`. */
export interface StudyDraft extends StudyBody {
  readonly freshFp: string;
  /** Other dedupe keys that may name the same study. Null or absent if there are none. */
  readonly collect?: Collection | null;
}

/** The message that a draft was made from. */
interface DraftSource {
  readonly message: string;
  /** The message is assessed again for its patient alone. Later messages of its studies keep precedence. */
  readonly rematch?: boolean;
  /** The draft holds the results of all messages of its study. */
  readonly isWhole?: boolean;
  readonly at: number;
}

export type StudyRevisions = ReturnType<typeof studyRevisionsOn>;

/** Statements on the tables `study` and `message_study`, for the operations that file messages. */
export function studyRevisionsOn(db: Database.Database, storedBytes: StoredBytes) {
  const sql = statementsOn(db);

  function latestRow(dedupeKey: string): StudyRow | undefined {
    return sql.latestByKey.get(dedupeKey) as StudyRow | undefined;
  }

  /** Whether the latest revision under a dedupe key is not as it was stored. A damaged index leads to another study. */
  function isDamaged(dedupeKey: string): boolean {
    const row = latestRow(dedupeKey);
    return row !== undefined && (row.dedupeKey !== dedupeKey || !studyCheck.isWhole(row));
  }

  /** @returns the key of the nearest study in time that has no other measurement of the same analytes; null without any */
  function collectingKey({ prefix, withinMs, repeatedBy }: Collection, body: StudyBody["body"]): string | null {
    const studies = sql.keysBetween.all(prefix, `${prefix}~`) as StudyTime[];
    const near = nearestKeys(studies, body.acquired_at, withinMs);
    return near.find((key) => !isDamaged(key) && !isRepeated(asHeld(latestRow(key)!), body, repeatedBy)) ?? null;
  }

  /** @returns the key of the damaged study that already holds this message; null without any */
  function damagedKey({ prefix }: Collection, message: string): string | null {
    return (sql.keysOfMessage.all(message, prefix, `${prefix}~`) as string[]).find(isDamaged) ?? null;
  }

  /** @returns the key of the study that the draft belongs to: of one that collects it or its message, else its own */
  function keyOf({ body, collect }: Pick<StudyDraft, "body" | "collect">, message: string): string {
    if (isDamaged(body.dedupe_key)) return body.dedupe_key;
    const ownKey = collect?.ownKey;
    if (ownKey !== undefined && latestRow(ownKey) !== undefined) return ownKey;
    const collecting = collect ? (damagedKey(collect, message) ?? collectingKey(collect, body)) : null;
    return collecting ?? body.dedupe_key;
  }

  function insertRevision(fp: string, revision: number, study: StudyBody, at: number): void {
    const { body, snapshot } = study;
    const row = { fp, revision, dedupeKey: body.dedupe_key, patientFp: body.patient_fp, at };
    const json = { body: JSON.stringify(body), snapshot: JSON.stringify(snapshot) };
    sql.insert.run({ ...row, ...json, checksum: studyCheck.of({ ...row, ...json }) });
    storedBytes.add(body.source.device_id, json.body.length + json.snapshot.length + ROW_BYTES.study);
  }

  /** @returns the latest revision of a study that holds this message; 0 if there is none */
  function linkedRevision(message: string, fp: string): number {
    return (sql.linkedRevision.get(message, fp) as number | null) ?? 0;
  }

  /**
   * Replaces a damaged revision by a draft that holds the results of all messages of the study. A draft of one message alone would
   * drop the results of the others, or undo their corrections. @throws DamagedStudy for such a draft
   */
  function replace(
    draft: StudyBody,
    { message, isWhole, at }: Omit<Required<DraftSource>, "rematch">,
    held: StudyRow,
  ): string {
    const isAlone = sql.otherMessages.get(message, draft.body.dedupe_key) === undefined;
    if (!isWhole && !isAlone) throw new DamagedStudy();
    const fp = (sql.wholeFps.all(draft.body.dedupe_key) as StudyRow[]).find(studyCheck.isWhole)?.fp ?? held.fp;
    const revision = held.revision + 1;
    insertRevision(fp, revision, draft, at);
    sql.copyLinks.run({ fp, from: held.revision, to: revision });
    sql.link.run(message, fp, revision);
    return fp;
  }

  return {
    /** Stores a draft as a new revision if it changes its study. @returns the study's fp; null if there is nothing to withdraw @throws DamagedStudy */
    store(
      { freshFp, collect, body, ...rest }: StudyDraft,
      { message, rematch = false, isWhole = false, at }: DraftSource,
    ): string | null {
      const dedupe_key = keyOf({ body, collect: collect ?? null }, message);
      const draft = { body: { ...body, dedupe_key }, ...rest };
      const held = latestRow(dedupe_key);
      if (held !== undefined && isDamaged(dedupe_key)) return replace(draft, { message, isWhole, at }, held);
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

    /** The number of the latest revision under a dedupe key; 0 if there is none. */
    numberOf(dedupeKey: string): number {
      return latestRow(dedupeKey)?.revision ?? 0;
    },

    /** The latest revision under a dedupe key; null if there is none, or it is damaged. */
    latest(dedupeKey: string): HeldStudy | null {
      const row = latestRow(dedupeKey);
      return row === undefined || isDamaged(dedupeKey) ? null : asHeld(row);
    },

    isDamaged,
  };
}

/** A message whose study is damaged, and which does not hold all of its results. */
export class DamagedStudy extends Error {}

const CONTENT_COLUMNS = `fp, revision, dedupe_key AS dedupeKey, patient_fp AS patientFp, body, snapshot, state, checksum`;

function statementsOn(db: Database.Database) {
  return {
    latestByKey: db.prepare(`SELECT ${CONTENT_COLUMNS} FROM study WHERE dedupe_key = ? ORDER BY revision DESC LIMIT 1`),
    wholeFps: db.prepare(`SELECT ${CONTENT_COLUMNS} FROM study WHERE dedupe_key = ? ORDER BY revision DESC`),
    otherMessages: db.prepare(
      `SELECT 1 FROM study s JOIN message_study l ON l.fp = s.fp
       WHERE l.message <> ? AND s.dedupe_key = ? LIMIT 1`,
    ),
    keysBetween: db.prepare(
      `SELECT dedupe_key, json_extract(body, '$.acquired_at') AS acquired_at FROM study
       WHERE revision = 1 AND dedupe_key >= ? AND dedupe_key < ? AND json_valid(body)`,
    ),
    keysOfMessage: db
      .prepare(
        `SELECT DISTINCT s.dedupe_key FROM message_study l JOIN study s ON s.fp = l.fp AND s.revision = l.revision
         WHERE l.message = ? AND s.dedupe_key >= ? AND s.dedupe_key < ?`,
      )
      .pluck(),
    insert: db.prepare(
      `INSERT INTO study (fp, revision, dedupe_key, patient_fp, body, snapshot, state, created_at, checksum)
       VALUES (@fp, @revision, @dedupeKey, @patientFp, @body, @snapshot, 'queued', @at, @checksum)`,
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

interface StudyRow extends StudyContent {
  readonly state: string;
  readonly checksum: number | null;
}

function asHeld({ body, snapshot, state }: StudyRow): HeldStudy {
  return {
    body: JSON.parse(body) as StudyBody["body"],
    snapshot: JSON.parse(snapshot) as StudyBody["snapshot"],
    isUnmatched: state === "unmatched",
    isRejected: state === "rejected",
  };
}
